package matrix

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// contest returns the event that was published last.
func (c *club) contest() *contest.Contest {
	c.Helper()
	heads, err := c.store.Contests(c.Context(), match.Room{Platform: Name}, nil, 1)
	if err != nil || len(heads) != 1 {
		c.Fatalf("%d events, %v", len(heads), err)
	}
	h, log, err := c.store.Contest(c.Context(), heads[0].ID)
	if err != nil {
		c.Fatal(err)
	}
	e, err := contest.Fold(h, log)
	if err != nil {
		c.Fatal(err)
	}
	return e
}

// publishes has an event published by a moderator.
func (g *guest) publishes(options string) {
	g.c.Helper()
	g.asks("", "!event new size:5 "+options)
	g.asks("", "!event publish")
	g.reads("sign-up is open")
}

// passes lets time pass in virtual time.
func passes(d time.Duration) { time.Sleep(d); synctest.Wait() }

// counts returns how many of the bot's messages in a room say something, as they are by now.
func (g *guest) counts(what string) int {
	caughtUp(g.Player, g.at)
	return g.c.says(g, what)
}

// People join at the same moment, one of them on two devices, and the homeserver tells one of
// it twice: each has one seat.
func TestJoinsAtOnce(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben")
		mona, anna, ben := people[0], people[1], people[2]
		mona.publishes("seats:2")
		phone := &guest{Player: c.server.NewPlayer(t, c.server.URL, anna.User), c: c, at: anna.at}
		join := &event.MessageEventContent{MsgType: event.MsgText, Body: "!event join", Mentions: &event.Mentions{}}
		var group sync.WaitGroup
		var sent [4]id.EventID
		for k, g := range []*guest{anna, phone, ben, anna} {
			group.Go(func() {
				e, err := g.Client.SendMessageEvent(t.Context(), g.at, event.EventMessage, join)
				if err != nil {
					t.Error(err)
					return
				}
				sent[k] = e.EventID
			})
		}
		group.Wait()
		passes(time.Second)
		again, err := json.Marshal(map[string]any{"event_id": sent[2], "sender": ben.ID, "type": "m.room.message", "origin_server_ts": time.Now().UnixMilli(),
			"content": map[string]any{"msgtype": "m.text", "body": join.Body}})
		if err != nil {
			t.Fatal(err)
		}
		told := p.Once(matrixtest.Syncing, splices(mona.at, []string{string(again)}))
		told.Await(t, 1)
		mona.asks("", "!event join") // on the waiting list
		passes(5 * time.Second)
		e := c.contest()
		if n := len(e.Players); n != 3 || e.Seq != 4 {
			t.Errorf("%d seats in %d lines", n, e.Seq)
		}
		if mona.counts("as player 1.") == 0 || mona.counts("as player 2.") == 0 {
			t.Errorf("somebody has no answer:\n%s", mona.Sees(mona.at))
		}
		if sheet := mona.reads("sign-up is open").Text(); !strings.Contains(sheet, "2 have joined: ") || !strings.Contains(sheet, "Waiting list, 1: Mona.") {
			t.Errorf("the message says:\n%s", sheet)
		}
		if n := mona.counts("sign-up is open"); n != 1 {
			t.Errorf("it is there %d times", n)
		}
		c.check(mona, mona.at)
	})
}

// alone returns a room in which somebody is alone with the bot.
func (g *guest) alone() *guest {
	g.c.Helper()
	at := g.Makes(matrixtest.Room{Direct: true, Invite: []id.UserID{g.c.user.ID}})
	g.Await(at, "the bot to come", func(v matrixtest.View) bool { return v.Members[g.c.user.ID] == "join" })
	g.c.await("the bot to know the room", func() bool { return g.c.a.room(at).joined })
	return &guest{Player: g.Player, c: g.c, at: at}
}

// bans keeps the bot out of a room for a while.
func (g *guest) bans(while time.Duration) {
	g.c.Helper()
	if _, err := g.Client.BanUser(g.c.Context(), g.at, &mautrix.ReqBanUser{UserID: g.c.user.ID}); err != nil {
		g.c.Fatal(err)
	}
	passes(while)
	if _, err := g.Client.UnbanUser(g.c.Context(), g.at, &mautrix.ReqUnbanUser{UserID: g.c.user.ID}); err != nil {
		g.c.Fatal(err)
	}
	g.Invites(g.at, g.c.user.ID)
	g.c.await("the bot to come back", func() bool { return g.c.a.room(g.at).joined })
}

