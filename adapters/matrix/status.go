package matrix

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/render"
)

// This file is what can wait: the root of a game's thread, which shows how the
// game stands; the reactions that can be pressed; receipts, and that the bot is
// typing. None of it holds a board up.

// A root is the first message of a game, which is to show how the game stands.
// Until it does this is kept on disk: who plays is not, for it is looked up when
// it is shown.
type root struct {
	Room     id.RoomID
	Event    id.EventID
	Game     bot.GameID
	Number   int
	Seq      int
	Controls []bot.Control
	Notice   id.EventID `json:",omitempty"` // what it is to say, if it is not how the game stands
	Lang     string     // of the room, when the board was shown

	due    time.Time // of the next edit; zero: there is none
	edited time.Time
	again  bool // it may have been edited so, without the bot's hearing of it
}

type roots struct {
	mu sync.Mutex
	m  map[id.EventID]*root
}

// What can wait is dropped when so much of it waits, and a reaction that could not
// be put is tried again after a while.
const (
	maxLater = 2000
	putAgain = 30 * time.Second
)

// spare knows whether the homeserver has room for what can wait.
type spare struct {
	mu      sync.Mutex
	limited time.Time   // when it last said that it was too much
	until   time.Time   // and before when nothing that can wait is to be sent
	recent  []time.Time // what was sent in the last minute
	later   chan func(context.Context)
	unput   time.Time // when reactions are to be put that are on disk; zero: there are none
}

// A homeserver that has said that it was too much is asked for no more than so
// many events a minute of the kind that can wait, boards included: by default
// homeservers allow twelve.
const (
	carefulFor = 10 * time.Minute
	careful    = 6
)

func (s *spare) sent(now time.Time, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait > 0 {
		s.limited, s.until = now, now.Add(wait)
		return
	}
	for len(s.recent) > 0 && now.Sub(s.recent[0]) > time.Minute {
		s.recent = s.recent[1:]
	}
	if len(s.recent) < 100 {
		s.recent = append(s.recent, now)
	}
}

// ok reports whether something that can wait may be sent.
func (s *spare) ok(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.until) {
		return false
	}
	if s.limited.IsZero() || now.Sub(s.limited) > carefulFor {
		return true
	}
	n := 0
	for _, t := range s.recent {
		if now.Sub(t) <= time.Minute {
			n++
		}
	}
	return n < careful
}

func (s *spare) queue() chan func(context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.later == nil {
		s.later = make(chan func(context.Context), maxLater)
	}
	return s.later
}

// putLater takes note that reactions are on disk that are to be put at a time.
func (s *spare) putLater(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unput.IsZero() || at.Before(s.unput) {
		s.unput = at
	}
}

// putNow reports once whether there are any.
func (s *spare) putNow(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unput.IsZero() || now.Before(s.unput) {
		return false
	}
	s.unput = time.Time{}
	return true
}

// later has something done that can wait. It reports false if so much waits that
// it is dropped.
func (a *Adapter) later(work func(context.Context)) bool {
	select {
	case a.spare.queue() <- work:
		return true
	default:
		return false
	}
}

// manners does what can wait, a piece at a time.
func (a *Adapter) manners(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case work := <-a.spare.queue():
			func() {
				defer func() {
					if v := recover(); v != nil {
						a.log.Error("panic", "value", v)
					}
				}()
				limited, cancel := context.WithTimeout(ctx, sendFor)
				defer cancel()
				work(limited)
			}()
		}
	}
}

// tidy edits roots that are due, tells of messages that cannot be read, and
// forgets what is old.
func (a *Adapter) tidy(ctx context.Context) {
	tick := time.NewTicker(min(time.Second, a.cfg.Edit/4+time.Millisecond, a.cfg.Told/4+time.Millisecond))
	defer tick.Stop()
	again := a.cfg.Now()
	restored := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := a.cfg.Now()
		if a.device() == nil {
			continue
		}
		if !restored {
			restored = a.restoreRoots(ctx)
			a.spare.putLater(now)
			a.leaveEmpty()
		}
		if a.spare.ok(now) && a.spare.putNow(now) {
			a.putAll(ctx)
		}
		if !a.out.Load() {
			a.keepDue(now)
		}
		a.editDue(now)
		a.unreadable(ctx, now)
		if now.Sub(again) > 5*time.Minute {
			again = now
			a.keyCame("")
			a.wakeAll(ctx)
			a.leaveEmpty()
			if err := a.queue.forget(ctx, now); err != nil && ctx.Err() == nil {
				a.log.Warn("old events were not forgotten", "error", err)
			}
		}
	}
}

