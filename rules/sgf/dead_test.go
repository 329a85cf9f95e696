package sgf

import (
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// The judge finds the stones at the end of real games dead that others found dead:
// in 97 of 100 chains at least.
func TestRealGamesDead(t *testing.T) {
	dir, results := realGames(t)
	results = results[:min(tier.Pick(15, len(results), len(results)), len(results))]
	var chains, stones, boards, unsettled, known share
	for _, x := range results {
		rec := realGame(t, dir, x.File)
		g, err := rec.Play(&rules.Japanese, 0)
		if err != nil {
			t.Fatalf("%s: %v", x.File, err)
		}
		dead := make(map[rules.Point]bool)
		for _, v := range x.Dead {
			p, err := point(v, rec.Setup.H)
			if err != nil {
				t.Fatal(err)
			}
			dead[p] = true
		}
		b := g.Board()
		j := rules.Judge(b, 1)
		var wrong []rules.Point
		seen := make(map[rules.Point]bool)
		for _, p := range b.Points() {
			chain := b.Chain(p)
			if len(chain) == 0 || seen[p] {
				continue
			}
			for _, q := range chain {
				seen[q] = true
			}
			right := slices.Contains(j.Dead, p) == dead[p]
			chains.count(right, 1)
			stones.count(right, len(chain))
			unsure := slices.Contains(j.Unsettled, p)
			unsettled.count(unsure, 1)
			if !right {
				wrong = append(wrong, p)
				known.count(unsure, 1)
			}
		}
		if boards.count(len(wrong) == 0, 1); len(wrong) > 0 {
			t.Logf("%s: wrong of %v", x.File, rules.Names(wrong))
		}
	}
	t.Logf("right: %d of %d chains, %d of %d stones, %d of %d boards", chains.n, chains.of, stones.n, stones.of, boards.n, boards.of)
	t.Logf("unsettled: %d of %d chains, %d of the %d wrong ones", unsettled.n, unsettled.of, known.n, known.of)
	if 100*chains.n < 97*chains.of {
		t.Errorf("%d of %d chains are judged as they are, fewer than 97 of 100", chains.n, chains.of)
	}
}

// A share is n of so many.
type share struct{ n, of int }

func (s *share) count(is bool, n int) {
	s.of += n
	if is {
		s.n += n
	}
}
