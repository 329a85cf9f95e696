package matrix

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// A room is what the adapter knows of one.
type room struct {
	id     id.RoomID
	known  id.RoomID  // by which the bot knows it: its own id, or that of the first room before upgrades
	last   id.EventID // the newest event that was seen
	people int        // joined members, the bot among them; 0: not known
	joined bool       // the bot is in it
}

// direct reports whether the bot is alone with one person.
func (r room) direct() bool { return r.people > 0 && r.people <= 2 }

// room returns what the adapter knows of a room.
func (a *Adapter) room(at id.RoomID) room {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.rooms[at]; r != nil {
		return *r
	}
	return room{id: at, known: at}
}

// roomCount returns how many rooms the bot is in.
func (a *Adapter) roomCount() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.rooms {
		if r.joined {
			n++
		}
	}
	return n
}

// current returns the room that continues the room with an id: its successor after
// upgrades.
func (a *Adapter) current(known id.RoomID) room {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := room{id: known, known: known}
	if r := a.rooms[known]; r != nil {
		found = *r
	}
	for _, r := range a.rooms {
		if r.known == known && r.id != known && r.joined {
			return *r
		}
	}
	return found
}

// learn takes over what was written down.
func (a *Adapter) learn(b batch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read = time.Now()
	for at, l := range b.last {
		r := a.rooms[at]
		if r == nil {
			r = &room{id: at, known: at}
			a.rooms[at] = r
		}
		if !r.joined {
			a.movedRooms.Store(true)
		}
		r.joined = true
		if l.event != "" {
			r.last = l.event
		}
		if l.people > 0 {
			r.people = l.people
		}
		if l.people == 1 {
			a.empty.Store(true)
		}
	}
	for at := range b.left {
		if r := a.rooms[at]; r != nil {
			r.joined, r.last = false, ""
			a.movedRooms.Store(true)
		}
	}
}

// leaveEmpty leaves the rooms in which the bot is alone, which it may not have
// been able to when everybody else went.
func (a *Adapter) leaveEmpty(ctx context.Context) {
	if !a.empty.Swap(false) {
		return
	}
	var empty []id.RoomID
	a.mu.Lock()
	for at, r := range a.rooms {
		if r.joined && r.people == 1 {
			empty = append(empty, at)
		}
	}
	a.mu.Unlock()
	for _, at := range empty {
		a.aside(ctx, "leave", func(ctx context.Context) { a.leaveAlone(ctx, at) })
	}
}

// leaveAlone leaves a room that everybody else has left. A room that the bot has just made for
// somebody, and to which it has not invited them yet, is none.
func (a *Adapter) leaveAlone(ctx context.Context, at id.RoomID) {
	dev := a.device()
	if dev == nil {
		return
	}
	members, err := a.membersOf(ctx, dev, at)
	if err != nil {
		return
	}
	gone := false
	for user, membership := range members {
		if user == dev.Client.UserID {
			continue
		}
		switch membership {
		case event.MembershipJoin, event.MembershipInvite, event.MembershipKnock:
			return
		case event.MembershipLeave, event.MembershipBan:
			gone = true
		}
	}
	if !gone {
		return
	}
	if _, err := dev.Client.LeaveRoom(ctx, at); err != nil {
		a.log.Warn("leaving an empty room failed, will retry", "room", at, "error", err)
		return
	}
	a.fresh.Delete(at)
	a.log.Info("left an empty room", "room", at)
}

// invitation is the type of the entry for an invitation in the queue.
var invitation = event.NewEventType("halfpoint.invitation")

// invited takes an invitation, if it may be accepted.
func (a *Adapter) invited(b *batch, dev *device.Device, at id.RoomID, state []*event.Event) {
	self := dev.Client.UserID.String()
	var by id.UserID
	direct := false
	for _, e := range state {
		if e.StateKey != nil && *e.StateKey == self && e.Type.Type == event.StateMember.Type {
			by = e.Sender
			direct, _ = e.Content.Raw["is_direct"].(bool)
		}
	}
	if !a.welcome(by, at) {
		a.log.Warn("invitation ignored: sender not in matrix.allow", "by", by, "room", at)
		refused := by.String()
		if direct {
			refused += " direct"
		}
		b.marks[[2]string{"uninvited", at.String()}] = refused
		return
	}
	a.accept(b, at, by, direct)
}

