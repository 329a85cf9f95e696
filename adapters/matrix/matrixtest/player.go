package matrixtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// A Player is a person with a client that knows nothing of encryption. It reads
// along in all its rooms. What a Player does is there when the call returns,
// and fails the test when the homeserver refuses it. The methods may be called
// by several goroutines.
type Player struct {
	User
	// Client is for what no method does. It tries an answer of 429 or 5xx
	// three times.
	Client *mautrix.Client

	t      testing.TB
	server *Server

	mu      watched
	rooms   map[id.RoomID]*seenRoom
	invites map[id.RoomID]id.UserID
}

type seenRoom struct {
	state  []*Event // before the timeline
	events []*Event
	known  map[id.EventID]bool
	read   map[id.UserID][]id.EventID
	typing map[id.UserID]bool
	typed  map[id.UserID]int
}

// Player registers somebody and begins to read along until the test ends.
func (s *Server) Player(t testing.TB, name string) *Player {
	t.Helper()
	return s.NewPlayer(t, s.URL, s.Register(t, name))
}

// NewPlayer is a Player for an account that is there, at an address that may
// be a Proxy's.
func (s *Server) NewPlayer(t testing.TB, url string, user User) *Player {
	t.Helper()
	client := s.Client(t, url, user)
	client.DefaultHTTPRetries = 3
	p := &Player{User: user, Client: client, t: t, server: s, rooms: map[id.RoomID]*seenRoom{}, invites: map[id.RoomID]id.UserID{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.read(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return p
}

// A syncAnswer is an answer to /sync, as far as tests look at it.
type syncAnswer struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join, Leave map[id.RoomID]roomAnswer
		Invite      map[id.RoomID]struct {
			State struct{ Events []*Event } `json:"invite_state"`
		}
	}
	ToDevice struct{ Events []*Event } `json:"to_device"`
	Lists    struct {
		Changed, Left []id.UserID
	} `json:"device_lists"`
	OneTime map[string]int `json:"device_one_time_keys_count"`
}

type roomAnswer struct {
	State     struct{ Events []*Event }
	Timeline  timeline
	Ephemeral struct{ Events []*Event }
	Summary   struct {
		Joined *int `json:"m.joined_member_count"`
	}
}

type timeline struct {
	Events  []*Event
	Limited bool
	Before  string `json:"prev_batch"`
}

const everything = `{"room":{"timeline":{"limit":500}}}`

func (p *Player) read(ctx context.Context) {
	since := ""
	for ctx.Err() == nil {
		query := map[string]string{"timeout": "30000", "filter": everything}
		if since != "" {
			query["since"] = since
		}
		var answer syncAnswer
		err := p.get(ctx, p.Client.BuildURLWithQuery(mautrix.ClientURLPath{"v3", "sync"}, query), &answer)
		if err == nil {
			err = p.take(ctx, answer)
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		since = answer.Next
	}
}

func (p *Player) get(ctx context.Context, url string, answer any) error {
	data, err := p.Client.MakeFullRequest(ctx, mautrix.FullRequest{Method: http.MethodGet, URL: url, SensitiveContent: true})
	if err != nil {
		return err
	}
	return json.Unmarshal(data, answer)
}

// take adds what a sync has brought, gaps filled.
func (p *Player) take(ctx context.Context, answer syncAnswer) error {
	for _, rooms := range []map[id.RoomID]roomAnswer{answer.Rooms.Join, answer.Rooms.Leave} {
		for room, r := range rooms {
			if err := p.extend(ctx, room, r.State.Events, r.Timeline); err != nil {
				return err
			}
			p.mu.Lock()
			delete(p.invites, room)
			for _, e := range r.Ephemeral.Events {
				p.rooms[room].glance(e)
			}
			p.mu.Unlock()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for room, r := range answer.Rooms.Invite {
		for _, e := range r.State.Events {
			if e.Type == "m.room.member" && e.StateKey != nil && *e.StateKey == p.ID.String() {
				p.invites[room] = e.Sender
			}
		}
	}
	p.mu.tell()
	return nil
}

func (p *Player) extend(ctx context.Context, room id.RoomID, state []*Event, line timeline) error {
	p.mu.Lock()
	r := p.rooms[room]
	if r == nil {
		r = &seenRoom{known: map[id.EventID]bool{}, read: map[id.UserID][]id.EventID{}, typing: map[id.UserID]bool{}, typed: map[id.UserID]int{}}
		p.rooms[room] = r
	}
	p.mu.Unlock()
	// Only the reading goroutine changes rooms, so known may be read here.
	var missed []*Event
	for from := line.Before; line.Limited && from != ""; {
		var page struct {
			Chunk []*Event
			End   string
		}
		url := p.Client.BuildURLWithQuery(mautrix.ClientURLPath{"v3", "rooms", room, "messages"}, map[string]string{"from": from, "dir": "b", "limit": "500"})
		if err := p.get(ctx, url, &page); err != nil {
			var refused mautrix.HTTPError
			if errors.As(err, &refused) && refused.RespError != nil && refused.RespError.StatusCode == http.StatusForbidden {
				break // left meanwhile
			}
			return err
		}
		met := false
		for _, e := range page.Chunk {
			if met = r.known[e.ID]; met {
				break
			}
			missed = append(missed, e)
		}
		if met || page.End == "" || page.End == from || len(page.Chunk) == 0 {
			break
		}
		from = page.End
	}
	slices.Reverse(missed)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(r.events) == 0 {
		r.state = append(r.state, state...)
	}
	for _, e := range append(missed, line.Events...) {
		if !r.known[e.ID] {
			r.known[e.ID] = true
			r.events = append(r.events, e)
		}
	}
	return nil
}

func (r *seenRoom) glance(e *Event) {
	switch e.Type {
	case "m.typing":
		now := map[id.UserID]bool{}
		list, _ := e.Content["user_ids"].([]any)
		for _, u := range list {
			user := id.UserID(text(u))
			now[user] = true
			if !r.typing[user] {
				r.typed[user]++
			}
		}
		r.typing = now
	case "m.receipt":
		for target, kinds := range e.Content {
			for u := range object(object(kinds)["m.read"]) {
				user := id.UserID(u)
				if !slices.Contains(r.read[user], id.EventID(target)) {
					r.read[user] = append(r.read[user], id.EventID(target))
				}
			}
		}
	}
}

// View is the room as the player sees it by now.
func (p *Player) View(room id.RoomID) View {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rooms[room]
	if r == nil {
		r = &seenRoom{}
	}
	v := resolve(room, r.state, r.events)
	for user, list := range r.read {
		v.Read[user] = slices.Clone(list)
	}
	maps.Copy(v.Typed, r.typed)
	return v
}

// Sees is the room as text.
func (p *Player) Sees(room id.RoomID) string { return p.View(room).String() }

// Await waits until the room looks so and is the view that did; what names it
// when it never does.
func (p *Player) Await(room id.RoomID, what string, so func(View) bool) (v View) {
	p.t.Helper()
	if !p.mu.await(p.server.patienceOf(p.t), func() bool { v = p.View(room); return so(v) }) {
		p.t.Fatalf("%s has waited for %s and sees:\n%s", p.ID, what, v)
	}
	return v
}

// AwaitMessage waits for a message of somebody like that and is the first.
func (p *Player) AwaitMessage(room id.RoomID, from id.UserID, what string, so func(*Message) bool) (found *Message) {
	p.t.Helper()
	p.Await(room, what, func(v View) bool {
		list := v.From(from)
		n := slices.IndexFunc(list, so)
		if n >= 0 {
			found = list[n]
		}
		return n >= 0
	})
	return found
}

// AwaitEvent waits until the room's timeline holds the event.
func (p *Player) AwaitEvent(room id.RoomID, event id.EventID) {
	p.t.Helper()
	known := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		r := p.rooms[room]
		return r != nil && r.known[event]
	}
	if !p.mu.await(p.server.patienceOf(p.t), known) {
		p.t.Fatalf("%s never saw event %s", p.ID, event)
	}
}

// AwaitInvite waits for an invitation to the room and is who sent it.
func (p *Player) AwaitInvite(room id.RoomID) (from id.UserID) {
	p.t.Helper()
	invited := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		from = p.invites[room]
		return from != ""
	}
	if !p.mu.await(p.server.patienceOf(p.t), invited) {
		p.t.Fatalf("%s was never invited to %s", p.ID, room)
	}
	return from
}

// A Room is what a new room is to be.
type Room struct {
	Name      string
	Encrypted bool
	Public    bool // anybody may join without an invitation
	Direct    bool
	Space     bool // it holds rooms
	Invite    []id.UserID
	Succeeds  id.RoomID // the room whose place it is to take
	// Power sets who may do what in the room; nil for the usual: the creator
	// all, others speak and invite.
	Power *event.PowerLevelsEventContent
}

// Encryption is the state of a room that is encrypted.
func Encryption() *event.EncryptionEventContent {
	return &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}
}

// Makes makes a room.
func (p *Player) Makes(room Room) id.RoomID {
	p.t.Helper()
	ask := &mautrix.ReqCreateRoom{Name: room.Name, Preset: "private_chat", Invite: room.Invite, IsDirect: room.Direct, PowerLevelOverride: room.Power}
	if room.Direct {
		ask.Preset = "trusted_private_chat"
	}
	if room.Public {
		ask.Preset, ask.Visibility = "public_chat", "public"
	}
	if room.Encrypted {
		ask.InitialState = append(ask.InitialState, &event.Event{Type: event.StateEncryption, Content: event.Content{Parsed: Encryption()}})
	}
	if room.Succeeds != "" {
		ask.CreationContent = map[string]any{"predecessor": map[string]any{"room_id": room.Succeeds}}
	}
	if room.Space {
		ask.CreationContent = map[string]any{"type": event.RoomTypeSpace}
	}
	made, err := p.Client.CreateRoom(context.Background(), ask)
	if err != nil {
		p.t.Fatalf("%s makes a room: %v", p.ID, err)
	}
	return made.RoomID
}

// Moves says in a room that it goes on in another, as its upgrade does.
func (p *Player) Moves(from, to id.RoomID) {
	p.t.Helper()
	p.Sets(from, event.StateTombstone, "", &event.TombstoneEventContent{Body: "We have moved", ReplacementRoom: to})
}

// Sets sets a state of a room.
func (p *Player) Sets(room id.RoomID, kind event.Type, key string, content any) id.EventID {
	p.t.Helper()
	sent, err := p.Client.SendStateEvent(context.Background(), room, kind, key, content)
	if err != nil {
		p.t.Fatalf("%s sets %s: %v", p.ID, kind.Type, err)
	}
	return sent.EventID
}

// Invites invites somebody.
func (p *Player) Invites(room id.RoomID, user id.UserID) {
	p.t.Helper()
	if _, err := p.Client.InviteUser(context.Background(), room, &mautrix.ReqInviteUser{UserID: user}); err != nil {
		p.t.Fatalf("%s invites %s: %v", p.ID, user, err)
	}
}

// invitesTaken is the type of the account data that says whether somebody takes invitations.
const invitesTaken = "m.invite_permission_config"

// TakesInvites sets whether the player takes invitations; the double heeds it.
func (p *Player) TakesInvites(any bool) {
	p.t.Helper()
	action := map[bool]string{true: "allow", false: "block"}[any]
	if err := p.Client.SetAccountData(context.Background(), invitesTaken, map[string]string{"default_action": action}); err != nil {
		p.t.Fatalf("%s takes invitations: %v", p.ID, err)
	}
}

// Joins joins a room and waits until the player has read it.
func (p *Player) Joins(room id.RoomID) {
	p.t.Helper()
	if _, err := p.Client.JoinRoomByID(context.Background(), room); err != nil {
		p.t.Fatalf("%s joins: %v", p.ID, err)
	}
	p.Await(room, "their own joining", func(v View) bool { return v.Members[p.ID] == "join" })
}

// Leaves leaves a room.
func (p *Player) Leaves(room id.RoomID) {
	p.t.Helper()
	if _, err := p.Client.LeaveRoom(context.Background(), room); err != nil {
		p.t.Fatalf("%s leaves: %v", p.ID, err)
	}
}

// Sends sends any event that is not a state, as it is, and waits until the
// player sees it in the room; in a Bubble, until everybody has seen it and done what
// they can at once.
func (p *Player) Sends(room id.RoomID, kind event.Type, content any) id.EventID {
	p.t.Helper()
	sent, err := p.Client.SendMessageEvent(context.Background(), room, kind, content, mautrix.ReqSendEvent{DontEncrypt: true})
	if err != nil {
		p.t.Fatalf("%s sends %s: %v", p.ID, kind.Type, err)
	}
	p.AwaitEvent(room, sent.EventID)
	p.server.rest()
	return sent.EventID
}

func words(body string, mentions ...id.UserID) *event.MessageEventContent {
	return &event.MessageEventContent{MsgType: event.MsgText, Body: body, Mentions: &event.Mentions{UserIDs: mentions}}
}

// Says says something in the main timeline, and mentions people.
func (p *Player) Says(room id.RoomID, body string, mentions ...id.UserID) id.EventID {
	p.t.Helper()
	return p.Sends(room, event.EventMessage, words(body, mentions...))
}

// SaysIn says something in a thread, and mentions people.
func (p *Player) SaysIn(room id.RoomID, thread id.EventID, body string, mentions ...id.UserID) id.EventID {
	p.t.Helper()
	content := words(body, mentions...)
	content.RelatesTo = (&event.RelatesTo{}).SetThread(thread, thread)
	return p.Sends(room, event.EventMessage, content)
}

// Edits changes a text of the player's own, and is the edit's ID.
func (p *Player) Edits(room id.RoomID, of id.EventID, body string) id.EventID {
	p.t.Helper()
	content := words(body)
	content.SetEdit(of)
	return p.Sends(room, event.EventMessage, content)
}

// Reacts sets a reaction.
func (p *Player) Reacts(room id.RoomID, to id.EventID, key string) id.EventID {
	p.t.Helper()
	return p.Sends(room, event.EventReaction, &event.ReactionEventContent{RelatesTo: event.RelatesTo{Type: event.RelAnnotation, EventID: to, Key: key}})
}

// Redacts takes an event back: a message, an edit, a reaction.
func (p *Player) Redacts(room id.RoomID, what id.EventID) {
	p.t.Helper()
	sent, err := p.Client.RedactEvent(context.Background(), room, what)
	if err != nil {
		p.t.Fatalf("%s redacts: %v", p.ID, err)
	}
	p.AwaitEvent(room, sent.EventID)
	p.server.rest()
}

// Looks is the picture of a message, downloaded and decoded. The test fails
// when the message says another size in bytes or pixels, or another type.
func (p *Player) Looks(m *Message) image.Image {
	p.t.Helper()
	if m.Picture == nil {
		p.t.Fatalf("there is no picture to download: %s", summary(m))
	}
	uri, err := id.ParseContentURI(m.Picture.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	data, err := p.Client.DownloadBytes(context.Background(), uri)
	if err != nil {
		p.t.Fatalf("%s downloads: %v", p.ID, err)
	}
	shown, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatalf("the picture of %s: %v", summary(m), err)
	}
	if size := shown.Bounds().Size(); size.X != m.Picture.Width || size.Y != m.Picture.Height || len(data) != m.Picture.Size || m.Picture.Type != "image/png" {
		p.t.Fatalf("%s says %+v, but its PNG is %v with %d bytes", summary(m), *m.Picture, size, len(data))
	}
	return shown
}
