package discord

import (
	"slices"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// One shard of two that is away is Discord away: the desk is told, whoever is
// heard from the other, and that it is back when both are connected.
func TestOneShardAway(t *testing.T) {
	t.Parallel()
	c := newClub(t, discordtest.Options{Shards: 2, Concurrency: 2})
	c.cfg.Away = 150 * time.Millisecond
	said := &said{}
	c.desk = func(d bot.Desk) bot.Desk { return &sayingDesk{d, said} }
	c.start()
	if !c.d.WaitSessions(2) {
		t.Fatal("not all shards are connected")
	}
	said.wait(c, "back")
	mine := shardOf(t, c.guild, 2)
	refused := make([]discordtest.ConnectionFault, 8)
	for i := range refused {
		refused[i].Refuse = 503
	}
	c.d.NextConnections(refused...)
	c.d.Sessions()[1-mine].Cut()
	said.wait(c, "back, away")
	backs := func() int {
		said.mu.Lock()
		defer said.mu.Unlock()
		return len(slices.DeleteFunc(slices.Clone(said.all), func(s string) bool { return s != "back" }))
	}
	for connected := 0; connected < 2; {
		c.ok(c.alice.Slash(c.room, "help"))
		c.d.Advance(20 * time.Second) // Alice may go on asking
		told := backs()
		if connected = len(c.d.Sessions()); connected < 2 && told > 1 {
			t.Fatal("the desk was told that Discord is back while a shard is away")
		}
	}
	if !eventually(func() bool { return backs() == 2 }) {
		t.Errorf("the desk was told: %s\n%s", said.all, c.log.String())
	}
	c.stop()
	c.check()
}

// Over HTTP it is the requests of the bot's own that tell.
func TestAwayOverHTTP(t *testing.T) {
	t.Parallel()
	c := newClub(t, discordtest.Options{})
	c.cfg.Listen, c.cfg.PublicKey = "127.0.0.1:0", c.d.PublicKey()
	c.cfg.Away = 20 * time.Millisecond
	said := &said{}
	c.desk = func(d bot.Desk) bot.Desk { return &sayingDesk{d, said} }
	c.start()
	said.wait(c, "back")
	end := c.d.Fault(discordtest.Fault{Route: "GET /gateway/bot", Status: 503, Times: -1})
	said.wait(c, "back, away")
	end()
	said.wait(c, "away, back")
	end = c.d.Fault(discordtest.Fault{Route: "GET /gateway/bot", Status: 429, RetryAfter: time.Hour, Times: -1})
	toldToWait := func(r discordtest.Request) bool { return r.Status == 429 }
	if !eventually(func() bool { return slices.ContainsFunc(c.d.Requests("GET /gateway/bot"), toldToWait) }) {
		t.Error("Discord is not asked any more")
	}
	end()
	c.ok(c.alice.Slash(c.room, "help"))
	said.wait(c, "away, back, help") // who asks to wait is there
	c.stop()
	c.check()
}