// invitedBefore takes the invitations that an earlier start has ignored and that may be
// accepted now: the homeserver tells of each only once.
func (a *Adapter) invitedBefore(ctx context.Context, b *batch) error {
	ignored, err := a.queue.uninvited(ctx)
	if err != nil {
		return fmt.Errorf("read ignored invitations: %w", err)
	}
	for at, refused := range ignored {
		by, kind, _ := strings.Cut(refused, " ")
		if !a.room(at).joined && !b.left[at] && a.welcome(id.UserID(by), at) {
			a.log.Info("invitation accepted that was ignored before", "by", by, "room", at)
			b.marks[[2]string{"uninvited", at.String()}] = ""
			a.accept(b, at, id.UserID(by), kind != "")
		}
	}
	return nil
}

// accept takes an invitation that may be accepted.
func (a *Adapter) accept(b *batch, at id.RoomID, by id.UserID, direct bool) {
	if direct && by != "" {
		b.marks[[2]string{"direct", by.String()}] = at.String()
	}
	b.events = append(b.events, &event.Event{Type: invitation, RoomID: at, Sender: by,
		ID:      id.EventID(fmt.Sprintf("invitation %s %s", at, b.token)),
		Content: event.Content{Raw: map[string]any{}, VeryRaw: json.RawMessage("{}")}})
}

// welcome reports whether somebody may bring the bot into a room.
func (a *Adapter) welcome(by id.UserID, at id.RoomID) bool {
	if len(a.cfg.Allow) == 0 {
		return true
	}
	return slices.ContainsFunc(a.cfg.Allow, func(who string) bool {
		return who == by.String() || who == at.String() || who == by.Homeserver()
	})
}

// join accepts an invitation.
func (a *Adapter) join(ctx context.Context, dev *device.Device, r *row) error {
	at, by := r.room, r.evt.Sender
	if wait := a.invites.wait(r.event, by, a.cfg.Now()); wait > 0 && !a.joining(at.String()) {
		if a.invites.tells(by, a.cfg.Now()) {
			a.tellInviter(ctx, dev, by, r, wordManyRooms)
		}
		return errLater{wait}
	}
	err := a.joinRoom(ctx, dev, at.String(), nil)
	if !errors.As(err, new(errLater)) {
		a.invites.tried(r.event)
	}
	if refusedBy(err) {
		a.log.Warn("joining a room failed, invitation ignored", "room", at, "error", err)
		return nil
	} else if err != nil {
		return err
	}
	if space, err := a.isSpace(ctx, dev, at); err != nil {
		return err
	} else if space {
		if _, err := dev.Client.LeaveRoom(ctx, at); err != nil && !refusedBy(err) {
			return fmt.Errorf("leave a space: %w", err)
		}
		a.log.Info("left a space: there is no room to play in", "room", at, "by", by)
		a.tellInviter(ctx, dev, by, r, wordSpace)
		return nil
	}
	return a.origin(ctx, dev, at) // it may replace a room that the bot could not follow by itself
}

// isSpace reports whether a room is a space, which holds rooms and no messages.
func (a *Adapter) isSpace(ctx context.Context, dev *device.Device, at id.RoomID) (bool, error) {
	create, err := a.created(ctx, dev, at)
	if err != nil && !refusedBy(err) {
		return false, fmt.Errorf("find out whether a room is a space: %w", err)
	}
	return create["type"] == string(event.RoomTypeSpace), nil
}

// tellInviter tells somebody who has invited the bot something, directly. If that fails it
// is not tried again: the room matters more.
func (a *Adapter) tellInviter(ctx context.Context, dev *device.Device, by id.UserID, r *row, word string) {
	tell := func() error {
		lang, err := a.languageFor(ctx, by, "")
		if err != nil {
			return err
		}
		to, err := a.directly(ctx, dev, by, false)
		if err != nil {
			return err
		}
		_, err = a.sendOnce(ctx, dev, to, message.Text(message.Content{Text: bot.Translated(lang, word), Lang: lang}), "inviter "+r.event.String(), a.hasFailed(r.event))
		return err
	}
	if err := tell(); err != nil && ctx.Err() == nil {
		a.log.Info("inviter not told", "room", r.room, "by", by, "error", err)
	}
}

