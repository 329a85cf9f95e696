package discord

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// A bot could never join, so nobody can challenge one: the person alone reads what to do.
func TestBotsAreNotChallenged(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.settle() // until the commands are registered, which the answers mention
		for name, x := range map[string]struct {
			who *discordtest.Person
			why string
		}{"another bot": {c.guild.OtherBot("Music"), "Bots cannot play."}, "the bot itself": {c.d.Bot(), "I look after games, but I do not play."}} {
			for how, i := range map[string]*discordtest.Interaction{
				"an option": c.alice.Slash(c.room, "new", opt("opponent", x.who)), "the menu": c.alice.UserCommand(c.room, x.who, wordMenuInvite),
			} {
				m := c.ok(i)
				if m.To != "Alice" || !strings.HasPrefix(m.Content, x.why+" Challenge a person, or open a game that anyone can join: </new:") {
					t.Errorf("%s by %s: %q to %q", name, how, m.Content, m.To)
				}
			}
		}
		if asked := c.recorder.take(); len(asked) > 0 || len(c.room.Messages()) > 0 {
			t.Errorf("the bot was asked %v", asked)
		}
		c.ok(c.alice.Slash(c.room, "new", opt("opponent", c.bob)))
	})
}
