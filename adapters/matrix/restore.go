package matrix

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// After a restore of an old copy of the database the device is new, and the adapter reads
// and handles again all events since the copy. The bot's own messages from that time are in
// the rooms, and not in the database: the adapter looks for each there before it sends it.

const (
	lookFor   = 24 * time.Hour  // after a restore
	lookPages = 50              // of page events
	copySlack = 5 * time.Minute // before the copy, in which what is in the database may have been sent
)

// restored is the time of a restore.
type restored struct {
	copied, at atomic.Int64 // when the copy was made, and when it was found out; milliseconds of Unix time
	earlier    sync.Map     // by id of a room: what the bot has said there since the copy, an earlier
	untold     atomic.Bool  // no answer of the homeserver has come since
}

// earlier is what the bot has said in a room since the copy.
type earlier struct {
	sent   map[string]sentMessage // by marker
	events map[id.EventID]bool
}

// notKnown is the time of a copy if the bot was never there before.
const notKnown = 1

// notLoggedIn stores when the bot was there before, until it has logged in: if the database is
// an old copy, it is of that time, however often the bot starts in vain before it finds that
// out.
func (a *Adapter) notLoggedIn(ctx context.Context) error {
	there, err := a.queue.marked(ctx, "restored", "perhaps")
	if err != nil || there != "" {
		return err
	}
	service, _ := a.theService()
	copied, err := service.Before(ctx)
	if err != nil {
		return fmt.Errorf("find out when the bot was last there: %w", err)
	}
	return a.queue.mark(ctx, "restored", "perhaps", strconv.FormatInt(max(copied.UnixMilli(), notKnown), 10), a.cfg.Now())
}

// wentBack stores that the database is an old copy. If it has been in use since the start, or
// the bot was never there before, it is none: somebody else has used the account.
func (a *Adapter) wentBack(ctx context.Context) error {
	if a.synced.Load() != nil {
		return nil
	}
	if err := a.notLoggedIn(ctx); err != nil {
		return err
	}
	copied, err := a.queue.marked(ctx, "restored", "perhaps")
	if err != nil {
		return fmt.Errorf("find out when the database was copied: %w", err)
	}
	if ms, err := strconv.ParseInt(copied, 10, 64); err != nil || ms <= notKnown {
		a.log.Warn("somebody else has used the account, but when this database was copied is not known: nothing is read again")
		return nil
	}
	if err := a.queue.mark(ctx, "restored", "untold", "yes", a.cfg.Now()); err != nil {
		return fmt.Errorf("store that the database is an old copy: %w", err)
	}
	if err := a.queue.mark(ctx, "restored", "copied", copied, a.cfg.Now()); err != nil {
		return fmt.Errorf("store that the database is an old copy: %w", err)
	}
	if err := a.readRestored(ctx, a.queue); err != nil {
		return err
	}
	a.log.Warn("an old copy of the database was put back; what was said since is read again", "copied", time.UnixMilli(a.restored.copied.Load()).UTC())
	return nil
}

// readRestored reads when the database was last found to be an old copy.
func (a *Adapter) readRestored(ctx context.Context, q *queue) error {
	copied, at, err := q.restored(ctx)
	if err != nil {
		return fmt.Errorf("read the time of the last restore: %w", err)
	}
	untold, err := q.marked(ctx, "restored", "untold")
	if err != nil {
		return fmt.Errorf("read the time of the last restore: %w", err)
	}
	a.restored.copied.Store(copied)
	a.restored.untold.Store(untold != "")
	a.restored.at.Store(at)
	a.restored.earlier.Clear()
	return nil
}

// goneBack is the type of what stands in the queue after the events that came since the
// copy: the games of the room went back, and have now come as far as they do.
var goneBack = event.NewEventType("halfpoint.restored")

// tellsRestored announces a restore in the rooms of the first sync after it, once their
// new events are handled.
func (a *Adapter) tellsRestored(b *batch) {
	if !a.restored.untold.Load() {
		return
	}
	b.marks[[2]string{"restored", "untold"}] = ""
	rooms := map[id.RoomID]bool{}
	for _, e := range b.events {
		rooms[e.RoomID] = true
	}
	for room := range rooms {
		b.events = append(b.events, &event.Event{Type: goneBack, RoomID: room, ID: id.EventID(fmt.Sprintf("restored %s %s", room, b.token))})
	}
}

