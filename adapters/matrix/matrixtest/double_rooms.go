package matrixtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
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

// A roomEvent is an event as it is stored. Restore reads the fields with large letters.
type roomEvent struct {
	Position int64
	ID       id.EventID
	Sender   id.UserID
	Kind     string
	Key      *string
	Content  json.RawMessage
	Time     int64
	Redacts  id.EventID
	Txn      string
	before   *roomEvent // the state that it has replaced
	because  *roomEvent // its redaction
	device   *device    // that sent it, with a transaction
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
	out := fields{"event_id": e.ID, "sender": e.Sender, "type": e.Kind, "content": e.Content, "origin_server_ts": e.Time, "room_id": at}
	unsigned := fields{"age": time.Now().UnixMilli() - e.Time}
	if e.Key != nil {
		out["state_key"] = *e.Key
		if e.before != nil {
			unsigned["prev_content"], unsigned["replaces_state"], unsigned["prev_sender"] = e.before.Content, e.before.ID, e.before.Sender
		}
	}
	if e.Redacts != "" {
		out["redacts"] = e.Redacts
	}
	if e.because != nil {
		unsigned["redacted_because"] = e.because.seen(at, by)
	}
	if e.Txn != "" && e.device == by {
		unsigned["transaction_id"] = e.Txn
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
	_ = json.Unmarshal(e.Content, &content)
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
	StateDefault  int               `json:"state_default"`
	Invite        int               `json:"invite"`
	Kick          int               `json:"kick"`
	Ban           int               `json:"ban"`
	Redact        int               `json:"redact"`
}

func (r *room) levels() levels {
	l := levels{StateDefault: 50, Kick: 50, Ban: 50, Redact: 50}
	if e := r.state[stateKey{"m.room.power_levels", ""}]; e != nil {
		_ = json.Unmarshal(e.Content, &l)
	}
	return l
}

func (l levels) of(user id.UserID) int {
	if n, ok := l.Users[user]; ok {
		return n
	}
	return l.UsersDefault
}

func (l levels) forEvent(kind string, state bool) int {
	if n, ok := l.Events[kind]; ok {
		return n
	}
	if state {
		return l.StateDefault
	}
	return l.EventsDefault
}

// put adds an event to a room without asking who may.
func (d *double) put(r *room, sender id.UserID, kind string, key any, content any) *roomEvent {
	e := &roomEvent{ID: id.EventID("$" + d.newID("event")), Sender: sender, Kind: kind, Content: must(json.Marshal(content)), Time: time.Now().UnixMilli()}
	if k, ok := key.(string); ok {
		e.Key = &k
	}
	r.add(e, d.happens())
	return e
}

// add adds an event that has its position.
func (r *room) add(e *roomEvent, position int64) {
	if e.Key != nil {
		at := stateKey{e.Kind, *e.Key}
		e.before = r.state[at]
		r.state[at] = e
	}
	e.Position = position
	r.events = append(r.events, e)
	if e.Kind == "m.room.member" {
		user := id.UserID(*e.Key)
		now, was := e.field("membership"), e.before.field("membership")
		switch {
		case now == "join" && was != "join":
			r.joined[user] = e.Position
		case now != "join":
			delete(r.joined, user)
		}
	}
}

// newRoom makes a room in which nothing has happened.
func (d *double) newRoom(name id.RoomID) *room {
	r := &room{id: name, state: map[stateKey]*roomEvent{}, joined: map[id.UserID]int64{}, typing: map[id.UserID]*time.Timer{}}
	d.rooms[name] = r
	return r
}

func (d *double) createRoom(c *call) any {
	ask := read[struct {
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
	}](c)
	r := d.newRoom(id.RoomID("!" + d.newID("room")[:18] + ":" + Name))
	create := fields{"room_version": roomVersion}
	maps.Copy(create, ask.Creation)
	users := fields{c.User.String(): 100}
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
	maps.Copy(power, ask.Power)
	put := func(kind, key string, content any) { d.put(r, c.User, kind, key, content) }
	put("m.room.create", "", create)
	put("m.room.member", c.User.String(), fields{"membership": "join", "displayname": c.account.Name})
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
	for _, u := range ask.Invite { // as in Synapse and Dendrite, the room is there if one is refused
		d.invites(r, c.User, u, ask.Direct)
	}
	return fields{"room_id": r.id}
}

// invites invites somebody into a room, unless they take no invitations.
func (d *double) invites(r *room, by, user id.UserID, direct bool) {
	content := fields{"membership": "invite"}
	if who := d.accounts[user]; who != nil {
		var takes struct {
			Action string `json:"default_action"`
		}
		if _ = json.Unmarshal(who.Data[invitesTaken], &takes); takes.Action == "block" {
			refuse(http.StatusForbidden, "M_INVITE_BLOCKED", "they take no invitations")
		}
		content["displayname"] = who.Name
	}
	if direct {
		content["is_direct"] = true
	}
	d.put(r, by, "m.room.member", user.String(), content)
}

func (d *double) joinedRooms(c *call) any {
	in := []id.RoomID{}
	for at, r := range d.rooms {
		if r.membership(c.User) == "join" {
			in = append(in, at)
		}
	}
	slices.Sort(in)
	return fields{"joined_rooms": in}
}

// room returns the room in the path.
func (d *double) room(c *call) *room {
	r := d.rooms[id.RoomID(c.path("room"))]
	if r == nil {
		miss("no such room")
	}
	return r
}

func (d *double) join(c *call) any {
	r := d.room(c)
	switch is := r.membership(c.User); {
	case is == "join":
	case is == "ban", is != "invite" && r.state[stateKey{"m.room.join_rules", ""}].field("join_rule") != "public":
		forbid("you may not join")
	default:
		d.put(r, c.User, "m.room.member", c.User.String(), fields{"membership": "join", "displayname": c.account.Name})
	}
	return fields{"room_id": r.id}
}

func (d *double) leave(c *call) any {
	r := d.room(c)
	switch r.membership(c.User) {
	case "join", "invite":
		d.put(r, c.User, "m.room.member", c.User.String(), fields{"membership": "leave"})
	case "ban", "":
		forbid("you are not in the room")
	}
	return fields{}
}

// at returns the room in which the caller has to be for what they ask.
func (d *double) at(c *call) *room {
	r := d.rooms[id.RoomID(c.path("room"))]
	if r == nil || r.membership(c.User) != "join" {
		forbid("you are not in the room")
	}
	return r
}

// them reads the user whom a request is about, and the reason.
func them(c *call) (ask struct {
	User   id.UserID `json:"user_id"`
	Reason string
}) {
	_ = json.Unmarshal(c.body, &ask)
	return ask
}

func (d *double) invite(c *call) any {
	r, user := d.at(c), them(c).User
	l, is := r.levels(), r.membership(user)
	if l.of(c.User) < l.Invite || is == "join" || is == "ban" {
		forbid("you may not invite them")
	}
	if is != "invite" {
		d.invites(r, c.User, user, false)
	}
	return fields{}
}

func (d *double) kick(c *call) any {
	return d.moderate(c, d.at(c).levels().Kick, "leave", "join", "invite")
}
func (d *double) ban(c *call) any   { return d.moderate(c, d.at(c).levels().Ban, "ban") }
func (d *double) unban(c *call) any { return d.moderate(c, d.at(c).levels().Kick, "leave", "ban") }

// moderate changes somebody's membership, which must be one of from if that is given.
func (d *double) moderate(c *call, needs int, now string, from ...string) any {
	r, ask := d.at(c), them(c)
	l := r.levels()
	if l.of(c.User) < needs || l.of(ask.User) >= l.of(c.User) && ask.User != c.User {
		forbid("you have no power over them")
	}
	if from != nil && !slices.Contains(from, r.membership(ask.User)) {
		forbid("they are not in the room")
	}
	content := fields{"membership": now}
	if ask.Reason != "" {
		content["reason"] = ask.Reason
	}
	d.put(r, c.User, "m.room.member", ask.User.String(), content)
	return fields{}
}

// content reads what is to be sent, if the sender has the power.
func (d *double) content(c *call, state bool) (*room, fields) {
	r, content := d.at(c), read[fields](c)
	l, kind := r.levels(), c.path("type")
	if l.of(c.User) < l.forEvent(kind, state) {
		forbid("you do not have the power to send " + kind)
	}
	if len(c.body) > maxContent {
		refuse(http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "the event is too large")
	}
	return r, content
}

func (d *double) send(c *call) any {
	r, content := d.content(c, false)
	e := d.put(r, c.User, c.path("type"), nil, content)
	e.device, e.Txn = c.device, c.path("txn")
	return fields{"event_id": e.ID}
}

func (d *double) setState(c *call) any {
	r, content := d.content(c, true)
	if key := c.path("key"); strings.HasPrefix(key, "@") && key != c.User.String() {
		forbid("the state is somebody else's")
	}
	return fields{"event_id": d.put(r, c.User, c.path("type"), c.path("key"), content).ID}
}

// kept are the fields that redacting an event leaves.
var kept = map[string][]string{"m.room.member": {"membership"}, "m.room.join_rules": {"join_rule"}, "m.room.history_visibility": {"history_visibility"},
	"m.room.power_levels": {"users", "users_default", "events", "events_default", "state_default", "invite", "kick", "ban", "redact"}}

func (d *double) redact(c *call) any {
	r, content := d.at(c), fields{}
	maps.Copy(content, read[fields](c))
	l, target := r.levels(), r.find(id.EventID(c.path("event")))
	if target == nil {
		miss("no such event")
	}
	if target.Sender != c.User && l.of(c.User) < l.Redact || l.of(c.User) < l.forEvent("m.room.redaction", false) {
		forbid("you may not redact it")
	}
	content["redacts"] = target.ID
	e := d.put(r, c.User, "m.room.redaction", nil, content)
	e.Redacts, e.device, e.Txn = target.ID, c.device, c.path("txn")
	if target.Kind != "m.room.create" {
		was := parse[fields](target.Content, "")
		maps.DeleteFunc(was, func(k string, _ any) bool { return !slices.Contains(kept[target.Kind], k) })
		target.Content, target.because = must(json.Marshal(was)), e
	}
	return fields{"event_id": e.ID}
}

func (r *room) find(what id.EventID) *roomEvent {
	for _, e := range slices.Backward(r.events) {
		if e.ID == what {
			return e
		}
	}
	return nil
}

func (d *double) getState(c *call) any {
	_, state := d.stateFor(c)
	e := state[stateKey{c.path("type"), c.path("key")}]
	if e == nil {
		miss("no such state")
	}
	return e.Content
}

// readBy returns the room in the path, and its events that the caller may read.
func (d *double) readBy(c *call) (*room, []*roomEvent) {
	if r := d.rooms[id.RoomID(c.path("room"))]; r != nil {
		if events := r.readable(c.User); events != nil {
			return r, events
		}
	}
	forbid("you are not in the room")
	return nil, nil
}

// stateFor returns the state of a room as it is, or as it was when the caller left.
func (d *double) stateFor(c *call) (*room, map[stateKey]*roomEvent) {
	r, events := d.readBy(c)
	state := map[stateKey]*roomEvent{}
	for _, e := range events {
		if e.Key != nil {
			state[stateKey{e.Kind, *e.Key}] = e
		}
	}
	return r, state
}

func (d *double) event(c *call) any {
	r := d.at(c)
	e := r.find(id.EventID(c.path("event")))
	if e == nil {
		miss("no such event")
	}
	return e.seen(r.id, c.device)
}

func (d *double) members(c *call) any {
	r, state := d.stateFor(c)
	only, not := c.r.URL.Query().Get("membership"), c.r.URL.Query().Get("not_membership")
	chunk := []fields{}
	for at, e := range state {
		if is := e.field("membership"); at.kind == "m.room.member" && (only == "" || is == only) && (not == "" || is != not) {
			chunk = append(chunk, e.seen(r.id, c.device))
		}
	}
	return fields{"chunk": chunk}
}

// readable returns the events of a room that somebody may read: all up to now, or
// up to their leaving.
func (r *room) readable(user id.UserID) []*roomEvent {
	if r.joined[user] > 0 {
		return r.events
	}
	for e := r.state[stateKey{"m.room.member", user.String()}]; e != nil; e = e.before {
		if e.before.field("membership") == "join" {
			return r.between(0, e.Position)
		}
	}
	return nil
}

// between returns the events after one position up to another.
func (r *room) between(after, upTo int64) []*roomEvent {
	at := func(p int64) int {
		i, _ := slices.BinarySearchFunc(r.events, p+1, func(e *roomEvent, p int64) int { return cmp.Compare(e.Position, p) })
		return i
	}
	return r.events[at(after):max(at(after), at(upTo))]
}

func token(position int64) string { return "t" + strconv.FormatInt(position, 10) }

// positionOf reads a token of the query, which may be missing.
func (c *call) positionOf(name string, usual int64) int64 {
	s := c.r.URL.Query().Get(name)
	if s == "" {
		return usual
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "t"), 10, 64)
	if err != nil || !strings.HasPrefix(s, "t") {
		refuse(http.StatusBadRequest, "M_INVALID_PARAM", "not a token of this server")
	}
	return n
}

