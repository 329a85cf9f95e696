//go:build goolm

package e2ee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

func (p *peer) sessionIn(room id.RoomID) id.SessionID {
	p.t.Helper()
	s, err := p.session(ctx, room)
	if err != nil || s == nil {
		p.t.Fatal("no session: ", err)
	}
	return s.ID()
}

func TestWhoJoinsReadsWhatComesAfter(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot"))
		room := anna.makes(bot)
		before := bot.say(room, "Black D4.")
		anna.reads(before, "Black D4.")

		bert := newPeer(t, s, s.URL, s.Register(t, "Bert"))
		anna.brings(room, bert)
		bot.awaits("Bert's joining", func() bool { return bot.state.IsInRoom(ctx, room, bert.user.ID) })
		bert.reads(bot.say(room, "White E5."), "White E5.")
		bert.sync()
		resp, err := bert.client.Messages(ctx, room, "", "", mautrix.DirectionBackward, nil, 50)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(resp.Chunk, func(e *event.Event) bool { return e.ID == before })
		if at < 0 {
			t.Fatal("the first message is not in the room's history")
		}
		if _, err := bert.Decrypt(ctx, resp.Chunk[at]); !errors.As(err, new(ErrNoKey)) {
			t.Fatalf("Bert reads what was said before he came: %v", err)
		}
		// Nor when he asks for the key, though he then gets it: as he had it.
		if err := bert.AskForKey(ctx, resp.Chunk[at]); err != nil {
			t.Fatal(err)
		}
		uses := bert.Uses()
		bert.awaits("the key", func() bool { bot.sync(); return bert.Uses() > uses })
		if _, err := bert.Decrypt(ctx, resp.Chunk[at]); !errors.As(err, new(ErrNoKey)) {
			t.Fatalf("Bert asks, and reads what was said before he came: %v", err)
		}
	})
}

// A device that was never in the room gets no key.
func TestStrangerAsksForAKey(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot, mallory := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Mallory"))
		room := anna.makes(bot)
		bot.gives(mallory, event.ToDeviceDummy, &event.DummyEventContent{}) // knows her device
		evt := bot.await(bot.say(room, "Black D4."))
		if err := mallory.AskForKey(ctx, evt); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		asked := false
		for late := time.Now().Add(bot.patience()); !asked && time.Now().Before(late); time.Sleep(time.Millisecond) {
			resp := bot.ask()
			for _, e := range resp.ToDevice.Events {
				asked = asked || e.Type.Type == event.ToDeviceRoomKeyRequest.Type
			}
			bot.handle(resp)
		}
		if !asked {
			t.Fatal("the request did not arrive")
		}
		proxy.Forget()
		bot.chore(func(context.Context) { close(done) }) // after the request's
		<-done
		if list := proxy.Requests(matrixtest.On("PUT", "/sendToDevice/")); len(list) != 0 {
			t.Fatalf("the bot answers: %s", matrixtest.Paths(list))
		}
	})
}

// Everything at once, for the race detector: two rooms, one machine.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, first := pair(t, s)
		second := anna.makes(bot)
		evt := anna.say(first, "!place D4")
		bot.reads(evt, "!place D4")
		var all sync.WaitGroup
		for _, room := range []id.RoomID{first, second, first, second} {
			all.Go(func() {
				for range 5 {
					if _, err := bot.Encrypt(ctx, room, event.EventMessage, text("Black D4.")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() {
			for range 20 {
				if _, err := bot.Decrypt(ctx, bot.events[evt]); err != nil {
					t.Error(err)
				}
				bot.MembersChanged(first)
			}
		})
		all.Go(func() {
			since := bot.since
			for range 10 {
				resp, err := bot.client.FullSyncRequest(ctx, mautrix.ReqSync{Since: since})
				if err == nil {
					resp.DeviceLists.Changed = append(resp.DeviceLists.Changed, anna.user.ID)
					err = bot.Sync(ctx, resp, since)
				}
				if err != nil {
					t.Error(err)
					return
				}
				since = resp.NextBatch
			}
		})
		all.Wait()
		if t.Failed() {
			return
		}
		anna.reads(bot.say(second, "White E5."), "White E5.")
	})
}

// A change of devices that comes while the list is asked for is not lost.
func TestListChangesWhileAskedFor(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		room := anna.makes(bot)
		until := make(chan struct{})
		order := proxy.Once(matrixtest.On("POST", "/keys/query"), matrixtest.HoldsAnswer(until))
		done := make(chan error, 1)
		go func() {
			_, err := bot.Encrypt(ctx, room, event.EventMessage, text("Black D4."))
			done <- err
		}()
		order.Await(t, 1)
		phone := anna.user
		phone.Token, phone.Device = s.Login(t, anna.user)
		second := newPeer(t, s, s.URL, phone)
		change := &mautrix.RespSync{NextBatch: bot.since, DeviceLists: mautrix.DeviceLists{Changed: []id.UserID{anna.user.ID}}}
		change.DeviceOTKCount.SignedCurve25519 = 50
		if err := bot.Sync(ctx, change, bot.since); err != nil {
			t.Fatal(err)
		}
		close(until)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		second.reads(bot.say(room, "White E5."), "White E5.")
	})
}

