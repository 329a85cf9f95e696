package discord

import (
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// A signed request that somebody sends once more, when the bot has forgotten it,
// changes nothing of what stands: not the board, not what one person was told, and
// nothing is said twice.
func TestSignedTwice(t *testing.T) { answeredTwice(t, (*club).overHTTP) }

// The same holds of an interaction that comes through the gateway to a process while
// or after another has answered it.
func TestAnsweredByAnother(t *testing.T) { answeredTwice(t, func(*club) {}) }

func answeredTwice(t *testing.T, prepare func(*club)) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		prepare(c)
		c.start()
		thread := c.begin(t)
		turn := c.alice.Slash(thread, "place", opt("at", "C3"))
		c.ok(turn)
		c.shows(thread, "Black C3")
		refused := c.alice.Slash(thread, "place", opt("at", "C4"))
		public := c.alice.Slash(thread, "score", opt("share", true))
		before := map[*discordtest.Interaction]string{}
		for _, i := range []*discordtest.Interaction{turn, refused, public} {
			before[i] = c.ok(i).Content
		}
		c.ok(c.bob.Slash(thread, "place", opt("at", "C4")))
		board := c.shows(thread, "White C4")
		c.again() // another process knows none of them
		all := len(thread.Messages())

		c.recorder.gate = make(chan bool)
		for _, i := range []*discordtest.Interaction{turn, refused, public} {
			reads := c.d.Count(originalRoute)
			i.Again()
			c.passes(answerAfter)
			c.recorder.gate <- true
			c.passes(time.Second)
			if c.d.Count(originalRoute) == reads {
				t.Error("nobody looked what stands")
			}
			if now := c.ok(i).Content; now != before[i] {
				t.Errorf("%q became %q", before[i], now)
			}
		}
		c.stop()
		if n := len(thread.Messages()); n != all || thread.Last().ID != board.ID {
			t.Errorf("%d messages, %d before: %s\n%s", n, all, thread.Last().Content, c.d.Transcript())
		}
		c.check()
	})
}
