package discord

import (
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Somebody may play from elsewhere in a room in which they could write now: in the channel
// or its threads, in the thread in which a game was opened, or in direct messages.
func TestMember(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		secret := c.room.Private(c.alice, "Only we two")
		carl := c.guild.Member("Carl")
		stranger := c.d.Person("Eve")
		user := func(p *discordtest.Person) outbox.User { return outbox.User{Platform: Name, ID: p.ID()} }
		is := func(p *discordtest.Person, where match.Room, want bool, why string) {
			t.Helper()
			time.Sleep(memberFor)
			if got, err := c.a.Member(t.Context(), user(p), where); err != nil || got != want {
				t.Errorf("%s: %s may write: %v, %v", why, p.Name(), got, err)
			}
		}
		room, inside, private := c.where(c.room), c.where(c.room, thread), c.where(c.room, secret)
		is(c.bob, room, true, "a member")
		is(c.bob, inside, true, "a member, in a thread")
		is(stranger, room, false, "a stranger")
		is(stranger, inside, false, "a stranger, in a thread")

		is(c.alice, private, true, "who opened a private thread")
		is(c.bob, private, false, "who is not in a private thread")
		secret.Add(c.bob)
		is(c.bob, private, true, "who was added to it")
		secret.Remove(c.bob)
		is(c.bob, private, false, "who was removed from it")
		c.guild.Permit(carl, discordtest.ManageThreads)
		is(carl, private, true, "who manages threads")

		thread.Lock()
		is(c.bob, inside, false, "a locked thread")
		is(carl, inside, true, "a moderator in a locked thread")
		thread.Reopen()

		c.room.Overwrite(c.bob, 0, discordtest.ViewChannel)
		is(c.bob, room, false, "who does not see the channel")
		is(c.bob, inside, false, "who does not see the channel of a thread")
		c.room.Overwrite(c.bob, 0, discordtest.SendMessages)
		is(c.bob, room, true, "who writes only in threads")
		c.room.Overwrite(c.bob, 0, discordtest.SendMessagesInThreads)
		is(c.bob, inside, false, "who writes only outside of threads")
		c.room.Overwrite(c.bob, 0, discordtest.SendMessages|discordtest.SendMessagesInThreads)
		is(c.bob, room, false, "who only reads")
		c.room.Overwrite(c.bob, 0, 0)
		c.guild.Silence(c.bob, time.Now().Add(time.Hour))
		is(c.bob, room, false, "who is in a time-out")
		time.Sleep(time.Hour)
		is(c.bob, room, true, "after the time-out")

		is(c.bob, c.where(c.bob.DM()), true, "one's own direct messages")
		is(c.bob, c.where(c.alice.DM()), false, "somebody else's direct messages")
		is(c.bob, match.Room{Platform: Name, Channel: "1"}, false, "a channel that is not there")
		is(c.bob, match.Room{Platform: "web", Channel: c.room.ID()}, false, "another platform")
		if got, err := c.a.Member(t.Context(), outbox.User{Platform: "matrix", ID: c.bob.ID()}, room); got || err != nil {
			t.Errorf("somebody of another platform: %v, %v", got, err)
		}

		// Who has gone may go on for half a minute, and Discord is asked once meanwhile.
		is(c.bob, room, true, "a member")
		c.guild.Leave(c.bob)
		asked := c.d.Count("GET /guilds/{guild_id}/members/{user_id}")
		if got, err := c.a.Member(t.Context(), user(c.bob), room); !got || err != nil || c.d.Count("GET /guilds/{guild_id}/members/{user_id}") != asked {
			t.Errorf("asked again at once: %v, %v", got, err)
		}
		is(c.bob, room, false, "who has left")

		// If Discord does not answer, nobody knows.
		defer c.d.Fault(discordtest.Fault{Route: "GET /guilds/{guild_id}/members/{user_id}", Status: 500, Times: -1})()
		time.Sleep(memberFor)
		if _, err := c.a.Member(t.Context(), user(c.alice), room); err == nil {
			t.Error("no error while Discord fails")
		}
	})
}