// Who comes to some room while lists are asked for has nobody's list asked for again.
func TestMembersChangeWhileListsAreAskedFor(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		room := anna.makes(bot)
		until := make(chan struct{})
		query := matrixtest.On("POST", "/keys/query")
		order := proxy.Once(query, matrixtest.HoldsAnswer(until))
		done := make(chan error, 1)
		go func() {
			_, err := bot.Encrypt(ctx, room, event.EventMessage, text("Black D4."))
			done <- err
		}()
		order.Await(t, 1)
		bot.MembersChanged("!other:example.org")
		close(until)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		proxy.Forget()
		anna.reads(bot.say(room, "White E5."), "White E5.")
		if n := len(proxy.Requests(query)); n != 0 {
			t.Errorf("lists were asked for %d times more", n)
		}
	})
}

// Who comes while the members are asked for gets the key, and who goes gets none, though the
// answer does not know yet. So it is for the invited, too.
func TestMembersChangeWhileTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		bot := newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		people := map[string]*peer{}
		for _, name := range []string{"Anna", "Bert", "Cleo", "Dora", "Emil"} {
			people[name] = newPeer(t, s, s.URL, s.Register(t, name))
		}
		anna, comes, goes, banned, invited := people["Anna"], people["Bert"], people["Cleo"], people["Dora"], people["Emil"]
		room := anna.makes(bot, goes, banned)

		until := make(chan struct{})
		order := proxy.Once(matrixtest.On("GET", "/rooms/[^/]+/members$"), matrixtest.HoldsAnswer(until))
		done := make(chan error, 1)
		var sealed *event.EncryptedEventContent
		go func() {
			var err error
			sealed, err = bot.Encrypt(ctx, room, event.EventMessage, text("Black D4."))
			done <- err
		}()
		order.Await(t, 1)
		anna.brings(room, comes)
		if _, err := goes.client.LeaveRoom(ctx, room); err != nil {
			t.Fatal(err)
		}
		if _, err := anna.client.BanUser(ctx, room, &mautrix.ReqBanUser{UserID: banned.user.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := anna.client.InviteUser(ctx, room, &mautrix.ReqInviteUser{UserID: invited.user.ID}); err != nil {
			t.Fatal(err)
		}
		is := func() map[*peer]event.Membership {
			got := map[*peer]event.Membership{}
			for _, p := range people {
				m, err := bot.state.GetMembership(ctx, room, p.user.ID)
				if err != nil {
					t.Fatal(err)
				}
				got[p] = m
			}
			return got
		}
		want := map[*peer]event.Membership{anna: event.MembershipJoin, comes: event.MembershipJoin, goes: event.MembershipLeave,
			banned: event.MembershipBan, invited: event.MembershipInvite}
		bot.awaits("the changes", func() bool { return maps.Equal(is(), want) })
		close(until)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for p, m := range is() {
			if m != want[p] {
				t.Errorf("to the bot %s is %q after the answer, not %q", p.user.ID, m, want[p])
			}
		}
		at := bot.sendSealed(room, sealed)
		anna.reads(at, "Black D4.")
		comes.reads(at, "Black D4.")
		said := anna.await(at)
		for _, p := range []*peer{goes, banned} {
			p.sync()
			p.sync()
			if _, err := p.Decrypt(ctx, said); !errors.As(err, new(ErrNoKey)) {
				t.Errorf("%s has gone and reads: %v", p.user.ID, err)
			}
		}
	})
}

