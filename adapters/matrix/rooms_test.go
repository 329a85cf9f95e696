package matrix

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// lively is a club whose bot soon does what else can wait a minute.
func lively(t *testing.T, s *matrixtest.Server) *club {
	c := newClub(t, s)
	c.cfg.Edit = soon(s)
	return c
}

// playing is a lively club with a game of two people; its bot talks to the homeserver
// through a proxy.
func playing(t *testing.T, s *matrixtest.Server) (*club, *matrixtest.Proxy, *board) {
	t.Helper()
	c := lively(t, s)
	p := c.through()
	c.start()
	return c, p, c.begins("two-button 5x5")
}

// soon is a while for which a test can wait.
func soon(s *matrixtest.Server) time.Duration {
	if s.Virtual() {
		return 4 * time.Second
	}
	return 100 * time.Millisecond
}

// Only those may bring the bot into a room who are on the list, if there is one.
func TestWhoMayInvite(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		anna, eve := c.server.Player(t, "Anna"), c.server.Player(t, "Eve")
		open := anna.Makes(matrixtest.Room{Name: "on the list", Invite: []id.UserID{eve.ID}})
		eve.AwaitInvite(open)
		eve.Joins(open)
		c.cfg.Allow = []string{anna.ID.String(), open.String(), "friends.test"}
		c.start()
		closed := eve.Makes(matrixtest.Room{Name: "not on the list", Invite: []id.UserID{c.user.ID}})
		eve.Invites(open, c.user.ID)
		other := anna.Makes(matrixtest.Room{Name: "Anna's", Invite: []id.UserID{c.user.ID}})
		for _, at := range []id.RoomID{open, other} {
			anna.Await(at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		}
		c.await("the log", func() bool { return strings.Contains(c.log.String(), "not in matrix.allow") })
		caughtUp(eve, closed)
		if r, err := c.a.queue.next(t.Context(), closed); err != nil || r != nil || eve.View(closed).Members[c.user.ID] != "invite" {
			t.Errorf("the bot means to come: %v %v", r, err)
		}
	})
}

// An invitation that was ignored is accepted at the first start whose configuration allows
// it, unless it was withdrawn; it is asked for once.
func TestAllowedLater(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		anna, ben := c.guest("Anna"), c.guest("Ben")
		c.cfg.Allow = []string{"nobody.test"}
		c.start()
		at := anna.Makes(matrixtest.Room{Direct: true, Invite: []id.UserID{c.user.ID}})
		gone := anna.Makes(matrixtest.Room{Invite: []id.UserID{c.user.ID}})
		others := ben.Makes(matrixtest.Room{Invite: []id.UserID{c.user.ID}})
		ignores := func(n int) {
			t.Helper()
			c.await("invitations to be ignored", func() bool { return strings.Count(c.log.String(), "invitation ignored") == n })
		}
		ignores(3)
		c.restart()
		c.halt()
		if _, err := anna.Client.KickUser(t.Context(), gone, &mautrix.ReqKickUser{UserID: c.user.ID}); err != nil {
			t.Fatal(err)
		}
		c.cfg.Allow = []string{anna.ID.String()}
		c.start()
		anna.Await(at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		ignores(3)
		if direct, err := c.a.queue.marked(t.Context(), "direct", anna.ID.String()); err != nil || direct != at.String() {
			t.Errorf("the room with Anna alone is %q: %v", direct, err)
		}
		left, err := c.a.queue.uninvited(t.Context())
		if err != nil || len(left) != 1 || left[others] == "" {
			t.Errorf("still ignored are %v: %v", left, err)
		}
		c.restart()
		if n := strings.Count(c.log.String(), "accepted that was ignored before"); n != 1 {
			t.Errorf("accepted %d invitations", n)
		}
	})
}