// follow takes the bot to the room that a tombstone names, on the terms of an
// invitation by the sender of the tombstone, and only if the new room says that it
// replaces the old one. What the bot knows of the old room holds in the new one.
func (a *Adapter) follow(ctx context.Context, dev *device.Device, e *event.Event) error {
	to, _ := e.Content.Raw["replacement_room"].(string)
	old, next := e.RoomID, id.RoomID(to)
	if to == "" || next == old || e.GetStateKey() != "" {
		return nil
	}
	if !a.joining(to) {
		// The homeserver tells only where the bot is already, or where anybody may look.
		from, err := a.predecessor(ctx, dev, next)
		switch {
		case err != nil && !refusedBy(err):
			return fmt.Errorf("get a room's predecessor: %w", err)
		case err == nil && from != old:
			return a.strayed(ctx, dev, old, next)
		case err == nil && a.room(next).joined:
			return a.followed(ctx, dev, old, next)
		case !a.welcome(e.Sender, next):
			a.log.Warn("room upgrade ignored: sender not in matrix.allow", "by", e.Sender, "room", old, "to", next)
			return nil
		}
		if wait := a.invites.wait(e.ID, e.Sender, a.cfg.Now()); wait > 0 {
			return errLater{wait}
		}
		if err := a.queue.mark(ctx, "follows", next.String(), old.String(), a.cfg.Now()); err != nil {
			return err
		}
	}
	err := a.joinRoom(ctx, dev, to, &mautrix.ReqJoinRoom{Via: []string{e.Sender.Homeserver()}})
	if !errors.As(err, new(errLater)) {
		a.invites.tried(e.ID)
	}
	if refusedBy(err) { // an invitation may come
		a.log.Warn("upgraded room not joined, will wait for an invitation", "room", old, "to", next, "error", err)
		return a.queue.unmark(ctx, "follows", next.String())
	} else if err != nil {
		return err
	}
	if from, err := a.predecessor(ctx, dev, next); err != nil {
		return fmt.Errorf("get a room's predecessor: %w", err)
	} else if from != old {
		return a.strayed(ctx, dev, old, next)
	}
	return a.followed(ctx, dev, old, next)
}

// followed lets the games of a room go on in its successor, which the bot has joined.
func (a *Adapter) followed(ctx context.Context, dev *device.Device, old, next id.RoomID) error {
	if err := a.succeeds(ctx, dev, old, next); err != nil {
		return err
	}
	if err := a.showGames(ctx, next); err != nil {
		return err
	}
	return a.queue.unmark(ctx, "follows", next.String())
}

// strayed leaves a room that does not replace the one whose tombstone names it, if
// the bot went there because of the tombstone.
func (a *Adapter) strayed(ctx context.Context, dev *device.Device, old, next id.RoomID) error {
	a.log.Warn("room upgrade ignored: new room does not name the old one", "room", old, "to", next)
	from, err := a.queue.marked(ctx, "follows", next.String())
	if err != nil || from != old.String() {
		return err
	}
	if _, err := dev.Client.LeaveRoom(ctx, next); err != nil && !refusedBy(err) {
		return fmt.Errorf("leave a false successor room: %w", err)
	}
	return a.queue.unmark(ctx, "follows", next.String())
}

// succeeds has all that the bot knows of a room hold in the one that comes after it. That it
// is encrypted holds, too, or a homeserver could end that with a room of its own making.
func (a *Adapter) succeeds(ctx context.Context, dev *device.Device, from, next id.RoomID) error {
	if was, err := dev.State.IsEncrypted(ctx, from); err != nil {
		return err
	} else if is, err := dev.State.IsEncrypted(ctx, next); err != nil {
		return err
	} else if was && !is {
		if err := dev.State.SetEncryptionEvent(ctx, next, &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}); err != nil {
			return err
		}
	}
	if err := a.queue.mark(ctx, "came of", next.String(), from.String(), a.cfg.Now()); err != nil {
		return err
	}
	if err := a.queue.mark(ctx, "shows games", next.String(), from.String(), a.cfg.Now()); err != nil {
		return err
	}
	known := a.room(from).known
	if was := a.room(next).known; was != next { // so far it came before
		known = was
	} else if err := a.moves(ctx, known, next); err != nil {
		return err
	}
	if from != known { // it has followed another, and is followed now
		return a.moves(ctx, from, from)
	}
	return nil
}

