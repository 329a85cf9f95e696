package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// read are the types of events that the bot looks at, and state what it keeps
// of a room.
var (
	read  = []event.Type{event.EventMessage, event.EventEncrypted, event.EventReaction, event.EventRedaction, event.StateMember, event.StateTombstone, event.StateEncryption, event.StatePowerLevels}
	state = []event.Type{event.StateMember, event.StateTombstone, event.StateEncryption, event.StatePowerLevels, event.StateCreate, event.StateHistoryVisibility, event.StateJoinRules}
)

const (
	timeline = 50       // events of a room in one answer
	maxEvent = 70 << 10 // bytes of a content
)

// filter returns the filter of a sync.
func filter(timeline int) string {
	nothing := &mautrix.FilterPart{NotTypes: []event.Type{event.NewEventType("*")}}
	b, err := json.Marshal(&mautrix.Filter{
		AccountData: nothing, Presence: nothing,
		Room: &mautrix.RoomFilter{AccountData: nothing, Ephemeral: nothing,
			State:    &mautrix.FilterPart{Types: state, LazyLoadMembers: true},
			Timeline: &mautrix.FilterPart{Types: read, Limit: timeline, LazyLoadMembers: true}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// sync asks the homeserver for news until ctx is done or the homeserver does not know the
// device any more. No failed request and no malformed answer ends it.
func (a *Adapter) sync(ctx context.Context, dev *device.Device) error {
	since, err := a.queue.token(ctx)
	if err != nil {
		return err
	}
	failed := time.Now()
	announced, away := false, true // unknown until the first answer
	failures := 0
	limit := timeline
	for ctx.Err() == nil {
		resp, err := a.poll(ctx, dev, since, limit, failures == 0 && !away)
		switch {
		case ctx.Err() != nil:
			return nil
		case device.LoggedOut(err):
			return errLoggedOut
		case since != "" && err != nil && unknownPlace(err):
			a.log.Warn("homeserver rejected the sync token, will start a new sync", "error", err)
			since = ""
			continue
		case err != nil:
			if failures == 0 {
				failed = time.Now()
			}
			if away = away || time.Since(failed) > awayAfter; away {
				a.away(ctx)
			}
			if errors.Is(err, mautrix.ErrResponseTooLong) || errors.Is(err, mautrix.ErrBodyReadReachedLimit) {
				limit = max(1, limit/5) // what is left out is fetched piece by piece
			}
			failures++
			wait := max(backoff.After(failures, 500*time.Millisecond, 15*time.Second), retry.After(err))
			a.log.Warn("sync failed, will retry", "error", err, "again", wait)
			backoff.Sleep(ctx, wait)
			continue
		}
		if (away || failures > 0) && !a.back(ctx) {
			backoff.Sleep(ctx, time.Second)
			continue
		}
		// The first events after an outage are old.
		live := !away && failures == 0
		failures, away = 0, false
		if err := a.receive(ctx, dev, resp, since, live); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			a.log.Error("storing a sync response failed, will retry", "error", err)
			backoff.Sleep(ctx, time.Second)
			continue // the same again
		}
		since, limit = resp.NextBatch, timeline
		if !announced {
			announced = true
			a.log.Info("connected to Matrix", "user", dev.Client.UserID, "homeserver", dev.Client.HomeserverURL, "rooms", a.roomCount())
			if a.cfg.Ready != nil {
				a.cfg.Ready(dev.Client.UserID.String())
			}
		}
	}
	return nil
}

// errNoPlace is the error of an answer that does not say how far it goes.
var errNoPlace = errors.New("sync response has no next_batch")

// poll asks for news since a sync token. If patient, it lets the homeserver wait for some.
func (a *Adapter) poll(ctx context.Context, dev *device.Device, since string, limit int, patient bool) (*mautrix.RespSync, error) {
	req := mautrix.ReqSync{Since: since, FilterID: filter(limit), SetPresence: event.PresenceOnline}
	if patient && since != "" {
		req.Timeout = int(longPoll.Milliseconds())
	}
	// A homeserver that does not answer at all must not hold the loop; the first
	// answer may take it long.
	most := longPoll + time.Minute
	if since == "" {
		most = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	data, err := a.get(ctx, dev, mautrix.ClientURLPath{"v3", "sync"}, req.BuildQuery())
	if err != nil {
		return nil, err
	}
	resp, bad, err := readSync(data)
	switch {
	case err != nil:
		return nil, err
	case resp.NextBatch == "":
		return nil, errNoPlace
	case bad > 0:
		a.log.Warn("malformed events ignored", "events", bad)
	}
	return resp, nil
}

// get gives the body of an answer.
func (a *Adapter) get(ctx context.Context, dev *device.Device, path mautrix.ClientURLPath, query map[string]string) ([]byte, error) {
	return dev.Client.MakeFullRequest(ctx, mautrix.FullRequest{Method: http.MethodGet, URL: dev.Client.BuildURLWithQuery(path, query), MaxAttempts: 1})
}

// unknownPlace reports whether the homeserver says that it does not know a token
// of its own.
func unknownPlace(err error) bool {
	var e mautrix.HTTPError
	if !errors.As(err, &e) || e.RespError == nil {
		return false
	}
	return e.RespError.ErrCode == "M_UNKNOWN_POS" || e.IsStatus(http.StatusBadRequest)
}

// unreachable reports whether an error means that trying again may help.
func unreachable(err error) bool {
	var e mautrix.HTTPError
	var n net.Error
	switch {
	case errors.As(err, &e) && e.Response != nil:
		return e.Response.StatusCode >= 500 || e.Response.StatusCode == http.StatusTooManyRequests
	case errors.As(err, &n), errors.As(err, &e):
		return true
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// receive stores an answer of the homeserver and schedules the rooms with new events.
func (a *Adapter) receive(ctx context.Context, dev *device.Device, resp *mautrix.RespSync, since string, live bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			a.log.Error("panic", "value", v, "stack", string(debug.Stack()))
			err = errors.New("panicked")
		}
	}()
	if dev.Crypto != nil {
		// Keys first, for what follows; and before the token is kept, because
		// the homeserver tells them only once.
		if err := dev.Crypto.Sync(ctx, resp, since); err != nil {
			return fmt.Errorf("process room keys: %w", err)
		}
	}
	if since == "" {
		a.closed.Purge() // power levels may have changed meanwhile
	}
	b := batch{token: resp.NextBatch, live: live, last: map[id.RoomID]last{}, left: map[id.RoomID]bool{}, marks: map[[2]string]string{}}
	for room, invite := range resp.Rooms.Invite {
		a.guarded("invitation to "+room.String(), func() { a.invited(&b, dev, room, invite.State.Events) })
	}
	for room, joined := range resp.Rooms.Join {
		if err := a.joined(ctx, &b, dev, room, joined, since == ""); err != nil {
			return err
		}
	}
	for room := range resp.Rooms.Leave {
		b.left[room] = true
	}
	if !a.reviewed {
		if err := a.invitedBefore(ctx, &b); err != nil {
			return err
		}
	}
	a.tellsRestored(&b)
	rooms, err := a.queue.take(ctx, b, a.cfg.Now())
	if err != nil {
		return err
	}
	a.synced.Store(dev)
	a.reviewed = true
	a.restored.untold.Store(false)
	a.learn(b)
	for _, e := range resp.ToDevice.Events {
		if e.Type.Type == event.ToDeviceVerificationRequest.Type {
			a.askedToVerify(e)
		}
	}
	if len(rooms) > 0 {
		dev.Use()
	}
	for room := range rooms {
		a.wake(room)
	}
	return nil
}

// guarded runs work and reports whether it did not panic. A panic is logged and goes no
// further.
func (a *Adapter) guarded(what string, work func()) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			a.log.Error("panic", "at", what, "value", v, "stack", string(debug.Stack()))
			ok = false
		}
	}()
	work()
	return true
}

// joined takes what happened in a room.
func (a *Adapter) joined(ctx context.Context, b *batch, dev *device.Device, at id.RoomID, j *mautrix.SyncJoinedRoom, first bool) error {
	known := a.room(at)
	events := j.Timeline.Events
	sealed, err := dev.State.IsEncrypted(ctx, at)
	if err != nil {
		return fmt.Errorf("read the room's encryption: %w", err)
	}
	sealing := newSealing(sealed, j)
	news := slices.Concat(j.State.Events, events)
	for _, e := range news {
		a.guarded(e.ID.String(), func() { a.keep(ctx, dev, at, e) })
	}
	if !known.joined && known.known != at {
		a.trueMove(ctx, at, known.known, news)
	}
	l := last{}
	if j.Summary.JoinedMemberCount != nil {
		l.people = *j.Summary.JoinedMemberCount
	}
	if len(events) > 0 {
		l.event = events[len(events)-1].ID
	}
	b.last[at] = l
	if l.people > 0 { // whether commands need a mark depends on it
		known.people = l.people
	}
	if !first && a.nowWritable(ctx, dev, at, news) {
		b.events = append(b.events, &event.Event{Type: writable, RoomID: at, ID: id.EventID(fmt.Sprintf("writable %s %s", at, b.token))})
	}
	if _, told := a.secret.Load(known.known); !told && (sealed || slices.ContainsFunc(news, encrypts)) {
		b.events = append(b.events, &event.Event{Type: secretRoom, RoomID: at, ID: id.EventID(fmt.Sprintf("encrypted %s %s", at, b.token))})
	}
	new, missing := a.unread(dev, at, known, j, first, sealing)
	if missing != nil {
		b.events = append(b.events, missing)
	}
	for i, e := range new {
		if e.Sender != dev.Client.UserID {
			a.heard.Set(time.Now())
		}
		keep, gone := a.sift(ctx, dev, known, e, len(events)-len(new)+i >= sealing.from)
		if keep {
			b.events = append(b.events, e)
		}
		if gone != nil {
			b.gone = append(b.gone, *gone)
		}
	}
	return nil
}

// trueMove sees that a room of which another has said that it has moved there
// says so as well.
func (a *Adapter) trueMove(ctx context.Context, at, from id.RoomID, events []*event.Event) {
	for _, e := range events {
		if e.Type.Type != event.StateCreate.Type || e.GetStateKey() != "" {
			continue
		}
		before, _ := e.Content.Raw["predecessor"].(map[string]any)
		room, _ := before["room_id"].(string)
		if said, err := a.queue.marked(ctx, "came of", at.String()); err != nil || said == room {
			return
		}
		a.log.Warn("upgraded room does not name its predecessor, treated as a new room", "room", from, "to", at)
		if err := a.moves(ctx, at, at); err != nil && ctx.Err() == nil {
			a.log.Error("storing a false room upgrade failed", "error", err)
		}
	}
}

// sift reports whether an event of a room is to be written down, and what it
// takes back. Sealed says that the room was encrypted then.
func (a *Adapter) sift(ctx context.Context, dev *device.Device, at room, e *event.Event, sealed bool) (keep bool, gone *redaction) {
	e.RoomID = at.id
	ok := a.guarded(e.ID.String(), func() {
		if e.StateKey == nil && e.Type.Type == event.EventRedaction.Type {
			if what := redacted(e); what != "" {
				gone = &redaction{what, e.Sender, a.mayRedact(ctx, dev, at.id, e.Sender)}
			}
			return
		}
		_, commands := a.theService()
		keep = a.concerns(dev, e, commands, at.direct())
	})
	if sealed && e.Type.Type == event.EventMessage.Type && !asksToVerify(dev, e) {
		e.Type = inClear
	}
	// An event that panics here is tried again in its turn, and dropped then.
	return keep || !ok && e.ID != "", gone
}

// mayRedact reports whether somebody may take back what others have said.
func (a *Adapter) mayRedact(ctx context.Context, dev *device.Device, at id.RoomID, user id.UserID) bool {
	levels, err := dev.State.GetPowerLevels(ctx, at)
	if err != nil || levels == nil {
		return false
	}
	return levels.GetUserLevel(user) >= levels.Redact()
}

// keep learns of the state of a room.
func (a *Adapter) keep(ctx context.Context, dev *device.Device, at id.RoomID, e *event.Event) {
	e.RoomID = at
	e.Type.Class = event.MessageEventType
	if e.StateKey == nil {
		return
	}
	e.Type.Class = event.StateEventType
	err := e.Content.ParseRaw(e.Type)
	if e.Type == event.StateEncryption {
		if c, ok := e.Content.Parsed.(*event.EncryptionEventContent); !ok || c.Algorithm != id.AlgorithmMegolmV1 {
			// No content ends encryption.
			e.Content.Parsed, err = &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}, nil
		}
	}
	if err != nil && !errors.Is(err, event.ErrContentAlreadyParsed) {
		return
	}
	mautrix.UpdateStateStore(ctx, dev.State, e)
	if e.Type == event.StateMember && dev.Crypto != nil { // once the store knows
		dev.Crypto.MembersChanged(at)
	}
}