// tellRestored says in the games of a room that went back that they did.
func (a *Adapter) tellRestored(ctx context.Context, r *row) error {
	service, _ := a.theService()
	where := match.Room{Platform: Name, Channel: a.room(r.room).known.String()}
	if err := service.Report(ctx, bot.Restored{Where: where, Copied: time.UnixMilli(a.restored.copied.Load()), Found: time.UnixMilli(a.restored.at.Load())}); err != nil {
		return fmt.Errorf("say that games went back: %w", err)
	}
	return nil
}

// hasGoneBack reports whether what is to be sent may have been sent before an old copy of
// the database was put back.
func (a *Adapter) hasGoneBack() bool {
	return a.restored.copied.Load() != 0 && a.cfg.Now().UnixMilli() < a.restored.at.Load()+lookFor.Milliseconds()
}

// sentBefore looks for a message that may be there: after an earlier attempt, or a restore.
func (a *Adapter) sentBefore(ctx context.Context, dev *device.Device, at id.RoomID, key string, again bool) (none sentMessage, err error) {
	if a.hasGoneBack() {
		earlier, err := a.sinceCopy(ctx, dev, at)
		if err != nil {
			return none, fmt.Errorf("look for what was sent before the restore: %w", err)
		}
		if sent, ok := earlier.sent[transaction(key)]; ok {
			return sent, nil
		}
	}
	if !again {
		return none, nil
	}
	return a.find(ctx, dev, at, key)
}

// sinceCopy returns the messages of the bot in a room from the copy of the database until
// the first call.
func (a *Adapter) sinceCopy(ctx context.Context, dev *device.Device, at id.RoomID) (all earlier, err error) {
	if known, ok := a.restored.earlier.Load(at); ok {
		return known.(earlier), nil
	}
	all = earlier{map[string]sentMessage{}, map[id.EventID]bool{}}
	from := ""
	oldest := a.restored.copied.Load() - copySlack.Milliseconds()
	for range lookPages {
		part, err := dev.Client.Messages(ctx, at, from, "", mautrix.DirectionBackward,
			&mautrix.FilterPart{Types: []event.Type{event.EventMessage, event.EventEncrypted}, Senders: []id.UserID{dev.Client.UserID}}, page)
		if err != nil {
			return all, err
		}
		for _, e := range part.Chunk {
			if e.Timestamp < oldest {
				part.End = ""
				break
			}
			which, sent, err := a.markerOf(ctx, dev, at, e)
			if err != nil {
				return all, err
			}
			if which != "" {
				all.sent[which], all.events[e.ID] = sent, true
			}
		}
		if from = part.End; from == "" || len(part.Chunk) == 0 {
			break
		}
	}
	known, _ := a.restored.earlier.LoadOrStore(at, all)
	return known.(earlier), nil
}

// Where a game was opened since the copy, events in its thread wait until the game is open
// again and its opening found: so long at a time, and at most.
const (
	rootAgain  = 500 * time.Millisecond
	rootAtMost = time.Minute
)

// untilRoot returns how long an event in a thread is to wait for its root.
func (a *Adapter) untilRoot(ctx context.Context, dev *device.Device, e *event.Event, root id.EventID) (time.Duration, error) {
	if root == "" || !a.hasGoneBack() || e.Timestamp > a.restored.at.Load() {
		return 0, nil
	}
	all, err := a.sinceCopy(ctx, dev, e.RoomID)
	if err != nil || !all.events[root] {
		return 0, err
	}
	service, _ := a.theService()
	where := match.Room{Platform: Name, Channel: a.room(e.RoomID).known.String()}
	if _, known, err := service.Here(ctx, bot.Request{Where: where, Under: receipt(e.RoomID, root)}); err != nil || known {
		return 0, err
	}
	if time.Since(a.waitsSince("root "+root)) > rootAtMost {
		return 0, nil
	}
	return rootAgain, nil
}
