package matrix

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// This file remembers which rooms refuse what the bot sends. A homeserver counts refused
// requests like all others, so a room in which the bot may not write would use up what
// every room shares. The bot sends nothing more to such a room until there is a reason to
// expect another answer: new power levels, its own return, or the passing of hours.

const (
	refusedFor   = 6 * time.Hour   // a room whose power levels explain the refusal, and any other at most
	refusedFirst = 2 * time.Minute // a room whose power levels do not explain it; twice as long after the next refusal
	refusedKept  = 4096
)

// A door is a kind of event that the bot sends to a room. Encrypted messages are messages.
type door struct {
	room id.RoomID
	kind string
}

// doors are all kinds of events that the bot sends. A room that takes no messages is sent
// nothing else either.
var doors = []event.Type{event.EventMessage, event.EventReaction, event.EventRedaction}

// closed says that a room has refused a kind of event.
type closed struct {
	why   error
	times int       // in a row
	until time.Time // when something may be sent again
	moved bool      // the room has been upgraded
}

// errClosed is the error of an event that was not sent because the room has refused such
// events. It wraps the homeserver's refusal.
type errClosed struct{ closed }

func (e errClosed) Error() string {
	return "not sent, because the room refused it before: " + e.why.Error()
}

// Unwrap returns the homeserver's refusal.
func (e errClosed) Unwrap() error { return e.why }

// closedTo returns errClosed if a room has refused this kind of event, and there is no
// reason yet to try again.
func (a *Adapter) closedTo(at id.RoomID, kind event.Type) error {
	for _, k := range []event.Type{event.EventMessage, kind} {
		if c, ok := a.closed.Get(door{at, k.Type}); ok && a.cfg.Now().Before(c.until) {
			return errClosed{c}
		}
	}
	return nil
}

// sent takes note of whether a room refuses an event.
func (a *Adapter) sent(ctx context.Context, dev *device.Device, at id.RoomID, kind event.Type, err error) {
	if kind == event.EventEncrypted {
		kind = event.EventMessage
	}
	d := door{at, kind.Type}
	switch {
	case err == nil:
		a.closed.Remove(d)
	case errors.Is(err, mautrix.MForbidden):
		before, _ := a.closed.Get(d)
		wait := backoff.After(before.times+1, refusedFirst, refusedFor)
		if may, known := a.permits(ctx, dev, at, kind); known && !may {
			wait = refusedFor
		}
		a.closed.Add(d, closed{why: err, times: before.times + 1, until: a.cfg.Now().Add(wait)})
		a.log.Warn("room refused an event, will not send it more of the kind for a while", "room", at, "type", kind.Type, "again", wait, "error", err)
	}
}

// permits reports whether the power levels of a room let the bot send a kind of event, as
// far as they are known.
func (a *Adapter) permits(ctx context.Context, dev *device.Device, at id.RoomID, kind event.Type) (may, known bool) {
	levels, err := dev.State.GetPowerLevels(ctx, at)
	if err != nil || levels == nil {
		return true, false
	}
	if encrypted, err := dev.State.IsEncrypted(ctx, at); err == nil && encrypted && kind == event.EventMessage {
		kind = event.EventEncrypted
	}
	return levels.GetUserLevel(dev.Client.UserID) >= levels.GetEventLevel(kind), true
}

// redact removes an event of the bot's, unless the room refuses that.
func (a *Adapter) redact(ctx context.Context, dev *device.Device, at id.RoomID, what id.EventID, key string) error {
	if err := a.closedTo(at, event.EventRedaction); err != nil {
		return err
	}
	_, err := dev.Client.RedactEvent(ctx, at, what, mautrix.ReqRedact{TxnID: transaction(key)})
	a.sent(ctx, dev, at, event.EventRedaction, err)
	return err
}

// writable is the type of the event that the adapter adds to a room's queue when the bot
// may write there from now on.
var writable = event.NewEventType("halfpoint.writable")

// nowWritable reports whether news from a room let the bot write there: new power levels
// that permit it, or its own arrival.
func (a *Adapter) nowWritable(ctx context.Context, dev *device.Device, at id.RoomID, news []*event.Event) bool {
	for _, e := range news {
		switch {
		case e.StateKey == nil:
		case e.Type.Type == event.StatePowerLevels.Type:
			if may, _ := a.permits(ctx, dev, at, event.EventMessage); may {
				return true
			}
		case e.Type.Type == event.StateMember.Type && *e.StateKey == dev.Client.UserID.String():
			if now, _ := e.Content.Raw["membership"].(string); now == string(event.MembershipJoin) {
				return true
			}
		}
	}
	return false
}

// opens forgets what a room has refused, and shows the posts that wait for it.
func (a *Adapter) opens(ctx context.Context, at id.RoomID) error {
	for _, kind := range doors {
		a.closed.Remove(door{at, kind.Type})
	}
	service, _ := a.theService()
	return service.Report(ctx, bot.Reached{Where: match.Room{Platform: Name, Channel: a.room(at).known.String()}})
}
