package matrix

import (
	"context"
	"maps"
	"strconv"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// This file is what the adapter does beside its answers and the bot's posts:
// housekeeping, read receipts, and showing that the bot is typing.

// tellEvery is how often the service gets the rooms in which the bot is.
const tellEvery = time.Hour

// failedFor is how long a failure counts, which is longer than anything is tried.
const failedFor = 24 * time.Hour

// tidy does low-priority work while the bot is logged in.
func (a *Adapter) tidy(ctx context.Context) {
	a.empty.Store(true)
	began := time.Now()
	chores := []struct {
		every time.Duration
		work  func(context.Context)
		last  time.Time
	}{{time.Second, a.leaveEmpty, began}, {time.Second, a.unreadable, began}, {time.Second, a.cancelVerification, began}, {time.Second, a.tellMoves, began}, {5 * time.Minute, a.lookAgain, began}, {tellEvery, a.tellRooms, began}}
	for backoff.Sleep(ctx, time.Second) == nil {
		for k, chore := range chores {
			if a.device() != nil && time.Since(chore.last) >= chore.every {
				chores[k].last = time.Now()
				a.guarded("tidy", func() { chore.work(ctx) })
			}
		}
	}
}

// tellMoves tells the service in which rooms the bot is if it has come into one, or was sent
// away.
func (a *Adapter) tellMoves(ctx context.Context) {
	if a.movedRooms.Swap(false) {
		a.tellRooms(ctx)
	}
}

// lookAgain looks again at all that waits, in case something was missed, and deletes what
// is old.
func (a *Adapter) lookAgain(ctx context.Context) {
	a.keyCame("")
	a.wakeAll(ctx)
	a.empty.Store(true)
	if err := a.queue.forget(ctx, a.cfg.Now()); err != nil && ctx.Err() == nil {
		a.log.Warn("deleting old events failed, will retry", "error", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.failed, func(_ id.EventID, f failure) bool { return time.Since(f.since) > failedFor })
}

// aside does something that may take no longer than one request.
func (a *Adapter) aside(ctx context.Context, what string, work func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	a.guarded(what, func() { work(ctx) })
}

// unreadAgain is the least time between two messages to a person in a room that something
// could not be read.
const unreadAgain = 10 * time.Minute

// unreadable reports messages in their rooms whose keys have not come.
func (a *Adapter) unreadable(ctx context.Context) {
	now := a.cfg.Now()
	rows, err := a.queue.overdue(ctx, now.Add(-toldAfter))
	for _, r := range rows {
		if dev := a.device(); dev != nil && err == nil {
			err = a.reportUnread(ctx, dev, r, now)
		}
	}
	if err != nil && ctx.Err() == nil {
		a.log.Warn("reporting unreadable messages failed, will retry", "error", err)
	}
}

// reportUnread reports a message that cannot be read: once for each session of somebody's
// device, and seldom, for anybody can send as much as they like that nobody can read.
func (a *Adapter) reportUnread(ctx context.Context, dev *device.Device, r *row, now time.Time) error {
	session, _ := r.evt.Content.Raw["session_id"].(string)
	person := r.evt.Sender.String() + " " + r.room.String()
	key := person + " " + session
	told, err := a.queue.marked(ctx, "unread", key)
	if err != nil {
		return err
	}
	last, err := a.queue.marked(ctx, "unread", person)
	if err != nil {
		return err
	}
	ms, _ := strconv.ParseInt(last, 10, 64)
	if since := now.Sub(time.UnixMilli(ms)); since >= 0 && since < unreadAgain {
		told = last
	}
	if told == "" && r.broken == nil && a.room(r.room).joined {
		a.log.Warn("message cannot be decrypted: room key not received", "room", r.room, "event", r.event)
		if err := a.tell(ctx, dev, r, r.evt, threadRoot(r.evt), text.Adapters(wordUnread)); err != nil {
			return err
		}
		for k, v := range map[string]string{key: r.event.String(), person: strconv.FormatInt(now.UnixMilli(), 10)} {
			if err := a.queue.mark(ctx, "unread", k, v, now); err != nil {
				return err
			}
		}
	}
	return a.queue.told(ctx, r)
}

// When a receipt is sent and that the bot is typing: each makes every client in
// the room ask what is new, so that at once they would hold up the very board
// that they are about.
const (
	receiptAfter = 250 * time.Millisecond
	typingAfter  = 150 * time.Millisecond
)

// seen marks an event as read. Homeservers do not count that among the events that
// they limit.
func (a *Adapter) seen(e *event.Event) {
	at, asked := e.RoomID, e.ID
	a.soon(at, receiptAfter, func(ctx context.Context, dev *device.Device) { _ = dev.Client.MarkRead(ctx, at, asked) })
}

// typing shows that a board is being drawn, if that takes long, until done is called.
func (a *Adapter) typing(at id.RoomID) (done func() bool) {
	return a.soon(at, typingAfter, func(ctx context.Context, dev *device.Device) {
		_, _ = dev.Client.UserTyping(ctx, at, true, 3*time.Second)
	})
}

// soon does something in a room after a while, if the room takes messages.
func (a *Adapter) soon(at id.RoomID, after time.Duration, work func(context.Context, *device.Device)) (stop func() bool) {
	return time.AfterFunc(after, func() {
		if dev := a.device(); dev != nil && a.closedTo(at, event.EventMessage) == nil {
			a.aside(a.asking(), "courtesy", func(ctx context.Context) { work(ctx, dev) })
		}
	}).Stop
}
