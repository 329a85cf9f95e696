package discord

import (
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// Two bots with the same token and different databases, whose owner has forgotten one of them: the
// slower one says so, once.
func TestTwin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		twin := makeStore(t)
		other := c.beside()
		other.store = twin
		c.start()
		other.start()
		other.passes(time.Minute)
		warnings := func() int {
			return strings.Count(c.log.String()+other.log.String(), "uses the same token")
		}
		for n := range 2 * twinAnswers {
			if got := warnings(); n < twinAnswers && got != 0 {
				t.Errorf("it warns after %d interactions", n)
			}
			c.alice.Slash(c.room, "go help").Answer()
			c.passes(10 * time.Second)
		}
		if got := warnings(); got != 1 && got != 2 { // one of them, or both
			t.Errorf("it warns %d times:\n%s\n%s", got, c.log.String(), other.log.String())
		}
		other.stop()
		c.stop()
	})
}

// What Discord repeats after a connection, and what happens now and then, is no sign of a twin.
func TestNoTwin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var w twinWatch
		for range 10 {
			w.connected()
			time.Sleep(twinSettles - time.Second)
			for range 10 {
				if w.answered() {
					t.Fatal("what is repeated after a connection is a sign")
				}
			}
		}
		for range 10 {
			time.Sleep(twinWithin/(twinAnswers-1) + time.Second)
			if w.answered() {
				t.Fatal("what happens now and then is a sign")
			}
		}
		time.Sleep(twinWithin)
		for n := 1; n <= 2*twinAnswers; n++ {
			if got := w.answered(); got != (n == twinAnswers) {
				t.Errorf("the %d. in a row is a sign: %v", n, got)
			}
		}
	})
}