// An answer that comes when the bot has left the room, and has dropped who was there, is not
// stored: nobody says from then on who goes.
func TestLeavesWhileMembersAreAskedFor(t *testing.T) {
	t.Parallel()
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		room := anna.makes(bot)
		// It knows of itself alone, as where members are loaded lazily.
		if err := bot.state.ClearCachedMembers(ctx, room); err != nil {
			t.Fatal(err)
		}
		if err := bot.state.SetMembership(ctx, room, bot.user.ID, event.MembershipJoin); err != nil {
			t.Fatal(err)
		}
		until := make(chan struct{})
		order := proxy.Once(matrixtest.On("GET", "/rooms/[^/]+/members$"), matrixtest.HoldsAnswer(until))
		done := make(chan error, 1)
		go func() { done <- FetchMembers(ctx, bot.client, bot.state, room) }()
		order.Await(t, 1)
		if err := bot.state.ClearCachedMembers(ctx, room); err != nil {
			t.Fatal(err)
		}
		close(until)
		if err := <-done; err == nil {
			t.Error("no error")
		}
		if known, err := bot.state.HasFetchedMembers(ctx, room); err != nil || known {
			t.Errorf("members of the room that the bot has left are known: %v, %v", known, err)
		}
	})
}

func TestWhoLeavesGetsNoLaterKeys(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, bert := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Bert"))
		room := anna.makes(bot, bert)
		bert.reads(bot.say(room, "Black D4."), "Black D4.")
		first := bot.sessionIn(room)

		if _, err := bert.client.LeaveRoom(ctx, room); err != nil {
			t.Fatal(err)
		}
		bot.awaits("Bert's leaving", func() bool { return !bot.state.IsInRoom(ctx, room, bert.user.ID) })
		after := bot.await(bot.say(room, "White E5."))
		if bot.sessionIn(room) == first {
			t.Fatal("the session stays, and Bert has its key")
		}
		anna.reads(after.ID, "White E5.")
		bert.sync()
		bert.sync()
		if _, err := bert.Decrypt(ctx, after); !errors.As(err, new(ErrNoKey)) {
			t.Fatalf("Bert has left and reads: %v", err)
		}
	})
}

// A second device of Anna's gets the key with the next message; when she logs
// it out there is a new session.
func TestDevicesComeAndGo(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		anna.reads(bot.say(room, "Black D4."), "Black D4.")
		first := bot.sessionIn(room)

		phone := anna.user
		phone.Token, phone.Device = s.Login(t, anna.user)
		second := newPeer(t, s, s.URL, phone)
		bot.awaits("the new device", func() bool {
			return bot.outdated(anna.user.ID)
		})
		second.reads(bot.say(room, "White E5."), "White E5.")
		if bot.sessionIn(room) != first {
			t.Fatal("a new device needs no new session")
		}

		if _, err := second.client.Logout(ctx); err != nil {
			t.Fatal(err)
		}
		bot.awaits("the device's end", func() bool { return bot.outdated(anna.user.ID) })
		anna.reads(bot.say(room, "Black F6."), "Black F6.")
		if bot.sessionIn(room) == first {
			t.Fatal("the device that was logged out has the key of the session")
		}
	})
}

