package discord

import (
	"fmt"
	"strings"
	"sync"
	"testing"
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