// unread returns the events of a room that the bot has not seen: those of the answer, and
// an entry for the gap if it leaves some out. Events from before the bot came are not
// among them.
func (a *Adapter) unread(dev *device.Device, at id.RoomID, known room, j *mautrix.SyncJoinedRoom, first bool, sealing sealing) (events []*event.Event, missing *event.Event) {
	events = j.Timeline.Events
	seen := slices.IndexFunc(events, func(e *event.Event) bool { return known.last != "" && e.ID == known.last })
	if i := max(seen, came(dev, events)); i >= 0 {
		return events[i+1:], nil
	}
	if known.last == "" && first {
		return nil, nil // a new start in an old room
	}
	if !j.Timeline.Limited && !first || j.Timeline.PrevBatch == "" {
		return events, nil
	}
	return events, newGap(at, j.Timeline.PrevBatch, known.last, sealing)
}

// refusedBy reports whether the homeserver will not do something however often
// it is asked.
func refusedBy(err error) bool {
	var e mautrix.HTTPError
	return errors.As(err, &e) && e.Response != nil && e.Response.StatusCode >= 400 && e.Response.StatusCode < 500 &&
		e.Response.StatusCode != http.StatusTooManyRequests && e.Response.StatusCode != http.StatusUnauthorized && !inFront(err)
}