// What was said before the bot came is not for it, nor is what bots say, nor what
// it says itself.
func TestWhatIsNotForTheBot(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna := c.guest("Anna")
		anna.at = anna.Makes(matrixtest.Room{Name: "Go club"})
		anna.Says(anna.at, "!new 9x9")
		anna.Invites(anna.at, c.user.ID)
		c.await("the bot to know the room", func() bool { return c.a.room(anna.at).joined })
		for _, kind := range []event.MessageType{event.MsgNotice, event.MsgEmote, event.MsgFile, "org.example.odd"} {
			e := anna.Sends(anna.at, event.EventMessage, &event.MessageEventContent{MsgType: kind, Body: "!new 9x9"})
			c.dealt(anna.at, e)
		}
		self := c.server.NewPlayer(t, c.server.URL, c.user) // on another device of the bot's
		c.dealt(anna.at, self.Says(anna.at, "!new 9x9"))
		anna.Says(anna.at, "!help place")
		anna.reads("a letter and a number")
		if said := len(anna.View(anna.at).From(c.user.ID)); said != 2 { // its own, and help
			t.Error(anna.Sees(anna.at))
		}
	})
}

// The bot leaves when it is alone.
func TestEmptyRooms(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{}, "Anna", "Bob")
		at := people[0].at
		people[0].Leaves(at)
		people[1].asks("", "!new 5x5")
		people[1].reads("opens game 1") // it stays while somebody is there
		people[1].Leaves(at)
		c.await("the bot to leave", func() bool { return !c.a.room(at).joined })
		rooms, err := c.a.device().Client.JoinedRooms(t.Context())
		if err != nil || len(rooms.JoinedRooms) != 0 {
			t.Error(rooms, err)
		}
	})
}

// Where the bot may do nothing but write, it does all that is needed, and does
// not try more.
func TestWithoutPower(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		proxy := c.through()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, bob := people[0], people[1]
		anna.asks("", "!new button 3x3")
		root := bob.reads("opens game 1")
		bob.asks(root.ID, "!join")
		anna.reads(" to play, for example ")
		c.settled()
		proxy.Once(matrixtest.Uploading, matrixtest.Waits(time.Second)) // so that it types
		accepted := anna.asks(root.ID, "!place B2")
		refused := anna.asks(root.ID, "!place B2")
		anna.reads("1. ")
		read := func(v matrixtest.View, e id.EventID) bool { return slices.Contains(v.Read[c.user.ID], e) }
		anna.Await(anna.at, "a read receipt, typing and reactions", func(v matrixtest.View) bool {
			return read(v, accepted) && v.Typed[c.user.ID] > 0 && v.Message(root.ID).Reacted(c.user.ID, "⏭️")
		})
		next := bob.asks(root.ID, "!place B1")
		anna.Await(anna.at, "the next receipt", func(v matrixtest.View) bool { return read(v, next) })
		if read(anna.View(anna.at), refused) {
			t.Error("what was refused has a read receipt")
		}
		c.settled()
		for _, r := range proxy.Requests(matrixtest.Sending) {
			if strings.Contains(r.Path, "/state/") || r.Status != 200 {
				t.Errorf("%s %s: %d", r.Method, r.Path, r.Status)
			}
		}
		c.check(anna, anna.at)
	})
}

// Moderators of a room may adjudicate a game; its players and other people may
// not.
func TestModerators(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Bob", "Eve")
		mona, anna, bob, eve := people[0], people[1], people[2], people[3]
		anna.asks("", "!new 3x3")
		root := bob.reads("opens game 1").ID
		bob.asks(root, "!join")
		anna.reads(" to play, for example ")
		eve.asks(root, "!adjudicate void")
		eve.reads("moderator")
		mona.asks(root, "!adjudicate void")
		mona.reads("Game 1 is over")
		c.settled()
		c.check(mona, mona.at)
	})
}

