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
func (g *guest) counts(what string) (n int) {
	caughtUp(g.Player, g.at)
	for _, m := range g.View(g.at).From(g.c.user.ID) {
		if strings.Contains(m.Text(), what) {
			n++
		}
	}
	return n
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