// inFront reports whether it is not the homeserver that has refused something, but
// a server in front of it, which does not say why as homeservers do: it may find no
// homeserver just now. What is too much or too large for it is meant.
func inFront(err error) bool {
	var e mautrix.HTTPError
	return errors.As(err, &e) && e.Response != nil && e.Response.StatusCode >= 400 && e.Response.StatusCode < 500 && e.RespError == nil &&
		e.Response.StatusCode != http.StatusTooManyRequests && e.Response.StatusCode != http.StatusRequestEntityTooLarge
}

// came gives the index of the event by which the bot came into the room, the
// newest; -1 if it is not there.
func came(dev *device.Device, events []*event.Event) int {
	for i, e := range slices.Backward(events) {
		if e.StateKey == nil || e.Type.Type != event.StateMember.Type || *e.StateKey != dev.Client.UserID.String() {
			continue
		}
		was := "leave"
		if e.Unsigned.PrevContent != nil {
			was, _ = e.Unsigned.PrevContent.Raw["membership"].(string)
		}
		if now, _ := e.Content.Raw["membership"].(string); now == "join" && was != "join" {
			return i
		}
	}
	return -1
}

// redacted gives the event that a redaction takes back.
func redacted(e *event.Event) id.EventID {
	if e.Redacts != "" {
		return e.Redacts
	}
	s, _ := e.Content.Raw["redacts"].(string)
	return id.EventID(s)
}
