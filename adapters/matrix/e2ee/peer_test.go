//go:build goolm

package e2ee

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/sqlstatestore"
	_ "modernc.org/sqlite"
)

func TestMain(m *testing.M) { matrixtest.Main(m) }

// peer is a Machine with the simplest client around it. It syncs when told.
type peer struct {
	*Machine
	t      testing.TB
	user   matrixtest.User
	client *mautrix.Client
	db     *dbutil.Database
	state  *sqlstatestore.SQLStateStore
	since  string
	events map[id.EventID]*event.Event // of all timelines
	keys   []id.SessionID              // of which OnKey told
	clock  time.Time
	pickle string

	virtual bool // time passes by itself
}

func openDB(t testing.TB, path string) *dbutil.Database {
	t.Helper()
	raw, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	db, err := dbutil.NewWithDB(raw, "sqlite3")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func newPeer(t testing.TB, s *matrixtest.Server, url string, user matrixtest.User) *peer {
	t.Helper()
	p := &peer{t: t, user: user, events: make(map[id.EventID]*event.Event), clock: time.Now(), pickle: "sealed for tests", virtual: s.Virtual()}
	p.db = openDB(t, filepath.Join(t.TempDir(), "keys.db"))
	client := s.Client(t, url, user)
	p.client = client
	p.state = sqlstatestore.NewSQLStateStore(p.db, nil, false)
	if err := p.state.Upgrade(ctx); err != nil {
		t.Fatal(err)
	}
	client.StateStore = p.state
	p.open()
	return p
}

var ctx = context.Background()

// open opens the machine on the peer's database, as a start of the program does.
func (p *peer) open() {
	p.t.Helper()
	m, err := Open(ctx, Config{Client: p.client, DB: p.db, State: p.state, Pickle: []byte(p.pickle),
		Log: slog.New(slog.NewTextHandler(p.t.Output(), nil))})
	if err != nil {
		p.t.Fatal(err)
	}
	m.now = func() time.Time { return p.clock }
	if !p.virtual {
		m.backupAfter = 10 * time.Millisecond
	}
	m.OnKey(func(_ id.RoomID, s id.SessionID) { p.keys = append(p.keys, s) })
	p.Machine = m
	p.t.Cleanup(func() { _ = m.Close() })
}

// patience is how long a peer waits for what should come. It only bounds how long a
// broken test takes.
func (p *peer) patience() time.Duration {
	if p.virtual {
		return 2 * time.Minute
	}
	return tier.Patience(p.t)
}

// ask gets the next sync answer and does nothing with it.
func (p *peer) ask() *mautrix.RespSync {
	p.t.Helper()
	resp, err := p.client.FullSyncRequest(ctx, mautrix.ReqSync{Since: p.since, Timeout: 0})
	if err != nil {
		p.t.Fatal(err)
	}
	return resp
}

// asks gets an answer that has an event and at least so many to-device events,
// which may come a moment later, and does nothing with it.
func (p *peer) asks(evt id.EventID, toDevice int) *mautrix.RespSync {
	p.t.Helper()
	for late := time.Now().Add(p.patience()); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		resp := p.ask()
		there := false
		for _, r := range resp.Rooms.Join {
			there = there || slices.ContainsFunc(r.Timeline.Events, func(e *event.Event) bool { return e.ID == evt })
		}
		if there && len(resp.ToDevice.Events) >= toDevice {
			return resp
		}
	}
	p.t.Fatalf("%s does not get %s and its key", p.user.ID, evt)
	return nil
}

// handle does what the adapter does with an answer, keys first.
func (p *peer) handle(resp *mautrix.RespSync) {
	p.t.Helper()
	if err := p.Sync(ctx, resp, p.since); err != nil {
		p.t.Fatal(err)
	}
	p.handleRooms(resp)
	p.since = resp.NextBatch
}

func (p *peer) handleRooms(resp *mautrix.RespSync) {
	for room, r := range resp.Rooms.Join {
		changed := false
		for _, evt := range append(append([]*event.Event(nil), r.State.Events...), r.Timeline.Events...) {
			evt.RoomID = room
			if evt.StateKey != nil {
				evt.Type.Class = event.StateEventType
				if evt.Content.Parsed == nil {
					_ = evt.Content.ParseRaw(evt.Type)
				}
				mautrix.UpdateStateStore(ctx, p.state, evt)
				changed = changed || evt.Type == event.StateMember
				continue
			}
			p.events[evt.ID] = evt
		}
		if changed {
			p.MembersChanged(room)
		}
	}
}