func (p *peer) outdated(user id.UserID) bool {
	users, err := p.store().GetOutdatedTrackedUsers(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, u := range users {
		if u == user {
			return true
		}
	}
	return false
}

// The device has no one-time keys when the bot first speaks. It is told so,
// holds up nobody, and gets the key when it has some.
func TestDeviceWithoutOneTimeKeys(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, bert := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Bert"))
		room := anna.makes(bot, bert)
		for range 200 { // claim them all
			resp, err := bot.client.ClaimKeys(ctx, &mautrix.ReqClaimKeys{OneTimeKeys: mautrix.OneTimeKeysRequest{
				bert.user.ID: {bert.user.Device: id.KeyAlgorithmSignedCurve25519}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(resp.OneTimeKeys[bert.user.ID][bert.user.Device]) == 0 {
				break
			}
		}
		first := bot.say(room, "Black D4.")
		anna.reads(first, "Black D4.")
		session := bot.sessionIn(room)
		resp := bert.asks(first, 1) // not handled: it would upload keys
		told := false
		for _, evt := range resp.ToDevice.Events {
			told = told || evt.Type.Type == event.ToDeviceRoomKeyWithheld.Type && strings.Contains(string(evt.Content.VeryRaw), "m.no_olm")
		}
		if !told {
			t.Fatal("Bert's device is not told why it cannot read")
		}
		bot.say(room, "White E5.")

		bert.clock = bert.clock.Add(time.Minute)
		bert.handle(resp) // uploads new one-time keys
		bert.cannotRead(first)
		bot.clock = bot.clock.Add(time.Minute)
		third := bot.say(room, "Black F6.")
		bert.reads(third, "Black F6.")
		if bot.sessionIn(room) != session {
			t.Fatal("there is a new session; the test shows nothing")
		}
		bert.cannotRead(first)
	})
}

// A looker counts how often the members of each room are looked up.
type looker struct {
	StateStore
	looks map[id.RoomID]int
}

func (l *looker) GetRoomMembers(ctx context.Context, room id.RoomID, memberships ...event.Membership) (map[id.UserID]*event.MemberEventContent, error) {
	l.looks[room]++
	return l.StateStore.GetRoomMembers(ctx, room, memberships...)
}

// looks counts from now on.
func (p *peer) looks() map[id.RoomID]int {
	l := &looker{p.state, map[id.RoomID]int{}}
	p.Machine.State = l
	return l.looks
}

// Members and devices are looked up again in those rooms alone where something
// has changed.
func TestLooksWhereSomethingChanged(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, bert := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Bert"))
		hers, his := anna.makes(bot), bert.makes(bot)
		says := func(want string) {
			t.Helper()
			looks := bot.looks()
			anna.reads(bot.say(hers, "Black D4."), "Black D4.")
			bert.reads(bot.say(his, "White E5."), "White E5.")
			if got := fmt.Sprintf("Anna's %d, Bert's %d", looks[hers], looks[his]); got != want {
				t.Errorf("looks in rooms: %s; want %s", got, want)
			}
		}
		settles := func(room id.RoomID, evt id.EventID) { // all that comes with the event has come
			bot.await(evt)
			bot.sync()
		}
		settles(hers, anna.say(hers, "Hello."))
		settles(his, bert.say(his, "Hello."))
		bot.say(hers, "")
		bot.say(his, "")
		says("Anna's 0, Bert's 0")

		cleo := newPeer(t, s, s.URL, s.Register(t, "Cleo"))
		bert.brings(his, cleo)
		bot.awaits("Cleo's joining", func() bool { return bot.state.IsInRoom(ctx, his, cleo.user.ID) })
		says("Anna's 0, Bert's 1")
		cleo.reads(bot.say(his, "Black F6."), "Black F6.")

		phone := anna.user
		phone.Token, phone.Device = s.Login(t, anna.user)
		second := newPeer(t, s, s.URL, phone)
		bot.awaits("the new device", func() bool { return bot.outdated(anna.user.ID) })
		says("Anna's 1, Bert's 0")
		second.reads(bot.say(hers, "White G7."), "White G7.")

		// Where the bot is no more it hears of no changes.
		bot.handle(&mautrix.RespSync{NextBatch: bot.since, DeviceOTKCount: mautrix.OTKCount{SignedCurve25519: 50},
			Rooms: mautrix.RespSyncRooms{Leave: map[id.RoomID]*mautrix.SyncLeftRoom{his: {}}}})
		says("Anna's 0, Bert's 1")

		bot.handle(&mautrix.RespSync{NextBatch: bot.since, DeviceOTKCount: mautrix.OTKCount{SignedCurve25519: 50},
			DeviceLists: mautrix.DeviceLists{Left: []id.UserID{bert.user.ID}}})
		says("Anna's 0, Bert's 1")
	})
}

