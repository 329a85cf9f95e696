//go:build goolm

package matrix

import (
	"slices"
	"testing"

	"maunium.net/go/mautrix/event"
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
			if err := c.stop(); err != nil {
				t.Fatal(err)
			}
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

// So in an encrypted room, where what was said is read only when its turn comes.
func TestChangedWhileAwayEncrypted(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		w := c.watch()
		c.start()
		r := c.pair(true)
		anna := r.people[0]
		sends := func(m *event.MessageEventContent) id.EventID {
			t.Helper()
			m.Mentions = &event.Mentions{}
			sealed, err := anna.dev.Crypto.Encrypt(t.Context(), r.at, event.EventMessage, m)
			if err != nil {
				t.Fatal(err)
			}
			return anna.Sends(r.at, event.EventEncrypted, sealed)
		}
		c.settled()
		if err := c.stop(); err != nil {
			t.Fatal(err)
		}
		before := len(w.in(r.at))
		turn := sends(&event.MessageEventContent{MsgType: event.MsgText, Body: "!place C3", RelatesTo: (&event.RelatesTo{}).SetThread(r.root, r.root)})
		edit := &event.MessageEventContent{MsgType: event.MsgText, Body: "!place D4"}
		edit.SetEdit(turn)
		last := sends(edit)
		not := sends(&event.MessageEventContent{MsgType: event.MsgText, Body: "!games"})
		edit = &event.MessageEventContent{MsgType: event.MsgText, Body: "what games are there?"}
		edit.SetEdit(not)
		end := sends(edit)
		c.start()
		c.dealt(r.at, end)
		anna.sees("Black D4")
		if got := w.in(r.at)[before:]; !slices.Equal(got, []id.EventID{last}) {
			t.Errorf("asked about %v, want %v alone", got, last)
		}
	})
}
