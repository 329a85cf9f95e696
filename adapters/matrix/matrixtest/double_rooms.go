package matrixtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"
)

// This file is what the double knows of rooms.

const (
	roomVersion = "11"
	maxContent  = 65536 - 1024 // of an event, whose other fields need some room
)

// A room is a list of events and the state that came of them.
type room struct {
	id       id.RoomID
	events   []*roomEvent
	state    map[stateKey]*roomEvent
	joined   map[id.UserID]int64 // since when somebody is here
	typing   map[id.UserID]*time.Timer
	typed    int64 // when last somebody began or ended typing
	receipts []receipt
}

type stateKey struct{ kind, key string }

// A roomEvent is an event as it is stored.
type roomEvent struct {
	position int64
	id       id.EventID
	sender   id.UserID
	kind     string
	key      *string
	content  json.RawMessage
	time     int64
	redacts  id.EventID
	before   *roomEvent // the state that it has replaced
	because  *roomEvent // its redaction
	device   *device    // that sent it, with a transaction
	txn      string
}

type receipt struct {
	position int64
	event    id.EventID
	kind     string
	user     id.UserID
	time     int64
}

// seen is the event as a device gets it.
func (e *roomEvent) seen(at id.RoomID, by *device) fields {
	out := fields{"event_id": e.id, "sender": e.sender, "type": e.kind, "content": e.content, "origin_server_ts": e.time, "room_id": at}
	unsigned := fields{"age": time.Now().UnixMilli() - e.time}
	if e.key != nil {
		out["state_key"] = *e.key
		if e.before != nil {
			unsigned["prev_content"], unsigned["replaces_state"], unsigned["prev_sender"] = e.before.content, e.before.id, e.before.sender
		}
	}
	if e.redacts != "" {
		out["redacts"] = e.redacts
	}
	if e.because != nil {
		unsigned["redacted_because"] = e.because.seen(at, by)
	}
	if e.txn != "" && e.device == by {
		unsigned["transaction_id"] = e.txn
	}
	out["unsigned"] = unsigned
	return out
}

// field reads a field of the content that is a text.
func (e *roomEvent) field(name string) string {
	if e == nil {
		return ""
	}
	var content fields
	_ = json.Unmarshal(e.content, &content)
	s, _ := content[name].(string)
	return s
}

func (r *room) membership(user id.UserID) string {
	return r.state[stateKey{"m.room.member", user.String()}].field("membership")
}

// levels are what a room says of who may do what.
type levels struct {
	Users         map[id.UserID]int `json:"users"`
	UsersDefault  int               `json:"users_default"`
	Events        map[string]int    `json:"events"`
	EventsDefault int               `json:"events_default"`
	StateDefault  *int              `json:"state_default"`
	Invite        *int              `json:"invite"`
	Kick          *int              `json:"kick"`
	Ban           *int              `json:"ban"`
	Redact        *int              `json:"redact"`
}

func (r *room) levels() (l levels) {
	if e := r.state[stateKey{"m.room.power_levels", ""}]; e != nil {
		_ = json.Unmarshal(e.content, &l)
	}
	return l
}

func (l levels) of(user id.UserID) int {
	if n, ok := l.Users[user]; ok {
		return n
	}
	return l.UsersDefault
}

func or(level *int, usual int) int {
	if level == nil {
		return usual
	}
	return *level
}

func (l levels) forEvent(kind string, state bool) int {
	if n, ok := l.Events[kind]; ok {
		return n
	}
	if state {
		return or(l.StateDefault, 50)
	}
	return l.EventsDefault
}

func (d *double) handleRooms() {
	const rooms = "/_matrix/client/v3/rooms/{room}"
	d.handle("POST /_matrix/client/v3/createRoom", d.createRoom)
	d.handle("GET /_matrix/client/v3/joined_rooms", d.joinedRooms)
	d.handle("POST /_matrix/client/v3/join/{room}", d.join)
	for _, what := range []string{"join", "leave", "invite", "kick", "ban", "unban"} {
		f := map[string]func(*call) (any, error){"join": d.join, "leave": d.leave, "invite": d.invite, "kick": d.kick, "ban": d.kick, "unban": d.kick}[what]
		d.handle("POST "+rooms+"/"+what, f)
	}
	d.handle("PUT "+rooms+"/send/{type}/{txn}", d.send)
	d.handle("PUT "+rooms+"/redact/{event}/{txn}", d.redact)
	d.handle("PUT "+rooms+"/state/{type}", d.setState)
	d.handle("PUT "+rooms+"/state/{type}/{key...}", d.setState)
	d.handle("GET "+rooms+"/state/{type}", d.getState)
	d.handle("GET "+rooms+"/state/{type}/{key...}", d.getState)
	d.handle("GET "+rooms+"/event/{event}", d.event)
	d.handle("GET "+rooms+"/members", d.members)
	d.handle("GET "+rooms+"/messages", d.messages)
	d.handle("GET /_matrix/client/v1/rooms/{room}/relations/{event}/{rel}/{type}", d.relations)
	d.handle("PUT "+rooms+"/typing/{user}", d.setTyping)
	d.handle("POST "+rooms+"/receipt/{kind}/{event}", d.setReceipt)
}