// tables returns the games of the event that was published last, by table.
func (c *club) tables() []match.Match {
	c.Helper()
	ms, err := c.store.Matches(c.Context(), bot.Query{Event: c.contest().ID, Limit: 100})
	if err != nil {
		c.Fatal(err)
	}
	slices.SortFunc(ms, func(a, b match.Match) int { return a.Number - b.Number })
	return ms
}

// The room of an event bans the bot for an hour: the event waits, from the first second on, and
// the organiser hears of it.
func TestBannedDuringAnEvent(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben")
		mona, anna, ben := people[0], people[1], people[2]
		direct := mona.alone()
		mona.publishes("title:Spring until:10m days:4h")
		anna.asks("", "!event join")
		ben.asks("", "!event join")
		passes(5 * time.Minute)
		until := c.contest().Until
		mona.bans(time.Hour)
		passes(2 * time.Minute)
		if now := c.contest(); now.State != contest.SignUp || now.Until.Before(until.Add(59*time.Minute)) || now.Until.After(until.Add(62*time.Minute)) {
			t.Errorf("the event is %s, and people can join until %s, not an hour after %s", now.State, now.Until, until)
		}
		if n := direct.counts("I am no longer in the room of “Spring”"); n != 1 {
			t.Errorf("the organiser hears of it %d times:\n%s", n, direct.Sees(direct.at))
		}
		mona.asks("", "!event start confirm:yes")
		passes(time.Minute)
		due := c.tables()[0].Deadline
		mona.bans(time.Hour)
		passes(time.Minute)
		mona.asks("", "!event late")
		if now := c.tables()[0].Deadline; now.Before(due.Add(59*time.Minute)) || now.After(due.Add(62*time.Minute)) {
			t.Errorf("the game is due %s, not an hour after %s", now, due)
		}
		if n := direct.counts("I am no longer in the room of “Spring”"); n != 2 {
			t.Errorf("the organiser hears of it %d times:\n%s", n, direct.Sees(direct.at))
		}

		// It is banned between the pairing of a round and the messages of its games.
		mona.publishes("title:Autumn system:swiss rounds:1 until:1h days:4h")
		for _, g := range people {
			g.asks("", "!event join event:Autumn")
		}
		carol := c.guest("Carol")
		mona.Invites(mona.at, carol.ID)
		carol.AwaitInvite(mona.at)
		carol.Joins(mona.at)
		carol.at = mona.at
		carol.asks("", "!event join event:Autumn")
		passes(time.Minute)
		sends := p.Always(matrixtest.Sending, matrixtest.Fails(http.StatusBadGateway, "M_UNKNOWN"))
		mona.says("", "!event start event:Autumn confirm:yes")
		sends.Await(t, 1)
		c.await("the games", func() bool { return len(c.tables()) == 2 })
		sends.Stop()
		mona.bans(time.Hour)
		passes(5 * time.Minute)
		for _, m := range c.tables() {
			if n := mona.counts(fmt.Sprintf("Game %d: Two Button Go", m.Number)); n != 1 {
				t.Errorf("game %d has %d messages", m.Number, n)
			}
			if left := time.Until(m.Deadline); left < 100*time.Minute {
				t.Errorf("of two hours %s are left in game %d", left, m.Number)
			}
		}
		if n := mona.counts("Round 1 of “Autumn” begins"); n != 1 {
			t.Errorf("the round is announced %d times", n)
		}
	})
}

