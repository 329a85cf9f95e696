package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// concerns reports whether an event may be for the bot, and must be stored. An encrypted
// event may be anything.
func (a *Adapter) concerns(dev *device.Device, e *event.Event, commands []bot.Command, direct bool) bool {
	if e.Sender == dev.Client.UserID || e.ID == "" || len(e.Content.VeryRaw) > maxEvent || e.Unsigned.RedactedBecause != nil {
		return false
	}
	if asksToVerify(dev, e) {
		return true
	}
	if e.StateKey != nil {
		return e.Type.Type == event.StateTombstone.Type && *e.StateKey == ""
	}
	switch e.Type.Type {
	case event.EventEncrypted.Type:
		return dev.Crypto != nil
	case event.EventReaction.Type:
		_, _, ok := reaction(e)
		return ok
	case event.EventMessage.Type:
		m := messageOf(e)
		if m == nil || m.NewContent != nil { // the first version may be a command that still waits
			return m != nil && replaced(e) != ""
		}
		_, ok := a.parse(dev, e, m, commands, direct, m.RelatesTo.GetThreadParent() != "" || m.RelatesTo.GetReplyTo() != "")
		return ok
	}
	return false
}

// messageOf gives the content of what a person has said; nil if it is no text,
// or from a bot: those say notices.
func messageOf(e *event.Event) *event.MessageEventContent {
	e.Type.Class = event.MessageEventType
	if e.Content.Parsed == nil {
		if err := e.Content.ParseRaw(event.EventMessage); err != nil {
			return nil
		}
	}
	m, ok := e.Content.Parsed.(*event.MessageEventContent)
	if !ok || m.MsgType != event.MsgText {
		return nil
	}
	return m
}

// reaction gives the event and the command of a reaction.
func reaction(e *event.Event) (to id.EventID, command string, ok bool) {
	relates, _ := e.Content.Raw["m.relates_to"].(map[string]any)
	if kind, _ := relates["rel_type"].(string); kind != string(event.RelAnnotation) {
		return "", "", false
	}
	target, _ := relates["event_id"].(string)
	key, _ := relates["key"].(string)
	command, ok = message.CommandOf(key)
	return id.EventID(target), command, ok && target != ""
}

// parse reads a message as a command. In a room where only one person listens
// it needs no mark, and a turn needs none in a thread.
func (a *Adapter) parse(dev *device.Device, e *event.Event, m *event.MessageEventContent, commands []bot.Command, direct, thread bool) (command.Parsed, bool) {
	t := command.Typed{Body: m.Body, Direct: direct, Thread: thread, Self: dev.Client.UserID, SelfName: "Halfpoint", Reply: m.RelatesTo.GetReplyTo() != ""}
	if m.Format == event.FormatHTML {
		t.Formatted = m.FormattedBody
	}
	if m.Mentions != nil {
		t.Mentions = m.Mentions.UserIDs
	}
	return command.Parse(commands, t)
}

// wake schedules the events of a room. Calls while they are pending have no effect.
func (a *Adapter) wake(at id.RoomID) {
	a.mu.Lock()
	asks := a.asks
	a.mu.Unlock()
	// If the queue is full, the room has its turn when all rooms are woken again.
	_ = asks.Once(at.String(), func() { a.work(a.asking(), at) })
}

// wakeAll schedules all rooms in which events wait.
func (a *Adapter) wakeAll(ctx context.Context) {
	rooms, err := a.queue.open(ctx)
	if err != nil && ctx.Err() == nil {
		a.log.Error("reading pending events failed, will retry", "error", err)
	}
	for _, at := range rooms {
		a.wake(at)
	}
}

// keyCame schedules the events that waited for the key of a session; an empty session means
// those that wait for any key.
func (a *Adapter) keyCame(session id.SessionID) {
	a.keys.Add(1)
	rooms, err := a.queue.keyCame(a.asking(), session)
	if err != nil {
		a.log.Error("reading events without keys failed, will retry", "error", err)
	}
	for _, at := range rooms {
		a.wake(at)
	}
}

func (a *Adapter) asking() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ctx
}