// showGames shows the games of a room where it has moved. Until /sync has told that the
// bot is there they would be shown where it was.
func (a *Adapter) showGames(ctx context.Context, at id.RoomID) error {
	if due, err := a.queue.marked(ctx, "shows games", at.String()); err != nil || due == "" {
		return err
	}
	key := id.EventID("games " + at)
	if !a.room(at).joined {
		if time.Since(a.waitsSince(key)) < joinFor {
			return errLater{joinAgain}
		}
		return a.queue.unmark(ctx, "shows games", at.String()) // it has been sent away
	}
	a.works(key)
	service, _ := a.theService()
	if err := service.Report(ctx, bot.Moved{Where: match.Room{Platform: Name, Channel: a.room(at).known.String()}, Place: at.String()}); err != nil {
		return fmt.Errorf("show the games of a room where it has moved: %w", err)
	}
	return a.queue.unmark(ctx, "shows games", at.String())
}

// origin finds out, before the first event of a room is handled, whether the room is the
// successor of one that the bot knows: the tombstone there may be handled later.
func (a *Adapter) origin(ctx context.Context, dev *device.Device, at id.RoomID) error {
	_, known := a.origins.Load(at)
	switch {
	case known:
		return nil
	case a.room(at).known != at: // it is; perhaps the bot stopped before it had shown the games
		if err := a.showGames(ctx, at); err != nil {
			return err
		}
		a.origins.Store(at, true)
		return nil
	}
	from, err := a.predecessor(ctx, dev, at)
	if err != nil && !refusedBy(err) {
		return fmt.Errorf("get a room's predecessor: %w", err)
	}
	if from != "" && a.room(from).joined {
		var moved event.TombstoneEventContent
		switch err := dev.Client.StateEvent(ctx, from, event.StateTombstone, "", &moved); {
		case refusedBy(err): // the tombstone may still come
			return nil
		case err != nil:
			return fmt.Errorf("get a room's successor: %w", err)
		case moved.ReplacementRoom == at:
			if err := a.succeeds(ctx, dev, from, at); err != nil {
				return err
			}
			return a.showGames(ctx, at)
		}
	}
	a.origins.Store(at, true)
	return nil
}

// predecessor returns the room that a room replaces, as its m.room.create says;
// empty: none.
func (a *Adapter) predecessor(ctx context.Context, dev *device.Device, at id.RoomID) (id.RoomID, error) {
	create, err := a.created(ctx, dev, at)
	before, _ := create["predecessor"].(map[string]any)
	room, _ := before["room_id"].(string)
	return id.RoomID(room), err
}

// created returns the m.room.create of a room, into which anybody can write anything.
func (a *Adapter) created(ctx context.Context, dev *device.Device, at id.RoomID) (create map[string]any, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	err = dev.Client.StateEvent(ctx, at, event.StateCreate, "", &create)
	return create, err
}

// Joining a room of another homeserver may take minutes. It runs in the background, so
// that other rooms have their turn.
const (
	joinHold  = 2 * time.Second
	joinAgain = time.Second
	joinFor   = 5 * time.Minute
)

// A joinAttempt is under way.
type joinAttempt struct {
	done chan struct{}
	err  error
}

func (a *Adapter) joining(to string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.joins[to] != nil
}

