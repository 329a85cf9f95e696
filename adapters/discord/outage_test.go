package discord

import (
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// One shard of two that is away is Discord away: the service is told, whoever is
// heard from the other, and that it is back when both are connected.
func TestOneShardAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{Shards: 2, Concurrency: 2})
		said := &said{}
		c.desk = func(d bot.Service) bot.Service { return &sayingService{d, said} }
		c.start()
		if !c.d.WaitSessions(2) {
			t.Fatal("not all shards are connected")
		}
		said.are(t, "back")
		mine := shardOf(t, c.guild, 2)
		refused := make([]discordtest.ConnectionFault, 8)
		for i := range refused {
			refused[i].Refuse = 503
		}
		c.d.NextConnections(refused...)
		c.d.Sessions()[1-mine].Cut()
		time.Sleep(2 * awayAfter)
		said.are(t, "back, away")
		for len(c.d.Sessions()) < 2 {
			c.ok(c.alice.Slash(c.room, "help"))
			if n := strings.Count(said.list(), "back"); n != 1 {
				t.Fatal("the desk was told that Discord is back while a shard is away")
			}
			c.passes(20 * time.Second)
		}
		if list := said.list(); strings.Count(list, "back") != 2 || !strings.HasSuffix(list, "back") {
			t.Errorf("the desk was told %q", list)
		}
		c.stop()
		c.check()
	})
}

// Over HTTP it is the requests of the bot's own that tell.
func TestAwayOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.Listen, c.cfg.PublicKey = "localhost:8080", c.d.PublicKey()
		said := &said{}
		c.desk = func(d bot.Service) bot.Service { return &sayingService{d, said} }
		c.start()
		said.are(t, "back")
		const route, probe = "GET /gateway/bot", 2 * awayAfter
		end := c.d.Fault(discordtest.Fault{Route: route, Status: 503, Times: -1})
		time.Sleep(probe + time.Second)
		said.are(t, "back, away")
		end()
		time.Sleep(probe)
		said.are(t, "back, away, back")
		end = c.d.Fault(discordtest.Fault{Route: route, Status: 429, RetryAfter: time.Hour, Times: -1})
		asked := c.d.Count(route)
		time.Sleep(probe)
		if n := c.d.Count(route) - asked; n != 1 {
			t.Errorf("Discord was asked %d times", n)
		}
		end()
		c.ok(c.alice.Slash(c.room, "help"))
		said.are(t, "back, away, back, help") // who asks to wait is there
		c.stop()
		c.check()
	})
}