// work handles the events that wait in a room. While the homeserver is away or the bot
// logs in again, they wait for the homeserver's next answer, which wakes all rooms.
func (a *Adapter) work(ctx context.Context, at id.RoomID) {
	for ctx.Err() == nil && !a.out.Load() {
		dev := a.device()
		if dev == nil {
			return
		}
		r, err := a.queue.next(ctx, at)
		if err == nil && r == nil {
			return
		}
		again := time.Second
		if err == nil {
			again, err = a.processEvent(ctx, dev, r)
		}
		if err != nil { // later, so that others have their turn
			if ctx.Err() == nil {
				a.log.Warn("event processing failed, will retry", "room", at, "error", err, "again", again)
				time.AfterFunc(again, func() { a.wake(at) })
			}
			return
		}
	}
}

// How often an event is tried. What panics is tried three times; what was being
// dealt with when the program ended, more often, for it may have been another
// one's fault; and what fails while others succeed, for some minutes.
const (
	maxTries = 12
	aPanic   = 4
	aCrash   = 1
	maxFails = 12
	failFor  = time.Hour
)

// dealFor is how long an event may hold up the others.
const dealFor = 2 * time.Minute

// A failure counts how often an event, or something else with a key, failed in a row.
type failure struct {
	times int
	since time.Time
}

// errLater is the error of what is to be done only after a while.
type errLater struct{ wait time.Duration }

func (e errLater) Error() string { return "not before " + e.wait.String() }

// processEvent handles an event and stores the outcome. After an error the event is tried
// again, after that time.
func (a *Adapter) processEvent(ctx context.Context, dev *device.Device, r *row) (again time.Duration, err error) {
	if r.broken != nil || r.tries >= maxTries {
		return time.Second, a.setAside(ctx, r, r.broken)
	}
	left := r.n <= a.leftover
	if left { // the program may have ended over it, and may do so again
		a.fails(r.event, 0)
		if err := a.queue.trying(ctx, r, r.tries+aCrash); err != nil {
			return time.Second, err
		}
	}
	keys := a.keys.Load()
	limited, cancel := context.WithTimeout(ctx, dealFor)
	defer cancel()
	var state, session string
	ok := a.guarded(r.event.String(), func() { state, session, err = a.deal(limited, dev, r) })
	switch {
	case !ok: // it has panicked
		return time.Second, a.queue.trying(ctx, r, r.tries+aPanic)
	case err != nil:
		if left {
			if err := a.queue.trying(context.WithoutCancel(ctx), r, r.tries-aCrash); err != nil {
				return time.Second, err
			}
		}
		f := a.fails(r.event, 1)
		if a.hopeless(r, f, err) {
			return time.Second, a.setAside(ctx, r, err)
		}
		return pauseAfter(err, f.times), err
	}
	if err := a.queue.settle(ctx, r, state, session); err != nil {
		a.fails(r.event, 1)
		return time.Second, err
	}
	a.mu.Lock()
	delete(a.failed, r.event)
	a.done = time.Now()
	a.mu.Unlock()
	if state == keyless && a.keys.Load() != keys {
		a.keyCame(id.SessionID(session)) // it came meanwhile
	}
	return 0, nil
}

// setAside gives up an event that cannot be handled, and keeps it for the operator.
func (a *Adapter) setAside(ctx context.Context, r *row, err error) error {
	a.log.Error("event processing failed, gave up", "event", r.event, "room", r.room, "tries", r.tries, "error", err)
	if err := a.queue.settle(ctx, r, poison, ""); err != nil {
		return err
	}
	a.works(r.event)
	return nil
}

// hopeless reports whether an event fails so often, while others do not, that it
// is to hold them up no longer.
func (a *Adapter) hopeless(r *row, f failure, err error) bool {
	if f.times <= maxFails || tooSoon(err) > 0 {
		return false
	}
	switch {
	case !unreachable(err) && !inFront(err):
		return a.doneSince(f.since)
	case !errors.As(err, new(mautrix.HTTPError)): // it is not the homeserver that fails
		return false
	}
	// The homeserver fails, and yet tells what is new: it is this alone that it
	// cannot do. What is missing of a room, and the way into one, is worth more
	// patience than what somebody has said.
	switch r.evt.Type.Type {
	case gap.Type, invitation.Type, event.StateTombstone.Type:
		return time.Since(f.since) > failFor && a.readSince(f.since.Add(failFor))
	}
	return a.readSince(f.since)
}