// joinRoom joins a room. If that takes long, it returns errLater, and the next call returns the
// result or waits on.
func (a *Adapter) joinRoom(ctx context.Context, dev *device.Device, to string, how *mautrix.ReqJoinRoom) error {
	a.mu.Lock()
	j := a.joins[to]
	fresh := j == nil
	if fresh {
		j = &joinAttempt{done: make(chan struct{})}
		a.joins[to] = j
	}
	a.mu.Unlock()
	if fresh {
		go func() {
			defer close(j.done)
			ctx, cancel := context.WithTimeout(a.asking(), joinFor) // longer than the caller waits
			defer cancel()
			j.err = errors.New("panicked")
			a.guarded("joining "+to, func() { _, j.err = dev.Client.JoinRoom(ctx, to, how) })
		}()
	}
	timer := time.NewTimer(joinHold)
	defer timer.Stop()
	select {
	case <-j.done:
		a.mu.Lock()
		delete(a.joins, to)
		a.mu.Unlock()
		return j.err
	case <-timer.C:
		return errLater{joinAgain}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// moves makes a room the one that the bot knows by a room's id.
func (a *Adapter) moves(ctx context.Context, known, to id.RoomID) error {
	if err := a.queue.moved(ctx, known, to); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.rooms[to]; r != nil {
		r.known = known
	} else {
		a.rooms[to] = &room{id: to, known: known}
	}
	return nil
}

// tellRooms tells the service in which rooms the bot is, so that those it has left are
// forgotten. Each is a server by itself.
func (a *Adapter) tellRooms(ctx context.Context) {
	dev := a.device()
	if dev == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	joined, err := dev.Client.JoinedRooms(limited)
	if err != nil {
		a.log.Info("listing joined rooms failed, will retry", "error", err)
		return
	}
	in := make([]string, len(joined.JoinedRooms))
	for i, r := range joined.JoinedRooms {
		in[i] = a.room(r).known.String()
	}
	service, _ := a.theService()
	if err := service.Report(ctx, bot.Servers{Platform: Name, In: in}); err != nil && ctx.Err() == nil {
		a.log.Warn("storing joined rooms failed, will retry", "error", err)
	}
}

// encrypted reports whether a room is encrypted. It asks the homeserver each
// time unless it is known, for a room may become so at any time but never cease
// to be, and an error means that nothing may be sent.
func (a *Adapter) encrypted(ctx context.Context, dev *device.Device, at id.RoomID) (bool, error) {
	if is, err := dev.State.IsEncrypted(ctx, at); err != nil || is {
		return is, err
	}
	var c event.EncryptionEventContent
	err := dev.Client.StateEvent(ctx, at, event.StateEncryption, "", &c)
	switch {
	case errors.Is(err, mautrix.MNotFound):
		return false, nil
	case err != nil:
		return false, err
	case c.Algorithm != id.AlgorithmMegolmV1:
		// No content ends encryption; and every client knows this algorithm.
		c = event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}
	}
	if err := dev.State.SetEncryptionEvent(ctx, at, &c); err != nil {
		return false, err
	}
	return true, e2ee.FetchMembers(ctx, dev.Client, dev.State, at)
}

// profileFor is how long to wait for somebody's name.
const profileFor = 3 * time.Second

// maxName is the length of a name, in characters, that is handed on; the bot
// shortens it further.
const maxName = 200

// who returns a person as the bot is to know them.
func (a *Adapter) who(ctx context.Context, dev *device.Device, at id.RoomID, user id.UserID) outbox.User {
	w := outbox.User{Platform: Name, ID: user.String()}
	if m, err := dev.State.TryGetMember(ctx, at, user); err == nil && m != nil {
		w.Name = m.Displayname
	} else { // their homeserver is asked, which may never answer
		limited, cancel := context.WithTimeout(ctx, profileFor)
		defer cancel()
		if p, err := dev.Client.GetProfile(limited, user); err == nil {
			w.Name = p.DisplayName
		}
	}
	if w.Name = strings.TrimSpace(w.Name); text.CleanName(w.Name) == "" {
		w.Name = user.Localpart()
	}
	w.Name = render.WithHandle(w.Name, user.Localpart())
	if r := []rune(w.Name); len(r) > maxName {
		w.Name = string(r[:maxName])
	}
	return w
}

// moderates is the power level from which on somebody looks after a room.
const moderates = 50

func (a *Adapter) moderator(ctx context.Context, dev *device.Device, at id.RoomID, user id.UserID) bool {
	level, err := dev.State.GetPowerLevel(ctx, at, user)
	return err == nil && level >= moderates
}

// invitesEvery is how long nobody is invited again who does not come or stay, unless they ask
// for what they are to read alone: their account may take no invitations, or others come into
// each room with them.
const invitesEvery = 24 * time.Hour

// errInvited is the error of telling somebody something directly who was invited a short while
// ago and cannot be told it where the bot has invited them.
var errInvited = fmt.Errorf("%w: invited already, and not alone with the bot", outbox.ErrRefused)

// directly returns a room in which the bot is alone with somebody, inviting them into one if
// there is none; asked: they wait for what it has to say. Its messages are for nobody else, so
// each time it asks the homeserver for the members.
func (a *Adapter) directly(ctx context.Context, dev *device.Device, user id.UserID, asked bool) (id.RoomID, error) {
	done, err := a.making.take(ctx, user.String()) // or two would make a room each
	if err != nil {
		return "", err
	}
	defer done()
	known, err := a.queue.marked(ctx, "direct", user.String())
	if err != nil {
		return "", err
	}
	at, with := id.RoomID(known), map[id.UserID]bool{}
	if at != "" {
		if with, err = a.company(ctx, dev, at); err != nil {
			return "", err
		} else if nobodyElse(with, dev.Client.UserID, user) {
			return at, nil
		}
	}
	if invited, err := a.queue.markedAfter(ctx, "invited", user.String(), a.cfg.Now().Add(-invitesEvery)); err != nil {
		return "", err
	} else if invited && !asked {
		return "", errInvited
	}
	if len(with) != 1 || !with[dev.Client.UserID] { // else the bot waits for them there
		if at, with, err = a.makeRoom(ctx, dev, user); at == "" {
			return "", err
		}
		if e := cmp.Or(a.queue.mark(ctx, "direct", user.String(), at.String(), a.cfg.Now()), a.queue.unmark(ctx, "making", user.String())); e != nil {
			return "", e
		}
	}
	if err == nil && !with[user] {
		_, err = dev.Client.InviteUser(ctx, at, &mautrix.ReqInviteUser{UserID: user})
	}
	if err != nil && !refusedBy(err) {
		return "", err
	}
	if e := a.queue.mark(ctx, "invited", user.String(), at.String(), a.cfg.Now()); err != nil || e != nil {
		return "", errors.Join(e, err)
	}
	a.fresh.Store(at, fresh{user, time.Now()})
	return at, a.hasInvited(ctx, dev, at, user)
}

// nobodyElse reports whether two people, and nobody else, are in a room.
func nobodyElse(with map[id.UserID]bool, one, other id.UserID) bool {
	return len(with) == 2 && with[one] && with[other]
}

// hasInvited stores that the bot and the person it has invited are the members of a room.
// The homeserver's own list may still lack the invitation. The bot would then encrypt its
// first message for nobody.
func (a *Adapter) hasInvited(ctx context.Context, dev *device.Device, at id.RoomID, user id.UserID) error {
	if err := dev.State.SetMembership(ctx, at, dev.Client.UserID, event.MembershipJoin); err != nil {
		return err
	}
	if is, err := dev.State.GetMembership(ctx, at, user); err != nil {
		return err
	} else if is != event.MembershipJoin {
		if err := dev.State.SetMembership(ctx, at, user, event.MembershipInvite); err != nil {
			return err
		}
	}
	return dev.State.MarkMembersFetched(ctx, at)
}

// alone reports whether nobody is in a room, or may come into it, but the bot
// and somebody.
func (a *Adapter) alone(ctx context.Context, dev *device.Device, at id.RoomID, user id.UserID) (bool, error) {
	if a.room(at).people > 2 {
		return false, nil
	}
	with, err := a.company(ctx, dev, at)
	return err == nil && nobodyElse(with, dev.Client.UserID, user), err
}

// company returns who is in a room or may come into it; of one that the bot has
// just made for somebody, both of them at least.
func (a *Adapter) company(ctx context.Context, dev *device.Device, at id.RoomID) (map[id.UserID]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	with := map[id.UserID]bool{}
	if v, ok := a.fresh.Load(at); ok {
		if f := v.(fresh); time.Since(f.made) < freshFor {
			with[f.user], with[dev.Client.UserID] = true, true
		} else {
			a.fresh.Delete(at)
		}
	}
	members, err := a.membersOf(ctx, dev, at)
	if refusedBy(err) { // the bot is not there itself
		return with, nil
	} else if err != nil {
		return nil, fmt.Errorf("get the room's members: %w", err)
	}
	for user, membership := range members {
		switch membership {
		case event.MembershipJoin, event.MembershipInvite:
			with[user] = true
		case event.MembershipLeave, event.MembershipBan: // even if the bot has just made the room
			delete(with, user)
		}
	}
	return with, nil
}

// membersOf asks the homeserver who is, or was, in a room. The client's own method would
// replace the state from /sync, and what hasInvited has stored, by an answer that may be older.
func (a *Adapter) membersOf(ctx context.Context, dev *device.Device, at id.RoomID) (map[id.UserID]event.Membership, error) {
	body, err := a.get(ctx, dev, mautrix.ClientURLPath{"v3", "rooms", at, "members"}, nil)
	if err != nil {
		return nil, err
	}
	var members struct {
		Chunk []struct {
			User    id.UserID `json:"state_key"`
			Content struct {  // the rest may be of any type
				Membership event.Membership
			}
		}
	}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	list := make(map[id.UserID]event.Membership, len(members.Chunk))
	for _, e := range members.Chunk {
		list[e.User] = e.Content.Membership
	}
	return list, nil
}

// fresh is a room that the bot has just made for somebody: homeservers do not say
// at once who is there.
type fresh struct {
	user id.UserID
	made time.Time
}

const freshFor = time.Minute

// makeFor is how long making a room may take; others may have to be asked.
const makeFor = time.Minute

// intent is the field in the creation event of a room that says for what the bot made it:
// a word that nobody else knows, by which the bot finds the room if the response was
// lost.
const intent = "io.github.halfpoint.intent"

// makeRoom makes a room for the bot and somebody, or finds the one that it has made without
// hearing of it, and returns who is in it or may come into it. There may be a room though the
// homeserver has refused to invite them.
func (a *Adapter) makeRoom(ctx context.Context, dev *device.Device, user id.UserID) (id.RoomID, map[id.UserID]bool, error) {
	word, err := a.queue.marked(ctx, "making", user.String())
	if err != nil {
		return "", nil, err
	}
	if word != "" {
		if at, with, err := a.madeBefore(ctx, dev, user, word); err != nil || at != "" {
			return at, with, err
		}
	} else {
		word = rand.Text()
		if err := a.queue.mark(ctx, "making", user.String(), word, a.cfg.Now()); err != nil {
			return "", nil, err
		}
	}
	req := &mautrix.ReqCreateRoom{Preset: "trusted_private_chat", IsDirect: true, Invite: []id.UserID{user}, CreationContent: map[string]any{intent: word}}
	secret := &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}
	if dev.Crypto != nil && e2ee.Available {
		req.InitialState = []*event.Event{{Type: event.StateEncryption, Content: event.Content{Parsed: secret}}}
	}
	ctx, cancel := context.WithTimeout(ctx, makeFor)
	defer cancel()
	made, err := dev.Client.CreateRoom(ctx, req)
	var refused mautrix.HTTPError
	if refusedBy(err) && errors.As(err, &refused) && refused.IsStatus(http.StatusForbidden) {
		// Synapse and Dendrite make the room before they find out that somebody takes no invitations.
		if at, with, e := a.madeBefore(ctx, dev, user, word); e != nil || at != "" {
			return at, with, cmp.Or(e, err)
		}
	}
	if refusedBy(err) || retry.After(err) > 0 { // it has not been made
		return "", nil, errors.Join(err, a.queue.unmark(ctx, "making", user.String()))
	} else if err != nil {
		return "", nil, err
	}
	if req.InitialState != nil { // which the homeserver need not say at once either
		err = dev.State.SetEncryptionEvent(ctx, made.RoomID, secret)
	}
	return made.RoomID, map[id.UserID]bool{dev.Client.UserID: true, user: true}, err
}

