package sgf

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A flip is a game that one ruleset gives to Black and another to White, with
// the same komi. Half a flip is a game that one of them gives to nobody.

// How far two rulesets can part over a game, least first.
const (
	noFlip    = iota // the same winner always
	halfFlip         // won and drawn
	setupFlip        // won and lost, but only where stones were set up
	flip             // won and lost
)

var flipNames = [...]string{"none", "half a flip", "a flip with setup", "a flip"}

// A pair is two rulesets that count, the first of the two first.
type pair struct{ a, b *rules.Ruleset }

func pairs() []pair {
	var all []pair
	for i, b := range rules.Catalogue {
		for _, a := range rules.Catalogue[:i] {
			if len(a.Count) > 0 && len(b.Count) > 0 {
				all = append(all, pair{a, b})
			}
		}
	}
	return all
}

const flipFolder = "../testdata/flips"

// The committed records flip what pairs.txt says they do, and no other pair is
// flipped by any of them.
func TestFlipRecords(t *testing.T) {
	kinds, shows := committedFlips(t)
	var out strings.Builder
	for _, p := range pairs() {
		fmt.Fprintf(&out, "%s and %s: %s%s\n", p.a.Name, p.b.Name, flipNames[kinds[p]], shows[p])
	}
	golden(t, filepath.Join(flipFolder, "pairs.txt"), out.String())
}

// committedFlips returns how far the committed records part each pair, and the
// first that parts it the furthest: the record and both results.
func committedFlips(t *testing.T) (map[pair]int, map[pair]string) {
	t.Helper()
	files, err := filepath.Glob(flipFolder + "/*.sgf")
	if err != nil || len(files) == 0 {
		t.Fatal("no records", err)
	}
	kinds, shows := map[pair]int{}, map[pair]string{}
	for _, file := range files {
		rec := readFile(t, file)
		results := map[*rules.Ruleset]string{}
		for _, row := range rec.Compare(Count{}) {
			if row.Err == nil {
				results[row.Rules] = row.Game.Result()
			}
		}
		for _, p := range pairs() {
			x, y := results[p.a], results[p.b]
			kind := noFlip
			switch {
			case x == "" || y == "" || x[0] == y[0]:
			case x == "0" || y == "0":
				kind = halfFlip
			case len(rec.Setup.Black)+len(rec.Setup.White) > 0:
				kind = setupFlip
			default:
				kind = flip
			}
			if kind > kinds[p] {
				kinds[p], shows[p] = kind, fmt.Sprintf(", %s: %s and %s", strings.TrimSuffix(filepath.Base(file), ".sgf"), x, y)
			}
		}
	}
	return kinds, shows
}

// No game on the smallest boards parts a pair further than a committed record
// does. With HALFPOINT_TIER=soak longer games are looked at, and then the games
// found part every pair as far as the records do.
func TestNoFlipIsMissing(t *testing.T) {
	turns := 3
	if tier.Soaking() {
		turns = 6
	}
	kinds, _ := committedFlips(t)
	found, games := searchFlips(t, turns)
	for _, p := range pairs() {
		if found[p] > kinds[p] || tier.Soaking() && found[p] != kinds[p] {
			t.Errorf("%s and %s: the records show %s, there is %s: %v", p.a.Name, p.b.Name, flipNames[kinds[p]], flipNames[found[p]], games[p])
		}
	}
	if tier.Soaking() {
		for _, p := range slices.SortedFunc(maps.Keys(games), func(p, q pair) int { return strings.Compare(p.a.Name+p.b.Name, q.a.Name+q.b.Name) }) {
			t.Logf("%s and %s: %s: %s", p.a.Name, p.b.Name, flipNames[found[p]], games[p])
		}
	}
}

// searchFlips looks at all that can lie on small boards, empty ones and those
// with a stone set up, after at most so many placements and passes, and brings
// it to its end under every ruleset. It gives for each pair the first game, one
// of the smallest, that parts it the furthest.
func searchFlips(t *testing.T, turns int) (map[pair]int, map[pair]string) {
	t.Helper()
	kinds, games := map[pair]int{}, map[pair]string{}
	look := func(g *rules.Game) {
		rec, ds := Of(g), map[*rules.Ruleset]rules.Points{}
		if n := len(rec.Turns); n > 0 && rec.Turns[n-1].Kind != rules.Place {
			return // the same as without the pass
		}
		for _, r := range rules.Catalogue {
			if end, err := rec.Under(r, 0, nil, nil); err == nil {
				ds[r] = difference(end)
			}
		}
		for _, p := range pairs() {
			x, counted := ds[p.a]
			y, counted2 := ds[p.b]
			kind := noFlip
			switch d := max(x-y, y-x); { // some komi lies between
			case !counted || !counted2 || d == 0:
			case d < rules.One:
				kind = halfFlip
			case len(g.Setup().Black)+len(g.Setup().White) > 0:
				kind = setupFlip
			default:
				kind = flip
			}
			if kind > kinds[p] {
				kinds[p] = kind
				games[p] = fmt.Sprintf("%d×%d, black %s, white %s: %s: %v and %v", g.Setup().W, g.Setup().H,
					rules.Names(g.Setup().Black), rules.Names(g.Setup().White), words(g), x, y)
			}
		}
	}
	for _, size := range boards {
		w, h := size[0], size[1]
		for depth := range turns + 1 {
			for _, s := range append(emptyBoard(w, h), oneStone(w, h)...) {
				if g, err := rules.New(&rules.Territory1, s); err == nil { // where play goes on after two passes
					everyGame(g, depth, look)
				}
			}
		}
	}
	return kinds, games
}

// everyGame calls see with every game of exactly turns turns more than g.
func everyGame(g *rules.Game, turns int, see func(*rules.Game)) {
	if turns == 0 {
		see(g)
		return
	}
	if g.Phase() == rules.Playing {
		for _, t := range rules.PerftTurns(g) {
			next, _ := g.Play(t)
			everyGame(next, turns-1, see)
		}
	}
}