// fails counts that an event has failed.
func (a *Adapter) fails(e id.EventID, times int) failure {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.failed[e]
	if f.since.IsZero() {
		f.since = time.Now()
	}
	f.times += times
	a.failed[e] = f
	return f
}

// waitsSince returns since when something is waited for: since the first call, until works.
func (a *Adapter) waitsSince(key id.EventID) time.Time { return a.fails(key, 0).since }

// works forgets the failures of an event.
func (a *Adapter) works(e id.EventID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.failed, e)
}

// hasFailed reports whether an event may have been handled before, in part.
func (a *Adapter) hasFailed(e id.EventID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.failed[e]
	return ok
}

// doneSince reports whether another event was handled since then.
func (a *Adapter) doneSince(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done.After(t)
}

// readSince reports whether the homeserver has answered the sync loop since then.
func (a *Adapter) readSince(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.read.After(t)
}

// tooSoon returns how long an error asks to wait; 0: it does not ask.
func tooSoon(err error) time.Duration {
	var later errLater
	if errors.As(err, &later) {
		return later.wait
	}
	return retry.After(err)
}

// pauseAfter returns how long to wait after an error that has come so many times.
func pauseAfter(err error, times int) time.Duration {
	return cmp.Or(tooSoon(err), backoff.After(max(times, 1), time.Second, 32*time.Second))
}

// deal handles an event, and returns the outcome and the session whose key is missing.
func (a *Adapter) deal(ctx context.Context, dev *device.Device, r *row) (state, session string, err error) {
	e := r.evt
	if e.Type.Type == event.EventEncrypted.Type {
		if e, state, session, err = a.decrypt(ctx, dev, r); state != "" || err != nil {
			return state, session, err
		}
	}
	if asksToVerify(dev, e) {
		a.askedToVerify(e)
		return ignored, "", nil
	}
	state = ignored
	switch e.Type.Type {
	case gap.Type:
		err = a.fill(ctx, dev, r)
	case invitation.Type:
		state, err = accepted, a.join(ctx, dev, r)
	case goneBack.Type:
		err = a.tellRestored(ctx, r)
	case writable.Type:
		err = a.opens(ctx, r.room)
	case secretRoom.Type:
		err = a.reportEncrypted(ctx, a.room(r.room).known)
	case event.StateTombstone.Type:
		state, err = accepted, a.follow(ctx, dev, e)
	case event.EventReaction.Type:
		state, err = a.reacted(ctx, dev, r, e)
	case event.EventMessage.Type, inClear.Type:
		state, err = a.said(ctx, dev, r, e)
	}
	return state, "", err
}

// decrypt returns what an encrypted event holds, or the outcome if that cannot be handled now.
func (a *Adapter) decrypt(ctx context.Context, dev *device.Device, r *row) (clear *event.Event, state, session string, err error) {
	if dev.Crypto == nil {
		return nil, ignored, "", nil
	}
	r.evt.Type = event.EventEncrypted
	clear, err = dev.Crypto.Decrypt(ctx, r.evt)
	var missing e2ee.ErrNoKey
	switch {
	case errors.As(err, &missing) && idOf(missing.Session) == "": // nobody has such a session
		return nil, ignored, "", nil
	case errors.As(err, &missing):
		if r.tries <= aCrash { // not if that has panicked
			if err := dev.Crypto.AskForKey(ctx, r.evt); err != nil {
				a.log.Warn("room key not requested", "room", r.room, "error", err)
			}
		}
		return nil, keyless, missing.Session.String(), nil
	case errors.As(err, new(e2ee.ErrUnreadable)):
		a.log.Warn("event cannot be decrypted, ignored", "event", r.event, "room", r.room, "error", err)
		return nil, ignored, "", nil
	case err != nil:
		return nil, "", "", fmt.Errorf("decrypt: %w", err)
	case clear.Type.Type != event.EventMessage.Type && clear.Type.Type != event.EventReaction.Type:
		return nil, ignored, "", nil // anybody can encrypt anything; state is never encrypted
	}
	clear.RoomID, clear.ID, clear.Sender, clear.Timestamp, clear.StateKey = r.room, r.event, r.evt.Sender, r.evt.Timestamp, nil
	return clear, "", "", nil
}

