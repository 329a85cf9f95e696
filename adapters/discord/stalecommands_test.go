package discord

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

const guildCommandsRoute = "PUT /applications/{application_id}/guilds/{guild_id}/commands"

// registered counts the commands of one server, or with "" those of all.
func (c *club) registered(guild string) int {
	c.Helper()
	there, err := c.a.rest.Commands(c.Context(), guild)
	if err != nil {
		c.Fatal(err)
	}
	return len(there)
}

// Who tried things out in one server and then takes discord.guild out does not
// see every command twice for ever.
func TestCommandsOfOneServerAreTakenAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.Guild = c.guild.ID()
		c.start()
		c.ok(c.alice.Slash(c.room, "go help"))
		if i := c.d.Guild("elsewhere").Member("Eve").Slash(c.d.Guild("elsewhere").Channel("x"), "go help"); i.Refused() == nil {
			t.Error("another server has them too")
		}
		here := c.registered(c.guild.ID())
		c.stop()
		if n := c.d.Count(guildCommandsRoute); n != 1 {
			t.Fatalf("while the server is named, its commands were written %d times", n)
		}
		c.cfg.Guild = ""
		c.start()
		if !c.d.WaitCommands(2) {
			t.Fatal("the commands were not registered everywhere")
		}
		if n := c.registered(c.guild.ID()); n != here || here == 0 {
			t.Fatalf("the server has %d commands of its own, and had %d", n, here)
		}
		c.d.Fault(discordtest.Fault{Route: guildCommandsRoute, Status: 403, Code: 50001})
		// The server's own are used, to Discord; and what failed is tried again with
		// the next.
		for _, left := range []int{here, 0} {
			c.ok(c.alice.Slash(c.room, "go help"))
			synctest.Wait()
			if n := c.registered(c.guild.ID()); n != left {
				t.Errorf("the server has %d commands of its own still, not %d", n, left)
			}
		}
		c.ok(c.alice.Slash(c.room, "go help"))
		if n := c.registered(""); n != here {
			t.Errorf("%d commands are registered everywhere, and %d were in the server", n, here)
		}
		c.stop()
		c.check()
	})
}

// A server that is named in discord.guild after a start without it does not show every
// command twice, and nothing is written where nothing is left.
func TestGlobalCommandsAreTakenAway(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		c.settle()
		all := c.registered("")
		c.stop()
		c.cfg.Guild = c.guild.ID()
		c.d.Fault(discordtest.Fault{Route: commandsRoute, Status: 502}) // and it is tried again
		for range 2 {
			c.start()
			c.passes(time.Minute)
			if here, everywhere := c.registered(c.guild.ID()), c.registered(""); here != all || everywhere != 0 {
				t.Errorf("%d commands are in the server, and %d everywhere, which were %d", here, everywhere, all)
			}
			c.ok(c.alice.Slash(c.room, "go help"))
			c.stop()
		}
		if n := c.d.Count(commandsRoute); n != 3 {
			t.Errorf("commands were written everywhere %d times", n)
		}
		c.check()
	})
}