// A device without one-time keys is tried again after a while, not with each
// message, and told once that it has none.
func TestUnreachableDevice(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot, bert := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Bert"))
		room, other := anna.makes(bot, bert), anna.makes(bot, bert)
		keys := proxy.Always(matrixtest.On("POST", "/keys/claim"), matrixtest.Changes(func([]byte) []byte { return []byte(`{"one_time_keys":{}}`) }))
		withheld := matrixtest.On("PUT", "/sendToDevice/m.room_key.withheld/")
		looks := bot.looks()
		for n := range 10 {
			for range 3 {
				bot.say(room, "Black D4.")
			}
			if looks[room] != n+1 {
				t.Fatalf("%d looks at the %d. attempt", looks[room], n+1)
			}
			bot.clock = bot.clock.Add(10 * time.Minute)
		}
		if err := bot.Close(); err != nil {
			t.Fatal(err)
		}
		bot.open() // which it remembers
		bot.say(other, "White E5.")
		told := map[id.UserID]int{}
		for _, r := range proxy.Requests(withheld) {
			var ask mautrix.ReqSendToDevice
			if err := json.Unmarshal(r.Body, &ask); err != nil {
				t.Fatal(err)
			}
			for user := range ask.Messages {
				told[user]++
			}
		}
		if want := map[id.UserID]int{anna.user.ID: 1, bert.user.ID: 1}; !maps.Equal(told, want) {
			t.Errorf("told that they have no one-time keys: %v", told)
		}
		// What reaches a device in one room reaches it in the other, though there it
		// would be tried again only later.
		bot.say(room, "")
		keys.Stop()
		bot.clock = bot.clock.Add(10 * time.Minute)
		anna.reads(bot.say(other, "Black F6."), "Black F6.")
		bot.clock = bot.clock.Add(-10 * time.Minute)
		evt := bot.say(room, "White G7.")
		anna.reads(evt, "White G7.")
		bert.reads(evt, "White G7.")
	})
}

// What fails between the server and the devices is an error of Encrypt, and
// made good by the next message.
func TestKeysAreSharedAfterFaults(t *testing.T) {
	for _, path := range []string{"/keys/query", "/keys/claim", "/sendToDevice/m.room.encrypted", "/members"} {
		t.Run(strings.ReplaceAll(path, "/", " "), func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
				proxy := s.Proxy(t)
				anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
				room := anna.makes(bot)
				if path == "/members" {
					if err := bot.state.ClearCachedMembers(ctx, room, event.MembershipBan); err != nil {
						t.Fatal(err)
					}
				}
				fault := proxy.Once(matrixtest.On("", path), matrixtest.Fails(500, "M_UNKNOWN"))
				if _, err := bot.Encrypt(ctx, room, event.EventMessage, text("Black D4.")); err == nil {
					t.Fatal("encrypted although the keys could not be shared")
				}
				if fault.Made() != 1 {
					t.Fatal("the fault did not happen")
				}
				anna.reads(bot.say(room, "Black D4."), "Black D4.")
			})
		})
	}
}

// The same sync answer again after a crash, at every point where the database
// is spoken to.
func TestCrashWhileKeysAreTakenIn(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		for range rounds(1, 500) {
			anna.fresh.clear()
			if err := anna.store().RemoveOutboundGroupSession(ctx, room); err != nil {
				t.Fatal(err)
			}
			evt := anna.say(room, "!place D4") // with a key of its own
			resp := bot.asks(evt, 1)
			points := 0
			for stop := 1; ; stop++ {
				crash, cancel := context.WithCancel(ctx)
				n := 0
				bot.crashAt(func() bool {
					if n++; n == stop {
						cancel()
					}
					return n == stop
				})
				err := bot.Sync(crash, resp, bot.since)
				points = max(points, n)
				bot.crashAt(nil)
				cancel()
				if err := bot.Close(); err != nil {
					t.Fatal(err)
				}
				bot.open() // a new process on the same database
				if err == nil && n < stop {
					break
				}
			}
			if points < 4 {
				t.Fatalf("only %d points to crash at", points)
			}
			bot.handle(resp)
			bot.handle(resp)
			bot.reads(evt, "!place D4")
		}
		anna.reads(bot.say(room, "Black D4."), "Black D4.")
	})
}

// rounds returns the small number, or in the soak tier the large one.
func rounds(small, large int) int {
	if tier.Soaking() {
		return large
	}
	return small
}