// Direct messages ask about the next round, and are answered there.
func TestAnswersDirectly(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben")
		mona, anna, ben := people[0], people[1], people[2]
		direct := ben.alone()
		mona.publishes("title:Spring system:swiss rounds:2 days:4h")
		anna.asks("", "!event join")
		ben.asks("", "!event join")
		mona.asks("", "!event start confirm:yes")
		anna.asks("", "!resign yes")
		direct.reads("do you play round 2?")
		direct.asks("", "!event sitout event:1")
		direct.reads("You sit out the next round of “Spring”")
		if out := c.contest().Asking.Out; len(out) != 1 {
			t.Errorf("%v sit out", out)
		}
		direct.asks("", "event play")
		direct.reads("You play the next round of “Spring”")
		direct.asks("", "!event cancel confirm:yes") // they have all the power in this room
		direct.reads("Only organisers of “Spring” can do that")
		people[0].asks("", "!event why player:"+anna.ID.String()+" other:"+ben.ID.String())
		mona.reads("Round 1: Anna met Ben.")
		mona.asks("", "!event replace player:Clara")
		mona.reads("I do not know “Clara”. Type @")
	})
}

// Whoever missed a game and cannot be asked about the next round, because their account takes no
// invitations, is paired: silence is no answer only where there was a question.
func TestAskedNowhere(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben")
		mona, anna, ben := people[0], people[1], people[2]
		anna.TakesInvites(false)
		ben.TakesInvites(false)
		mona.publishes("title:Spring system:swiss rounds:2 days:2h")
		anna.asks("", "!event join")
		ben.asks("", "!event join")
		mona.asks("", "!event start confirm:yes")
		passes(90 * time.Minute) // somebody loses on time
		e := c.contest()
		if e.Asking == nil || len(e.Asking.Must) != 1 || len(e.Asking.Plays)+len(e.Asking.Out) > 0 {
			t.Fatalf("asked is %+v", e.Asking)
		}
		mona.reads("Round 2 is paired")
		passes(time.Hour)
		if e = c.contest(); len(e.Rounds) != 2 || len(e.Rounds[1].Tables) != 1 || len(e.Rounds[1].Absent) > 0 {
			t.Errorf("the rounds are %+v", e.Rounds)
		}
		if rooms := c.rooms(); len(rooms) != 3 {
			t.Errorf("the bot is in %v, not in that of the club and two more", rooms)
		}
	})
}

// Of people in a league one is banned from the room, one leaves it, and one takes a name in
// another script: their games go on by the clock, the table shows the name as it is by now,
// nobody else is notified, and the person who was banned can still give up directly.
func TestPlayersWhoGo(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben", "Carl")
		mona, anna, ben, carl := people[0], people[1], people[2], people[3]
		direct := ben.alone()
		mona.publishes("title:Spring days:4h")
		const name = "דוד 🌸 <b>&amp;"
		if err := carl.Client.SetDisplayName(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		passes(time.Second)
		for _, g := range []*guest{anna, ben, carl} {
			g.asks("", "!event join")
		}
		mona.asks("", "!event start confirm:yes")
		passes(time.Minute)
		if sheet := mona.reads("games are on").Text(); !strings.Contains(sheet, "דוד") || strings.Contains(sheet, "Carl ") {
			t.Errorf("the table has not the new name:\n%s", sheet)
		}
		if begins := mona.reads("“Spring” begins with"); len(begins.Pings) != 3 || !strings.Contains(begins.HTML, "&lt;b&gt;") {
			t.Errorf("it begins with %q, which notifies %v", begins.HTML, begins.Pings)
		}
		if _, err := mona.Client.BanUser(t.Context(), mona.at, &mautrix.ReqBanUser{UserID: ben.ID}); err != nil {
			t.Fatal(err)
		}
		anna.Leaves(anna.at)
		passes(time.Minute)
		mona.asks("", "!event late")
		mona.reads("3 games of “Spring” are open.")
		direct.asks("", "!event leave")
		direct.reads("You lose the 2 games")
		direct.asks("", "!event leave confirm:yes")
		mona.reads("Ben leaves “Spring”.")
		passes(4*time.Hour + 10*time.Minute)
		if e := c.contest(); e.State != contest.Over || len(e.Unfinished()) > 0 {
			t.Errorf("it is %s with open games %v", e.State, e.Unfinished())
		}
		mona.reads("“Spring” is over.")
		mona.asks("", "!event export as:csv")
		mona.reads("I have sent it to you directly.")
	})
}

