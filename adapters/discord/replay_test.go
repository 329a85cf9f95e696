package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// A signed request that somebody sends once more, when the bot has forgotten it,
// changes nothing of what stands: not the board, not what one person was told, and
// nothing is said twice.
func TestSignedTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.Listen, c.cfg.PublicKey = "localhost:8080", c.d.PublicKey()
		d := &slowService{}
		c.desk = d.before
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
		c.stop() // another process knows none of them
		c.start()
		all := len(thread.Messages())

		d.gate = make(chan bool)
		for _, i := range []*discordtest.Interaction{turn, refused, public} {
			reads := c.d.Count(originalRoute)
			i.Again()
			c.passes(answerAfter)
			d.gate <- true
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

// Over HTTP, what is put off is ended too, by what Discord has read by then.
func TestSlowOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.cfg.Listen, c.cfg.PublicKey = "localhost:8080", c.d.PublicKey()
		d := &slowService{}
		c.desk = d.before
		c.start()
		thread := c.begin(t)
		d.gate = make(chan bool)
		for k, want := range []string{"See https://", "not your turn"} {
			i := c.alice.Slash(thread, "place", opt("at", fmt.Sprint("C", 3+k)))
			if kind, took := i.First(); kind != 5 || took != answerAfter {
				t.Errorf("first answered by %d after %v", kind, took)
			}
			d.gate <- true
			if m := c.ok(i); !strings.Contains(m.Content, want) {
				t.Errorf("it ends as %q", m.Content)
			}
		}
		c.stop()
		c.check()
	})
}
