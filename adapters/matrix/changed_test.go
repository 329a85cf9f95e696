//go:build goolm

package matrix

import (
	"slices"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// Of what was changed before the bot came to it, it does what it became; what
// became something else, or was taken back, is not done at all.
func TestChangedWhileAway(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		for _, short := range []bool{false, true} { // what was said comes in an answer, or has to be fetched
			c := newClub(t, s)
			p := c.through()
			w := c.watch()
			c.start()
			g := c.begins("two-button 5x5")
			c.settle()
			c.halt()
			at, before := g.black.at, len(w.in(g.black.at))
			turn := g.black.SaysIn(at, g.root, "!place C3")
			g.black.Edits(at, turn, "!place C4")
			last := g.black.Edits(at, turn, "!place D4")
			not := g.black.Says(at, "!games")
			g.black.Edits(at, not, "!rules")
			g.black.Edits(at, not, "what games are there?")
			gone := g.black.Says(at, "!rules")
			g.black.Edits(at, gone, "!games")
			g.black.Redacts(at, gone)
			hers := g.white.Says(at, "!help")
			g.black.Edits(at, hers, "!games") // which nobody can
			if short {
				p.Once(matrixtest.Syncing, matrixtest.Shortens(1))
			}
			c.start()
			end := g.black.asks("", "!settings")
			g.shows("Black D4")
			want := []id.EventID{last, hers, end}
			if got := w.in(at)[before:]; !slices.Equal(got, want) {
				t.Errorf("asked about %v, want %v", got, want)
			}
			// Done is done, by whichever way.
			c.dealt(at, g.black.Edits(at, turn, "!place E5"))
			g.black.reads("What was done stays done")
			c.once(g.black, at)
		}
	})
}