// The organiser of a league hears once, directly, of a player who was banned from the room and of
// one who has left it, and takes one of them out there.
func TestOrganiserHearsWhoIsGone(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben", "Carl", "Dora")
		mona, ben, carl := people[0], people[2], people[3]
		direct := mona.alone()
		mona.publishes("title:Spring days:4d")
		for _, g := range people[1:] {
			g.asks("", "!event join")
		}
		mona.asks("", "!event start confirm:yes")
		passes(time.Minute)
		if _, err := mona.Client.BanUser(t.Context(), mona.at, &mautrix.ReqBanUser{UserID: ben.ID}); err != nil {
			t.Fatal(err)
		}
		carl.Leaves(carl.at)
		for range 2 { // it looks a minute after each start, but once a day
			c.restart()
			passes(2 * time.Minute)
		}
		for _, name := range []string{"Ben", "Carl"} {
			if n := direct.counts(name + " can no longer write in the room of “Spring”"); n != 1 {
				t.Errorf("the organiser hears of %s %d times:\n%s", name, n, direct.Sees(direct.at))
			}
		}
		if n := direct.counts("can no longer write"); n != 2 || mona.counts("can no longer write") > 0 {
			t.Errorf("it says of %d people that they are gone:\n%s", n, mona.Sees(mona.at))
		}
		direct.asks("", "!event withdraw event:1 player:#2 confirm:yes")
		mona.reads("Mona has withdrawn Ben from “Spring”.")
	})
}

// A room is upgraded while a round is played: the event goes on in the new one.
func TestEventInAnUpgradedRoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben")
		mona, anna, ben := people[0], people[1], people[2]
		mona.publishes("title:Spring system:swiss rounds:2 days:4h")
		anna.asks("", "!event join")
		ben.asks("", "!event join")
		mona.asks("", "!event start confirm:yes")
		passes(time.Minute)
		to := mona.Makes(matrixtest.Room{Name: "New club", Succeeds: mona.at, Invite: []id.UserID{anna.ID, ben.ID, c.user.ID}})
		mona.Moves(mona.at, to)
		mona.Await(to, "the bot to follow", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		for _, g := range people {
			if g != mona {
				g.AwaitInvite(to)
				g.Joins(to)
			}
			g.at = to
		}
		passes(time.Minute)
		if n := mona.counts("Spring: games are on"); n != 1 {
			t.Errorf("the message of the event is there %d times:\n%s", n, mona.Sees(to))
		}
		anna.asks("", "!resign yes")
		mona.reads("Round 2 is paired")
		ben.asks("", "!event sitout")
		mona.reads("1 sits out: Ben.")
		ben.asks("", "!event play")
		mona.asks("", "!event start confirm:yes")
		passes(time.Minute)
		if n := mona.counts("Round 2 of “Spring” begins"); n != 1 || mona.counts("Game 2: Two Button Go") != 1 {
			t.Errorf("round 2 begins %d times:\n%s", n, mona.Sees(to))
		}
	})
}

// A room takes nothing from the bot while a round is paired: what it has to say comes once it
// may, each thing once.
func TestEventWhereTheBotMayNotWrite(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Mona", "Anna", "Ben")
		mona, anna, ben := people[0], people[1], people[2]
		mona.publishes("title:Spring until:10m days:4h")
		anna.asks("", "!event join")
		ben.asks("", "!event join")
		levels := func(least int) {
			e := mona.Sets(mona.at, event.StatePowerLevels, "", &event.PowerLevelsEventContent{EventsDefault: least,
				Users: map[id.UserID]int{mona.ID: 100, anna.ID: 50, ben.ID: 50}})
			mona.AwaitEvent(mona.at, e)
			passes(time.Second)
		}
		levels(50)
		passes(20 * time.Minute)
		if n := len(c.tables()); n != 1 || mona.counts("“Spring” begins") != 0 {
			t.Errorf("%d games", n)
		}
		levels(0)
		passes(2 * time.Minute)
		for _, what := range []string{"“Spring” begins", "Spring: games are on", "Game 1: Two Button Go", " to play, for example "} {
			if n := mona.counts(what); n != 1 {
				t.Errorf("%q is said %d times", what, n)
			}
		}
	})
}