// put adds an event to a room without asking who may.
func (d *double) put(r *room, sender id.UserID, kind string, key any, content any) *roomEvent {
	e := &roomEvent{id: id.EventID("$" + d.newID("event")), sender: sender, kind: kind, content: must(json.Marshal(content)), time: time.Now().UnixMilli()}
	if k, ok := key.(string); ok {
		e.key = &k
	}
	r.add(e, d.happens())
	return e
}

// add adds an event that has its position.
func (r *room) add(e *roomEvent, position int64) {
	if e.key != nil {
		at := stateKey{e.kind, *e.key}
		e.before = r.state[at]
		r.state[at] = e
	}
	e.position = position
	r.events = append(r.events, e)
	if e.kind == "m.room.member" {
		user := id.UserID(*e.key)
		now, was := e.field("membership"), e.before.field("membership")
		switch {
		case now == "join" && was != "join":
			r.joined[user] = e.position
		case now != "join":
			delete(r.joined, user)
		}
	}
}

func (d *double) createRoom(c *call) (any, error) {
	var ask struct {
		Name, Preset string
		Invite       []id.UserID
		Direct       bool `json:"is_direct"`
		State        []struct {
			Type    string
			Key     string `json:"state_key"`
			Content json.RawMessage
		} `json:"initial_state"`
		Creation fields `json:"creation_content"`
		Power    fields `json:"power_level_content_override"`
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	r := &room{id: id.RoomID("!" + d.newID("room")[:18] + ":" + Name), state: map[stateKey]*roomEvent{}, joined: map[id.UserID]int64{}, typing: map[id.UserID]*time.Timer{}}
	d.rooms[r.id] = r
	create := fields{"room_version": roomVersion}
	for k, v := range ask.Creation {
		create[k] = v
	}
	users := fields{c.user.String(): 100}
	rule, guests := "invite", "can_join"
	switch ask.Preset {
	case "trusted_private_chat":
		for _, u := range ask.Invite {
			users[u.String()] = 100
		}
	case "public_chat":
		rule, guests = "public", "forbidden"
	}
	power := fields{"users": users, "users_default": 0, "events_default": 0, "state_default": 50, "invite": 0, "kick": 50, "ban": 50, "redact": 50,
		"events": fields{"m.room.name": 50, "m.room.power_levels": 100, "m.room.history_visibility": 100, "m.room.tombstone": 100, "m.room.encryption": 100, "m.room.server_acl": 100}}
	for k, v := range ask.Power {
		power[k] = v
	}
	put := func(kind, key string, content any) { d.put(r, c.user, kind, key, content) }
	put("m.room.create", "", create)
	put("m.room.member", c.user.String(), fields{"membership": "join", "displayname": c.account.name})
	put("m.room.power_levels", "", power)
	put("m.room.join_rules", "", fields{"join_rule": rule})
	put("m.room.history_visibility", "", fields{"history_visibility": "shared"})
	put("m.room.guest_access", "", fields{"guest_access": guests})
	for _, s := range ask.State {
		put(s.Type, s.Key, s.Content)
	}
	if ask.Name != "" {
		put("m.room.name", "", fields{"name": ask.Name})
	}
	for _, u := range ask.Invite {
		d.invites(r, c.user, u, ask.Direct)
	}
	return fields{"room_id": r.id}, nil
}

func (d *double) invites(r *room, by, user id.UserID, direct bool) {
	content := fields{"membership": "invite"}
	if who := d.accounts[user]; who != nil {
		content["displayname"] = who.name
	}
	if direct {
		content["is_direct"] = true
	}
	d.put(r, by, "m.room.member", user.String(), content)
}

func (d *double) joinedRooms(c *call) (any, error) {
	in := []id.RoomID{}
	for at, r := range d.rooms {
		if r.membership(c.user) == "join" {
			in = append(in, at)
		}
	}
	slices.Sort(in)
	return fields{"joined_rooms": in}, nil
}

func (d *double) join(c *call) (any, error) {
	r := d.rooms[id.RoomID(c.path("room"))]
	if r == nil {
		return nil, notFound("no such room")
	}
	switch is := r.membership(c.user); {
	case is == "join":
	case is == "ban", is != "invite" && r.state[stateKey{"m.room.join_rules", ""}].field("join_rule") != "public":
		return nil, forbidden("you may not join")
	default:
		content := fields{"membership": "join", "displayname": c.account.name}
		d.put(r, c.user, "m.room.member", c.user.String(), content)
	}
	return fields{"room_id": r.id}, nil
}

func (d *double) leave(c *call) (any, error) {
	r := d.rooms[id.RoomID(c.path("room"))]
	if r == nil {
		return nil, notFound("no such room")
	}
	switch r.membership(c.user) {
	case "join", "invite":
		d.put(r, c.user, "m.room.member", c.user.String(), fields{"membership": "leave"})
	case "ban", "":
		return nil, forbidden("you are not in the room")
	}
	return fields{}, nil
}

// at returns the room in which the caller has to be for what they ask.
func (d *double) at(c *call) (*room, error) {
	r := d.rooms[id.RoomID(c.path("room"))]
	if r == nil || r.membership(c.user) != "join" {
		return nil, forbidden("you are not in the room")
	}
	return r, nil
}

func (d *double) invite(c *call) (any, error) {
	var ask struct {
		User id.UserID `json:"user_id"`
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	r, err := d.at(c)
	if err != nil {
		return nil, err
	}
	l, is := r.levels(), r.membership(ask.User)
	if l.of(c.user) < or(l.Invite, 0) || is == "join" || is == "ban" {
		return nil, forbidden("you may not invite them")
	}
	if is != "invite" {
		d.invites(r, c.user, ask.User, false)
	}
	return fields{}, nil
}

// kick sends somebody away, bans them or lifts the ban.
func (d *double) kick(c *call) (any, error) {
	var ask struct {
		User   id.UserID `json:"user_id"`
		Reason string
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	r, err := d.at(c)
	if err != nil {
		return nil, err
	}
	l, what := r.levels(), c.r.URL.Path[strings.LastIndex(c.r.URL.Path, "/")+1:]
	now, needs, is := "leave", or(l.Kick, 50), r.membership(ask.User)
	if what == "ban" {
		now, needs = "ban", or(l.Ban, 50)
	}
	switch {
	case l.of(c.user) < needs || l.of(ask.User) >= l.of(c.user) && ask.User != c.user:
		return nil, forbidden("you have no power over them")
	case what == "kick" && is != "join" && is != "invite", what == "unban" && is != "ban":
		return nil, forbidden("they are not in the room")
	}
	content := fields{"membership": now}
	if ask.Reason != "" {
		content["reason"] = ask.Reason
	}
	d.put(r, c.user, "m.room.member", ask.User.String(), content)
	return fields{}, nil
}

// content reads what is to be sent, if the sender has the power.
func (d *double) content(c *call, state bool) (*room, fields, error) {
	r, err := d.at(c)
	if err != nil {
		return nil, nil, err
	}
	var content fields
	if err := c.read(&content); err != nil {
		return nil, nil, err
	}
	l, kind := r.levels(), c.path("type")
	switch {
	case l.of(c.user) < l.forEvent(kind, state):
		return nil, nil, forbidden("you do not have the power to send " + kind)
	case len(c.body) > maxContent:
		return nil, nil, &refusal{413, "M_TOO_LARGE", "the event is too large", nil}
	}
	return r, content, nil
}

func (d *double) send(c *call) (any, error) {
	return c.once(func() (any, error) {
		r, content, err := d.content(c, false)
		if err != nil {
			return nil, err
		}
		e := d.put(r, c.user, c.path("type"), nil, content)
		e.device, e.txn = c.device, c.path("txn")
		return fields{"event_id": e.id}, nil
	})
}

func (d *double) setState(c *call) (any, error) {
	r, content, err := d.content(c, true)
	if err != nil {
		return nil, err
	}
	if key := c.path("key"); strings.HasPrefix(key, "@") && key != c.user.String() {
		return nil, forbidden("the state is somebody else's")
	}
	return fields{"event_id": d.put(r, c.user, c.path("type"), c.path("key"), content).id}, nil
}

// kept are the fields that redacting an event leaves.
var kept = map[string][]string{"m.room.member": {"membership"}, "m.room.join_rules": {"join_rule"}, "m.room.history_visibility": {"history_visibility"},
	"m.room.power_levels": {"users", "users_default", "events", "events_default", "state_default", "invite", "kick", "ban", "redact"}}

func (d *double) redact(c *call) (any, error) {
	return c.once(func() (any, error) {
		r, err := d.at(c)
		if err != nil {
			return nil, err
		}
		var content fields
		if err := c.read(&content); err != nil {
			return nil, err
		}
		l, target := r.levels(), r.find(id.EventID(c.path("event")))
		switch {
		case target == nil:
			return nil, notFound("no such event")
		case target.sender != c.user && l.of(c.user) < or(l.Redact, 50), l.of(c.user) < l.forEvent("m.room.redaction", false):
			return nil, forbidden("you may not redact it")
		}
		if content == nil {
			content = fields{}
		}
		content["redacts"] = target.id
		e := d.put(r, c.user, "m.room.redaction", nil, content)
		e.redacts, e.device, e.txn = target.id, c.device, c.path("txn")
		if target.kind != "m.room.create" {
			var was, is fields
			_ = json.Unmarshal(target.content, &was)
			is = fields{}
			for _, k := range kept[target.kind] {
				if v, ok := was[k]; ok {
					is[k] = v
				}
			}
			target.content, target.because = must(json.Marshal(is)), e
		}
		return fields{"event_id": e.id}, nil
	})
}

func (r *room) find(what id.EventID) *roomEvent {
	for _, e := range slices.Backward(r.events) {
		if e.id == what {
			return e
		}
	}
	return nil
}

func (d *double) getState(c *call) (any, error) {
	_, state, err := d.stateFor(c)
	if err != nil {
		return nil, err
	}
	e := state[stateKey{c.path("type"), c.path("key")}]
	if e == nil {
		return nil, notFound("no such state")
	}
	return e.content, nil
}

// stateFor returns the state of a room as it is, or as it was when the caller left.
func (d *double) stateFor(c *call) (*room, map[stateKey]*roomEvent, error) {
	r := d.rooms[id.RoomID(c.path("room"))]
	if r == nil {
		return nil, nil, forbidden("you are not in the room")
	}
	events := r.readable(c.user)
	switch {
	case events == nil:
		return nil, nil, forbidden("you are not in the room")
	case len(events) == len(r.events):
		return r, r.state, nil
	}
	state := map[stateKey]*roomEvent{}
	for _, e := range events {
		if e.key != nil {
			state[stateKey{e.kind, *e.key}] = e
		}
	}
	return r, state, nil
}

func (d *double) event(c *call) (any, error) {
	r, err := d.at(c)
	if err != nil {
		return nil, err
	}
	e := r.find(id.EventID(c.path("event")))
	if e == nil {
		return nil, notFound("no such event")
	}
	return e.seen(r.id, c.device), nil
}

func (d *double) members(c *call) (any, error) {
	r, state, err := d.stateFor(c)
	if err != nil {
		return nil, err
	}
	only, not := c.r.URL.Query().Get("membership"), c.r.URL.Query().Get("not_membership")
	chunk := []fields{}
	for at, e := range state {
		if is := e.field("membership"); at.kind == "m.room.member" && (only == "" || is == only) && (not == "" || is != not) {
			chunk = append(chunk, e.seen(r.id, c.device))
		}
	}
	return fields{"chunk": chunk}, nil
}

// readable returns the events of a room that somebody may read: all up to now, or
// up to their leaving.
func (r *room) readable(user id.UserID) []*roomEvent {
	if r.joined[user] > 0 {
		return r.events
	}
	for e := r.state[stateKey{"m.room.member", user.String()}]; e != nil; e = e.before {
		if e.before.field("membership") == "join" {
			return r.between(0, e.position)
		}
	}
	return nil
}

// between returns the events after one position up to another.
func (r *room) between(after, upTo int64) []*roomEvent {
	at := func(p int64) int {
		i, _ := slices.BinarySearchFunc(r.events, p+1, func(e *roomEvent, p int64) int { return cmp.Compare(e.position, p) })
		return i
	}
	return r.events[at(after):max(at(after), at(upTo))]
}

func token(position int64) string { return "t" + strconv.FormatInt(position, 10) }

func readToken(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "t"), 10, 64)
	if err != nil || !strings.HasPrefix(s, "t") {
		return 0, &refusal{400, "M_INVALID_PARAM", "not a token of this server", nil}
	}
	return n, nil
}

// A part is the part of a filter that chooses events.
type part struct {
	Types      []string    `json:"types"`
	NotTypes   []string    `json:"not_types"`
	Senders    []id.UserID `json:"senders"`
	NotSenders []id.UserID `json:"not_senders"`
	Limit      int         `json:"limit"`
}

func (p part) takes(kind string, sender id.UserID) bool {
	match := func(pattern string) bool {
		before, star := strings.CutSuffix(pattern, "*")
		return pattern == kind || star && strings.HasPrefix(kind, before)
	}
	return (p.Types == nil || slices.ContainsFunc(p.Types, match)) && !slices.ContainsFunc(p.NotTypes, match) &&
		(p.Senders == nil || slices.Contains(p.Senders, sender)) && !slices.Contains(p.NotSenders, sender)
}

func (d *double) messages(c *call) (any, error) {
	r := d.rooms[id.RoomID(c.path("room"))]
	if r == nil {
		return nil, forbidden("you are not in the room")
	}
	all := r.readable(c.user)
	if all == nil {
		return nil, forbidden("you are not in the room")
	}
	query := c.r.URL.Query()
	var filter part
	if f := query.Get("filter"); f != "" {
		if err := json.Unmarshal([]byte(f), &filter); err != nil {
			return nil, &refusal{400, "M_INVALID_PARAM", err.Error(), nil}
		}
	}
	limit := numberOf(query, "limit", 10)
	from := d.position
	if s := query.Get("from"); s != "" {
		var err error
		if from, err = readToken(s); err != nil {
			return nil, err
		}
	}
	out, chunk := fields{"start": token(from)}, []fields{}
	for i, e := range slices.Backward(all) { // which is all that the bot and Player ask for
		if e.position > from || !filter.takes(e.kind, e.sender) {
			continue
		}
		if chunk = append(chunk, e.seen(r.id, c.device)); len(chunk) == limit {
			if i > 0 {
				out["end"] = token(e.position - 1)
			}
			break
		}
	}
	out["chunk"] = chunk
	return out, nil
}

func (d *double) relations(c *call) (any, error) {
	r, err := d.at(c)
	if err != nil {
		return nil, err
	}
	chunk := []fields{}
	limit := numberOf(c.r.URL.Query(), "limit", 50)
	for _, e := range r.events {
		var content struct {
			Relates struct {
				Kind  string     `json:"rel_type"`
				Event id.EventID `json:"event_id"`
			} `json:"m.relates_to"`
		}
		if json.Unmarshal(e.content, &content) == nil && content.Relates.Event == id.EventID(c.path("event")) && content.Relates.Kind == c.path("rel") && e.kind == c.path("type") {
			chunk = append(chunk, e.seen(r.id, c.device))
		}
	}
	if c.r.URL.Query().Get("dir") != "f" {
		slices.Reverse(chunk)
	}
	return fields{"chunk": chunk[:min(len(chunk), limit)]}, nil
}

func (d *double) setTyping(c *call) (any, error) {
	r, err := d.at(c)
	if err != nil {
		return nil, err
	}
	var ask struct {
		Typing  bool
		Timeout int64
	}
	if err := c.read(&ask); err != nil {
		return nil, err
	}
	if c.path("user") != c.user.String() {
		return nil, forbidden("not you")
	}
	user, before := c.user, r.typing[c.user]
	if before != nil {
		before.Stop()
		delete(r.typing, user)
	}
	if ask.Typing {
		r.typing[user] = time.AfterFunc(time.Duration(ask.Timeout)*time.Millisecond, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(r.typing, user)
			r.typed = d.happens()
		})
	}
	if ask.Typing != (before != nil) {
		r.typed = d.happens()
	}
	return fields{}, nil
}

func (d *double) setReceipt(c *call) (any, error) {
	r, err := d.at(c)
	if err != nil {
		return nil, err
	}
	kind := c.path("kind")
	r.receipts = slices.DeleteFunc(r.receipts, func(x receipt) bool { return x.kind == kind && x.user == c.user })
	r.receipts = append(r.receipts, receipt{d.happens(), id.EventID(c.path("event")), kind, c.user, time.Now().UnixMilli()})
	return fields{}, nil
}

// Ordered reports whether one event of a room came before another. Dendrite does not
// tell: then it is false.
func (s *Server) Ordered(at id.RoomID, first, second id.EventID) bool {
	if s.double == nil {
		return false
	}
	s.double.mu.Lock()
	defer s.double.mu.Unlock()
	r := s.double.rooms[at]
	if r == nil {
		return false
	}
	a, b := r.find(first), r.find(second)
	return a != nil && b != nil && a.position < b.position
}

// numberOf reads a number of a query.
func numberOf(query url.Values, name string, usual int) int {
	var n int
	if _, err := fmt.Sscan(query.Get(name), &n); err != nil || n <= 0 {
		return usual
	}
	return n
}