// A room is upgraded: its games go on in the new one, under their numbers, in
// threads of their own. The bot is stopped and started meanwhile.
func TestUpgradedRoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, bob := people[0], people[1]
		anna.asks("", "!new button 3x3")
		root := bob.reads("opens game 1").ID
		bob.asks(root, "!join")
		anna.asks(root, "!place B2")
		anna.reads("1. ")
		anna.asks("", "!new 7x7 color:white")
		anna.reads("opens game 2")
		c.settled()
		old := anna.at
		upgrade := func(from id.RoomID) id.RoomID {
			to := anna.Makes(matrixtest.Room{Name: "New club", Succeeds: from, Invite: []id.UserID{bob.ID, c.user.ID}})
			anna.Moves(from, to)
			anna.Await(to, "the bot to follow", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
			bob.AwaitInvite(to)
			bob.Joins(to)
			c.await("the bot to know the room", func() bool { return c.a.room(to).joined && c.a.current(old).id == to })
			for _, g := range people {
				g.at = to
			}
			return to
		}
		restart := func() {
			c.restart()
		}
		first := upgrade(old)
		if m := bob.reads("1. Black B2"); m.Picture == nil || m.Thread == "" || len(m.Pings) > 0 {
			t.Errorf("the game goes on with %+v", m)
		}
		challenge := bob.reads("opens game 2")
		if !strings.Contains(challenge.Body, "Anyone can play Black") || len(challenge.Pings) > 0 {
			t.Errorf("the challenge goes on with %+v", challenge)
		}
		restart()
		bob.asks("", "!place A2")
		goes := bob.View(first).Message(bob.reads("2. ").Thread)
		anna.asks(goes.ID, "!place C2")
		anna.reads("3. ")
		restart()
		bob.asks(goes.ID, "!place A1")
		move := bob.reads("4. ")
		anna.asks(goes.ID, "!score")
		c.settled()
		v := bob.View(first)
		if move.Thread != goes.ID || len(v.Pictures(c.user.ID)) != 4 || len(v.In("")) != 3 {
			t.Error(v)
		}
		upgrade(first) // and once more
		anna.asks("", "!place C1")
		if move := anna.reads("5. "); move.Thread == "" || move.Thread == goes.ID {
			t.Error(anna.Sees(anna.at))
		}
		bob.asks(anna.reads("opens game 2").Thread, "!join")
		c.settled()
		restart() // and what began here is not shown again
		boards := len(anna.View(anna.at).Pictures(c.user.ID))
		anna.asks("", "!games")
		c.settled()
		caughtUp(anna.Player, anna.at)
		if n := len(anna.View(anna.at).Pictures(c.user.ID)); n != boards || boards == 0 {
			t.Errorf("%d boards, before the restart %d", n, boards)
		}
		for _, at := range []id.RoomID{old, first, anna.at} {
			c.check(anna, at)
		}
	})
}

// A bot that was removed stays away and pauses its posts. Invited again, it goes
// on.
func TestSentAway(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		tb := newTable(t, s)
		alice := tb.people["alice"]
		says := func(line string) {
			tb.passes()
			m := spoken.FindStringSubmatch(line)
			tb.dealt(tb.does(m[1], m[2], m[3]))
			tb.quiet()
			tb.look()
		}
		says("alice> !new 5x5 clock:1d")
		says("bob> !join")
		says("alice in game 1> !place C3")
		if _, err := alice.Client.BanUser(t.Context(), tb.room, &mautrix.ReqBanUser{UserID: tb.user.ID}); err != nil {
			t.Fatal(err)
		}
		tb.await("the bot to see that", func() bool { return !tb.a.room(tb.room).joined })
		tb.halt() // an outage, of which nobody there can be told
		tb.seconds.Add(99 * 60)
		tb.passes()
		tb.start()
		tb.await("the posts to be paused", func() bool { return strings.Contains(tb.log.String(), "cannot post to a room") })
		tb.settled()
		if n := strings.Count(tb.log.String(), "cannot post to a room"); n != 1 {
			t.Errorf("%d times it was said that posts are paused", n)
		}
		if _, err := alice.Client.UnbanUser(t.Context(), tb.room, &mautrix.ReqUnbanUser{UserID: tb.user.ID}); err != nil {
			t.Fatal(err)
		}
		alice.Invites(tb.room, tb.user.ID)
		tb.await("the bot to come back", func() bool { return tb.a.room(tb.room).joined })
		says("alice in game 1> !score")
		says("alice> !new 3x3")
		if seen := alice.Sees(tb.room); !strings.Contains(seen, "opens game 2") {
			t.Error(seen)
		}
		tb.check(alice, tb.room)
	})
}

