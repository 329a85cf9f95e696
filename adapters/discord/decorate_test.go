package discord

import (
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// A program that is killed before it has tidied up makes up for it when it is back:
// only the last board has controls, the question that nobody needs to answer any more
// has none, and the picture is where its words are.
func TestKilledBeforeTidyingUp(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.stop()
		time.Sleep(6 * time.Second)                              // Discord lets nobody identify twice within five
		_, stop, kill := c.alone(bot.New(c.store, bot.Config{})) // which changes nothing that was shown before
		controlled := func() (says []string) {
			for _, m := range append(c.room.Messages(), thread.Messages()...) {
				if len(m.Controls) > 0 {
					says = append(says, m.Content)
				}
			}
			return says
		}
		c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
		time.Sleep(2 * time.Minute) // then it cannot be taken back without asking
		c.ok(c.alice.Slash(thread, "undo"))
		end := c.d.Fault(discordtest.Fault{Files: true, Pause: time.Hour, Times: -1})
		c.ok(c.bob.Slash(thread, "place", opt("at", "C4")))
		kill()
		stop()
		end()
		board := thread.Last()
		if says := controlled(); len(says) != 4 || !inLetters(board) {
			t.Fatalf("%q; the last is %q\n%s", says, board.Content, c.d.Transcript())
		}
		c.start()
		c.passes(time.Minute)
		if says := controlled(); len(says) != 1 || len(board.Now().Controls) == 0 {
			t.Errorf("there are controls below %q\n%s", says, c.d.Transcript())
		}
		if now := board.Now(); !withPicture(now) || inLetters(now) {
			t.Errorf("the board is shown as %q", now.Content)
		}
	})
}