// typed is what somebody has typed, read as a command.
type typed struct {
	command.Parsed
	root, reply id.EventID // the thread, and the message that it replies to
	edits       id.EventID // the message that it changes; empty: none
}

// said handles a message.
func (a *Adapter) said(ctx context.Context, dev *device.Device, r *row, e *event.Event) (state string, err error) {
	p, state, err := a.readCommand(ctx, dev, r, e)
	if state != "" || err != nil {
		return state, err
	}
	under := p.root
	if under == "" && p.reply != "" && !a.room(e.RoomID).direct() { // it is about the game of the message that it replies to
		if under, err = a.gameThread(ctx, dev, e.RoomID, p.reply); err != nil {
			return "", err
		}
	}
	q, err := a.request(ctx, dev, r, e, under, p.root)
	if err != nil {
		return "", err
	}
	q.Command, q.Args = p.Command, p.Args
	service, _ := a.theService()
	if p.Bare != "" { // chat, unless it is a turn
		ok := false
		if q, ok, _, err = service.Bare(ctx, q, p.Bare); err != nil || !ok {
			return ignored, err
		}
	}
	if told, err := a.tooMuch(ctx, dev, r, e, p.root); told || err != nil {
		return refused, err
	}
	if p.Problem != "" {
		return refused, a.tell(ctx, dev, r, e, p.root, wrong(p.Parsed))
	}
	q.Users = map[string]outbox.User{}
	for option, user := range p.Users {
		q.Users[option] = a.who(ctx, dev, e.RoomID, user)
	}
	if q.Forgets() { // first: the bot empties the write-ahead log of both
		if err := a.queue.erase(ctx, e.Sender); err != nil {
			return "", err
		}
	}
	if state, err = a.ask(ctx, service, e, q); err != nil {
		return "", err
	}
	if p.edits != "" && state == accepted { // so that the next edit changes nothing
		if err := a.queue.mark(ctx, "edited", p.edits.String(), e.ID.String(), a.cfg.Now()); err != nil {
			return "", err
		}
	}
	return state, nil
}

// readCommand reads a message as a command, or returns the outcome if there is nothing to do.
// A message that was not encrypted though its room was edits no other, and its command is a
// problem.
func (a *Adapter) readCommand(ctx context.Context, dev *device.Device, r *row, e *event.Event) (t typed, state string, err error) {
	_, commands := a.theService()
	exposed := e.Type.Type == inClear.Type
	e.Type = event.EventMessage
	m := messageOf(e)
	if m == nil {
		return t, ignored, nil
	}
	if err := a.origin(ctx, dev, e.RoomID); err != nil {
		return t, "", err
	}
	direct := a.room(e.RoomID).direct()
	t.root, t.reply, t.edits = m.RelatesTo.GetThreadParent(), m.RelatesTo.GetReplyTo(), m.RelatesTo.GetReplaceID()
	if !a.hasFailed(r.event) { // which may have been done already
		if changed, err := a.queue.changed(ctx, r, cmp.Or(t.edits, r.event)); err != nil || changed {
			return t, ignored, err
		}
	}
	switch {
	case exposed && m.NewContent != nil:
		t.edits, m = "", m.NewContent
	case t.edits != "" && m.NewContent == nil:
		return t, ignored, nil
	case t.edits != "":
		m = m.NewContent
		if _, ok := a.parse(dev, e, m, commands, direct, true); !ok { // in a thread or not
			// An event that still waits for its key is not handled in its first version.
			return t, ignored, a.queue.takeBack(ctx, []redaction{{t.edits, e.Sender, false}})
		}
		if state, err = a.edited(ctx, dev, r, e, &t); state != "" || err != nil {
			return t, state, err
		}
	}
	var ok bool
	if t.Parsed, ok = a.parse(dev, e, m, commands, direct, t.root != "" || t.reply != ""); !ok {
		return t, ignored, nil
	}
	if exposed {
		t.Parsed = command.Parsed{Bare: t.Bare, Problem: wordInClear}
	}
	return t, "", nil
}