// A room in which the bot may not write is told nothing, again and again neither;
// once it may, it does.
func TestMayNotWrite(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		proxy := c.through()
		c.start()
		anna := c.guest("Anna")
		power := &event.PowerLevelsEventContent{Users: map[id.UserID]int{anna.ID: 100}, EventsDefault: 50}
		anna.at = anna.Makes(matrixtest.Room{Name: "Read only", Invite: []id.UserID{c.user.ID}, Power: power})
		c.await("the bot to know the room", func() bool { return c.a.room(anna.at).joined })
		anna.asks("", "!new 5x5")
		anna.asks("", "!score")
		c.await("the posts to be paused", func() bool { return strings.Contains(c.log.String(), "cannot post to a room") })
		time.Sleep(3 * time.Second) // what is owed is looked for every two: it must not be tried again and again
		if n := len(proxy.Requests(matrixtest.Sending)); n > 4 {
			t.Errorf("it has tried %d times:\n%s", n, matrixtest.Paths(proxy.Requests(matrixtest.Sending)))
		}
		power.EventsDefault = 0
		anna.Sets(anna.at, event.StatePowerLevels, "", power)
		anna.asks("", "!new 4x4")
		anna.reads("opens game 2")
	})
}

// Two people alone with the bot are three, and have threads; when one goes the
// other is alone with it.
func TestDirectByNumber(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, bob := people[0], people[1]
		c.dealt(anna.at, anna.Says(anna.at, "new 5x5"))
		bob.Leaves(anna.at)
		c.await("the bot to see that", func() bool { return c.a.room(anna.at).direct() })
		anna.asks("", "new 4x4 opponent:me")
		for n, at := range []string{"", "C3", "c4"} {
			if n > 0 {
				anna.asks("", at)
			}
			board := anna.reads("to play")
			anna.Await(anna.at, fmt.Sprint("board ", n), func(v matrixtest.View) bool { return len(v.Pictures(c.user.ID)) == n+1 })
			if board.Thread != "" {
				t.Error("it is in a thread")
			}
		}
		if strings.Contains(anna.Sees(anna.at), "5×5") {
			t.Error(anna.Sees(anna.at))
		}
	})
}

// A tombstone is an invitation to the new room: only people who may invite the bot
// can take it there.
func TestWhoMayMoveARoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Eve")
		anna, eve := people[0], people[1]
		old := anna.at
		c.halt()
		c.cfg.Allow = []string{anna.ID.String()}
		c.start()
		anna.Sets(old, event.StatePowerLevels, "", &event.PowerLevelsEventContent{Users: map[id.UserID]int{anna.ID: 100, eve.ID: 100}})
		trap := eve.Makes(matrixtest.Room{Name: "Trap", Public: true, Succeeds: old})
		eve.Moves(old, trap)
		c.dealt(old, eve.Says(old, "!games"))
		caughtUp(eve.Player, trap)
		if m := eve.View(trap).Members[c.user.ID]; m != "" {
			t.Errorf("Eve is not on the list, and has the bot in her room: %q", m)
		}
		if !strings.Contains(c.log.String(), "not in matrix.allow") {
			t.Errorf("the log does not say why:\n%s", c.log)
		}
		next := anna.Makes(matrixtest.Room{Name: "New club", Public: true, Succeeds: old})
		anna.Moves(old, next)
		c.await("the bot to follow Anna", func() bool { return c.a.current(old).id == next })
	})
}

// Tombstones bring the bot into no more rooms than invitations do.
func TestManyMoves(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		begun := time.Now()
		eve := c.room(matrixtest.Room{Name: "Go club"}, "Eve")[0] // by an invitation
		var spam []id.RoomID
		for n := range joinsEachAtOnce + 2 {
			to := eve.Makes(matrixtest.Room{Name: fmt.Sprint("Spam ", n), Public: true, Succeeds: eve.at})
			eve.Moves(eve.at, to)
			spam = append(spam, to)
		}
		joined := func() (n int) {
			for _, at := range spam {
				if eve.View(at).Members[c.user.ID] == "join" {
					n++
				}
			}
			return n
		}
		c.await("the bot to go where it may", func() bool { return joined() == joinsEachAtOnce-1 })
		time.Sleep(time.Until(begun.Add(joinsEachEvery - time.Second)))
		if n := joined(); n != joinsEachAtOnce-1 {
			t.Errorf("the bot is in %d rooms of one person who has moved one room %d times", n, len(spam))
		}
		c.await("the next to have its turn", func() bool { return joined() == joinsEachAtOnce })
		if waited := time.Since(begun); waited < joinsEachEvery {
			t.Errorf("after %v the bot is in another room", waited)
		}
	})
}

