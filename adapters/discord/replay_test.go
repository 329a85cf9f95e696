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
	t.Parallel()
	c := newClub(t, discordtest.Options{})
	c.cfg.Listen, c.cfg.PublicKey = "127.0.0.1:0", c.d.PublicKey()
	d := &slowDesk{}
	c.desk = d.before
	c.start()
	thread := c.begin(t)
	c.a.mu.Lock()
	c.a.keep = time.Nanosecond
	c.a.mu.Unlock()
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
	c.d.Advance(2 * time.Minute) // longer than Discord knows a message again
	all := len(thread.Messages())

	c.a.cfg.Answer = 50 * time.Millisecond
	d.gate = make(chan bool)
	for _, i := range []*discordtest.Interaction{turn, refused, public} {
		if !eventually(func() bool { return c.forgets(i) }) {
			t.Fatal("it is not forgotten")
		}
		reads := c.d.Count(originalRoute)
		i.Again()
		if !eventually(func() bool { w := c.a.waits(i.ID()); return w != nil && w.is(deferred) }) {
			t.Fatal("it was not put off")
		}
		d.gate <- true
		if !eventually(func() bool { return c.a.waits(i.ID()).is(answered) && c.d.Count(originalRoute) > reads }) {
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
}

// forgets has the bot forget what is over, and reports whether this is.
func (c *club) forgets(i *discordtest.Interaction) bool {
	c.a.mu.Lock()
	c.a.sweep(time.Now())
	c.a.mu.Unlock()
	return c.a.waits(i.ID()) == nil
}

// is reports how far the first answer has come.
func (w *waiting) is(s stage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stage == s
}

// eventually waits for what must come.
func eventually(done func() bool) bool {
	for range 6000 {
		if done() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// Over HTTP, what is put off is ended too, by what Discord has read by then.
func TestSlowOverHTTP(t *testing.T) {
	t.Parallel()
	c := newClub(t, discordtest.Options{})
	c.cfg.Listen, c.cfg.PublicKey = "127.0.0.1:0", c.d.PublicKey()
	d := &slowDesk{}
	c.desk = d.before
	c.start()
	thread := c.begin(t)
	c.a.cfg.Answer = 50 * time.Millisecond
	d.gate = make(chan bool)
	for k, want := range []string{"See https://", "not your turn"} {
		i := c.alice.Slash(thread, "place", opt("at", fmt.Sprint("C", 3+k)))
		if kind, _ := i.First(); kind != 5 {
			t.Errorf("first answered by %d", kind)
		}
		d.gate <- true
		if m := c.ok(i); !strings.Contains(m.Content, want) {
			t.Errorf("it ends as %q", m.Content)
		}
	}
	c.stop()
	c.check()
}