// madeBefore looks among the rooms in which the bot is for one that was made with a word;
// empty: there is none. It returns who is in it or may come into it, which may have changed
// long ago: one in which others are by now is none.
func (a *Adapter) madeBefore(ctx context.Context, dev *device.Device, user id.UserID, word string) (id.RoomID, map[id.UserID]bool, error) {
	joined, err := dev.Client.JoinedRooms(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, at := range joined.JoinedRooms {
		if a.room(at).people > 2 {
			continue
		}
		body, err := a.get(ctx, dev, mautrix.ClientURLPath{"v3", "rooms", at, "state", event.StateCreate.Type, ""}, nil)
		if err != nil && !refusedBy(err) {
			return "", nil, err
		}
		var c map[string]any
		if json.Unmarshal(body, &c) != nil || c[intent] != word {
			continue
		}
		with, err := a.company(ctx, dev, at)
		if err != nil {
			return "", nil, err
		}
		if len(with) == 1 || with[user] && len(with) == 2 {
			return at, with, nil
		}
	}
	return "", nil, nil
}

// turns lets one at a time do something under a key.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when it is done
}

// take waits for its turn, which done ends.
func (t *turns) take(ctx context.Context, key string) (done func(), err error) {
	for {
		t.mu.Lock()
		before := t.taken[key]
		if before == nil {
			if t.taken == nil {
				t.taken = map[string]chan struct{}{}
			}
			mine := make(chan struct{})
			t.taken[key] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.taken, key)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-before:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
