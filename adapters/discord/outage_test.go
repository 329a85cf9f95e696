package discord

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// wasTold compares what the service was told so far.
func (c *club) wasTold(want string) {
	c.Helper()
	c.settle()
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	if got := strings.Join(c.recorder.told, ", "); got != want {
		c.Errorf("the service was told %q, not %q", got, want)
	}
}

// When Discord cannot be reached the service is told, and told when it can again
// before anything is asked. One shard of two that is away is Discord away, whoever is
// heard from the other.
func TestAway(t *testing.T) {
	for _, shards := range []int{1, 2} {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := newClub(t, discordtest.Options{Shards: shards, Concurrency: 2, Patience: time.Hour})
				c.start()
				if !c.d.WaitSessions(shards) {
					t.Fatal("not all shards are connected")
				}
				c.wasTold("back")
				refused := make([]discordtest.ConnectionFault, 8)
				for i := range refused {
					refused[i].Refuse = 503
				}
				c.d.NextConnections(refused...)
				c.d.Sessions()[shards-1-shardOf(t, c.guild, uint64(shards))].Cut()
				time.Sleep(awayAfter)
				c.wasTold("back")
				time.Sleep(awayAfter/3 + time.Second)
				c.wasTold("back, away")
				if shards == 2 { // of the other shard people are heard
					c.ok(c.alice.Slash(c.room, "go help"))
					c.wasTold("back, away, help")
				}
				c.recorder.take()
				if !c.d.WaitSessions(shards) {
					t.Fatal("it does not come back")
				}
				if shards == 2 { // who is heard from the other need not wait
					c.settle()
				}
				c.ok(c.alice.Slash(c.room, "go help"))
				c.wasTold("away, back, help")
				c.stop()
				c.check()
			})
		})
	}
}

// Where Discord never answers the attempt to resume, the bot is deaf for a minute at
// most: then it begins a new session.
func TestResumeThatDiscordIgnores(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.ok(c.alice.Slash(c.room, "go help"))
		ignored := make([]discordtest.ConnectionFault, 20)
		for i := range ignored {
			ignored[i].NoResumed = true
		}
		c.d.NextConnections(ignored...)
		c.d.Sessions()[0].Cut()
		time.Sleep(time.Minute)
		if got := c.d.Gateway(); got.Identified != 2 || got.Resumed != 0 {
			t.Errorf("after a minute: %+v", got)
		}
		c.ok(c.bob.Slash(c.room, "go help"))
	})
}

// Over HTTP it is the requests of the bot's own that tell.
func TestAwayOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.overHTTP()
		c.start()
		c.wasTold("back")
		const route, probe = "GET /gateway/bot", 2 * awayAfter
		end := c.d.Fault(discordtest.Fault{Route: route, Status: 503, Times: -1})
		time.Sleep(probe + time.Second)
		c.wasTold("back, away")
		end()
		time.Sleep(probe)
		c.wasTold("back, away, back")
		end = c.d.Fault(discordtest.Fault{Route: route, Status: 429, RetryAfter: time.Hour, Times: -1})
		asked := c.d.Count(route)
		time.Sleep(probe)
		if n := c.d.Count(route) - asked; n != 1 {
			t.Errorf("Discord was asked %d times", n)
		}
		end()
		c.ok(c.alice.Slash(c.room, "go help"))
		c.wasTold("back, away, back, help") // a rate limit is no outage
		c.stop()
		c.check()
	})
}

// Whoever runs the bot sees which shards are not connected, and since when, when Discord last
// acknowledged a heartbeat, when people last asked for something, and how often they asked
// for too much.
func TestHealth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Shards: 2, Concurrency: 2, Patience: time.Hour})
		c.cfg.Person = 5
		a, err := New(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if h := a.Health(); h.Connected || !h.Event.IsZero() || !h.Heartbeat.IsZero() {
			t.Errorf("before it runs: %+v", h)
		}
		c.start()
		if !c.d.WaitSessions(2) {
			t.Fatal("not all shards are connected")
		}
		time.Sleep(10 * time.Minute)
		asked := time.Now()
		c.ok(c.alice.Slash(c.room, "go help"))
		for range 7 {
			c.alice.Slash(c.room, "go help").First()
		}
		time.Sleep(10 * time.Minute)
		h := c.a.Health()
		if !h.Connected || time.Since(h.Since) < 19*time.Minute || h.Event.Sub(asked) > time.Minute || time.Since(h.Heartbeat) > time.Minute || h.Refused["person_limit"] != 3 {
			t.Errorf("connected: %+v", h)
		}
		refused := make([]discordtest.ConnectionFault, 20)
		for i := range refused {
			refused[i].Refuse = 503
		}
		c.d.NextConnections(refused...)
		c.d.Sessions()[0].Cut()
		time.Sleep(2 * time.Minute)
		if h := c.a.Health(); h.Connected || h.Lacks != "1 of 2 shards" || time.Since(h.Since) != 2*time.Minute || time.Since(h.Heartbeat) < 2*time.Minute {
			t.Errorf("with a shard away for two minutes: %+v", h)
		}
		if !c.d.WaitSessions(2) {
			t.Fatal("it does not come back")
		}
		synctest.Wait()
		if h := c.a.Health(); !h.Connected || h.Lacks != "" || time.Since(h.Since) > time.Minute {
			t.Errorf("connected again: %+v", h)
		}
		c.stop()
	})
}

// Over HTTP Discord is connected while it answers.
func TestHealthOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.overHTTP()
		c.start()
		time.Sleep(10 * time.Minute)
		if h := c.a.Health(); !h.Connected || time.Since(h.Heartbeat) > 2*awayAfter {
			t.Errorf("connected: %+v", h)
		}
		end := c.d.Fault(discordtest.Fault{Route: "GET /gateway/bot", Status: 503, Times: -1})
		time.Sleep(2 * time.Minute)
		if h := c.a.Health(); h.Connected || time.Since(h.Since) < time.Minute || time.Since(h.Heartbeat) < 2*time.Minute {
			t.Errorf("away: %+v", h)
		}
		end()
		time.Sleep(2 * awayAfter)
		if h := c.a.Health(); !h.Connected {
			t.Errorf("back: %+v", h)
		}
		c.stop()
		c.check()
	})
}