// numberOf reads a number of the query, which may be missing.
func (c *call) numberOf(name string, usual int) int {
	n, err := strconv.Atoi(c.r.URL.Query().Get(name))
	if err != nil || n <= 0 {
		return usual
	}
	return n
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

func (d *double) messages(c *call) any {
	r, all := d.readBy(c)
	filter := parse[part]([]byte(c.r.URL.Query().Get("filter")), "M_INVALID_PARAM")
	limit, from := c.numberOf("limit", 10), c.positionOf("from", d.position)
	out, chunk := fields{"start": token(from)}, []fields{}
	for i, e := range slices.Backward(all) { // which is all that the bot and Player ask for
		if e.Position > from || !filter.takes(e.Kind, e.Sender) {
			continue
		}
		if chunk = append(chunk, e.seen(r.id, c.device)); len(chunk) == limit {
			if i > 0 {
				out["end"] = token(e.Position - 1)
			}
			break
		}
	}
	out["chunk"] = chunk
	return out
}

func (d *double) relations(c *call) any {
	r := d.at(c)
	chunk := []fields{}
	for _, e := range r.events {
		to := object(parse[fields](e.Content, "")["m.relates_to"])
		if to["event_id"] == c.path("event") && to["rel_type"] == c.path("rel") && (c.path("type") == "" || e.Kind == c.path("type")) {
			chunk = append(chunk, e.seen(r.id, c.device))
		}
	}
	if c.r.URL.Query().Get("dir") != "f" {
		slices.Reverse(chunk)
	}
	chunk = chunk[min(len(chunk), c.numberOf("from", 0)):]
	answer, n := fields{"chunk": chunk}, c.numberOf("limit", 50)
	if len(chunk) > n {
		answer["chunk"], answer["next_batch"] = chunk[:n], strconv.Itoa(c.numberOf("from", 0)+n)
	}
	return answer
}

func (d *double) setTyping(c *call) any {
	c.themselves()
	r, ask := d.at(c), read[struct {
		Typing  bool
		Timeout int64
	}](c)
	user, before := c.User, r.typing[c.User]
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
	return fields{}
}

func (d *double) setReceipt(c *call) any {
	r, kind := d.at(c), c.path("kind")
	r.receipts = slices.DeleteFunc(r.receipts, func(x receipt) bool { return x.kind == kind && x.user == c.User })
	r.receipts = append(r.receipts, receipt{d.happens(), id.EventID(c.path("event")), kind, c.User, time.Now().UnixMilli()})
	return fields{}
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
	return a != nil && b != nil && a.Position < b.Position
}