// edited sets the thread of an edited message and the message to which it replies, or returns
// the outcome. An edit of a command that succeeded changes nothing; one that was refused is
// asked again.
func (a *Adapter) edited(ctx context.Context, dev *device.Device, r *row, e *event.Event, t *typed) (state string, err error) {
	target, err := a.event(ctx, dev, e.RoomID, t.edits)
	if err != nil && !refusedBy(err) {
		return "", err
	}
	if err != nil || target.Sender != e.Sender || target.Unsigned.RedactedBecause != nil {
		return ignored, nil // nobody can edit what others have said, or what is no longer there
	}
	t.root, t.reply = threadRoot(target), replyTo(target)
	was, err := a.queue.state(ctx, t.edits)
	if err != nil {
		return "", err
	}
	done, err := a.queue.marked(ctx, "edited", t.edits.String())
	if err != nil {
		return "", err
	}
	if was == accepted || done != "" && done != e.ID.String() {
		return refused, a.tell(ctx, dev, r, e, t.root, text.Adapters(wordEdited))
	}
	return "", a.queue.takeBack(ctx, []redaction{{t.edits, e.Sender, false}})
}

// reacted handles a reaction: it is the command of its emoji, in the game in whose thread the
// message is, or whose root it is.
func (a *Adapter) reacted(ctx context.Context, dev *device.Device, r *row, e *event.Event) (state string, err error) {
	to, command, ok := reaction(e)
	if !ok {
		return ignored, nil
	}
	target, err := a.event(ctx, dev, e.RoomID, to)
	if refusedBy(err) {
		return ignored, nil
	} else if err != nil {
		return "", err
	}
	if target.Sender != dev.Client.UserID {
		return ignored, nil // people react to each other
	}
	root := threadRoot(target)
	if root == "" && target.Type.Type != event.EventReaction.Type {
		root = to
	}
	if told, err := a.tooMuch(ctx, dev, r, e, root); told || err != nil {
		return refused, err
	}
	if sealed, err := dev.State.IsEncrypted(ctx, e.RoomID); err != nil {
		return "", err
	} else if sealed && message.MustBeTyped(command) {
		return refused, a.tell(ctx, dev, r, e, root, text.Adapters(wordTyped, message.Typed(command)))
	}
	service, _ := a.theService()
	q, err := a.request(ctx, dev, r, e, root, root)
	if err != nil {
		return "", err
	}
	said, err := a.opened(ctx, dev, e.RoomID, target)
	if err != nil {
		return "", err
	}
	q.Command, q.Args = command, meant(said, command)
	return a.ask(ctx, service, e, q)
}

// event fetches an event of a room.
func (a *Adapter) event(ctx context.Context, dev *device.Device, at id.RoomID, what id.EventID) (*event.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	return dev.Client.GetEvent(ctx, at, what)
}

// threadRoot gives the thread of an event of which the content need not be
// decrypted: relations are in the clear.
func threadRoot(e *event.Event) id.EventID {
	relates, _ := e.Content.Raw["m.relates_to"].(map[string]any)
	if kind, _ := relates["rel_type"].(string); kind != string(event.RelThread) {
		return ""
	}
	root, _ := relates["event_id"].(string)
	return id.EventID(root)
}

// replyTo returns the message to which an event outside of threads replies; empty: none.
func replyTo(e *event.Event) id.EventID {
	relates, _ := e.Content.Raw["m.relates_to"].(map[string]any)
	reply, _ := relates["m.in_reply_to"].(map[string]any)
	to, _ := reply["event_id"].(string)
	return id.EventID(to)
}

