package sgf

import (
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// The estimates that are clear come near the count of the finished game.
func TestEstimatesOfRealGames(t *testing.T) {
	dir, results := realGames(t)
	type tally struct {
		moves, clear, winner int
		off                  []rules.Points
	}
	by := map[int]*tally{}
	each := tier.Pick(8, 2, 1)
	for i, x := range results {
		if i%each != 0 {
			continue
		}
		g, err := realGame(t, dir, x.File).Play(&rules.Area2, 0)
		if err != nil {
			continue // suicide, or a repetition
		}
		n := by[x.Size[0]]
		if n == nil {
			n = &tally{}
			by[x.Size[0]] = n
		}
		step := max(1, x.Size[0]/tier.Pick(1, 1, 9))
		final := rules.Points(-2 * x.AreaWminusB)
		for move := g.Turns(); move > 0; move -= step {
			n.moves++
			at := g.At(move)
			e, ok := at.Estimate(1)
			if !ok || !e.Clear {
				continue
			}
			n.clear++
			if (e.Margin > 0) == (final > 0) {
				n.winner++
			}
			n.off = append(n.off, max(e.Margin-final, final-e.Margin))
		}
	}
	for lines, n := range by {
		if n.clear == 0 {
			continue
		}
		slices.Sort(n.off)
		half, most := n.off[len(n.off)/2], n.off[len(n.off)*9/10]
		t.Logf("%d lines: %d of %d estimates are clear; half are within %v points of the count, nine in ten within %v; %d name the winner",
			lines, n.clear, n.moves, half, most, n.winner)
		if half > 3*rules.One || 5*n.winner < 4*n.clear {
			t.Error("the estimates are worse than they were")
		}
	}
}
