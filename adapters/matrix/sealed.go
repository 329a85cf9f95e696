package matrix

import (
	"context"
	"fmt"
	"slices"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// In a room that is encrypted only what its sender has encrypted is done: everything else is
// the homeserver's word. A message in the clear is refused with the reason, if it asks for
// something. Reactions are always in the clear: none is a turn there, or agrees to anything
// that ends a game.
//
// A message from before the room was encrypted counts, also if it comes late. The
// homeserver says when encryption began, but only once: a room that is known to be encrypted
// stays so, and so does the one into which it moves.

// inClear is the type of a message that was not encrypted though its room was.
var inClear = event.NewEventType("halfpoint.in_clear")

// secretRoom is the type of the event that the adapter adds to a room's queue when it first
// learns, after a start, that the room is encrypted.
var secretRoom = event.NewEventType("halfpoint.encrypted")

// reportEncrypted reports to the bot that a room is encrypted, which it knows by an id: once
// after each start.
func (a *Adapter) reportEncrypted(ctx context.Context, known id.RoomID) error {
	if _, told := a.secret.Load(known); told {
		return nil
	}
	service, _ := a.theService()
	err := service.Report(ctx, bot.Encrypted{Where: match.Room{Platform: Name, Channel: known.String()}})
	if err == nil {
		a.secret.Store(known, true)
	}
	return err
}

// sealing says from where on a room is encrypted, in one answer of the homeserver.
type sealing struct {
	from int        // the first event of the timeline; as many as there are: the room is not encrypted
	gap  bool       // also in the gap before the timeline
	by   id.EventID // but only after this event; empty: in all of the gap
}

// newSealing looks where a room was encrypted that was, or was not, before this answer.
func newSealing(before bool, j *mautrix.SyncJoinedRoom) sealing {
	if before {
		return sealing{gap: true}
	}
	if i := slices.IndexFunc(j.State.Events, encrypts); i >= 0 {
		return sealing{gap: true, by: j.State.Events[i].ID}
	}
	if i := slices.IndexFunc(j.Timeline.Events, encrypts); i >= 0 {
		return sealing{from: i + 1}
	}
	return sealing{from: len(j.Timeline.Events)}
}

func encrypts(e *event.Event) bool {
	return e.Type.Type == event.StateEncryption.Type && e.StateKey != nil && *e.StateKey == ""
}

// sealed reports whether a room is known to be encrypted.
func (a *Adapter) sealed(ctx context.Context, at id.RoomID) (bool, error) {
	dev := a.device()
	if dev == nil {
		return false, errNotSynced
	}
	is, err := dev.State.IsEncrypted(ctx, at)
	if err != nil {
		return false, fmt.Errorf("read the room's encryption: %w", err)
	}
	return is, nil
}