// A walk over all that can happen to a message: its key comes in time, some
// messages later, or never; it comes again, or changed. Each is read exactly
// when its key is there, and nothing else is ever read.
func TestWalkOfLateKeys(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		chance := rand.New(rand.NewPCG(1, 2))
		type message struct {
			evt    id.EventID
			sealed *event.EncryptedEventContent
			body   string
			keys   []*event.Event
			due    int // when the key comes
		}
		var all []*message
		check := func(now int) {
			t.Helper()
			for _, m := range all {
				switch {
				case m.due <= now:
					bot.reads(m.evt, m.body)
				default:
					bot.cannotRead(m.evt)
				}
			}
		}
		n := rounds(30, 1000)
		for now := range n {
			if now%10 == 0 { // a room key opens up to as many
				anna.fresh.clear()
				if err := anna.store().RemoveOutboundGroupSession(ctx, room); err != nil {
					t.Fatal(err)
				}
				all = all[max(0, len(all)-20):]
			}
			m := &message{body: fmt.Sprintf("!place %d", now), due: now}
			m.sealed = anna.encrypt(room, text(m.body))
			m.evt = anna.sendSealed(room, m.sealed)
			keys := 0
			if now%10 == 0 {
				keys = 1
			}
			resp := bot.asks(m.evt, keys)
			if now%10 == 0 {
				m.keys, resp.ToDevice.Events = resp.ToDevice.Events, nil
				m.due = []int{now, now + 1 + chance.IntN(8), now + 10 + chance.IntN(5), n}[chance.IntN(4)]
			} else {
				m.due = max(now, all[len(all)-1].due)
			}
			bot.handle(resp)
			all = append(all, m)
			for _, m := range all {
				if m.due == now && m.keys != nil {
					bot.handle(&mautrix.RespSync{NextBatch: bot.since, ToDevice: mautrix.SyncEventsList{Events: m.keys}})
				}
			}
			check(now)
			if old := all[chance.IntN(len(all))]; old.due <= now {
				if chance.IntN(2) == 0 {
					unreadable(t, bot, bot.await(anna.sendSealed(room, old.sealed)), ErrReplayed)
				} else {
					changed := *old.sealed
					changed.MegolmCiphertext = slices.Clone(changed.MegolmCiphertext)
					at := 30 + chance.IntN(len(changed.MegolmCiphertext)-40)
					if changed.MegolmCiphertext[at] == 'A' {
						changed.MegolmCiphertext[at] = 'B'
					} else {
						changed.MegolmCiphertext[at] = 'A'
					}
					if _, err := bot.Decrypt(ctx, bot.await(anna.sendSealed(room, &changed))); !errors.As(err, new(ErrUnreadable)) {
						t.Fatalf("a changed message: %v", err)
					}
				}
			}
		}
	})
}

// A second process of the same answer does no harm after success either.
func TestSameAnswerTwice(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		evt := anna.say(room, "!place D4")
		resp := bot.asks(evt, 1)
		for range 3 {
			if err := bot.Sync(ctx, resp, bot.since); err != nil {
				t.Fatal(err)
			}
		}
		bot.Close()
		bot.open()
		bot.handle(resp)
		bot.reads(evt, "!place D4")
		if len(bot.keys) != 1 {
			t.Fatalf("OnKey told of %d keys", len(bot.keys))
		}
		// and nobody was asked for a new session, as after an unreadable message
		anna.sync()
		anna.reads(bot.say(room, "Black D4."), "Black D4.")
		bot.reads(anna.say(room, "!place E5"), "!place E5")
	})
}