// The bot leaves a room again that is not the successor of the one whose tombstone
// names it, also when it cannot find that out at once. Where it was asked into it
// stays.
func TestMovesElsewhere(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		other := c.room(matrixtest.Room{Name: "Another club"}, "Bob")[0]
		old := anna.at
		create := func(at id.RoomID) matrixtest.Match {
			return matrixtest.On("GET", "/rooms/"+url.PathEscape(at.String())+"/state/m.room.create")
		}
		unrelated := anna.Makes(matrixtest.Room{Name: "Unrelated", Public: true})
		var asked atomic.Int32
		late := p.Always(create(unrelated), func(x *matrixtest.Exchange) {
			if asked.Add(1) == 2 { // the first question is whether the bot may go there at all
				x.Say(502, "text/html", "")
				return
			}
			x.Pass()
		})
		anna.Moves(old, unrelated)
		anna.Await(unrelated, "the bot to leave", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "leave" })
		late.Stop()
		c.await("the bot to see that", func() bool { return !c.a.room(unrelated).joined })
		anna.Moves(old, other.at)
		c.dealt(old, anna.Says(old, "!games"))
		other.asks("", "!new 5x5")
		other.reads("opens game 1")
		if at := c.a.current(old); at.id != old {
			t.Errorf("the games of %s go on in %s", old, at.id)
		}
		if m := other.View(other.at).Members[c.user.ID]; m != "join" {
			t.Errorf("the bot has left a room into which it was invited: %q", m)
		}
	})
}

// The service is told in which rooms the bot is, by the ids by which it knows them,
// so that one that has moved is not taken for left.
func TestRoomsAreTold(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		w := c.watch()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, old := people[0], people[0].at
		anna.asks("", "!new 5x5")
		anna.reads("opens game 1")
		told := func(what string, want ...string) {
			t.Helper()
			w.mu.Lock()
			defer w.mu.Unlock()
			if !slices.Equal(w.rooms, want) {
				t.Errorf("%s is told as %q", what, w.rooms)
			}
		}
		time.Sleep(tellEvery + time.Second)
		told("the room", old.String())
		again := func() { // as a few hours later
			t.Helper()
			c.a.tellRooms(t.Context())
		}
		known := func() []string {
			t.Helper()
			servers, err := c.store.Servers(t.Context(), Name)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, s := range servers {
				left := ""
				if !s.Left.IsZero() {
					left = " left"
				}
				ids = append(ids, s.ID+left)
			}
			return ids
		}
		if got := known(); !slices.Equal(got, []string{old.String()}) {
			t.Errorf("the room asked from is %v, known are %q", old, got)
		}
		anna.asks("", "!settings whose:server size:9x9")
		anna.reads("does not belong to a server")

		made := anna.Makes(matrixtest.Room{Name: "New club", Succeeds: old, Invite: []id.UserID{c.user.ID}})
		anna.Moves(old, made)
		c.await("the bot to follow", func() bool { return c.a.room(made).joined && c.a.current(old).id == made })
		if _, err := anna.Client.KickUser(t.Context(), old, &mautrix.ReqKickUser{UserID: c.user.ID}); err != nil {
			t.Fatal(err)
		}
		c.await("the old room to be left", func() bool { return !c.a.room(old).joined })
		again()
		told("the new room", old.String())
		if _, err := anna.Client.KickUser(t.Context(), made, &mautrix.ReqKickUser{UserID: c.user.ID}); err != nil {
			t.Fatal(err)
		}
		again()
		told("no room")
		if got := known(); !slices.Equal(got, []string{old.String() + " left"}) {
			t.Errorf("known are %q", got)
		}
	})
}
