package matrix

import (
	"context"
	"strconv"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
)

// This file is what the adapter does beside its answers and the bot's posts:
// housekeeping, read receipts, and showing that the bot is typing.

// tidy leaves rooms in which nobody else is, says which messages cannot be read, cancels
// verifications, and forgets what is old.
func (a *Adapter) tidy(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	a.empty.Store(true)
	again := a.cfg.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := a.cfg.Now()
		dev := a.device()
		if dev == nil {
			continue
		}
		if a.empty.Swap(false) {
			a.leaveEmpty(ctx)
		}
		a.unreadable(ctx, now)
		a.aside(ctx, "verification", func(ctx context.Context) { a.cancelVerification(ctx, dev) })
		if now.Sub(again) > 5*time.Minute {
			again = now
			a.keyCame("")
			a.wakeAll(ctx)
			a.empty.Store(true)
			if err := a.queue.forget(ctx, now); err != nil && ctx.Err() == nil {
				a.log.Warn("deleting old events failed, will retry", "error", err)
			}
		}
	}
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

// unreadable tells in the room that something could not be read: once for each
// session of somebody's device, and seldom, for anybody can send what nobody can
// read, as much as they like.
func (a *Adapter) unreadable(ctx context.Context, now time.Time) {
	rows, err := a.queue.overdue(ctx, now.Add(-toldAfter))
	if err != nil && ctx.Err() == nil {
		a.log.Warn("reading the list of unreadable events failed, will retry", "error", err)
	}
	for _, r := range rows {
		dev := a.device()
		if dev == nil || a.pace.background(a.cfg.Now(), 1) > 0 {
			return
		}
		err := a.tellUnread(ctx, dev, r, now)
		if err == nil {
			continue
		}
		if ctx.Err() == nil {
			a.log.Info("notice of an unreadable message not sent, will retry", "room", r.room, "error", err)
		}
		if !a.hopeless(r, a.fails("unread "+r.event, 1), err) || a.queue.told(ctx, r) != nil {
			return
		}
		a.works("unread " + r.event)
	}
}

// tellUnread reports one unreadable event, unless the person had enough reports.
func (a *Adapter) tellUnread(ctx context.Context, dev *device.Device, r *row, now time.Time) error {
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
	if last != "" {
		ms, _ := strconv.ParseInt(last, 10, 64)
		if since := now.Sub(time.UnixMilli(ms)); since >= 0 && since < unreadAgain {
			told = last
		}
	}
	if told == "" && r.broken == nil && a.room(r.room).joined {
		a.log.Warn("message cannot be decrypted: room key not received", "room", r.room, "event", r.event)
		lang, err := a.language(ctx, r.evt)
		if err != nil {
			return err
		}
		m := message.Text(message.Content{Text: bot.Translated(lang, wordUnread), Lang: lang})
		message.InThread(m, threadRoot(r.evt), r.event)
		if _, err := a.send(ctx, dev, r.room, m, "unread "+r.event.String(), nil); err != nil && !refusedBy(err) {
			return err
		}
		for k, v := range map[string]string{key: r.event.String(), person: strconv.FormatInt(now.UnixMilli(), 10)} {
			if err := a.queue.mark(ctx, "unread", k, v, now); err != nil {
				return err
			}
		}
	}
	a.works("unread " + r.event)
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
// they limit; only one that has asked to wait is spared.
func (a *Adapter) seen(e *event.Event) {
	at, asked := e.RoomID, e.ID
	a.soon(at, receiptAfter, a.pace.wait, func(ctx context.Context, dev *device.Device) { _ = dev.Client.MarkRead(ctx, at, asked) })
}

// typing shows that a board is being drawn, if that takes long, until done is called.
func (a *Adapter) typing(at id.RoomID) (done func() bool) {
	return a.soon(at, typingAfter, func(now time.Time) time.Duration { return a.pace.background(now, 1) }, func(ctx context.Context, dev *device.Device) {
		_, _ = dev.Client.UserTyping(ctx, at, true, 3*time.Second)
	})
}

// soon does something in a room after a while, if there is nothing to wait for then, and
// the room takes messages.
func (a *Adapter) soon(at id.RoomID, after time.Duration, wait func(time.Time) time.Duration, work func(context.Context, *device.Device)) (stop func() bool) {
	return time.AfterFunc(after, func() {
		if dev := a.device(); dev != nil && wait(a.cfg.Now()) == 0 && a.closedTo(at, event.EventMessage) == nil {
			a.aside(a.asking(), "courtesy", func(ctx context.Context) { work(ctx, dev) })
		}
	}).Stop
}