func TestWithheld(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, mallory := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Mallory"))
		room := anna.makes(bot, mallory)
		bot.say(room, "Hello.") // and knows the devices
		evt := anna.say(room, "!place D4")
		resp := bot.asks(evt, 1)
		late := resp.ToDevice.Events
		resp.ToDevice.Events = nil
		bot.handle(resp)
		no := bot.cannotRead(evt)

		withhold := func(by, named *peer, code event.RoomKeyWithheldCode) {
			t.Helper()
			_, err := by.client.SendToDevice(ctx, event.ToDeviceRoomKeyWithheld, &mautrix.ReqSendToDevice{
				Messages: map[id.UserID]map[id.DeviceID]*event.Content{bot.user.ID: {bot.user.Device: {Parsed: &event.RoomKeyWithheldEventContent{
					RoomID: room, Algorithm: id.AlgorithmMegolmV1, SessionID: no.Session, SenderKey: named.olm().GetAccount().IdentityKey(), Code: code}}}}})
			if err != nil {
				t.Fatal(err)
			}
			for there := false; !there; {
				resp := bot.ask()
				there = len(resp.ToDevice.Events) > 0
				bot.handle(resp)
			}
		}
		withhold(mallory, anna, event.RoomKeyWithheldBlacklisted)
		bot.cannotRead(evt) // she cannot refuse for Anna
		withhold(mallory, mallory, event.RoomKeyWithheldBlacklisted)
		bot.cannotRead(evt) // nor by her own key
		if _, err := bot.db.Exec(ctx, "DELETE FROM crypto_megolm_inbound_session WHERE session_id=$1", no.Session); err != nil {
			t.Fatal(err)
		}
		withhold(anna, anna, event.RoomKeyWithheldNoOlmSession)
		bot.cannotRead(evt) // it may still come
		if _, err := bot.db.Exec(ctx, "DELETE FROM crypto_megolm_inbound_session WHERE session_id=$1", no.Session); err != nil {
			t.Fatal(err)
		}
		withhold(anna, anna, event.RoomKeyWithheldBlacklisted)
		unreadable(t, bot, bot.await(evt), ErrWithheld)
		// Anna thinks better of it.
		bot.handle(&mautrix.RespSync{NextBatch: bot.since, ToDevice: mautrix.SyncEventsList{Events: late}})
		bot.reads(evt, "!place D4")
	})
}

// A member can seal anything. At null mautrix panics.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		bot.reads(anna.say(room, "!place D4"), "!place D4")
		session, err := anna.session(ctx, room)
		if err != nil {
			t.Fatal(err)
		}
		seal := func(plain string) id.EventID {
			cipher, err := session.Encrypt([]byte(plain))
			if err != nil {
				t.Fatal(err)
			}
			return anna.sendSealed(room, &event.EncryptedEventContent{Algorithm: id.AlgorithmMegolmV1, SessionID: session.ID(), MegolmCiphertext: cipher})
		}
		for _, plain := range []string{"null", "[]", "{}", "x", `{"room_id":1}`,
			fmt.Sprintf(`{"room_id":%q,"type":"m.room.message","content":%s}`, room, strings.Repeat("[", 5000)+strings.Repeat("]", 5000))} {
			if _, err := bot.Decrypt(ctx, bot.await(seal(plain))); !errors.As(err, new(ErrUnreadable)) {
				t.Errorf("%.20s: %v, want: unreadable for good", plain, err)
			}
		}
		copied, _, err := sealedOf(bot.await(seal("null")))
		if err != nil {
			t.Fatal(err)
		}
		if err := guard(func() error { _, err := bot.olm().DecryptMegolmEvent(ctx, copied); return err }); !errors.As(err, new(errPanic)) {
			t.Errorf("mautrix no longer panics at null, but says %v: Decrypt needs no guard", err)
		}
		if err := anna.store().UpdateOutboundGroupSession(ctx, session); err != nil {
			t.Fatal(err)
		}
		bot.reads(anna.say(room, "!place E5"), "!place E5")
	})
}

// The bot's Olm session with Anna's device is lost; her next key cannot be
// read, and a new session is made without anybody doing anything.
func TestBrokenSessionIsMended(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		bot.reads(anna.say(room, "!place D4"), "!place D4")
		anna.reads(bot.say(room, "Black D4."), "Black D4.")
		bot.reads(anna.say(room, "!ok"), "!ok")
		if _, err := bot.db.Exec(ctx, "DELETE FROM crypto_olm_session"); err != nil {
			t.Fatal(err)
		}
		bot.Close()
		bot.open()
		if _, err := anna.db.Exec(ctx, "DELETE FROM crypto_megolm_outbound_session"); err != nil {
			t.Fatal(err)
		}
		anna.fresh.clear()
		lost := anna.say(room, "!place E5") // a new key, in the lost session
		bot.await(lost)
		bot.cannotRead(lost)
		uses := anna.Uses()
		anna.awaits("the new session", func() bool { bot.sync(); return anna.Uses() > uses }) // the key may come a moment later
		if err := bot.AskForKey(ctx, bot.await(lost)); err != nil {
			t.Fatal(err)
		}
		anna.awaits("the request", func() bool {
			bot.sync()
			_, err := bot.Decrypt(ctx, bot.events[lost])
			return err == nil
		})
		bot.reads(lost, "!place E5")
	})
}