// unreadAgain is how long after one was told that something could not be read
// they are told so in the same room again.
const unreadAgain = 10 * time.Minute

// unreadable tells in the room that something could not be read: once for each
// session of somebody's device, and seldom, for anybody can send what nobody can
// read, as much as they like.
func (a *Adapter) unreadable(ctx context.Context, now time.Time) {
	rows, err := a.queue.overdue(ctx, now.Add(-a.cfg.Told))
	if err != nil && ctx.Err() == nil {
		a.log.Warn("what cannot be read was not looked up", "error", err)
	}
	for _, r := range rows {
		dev := a.device()
		if dev == nil || !a.spare.ok(a.cfg.Now()) {
			return
		}
		err := a.tellUnread(ctx, dev, r, now)
		if err == nil {
			continue
		}
		if ctx.Err() == nil {
			a.log.Info("that a message cannot be read was not told", "room", r.room, "error", err)
		}
		if !a.hopeless(r, a.fails("unread "+r.event, 1), err) || a.queue.told(ctx, r) != nil {
			return
		}
		a.works("unread " + r.event)
	}
}

// tellUnread tells of one event, unless enough was told.
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
		a.log.Warn("a message cannot be read: its key has not come", "room", r.room, "event", r.event)
		m := message.Text(message.Content{Text: a.says(r.room, wordUnread).Text})
		message.InThread(m, threadRoot(r.evt), "", r.event)
		if _, err := a.send(ctx, dev, r.room, m, "unread "+r.event.String()); err != nil && !refusedBy(err) {
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

// shown takes note of a post that was shown: its controls become reactions, and
// a board changes the root of its thread.
func (a *Adapter) shown(ctx context.Context, at id.RoomID, in id.EventID, sent id.EventID, p bot.Post) {
	if closes(p) {
		a.closed(ctx, at, in, sent, p)
		return
	}
	if p.Kind != bot.Show || in == "" { // without a thread each board has its own
		a.press(ctx, at, sent, p.Controls)
		return
	}
	a.press(ctx, at, in, p.Controls)
	a.changes(ctx, root{Room: at, Event: in, Game: p.Game, Number: p.Number, Seq: p.Seq, Controls: p.Controls, Lang: p.Lang, again: p.Attempt > 1})
}

// changes has a root edited, also if the program ends before.
func (a *Adapter) changes(ctx context.Context, r root) {
	a.root.mu.Lock()
	was := a.root.m[r.Event]
	old := was != nil && was.Seq > r.Seq
	a.root.mu.Unlock()
	if old {
		return
	}
	// First on disk, from where it goes once the root is edited.
	if err := a.queue.mark(ctx, "status", r.Event.String(), r.body(), a.cfg.Now()); err != nil && ctx.Err() == nil {
		a.log.Warn("how a game stands was not written down", "error", err)
	}
	a.due(r)
}

// body is a root as it is on disk.
func (r root) body() string {
	body, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(body)
}

// due has a root edited, as soon as it may be, unless it shows something newer.
func (a *Adapter) due(r root) {
	a.root.mu.Lock()
	defer a.root.mu.Unlock()
	if a.root.m == nil {
		a.root.m = map[id.EventID]*root{}
	}
	was := a.root.m[r.Event]
	if was == nil {
		was = &root{}
		a.root.m[r.Event] = was
	}
	if was.Seq > r.Seq {
		return
	}
	r.again = r.again || was.again && was.Seq == r.Seq
	r.edited, r.due = was.edited, was.due
	if r.due.IsZero() {
		if r.due = r.edited.Add(a.cfg.Edit); r.due.Before(a.cfg.Now()) {
			r.due = a.cfg.Now()
		}
	}
	*was = r
}

// restoreRoots finds the roots that were not edited any more before the bot was
// stopped. It reports false if they could not be looked up.
func (a *Adapter) restoreRoots(ctx context.Context) bool {
	marks, err := a.queue.marksOf(ctx, "status")
	if err != nil {
		a.log.Warn("how games stand was not looked up", "error", err)
		return false
	}
	for _, body := range marks {
		var r root
		if json.Unmarshal([]byte(body), &r) == nil && r.Event != "" {
			r.again = true
			a.due(r)
		}
	}
	return true
}

// editDue edits the roots that are due, and forgets those of games in which
// nothing happens.
func (a *Adapter) editDue(now time.Time) {
	a.root.mu.Lock()
	defer a.root.mu.Unlock()
	for key, r := range a.root.m {
		switch {
		case r.due.IsZero() && now.Sub(r.edited) > 2*a.cfg.Edit:
			delete(a.root.m, key)
		case !r.due.IsZero() && !now.Before(r.due) && a.spare.ok(now):
			edit := *r
			if a.later(func(ctx context.Context) { a.editRoot(ctx, edit) }) {
				r.due, r.edited = time.Time{}, now
			}
		}
	}
}

func (a *Adapter) editRoot(ctx context.Context, r root) {
	dev := a.device()
	if dev == nil { // until it has logged in anew
		a.due(r)
		return
	}
	m, err := a.rootText(ctx, dev, r)
	if err == nil {
		_, err = a.sendOnce(ctx, dev, r.Room, message.Edit(m, r.Event), fmt.Sprintf("root %s %d", r.Event, r.Seq), r.again)
	}
	if err == nil && r.Notice != "" {
		err = a.unpress(ctx, dev, r.Room, r.Event)
	}
	if err != nil && !refusedBy(err) {
		if ctx.Err() == nil {
			a.log.Info("the root of a game was not edited", "room", r.Room, "error", err)
		}
		r.again = true
		a.due(r)
		return
	}
	if err := a.queue.unmarkIf(ctx, "status", r.Event.String(), r.body()); err != nil && ctx.Err() == nil {
		a.log.Warn("how a game stands stays written down", "error", err)
	}
}

// status says how a game stands: who plays, what was done last, who is next, the
// count.
func status(r root, s render.Scene) string {
	lines := append([]string{bot.Translated(r.Lang, wordStatus, strconv.Itoa(r.Number), s.Ruleset)}, bot.HowItStands(s)...)
	return strings.Join(lines, "\n")
}

// press puts the reactions on a message that stand for controls, each once for
// all time. Those that are still to be put are on disk, with their order.
func (a *Adapter) press(ctx context.Context, at id.RoomID, on id.EventID, controls []bot.Control) {
	for i, c := range controls {
		emoji, ok := message.Reaction(c)
		if !ok {
			continue
		}
		key := receipt(at, on) + " " + emoji
		if there, err := a.queue.marked(ctx, "reaction", key); err == nil && there != "" {
			continue
		}
		if err := a.queue.mark(ctx, "press", key, fmt.Sprintf("%015d %02d", a.cfg.Now().UnixMilli(), i), a.cfg.Now()); err != nil && ctx.Err() == nil {
			a.log.Warn("a reaction was not written down", "error", err)
		}
		if !a.later(func(ctx context.Context) { a.put(ctx, key, false) }) {
			a.spare.putLater(a.cfg.Now())
		}
	}
}

// putAll puts the reactions that are on disk: they could not be put before, or
// not any more before the bot was stopped.
func (a *Adapter) putAll(ctx context.Context) {
	marks, err := a.queue.marksOf(ctx, "press")
	if err != nil {
		a.spare.putLater(a.cfg.Now().Add(putAgain))
		a.log.Warn("reactions were not looked up", "error", err)
		return
	}
	for _, key := range slices.SortedFunc(maps.Keys(marks), inTurn(marks)) {
		if !a.later(func(ctx context.Context) { a.put(ctx, key, true) }) {
			a.spare.putLater(a.cfg.Now())
			return
		}
	}
}

// inTurn compares the keys of marks by the order in which they are to be put.
func inTurn(marks map[string]string) func(x, y string) int {
	return func(x, y string) int { return strings.Compare(marks[x]+x, marks[y]+y) }
}

// firstToPut gives the key of the reaction that is the next to be put on a message.
func (a *Adapter) firstToPut(ctx context.Context, message string) (string, error) {
	marks, err := a.queue.marksOf(ctx, "press")
	if err != nil {
		return "", err
	}
	maps.DeleteFunc(marks, func(key, _ string) bool { return !strings.HasPrefix(key, message+" ") })
	if len(marks) == 0 {
		return "", nil
	}
	return slices.MinFunc(slices.Collect(maps.Keys(marks)), inTurn(marks)), nil
}

// put puts a reaction on a message, by the key of its mark, if it is still to be
// put. Again means that it may be there. If it cannot be put now, or another of the
// message has its turn before, all that are on disk are put later, in their order.
func (a *Adapter) put(ctx context.Context, key string, again bool) {
	dev := a.device()
	message, emoji, _ := strings.Cut(key, " ")
	at, on := readReceipt(message)
	if wanted, err := a.queue.marked(ctx, "press", key); err == nil && wanted == "" {
		return
	} else if err != nil || dev == nil || !a.spare.ok(a.cfg.Now()) {
		a.spare.putLater(a.cfg.Now().Add(time.Second))
		return
	}
	done, err := a.queue.marked(ctx, "reaction", key)
	var first string
	if err == nil && !again {
		first, err = a.firstToPut(ctx, message)
	}
	if err != nil || first != "" && first != key {
		a.spare.putLater(a.cfg.Now().Add(time.Second))
		return
	}
	there := done != ""
	if again && !there { // the homeserver may not have finished with the first when it is asked once more
		own, err := pressed(ctx, dev, at, on)
		if err != nil && !refusedBy(err) {
			a.spare.putLater(a.cfg.Now().Add(max(retryAfter(err), putAgain)))
			return
		}
		there = slices.ContainsFunc(own, func(e *event.Event) bool {
			relates, _ := e.Content.Raw["m.relates_to"].(map[string]any)
			return relates["key"] == emoji
		})
	}
	if !there {
		c := &event.ReactionEventContent{RelatesTo: event.RelatesTo{Type: event.RelAnnotation, EventID: on, Key: emoji}}
		_, err := dev.Client.SendMessageEvent(ctx, at, event.EventReaction, c, mautrix.ReqSendEvent{TransactionID: transaction("reaction " + key), DontEncrypt: true})
		wait := retryAfter(err)
		a.spare.sent(a.cfg.Now(), wait)
		if err != nil && !refusedBy(err) { // as what is there already is
			if wait == 0 {
				wait = putAgain
			}
			a.spare.putLater(a.cfg.Now().Add(wait))
			return
		}
	}
	err = a.queue.mark(ctx, "reaction", key, "there", a.cfg.Now())
	if err == nil {
		err = a.queue.unmark(ctx, "press", key)
	}
	if err != nil && ctx.Err() == nil {
		a.log.Warn("a reaction was not written down", "error", err)
	}
}

// When a receipt is sent and that the bot is typing: each makes every client in
// the room ask what is new, so that at once they would hold up the very board
// that they are about.
const (
	receiptAfter = 250 * time.Millisecond
	typingAfter  = 150 * time.Millisecond
)

// seen marks what was asked as read.
func (a *Adapter) seen(e *event.Event) {
	at, asked := e.RoomID, e.ID
	time.AfterFunc(receiptAfter, func() {
		a.later(func(ctx context.Context) {
			if dev := a.device(); dev != nil {
				_ = dev.Client.MarkRead(ctx, at, asked)
			}
		})
	})
}

// typing shows that a board is being drawn, if that takes long.
func (a *Adapter) typing(at id.RoomID) (done func() bool) {
	return time.AfterFunc(typingAfter, func() {
		a.later(func(ctx context.Context) {
			if dev := a.device(); dev != nil && a.spare.ok(a.cfg.Now()) {
				_, _ = dev.Client.UserTyping(ctx, at, true, 3*time.Second)
			}
		})
	}).Stop
}
