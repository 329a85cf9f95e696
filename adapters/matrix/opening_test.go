package matrix

import (
	"strings"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// When a moderator removes the message under which a game is played, the bot no longer
// edits what nobody sees: it says in the room that the game goes on, and the next board
// comes in the new thread. So it is when that is removed, too.
func TestRemovedOpening(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		g := c.begins("two-button 5x5")
		c.settled()
		roots := map[id.EventID]bool{g.root: true}
		for k, turns := range [][2]string{{"C3", "D4"}, {"B2", "E5"}} {
			g.black.Redacts(g.black.at, g.root)
			caughtUp(g.black.Player, g.black.at)
			edits := g.black.View(g.black.at).Message(g.root).Edits
			g.turns(g.root, 1, 2*k, turns[0])
			c.settled()
			caughtUp(g.black.Player, g.black.at)
			v := g.black.View(g.black.at)
			if n := v.Message(g.root).Edits; n != edits {
				t.Errorf("the removed opening was edited %d times", n-edits)
			}
			next := g.black.AwaitMessage(g.black.at, c.user.ID, "a new opening", func(m *matrixtest.Message) bool {
				return m.Thread == "" && !roots[m.ID] && strings.Contains(m.Text(), "goes on here") && m.Reacted(c.user.ID, "⏭️")
			})
			g.root, roots[next.ID] = next.ID, true
			g.white.says(g.root, turns[1]) // a turn without a sign
			if board := g.shows(turns[1]); board.Thread != g.root {
				t.Errorf("the board after %s is not in the new thread", turns[1])
			}
			c.settled()
		}
		c.once(g.black, g.black.at)
	})
}