// One event that the database refuses is let pass after a while, and the others
// of the answer are taken in.
func TestDatabaseRefusesAnEvent(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, bert := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Bert"))
		room := anna.makes(bot, bert)
		bad, good := anna.say(room, "!place D4"), bert.say(room, "!place E5")
		_, err := bot.db.Exec(ctx, `CREATE TRIGGER refuse BEFORE INSERT ON crypto_megolm_inbound_session
		WHEN NEW.session_id = '`+anna.sessionIn(room).String()+`' BEGIN SELECT RAISE(ABORT, 'refused'); END`)
		if err != nil {
			t.Fatal(err)
		}
		resp := bot.asks(good, 2)
		times := 0
		for bot.Sync(ctx, resp, bot.since) != nil {
			if times++; times > 50 {
				t.Fatal("one event holds up all")
			}
		}
		if times != 4 {
			t.Errorf("given up after %d failures, not after the fifth", times)
		}
		bot.handleRooms(resp)
		bot.since = resp.NextBatch
		bot.cannotRead(bad)
		bot.reads(good, "!place E5")
	})
}

// A database that takes nothing for a while loses nothing.
func TestDatabaseTakesNothing(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		bot.db.RawDB.SetMaxOpenConns(1) // it works with one as well
		evt := anna.say(room, "!place D4")
		resp := bot.asks(evt, 1)
		if _, err := bot.db.Exec(ctx, "PRAGMA query_only=ON"); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if bot.Sync(ctx, resp, bot.since) == nil {
				t.Fatal("Sync says that it has what it cannot have")
			}
		}
		if _, err := bot.db.Exec(ctx, "PRAGMA query_only=OFF"); err != nil {
			t.Fatal(err)
		}
		bot.handle(resp)
		bot.reads(evt, "!place D4")
		anna.reads(bot.say(room, "Black D4."), "Black D4.")
	})
}

// Faults seen in one version of mautrix may be mended in the next.
func TestVersionOfMautrix(t *testing.T) {
	if mautrix.Version != seenIn {
		t.Errorf("mautrix is %s, and its faults were seen in %s: see seenIn", mautrix.Version, seenIn)
	}
}

// A device that logs in under the id of one that is gone has keys of its own.
func TestDeviceIDIsUsedAgain(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		bot := newPeer(t, s, s.URL, s.Register(t, "Bot"))
		for _, c := range []struct {
			store interface {
				PutDevices(context.Context, id.UserID, map[id.DeviceID]*id.Device) error
			}
			user id.UserID
			want id.Ed25519
			says string
		}{
			{bot.store(), "@anna:x", "new", "the old signing key stays beside the new identity key"},
			{bot.store().SQLCryptoStore, "@bert:x", "old", "mautrix replaces the signing key: PutDevices of our store may go"},
		} {
			for _, key := range []id.Ed25519{"old", "", "new"} {
				devices := map[id.DeviceID]*id.Device{}
				if key != "" {
					devices["PHONE"] = &id.Device{UserID: c.user, DeviceID: "PHONE", IdentityKey: id.Curve25519(key), SigningKey: key}
				}
				if err := c.store.PutDevices(ctx, c.user, devices); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := bot.store().GetDevice(ctx, c.user, "PHONE"); err != nil || got.IdentityKey != "new" || got.SigningKey != c.want {
				t.Errorf("%s: %+v, %v", c.says, got, err)
			}
		}
	})
}

func TestManyDevices(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		defer func(n int) { batch = n }(batch)
		batch = 4
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot"))
		room := anna.makes(bot)
		all := []*peer{anna}
		for range 10 {
			other := anna.user
			other.Token, other.Device = s.Login(t, anna.user)
			all = append(all, newPeer(t, s, s.URL, other))
		}
		evt := bot.say(room, "Black D4.")
		for _, p := range all {
			p.reads(evt, "Black D4.")
		}
	})
}