// gameThread returns the thread in which a message is, or which it may begin because the
// bot has sent it; empty: none.
func (a *Adapter) gameThread(ctx context.Context, dev *device.Device, at id.RoomID, message id.EventID) (id.EventID, error) {
	e, err := a.event(ctx, dev, at, message)
	if refusedBy(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("get the message that was replied to: %w", err)
	}
	root := threadRoot(e)
	if root == "" && e.Sender == dev.Client.UserID {
		root = message
	}
	return root, nil
}

// tooMuch reports whether somebody asks too much, and tells them once. What was
// said while the bot was away comes all at once, and nobody is to blame; and
// what was let through before is not stopped at a second try.
func (a *Adapter) tooMuch(ctx context.Context, dev *device.Device, r *row, e *event.Event, root id.EventID) (bool, error) {
	if !r.live || a.hasFailed(r.event) {
		return false, nil
	}
	switch a.allows(e.Sender, e.RoomID) {
	case intake.TooMuch:
		return true, a.tell(ctx, dev, r, e, root, text.Adapters(wordTooMuch))
	case intake.Ignored:
		return true, nil
	}
	return false, nil
}

// allows counts one more thing that is asked.
func (a *Adapter) allows(who id.UserID, in id.RoomID) intake.Verdict {
	v := a.personLimit.Take(who.String(), a.cfg.Now())
	if v == intake.Fine && a.roomLimit != nil {
		v = a.roomLimit.Take(in.String(), a.cfg.Now())
	}
	return v
}

// request begins a request that an event makes in the thread of a game, and that is answered
// in the thread of root. It has no time: that of an event is what the sender's server claims.
func (a *Adapter) request(ctx context.Context, dev *device.Device, r *row, e *event.Event, under, root id.EventID) (bot.Request, error) {
	at := a.room(e.RoomID)
	q := bot.Request{
		ID: Name + ":" + e.ID.String(), Who: a.who(ctx, dev, e.RoomID, e.Sender),
		Where:     match.Room{Platform: Name, Channel: at.known.String()},
		Server:    at.known.String(),
		Moderator: a.moderator(ctx, dev, e.RoomID, e.Sender),
		Direct:    at.direct(),
		Reply:     a.route(r, e, root),
	}
	if under == "" {
		return q, nil
	}
	if wait, err := a.untilRoot(ctx, dev, e, under); err != nil {
		return q, err
	} else if wait > 0 {
		return q, errLater{wait}
	}
	q.Under = receipt(e.RoomID, under)
	first, err := a.queue.marked(ctx, "root", q.Under)
	if first != "" {
		q.Under = first
	}
	return q, err
}

// ask asks, and returns the outcome of the event. The homeserver may
// have been found to be away since the event had its turn: then it waits, too.
func (a *Adapter) ask(ctx context.Context, service bot.Service, e *event.Event, r bot.Request) (state string, err error) {
	if a.out.Load() {
		return "", errLater{time.Second}
	}
	answer, err := service.Ask(ctx, r)
	if err != nil {
		return "", fmt.Errorf("handle request: %w", err)
	}
	if !answer.Public {
		return refused, nil // or a question: either may be put better
	}
	a.seen(e)
	return accepted, nil
}

// tell answers an event with a text of the adapter.
func (a *Adapter) tell(ctx context.Context, dev *device.Device, r *row, e *event.Event, root id.EventID, t bot.Text) error {
	q, err := a.request(ctx, dev, r, e, root, root)
	if err != nil {
		return err
	}
	service, _ := a.theService()
	if err := service.Tell(ctx, q, t); err != nil {
		return fmt.Errorf("store a text for a person: %w", err)
	}
	return nil
}

// receipt is the id of a message for the bot.
func receipt(at id.RoomID, e id.EventID) string { return at.String() + "/" + e.String() }

func readReceipt(s string) (at id.RoomID, e id.EventID) {
	room, event, ok := strings.Cut(s, "/$")
	if !ok {
		return "", ""
	}
	return id.RoomID(room), id.EventID("$" + event)
}