func (p *peer) sync() {
	p.t.Helper()
	p.handle(p.ask())
}

// await syncs until the event is there, and returns it as it came.
func (p *peer) await(evt id.EventID) *event.Event {
	p.t.Helper()
	p.awaits(evt.String(), func() bool { return p.events[evt] != nil })
	return p.events[evt]
}

// awaits syncs until something is so.
func (p *peer) awaits(what string, so func() bool) {
	p.t.Helper()
	for late := time.Now().Add(p.patience()); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		if so() {
			return
		}
		p.sync()
	}
	p.t.Fatalf("%s: %s does not happen", p.user.ID, what)
}

func (p *peer) encrypt(room id.RoomID, content any) *event.EncryptedEventContent {
	p.t.Helper()
	sealed, err := p.Encrypt(ctx, room, event.EventMessage, content)
	if err != nil {
		p.t.Fatalf("%s encrypts: %v", p.user.ID, err)
	}
	return sealed
}

// say sends an encrypted message.
func (p *peer) say(room id.RoomID, body string) id.EventID {
	p.t.Helper()
	return p.sendSealed(room, p.encrypt(room, text(body)))
}

func (p *peer) sendSealed(room id.RoomID, content any) id.EventID {
	p.t.Helper()
	resp, err := p.client.SendMessageEvent(ctx, room, event.EventEncrypted, content, mautrix.ReqSendEvent{DontEncrypt: true})
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.EventID
}

func text(body string) *event.MessageEventContent {
	return &event.MessageEventContent{MsgType: event.MsgText, Body: body}
}

// opens decrypts an event, the key of which may come a moment later.
func (p *peer) opens(evt id.EventID) *event.Event {
	p.t.Helper()
	var plain *event.Event
	var err error
	p.await(evt)
	p.awaits("the key of "+evt.String(), func() bool {
		plain, err = p.Decrypt(ctx, p.events[evt])
		return !errors.As(err, new(ErrNoKey))
	})
	if err != nil {
		p.t.Fatalf("%s reads %s: %v", p.user.ID, evt, err)
	}
	return plain
}

// reads decrypts an event to its text; what it must say is in the call.
func (p *peer) reads(evt id.EventID, body string) {
	p.t.Helper()
	plain := p.opens(evt)
	if got := plain.Content.AsMessage().Body; got != body {
		p.t.Fatalf("%s reads %q, not %q", p.user.ID, got, body)
	}
}

// cannotRead checks that an event stays unread for want of a key.
func (p *peer) cannotRead(evt id.EventID) ErrNoKey {
	p.t.Helper()
	_, err := p.Decrypt(ctx, p.await(evt))
	no, ok := err.(ErrNoKey)
	if !ok {
		p.t.Fatalf("%s should lack the key of %s: %v", p.user.ID, evt, err)
	}
	return no
}

// makes makes an encrypted room with everybody in it.
func (p *peer) makes(others ...*peer) id.RoomID {
	p.t.Helper()
	room, err := p.client.CreateRoom(ctx, &mautrix.ReqCreateRoom{Preset: "private_chat", InitialState: []*event.Event{{
		Type:    event.StateEncryption,
		Content: event.Content{Parsed: &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}},
	}}})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, o := range others {
		p.brings(room.RoomID, o)
	}
	everybody := append([]*peer{p}, others...)
	for _, reader := range everybody {
		for _, member := range everybody {
			reader.awaits("the joining of all", func() bool { return reader.state.IsInRoom(ctx, room.RoomID, member.user.ID) })
		}
	}
	return room.RoomID
}

func (p *peer) brings(room id.RoomID, o *peer) {
	p.t.Helper()
	if _, err := p.client.InviteUser(ctx, room, &mautrix.ReqInviteUser{UserID: o.user.ID}); err != nil {
		p.t.Fatal(err)
	}
	if _, err := o.client.JoinRoomByID(ctx, room); err != nil {
		p.t.Fatal(err)
	}
}
