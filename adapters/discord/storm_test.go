package discord

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A storm is what Discord does on a bad day, to every so-many-th request of any
// kind.
var storm = []discordtest.Fault{
	{Every: 7, Status: 429, RetryAfter: 100 * time.Millisecond},
	{Every: 9, Status: 429, RetryAfter: 100 * time.Millisecond, Scope: "shared"},
	{Every: 11, Status: 429, RetryAfter: 100 * time.Millisecond, Scope: "global"},
	{Every: 41, Status: 429, RetryAfter: time.Second, HTML: true},
	{Every: 8, Status: 502},
	{Every: 13, Status: 503, HTML: true},
	{Every: 10, Drop: discordtest.AfterDone},
	{Every: 17, Drop: discordtest.HalfWay},
	{Every: 12, Drop: discordtest.BeforeDone},
	{Every: 6, Delay: 30 * time.Millisecond},
}

// In a storm each turn is made once and each board is shown once, though many a
// press comes twice; and the bot asks for no more trouble than it is given.
// HALFPOINT_TIER=soak plays for many minutes.
func TestStorm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		games, turns := 3, 8
		if tier.Soaking() {
			games, turns = 4, 120
		}
		c := newClub(t, discordtest.Options{Patience: 15 * time.Minute})
		c.start()
		threads := make([]*discordtest.Channel, games)
		players := make([][2]*discordtest.Person, games)
		for k := range games {
			room := c.guild.Channel(fmt.Sprint("games-", k))
			players[k] = [2]*discordtest.Person{c.guild.Member(fmt.Sprint("Black ", k)), c.guild.Member(fmt.Sprint("White ", k))}
			m := c.ok(players[k][0].Slash(room, "new", opt("size", "19x19")))
			c.ok(players[k][1].Press(m, "Join"))
			if threads[k] = room.WaitThread(0); threads[k] == nil {
				t.Fatalf("no thread\n%s", c.log.String())
			}
			c.shows(threads[k], "Black to play")
		}
		for _, f := range storm {
			f.Times = -1
			c.d.Fault(f)
		}
		before, began := len(c.d.Requests("")), time.Now()
		most := c.mostGoroutines()
		var group sync.WaitGroup
		for k, thread := range threads {
			group.Go(func() {
				for turn := range turns {
					at := string("ACEGJLNQST"[turn%10]) + fmt.Sprint(1+turn/10)
					i := players[k][turn%2].Slash(thread, "place", opt("at", at))
					if turn%3 == 0 {
						i.Again()
					}
					says := fmt.Sprintf("move %d:", turn+1)
					if !thread.Wait(func(ms []*discordtest.Message) bool { return strings.Contains(ms[len(ms)-1].Content, says) }) {
						t.Errorf("game %d: nothing says %q", k, says)
						return
					}
					if turn%3 == 1 {
						i.Again()
					}
				}
			})
		}
		group.Wait()
		goroutines := most()
		if goroutines > 200 || goroutines < askWorkers {
			t.Errorf("%d goroutines", goroutines)
		}
		c.stop()
		windows := 1 + int(time.Since(began)/(10*time.Minute))
		for k, thread := range threads {
			ms := thread.Messages()
			for turn := range turns {
				says := fmt.Sprintf("move %d:", turn+1)
				if n := count(ms, func(m *discordtest.Message) bool { return withBoard(m) && strings.Contains(m.Content, says) }); n != 1 {
					t.Errorf("game %d: %d boards say %q", k, n, says)
				}
			}
			if n := count(ms, withBoard); n != turns+1 {
				t.Errorf("game %d: %d boards after %d turns", k, n, turns)
			}
		}
		all, struck, invalid := c.d.Requests("")[before:], 0, 0
		for _, r := range all {
			if r.Status == 429 || r.Status >= 500 || r.Status == 0 {
				struck++
			}
			if r.Status == 401 || r.Status == 403 || r.Status == 429 {
				invalid++
			}
		}
		t.Logf("%d turns: %d requests, %d struck, %d invalid; at most %d goroutines", games*turns, len(all), struck, invalid, goroutines)
		if struck < len(all)/5 {
			t.Errorf("%d of %d requests were struck: no storm", struck, len(all))
		}
		if invalid > 500*windows {
			t.Errorf("%d invalid requests; 500 in ten minutes are few enough", invalid)
		}
		c.check()
	})
}

// A bot that may not write any more where a game is asks Discord no more than
// three times for it, says so once, and forgets no turn: the next board that it
// may show has them all.
func TestLostRights(t *testing.T) {
	for name, lost := range map[string]struct {
		take, give func(c *club, thread *discordtest.Channel)
	}{
		"silenced": {
			func(c *club, _ *discordtest.Channel) { c.room.OverwriteBot(0, discordtest.SendMessagesInThreads) },
			func(c *club, _ *discordtest.Channel) { c.room.OverwriteBot(discordtest.SendMessagesInThreads, 0) },
		},
		"locked": {
			func(_ *club, thread *discordtest.Channel) { thread.Lock() },
			func(_ *club, thread *discordtest.Channel) { thread.Reopen() },
		},
		"kicked": {
			func(c *club, _ *discordtest.Channel) { c.guild.Kick() },
			func(c *club, _ *discordtest.Channel) { c.guild.Invite() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{})
				d := &slowService{}
				c.desk = d.before
				c.start()
				thread := c.begin(t)
				c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
				c.shows(thread, "Black C3")
				if !c.room.Wait(func(ms []*discordtest.Message) bool { return strings.HasPrefix(ms[0].Content, "Game 1: ") }) {
					t.Fatalf("the opening does not say how the game stands\n%s", c.d.Transcript())
				}
				d.gate = make(chan bool)
				c.d.Fault(discordtest.Fault{Route: callbackRoute, Status: 404, Code: 10062}) // so that the board must be a message
				c.bob.Slash(thread, "place", opt("at", "C4"))
				lost.take(c, thread)
				before := len(c.d.Requests(""))
				close(d.gate)
				const says = "cannot post to a room"
				synctest.Wait()
				if !strings.Contains(c.log.String(), says) {
					t.Fatalf("the log does not say %q\n%s", says, c.log.String())
				}
				if name != "kicked" {
					c.ok(c.alice.Slash(c.room, "help"))
				}
				lost.give(c, thread)
				c.ok(c.alice.Slash(thread, "place", opt("at", "C2")))
				if alt := c.shows(thread, "Black C2").Attachments[0].Alt; !strings.Contains(alt, "4 . . O . .") {
					t.Errorf("White's turn is not on the board: %q", alt)
				}
				c.stop()
				refused := 0
				for _, r := range c.d.Requests("")[before:] {
					if r.Status == 400 || r.Status == 401 || r.Status == 403 {
						refused++
					}
				}
				if n := strings.Count(c.log.String(), says); refused == 0 || refused > 3 || n != 1 {
					t.Errorf("refused %d times, said %d times\n%s", refused, n, c.log.String())
				}
				for _, says := range []string{"Black C3", "Black C2"} {
					is := func(m *discordtest.Message) bool { return strings.Contains(m.Content, says) }
					if n := count(thread.Messages(), is); n != 1 {
						t.Errorf("%s is shown %d times\n%s", says, n, c.d.Transcript())
					}
				}
				c.check()
			})
		})
	}
}
