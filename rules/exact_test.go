package rules

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Tromp's counts of legal positions, in which no chain is without a liberty:
// https://tromp.github.io/go/legal.html
var legalPositions = []struct{ w, h, n int }{
	{1, 1, 1}, {2, 1, 5}, {3, 1, 15}, {4, 1, 41}, {5, 1, 113}, {6, 1, 313}, {7, 1, 867}, {8, 1, 2401},
	{2, 2, 57}, {3, 2, 489}, {4, 2, 4125}, {5, 2, 35117}, {3, 3, 12675}, {4, 3, 321689}, {4, 4, 24318165},
}

// Every way to fill a board is tried, and those are counted in which the board
// finds a liberty for every stone.
func TestLegalPositions(t *testing.T) {
	for _, x := range legalPositions {
		if x.w*x.h > 12 && !tier.Soaking() {
			continue
		}
		b, err := NewBoard(x.w, x.h)
		if err != nil {
			t.Fatal(err)
		}
		ps := b.Points()
		n := 0
		var fill func(int)
		fill = func(i int) {
			if i == len(ps) {
				for _, p := range ps {
					if b.At(p) != None && !b.hasLiberty(b.index(p)) {
						return
					}
				}
				n++
				return
			}
			for _, c := range []Color{None, Black, White} {
				b.Put(ps[i], c)
				fill(i + 1)
			}
			b.Put(ps[i], None)
		}
		fill(0)
		if n != x.n {
			t.Errorf("%d×%d: %d legal positions, want %d", x.w, x.h, n, x.n)
		}
	}
}

// The same positions are those that stones can lead to from the empty board,
// and no others.
func TestReachablePositions(t *testing.T) {
	for _, x := range legalPositions {
		if x.n > 50000 {
			continue
		}
		if positions, _ := positionGraph(x.w, x.h); len(positions) != x.n {
			t.Errorf("%d×%d: %d positions can be reached, want %d", x.w, x.h, len(positions), x.n)
		}
	}
}

// positionGraph returns the positions to which stones of either colour lead from
// the empty board, which is the first, and for each the number of the position
// to which each placement leads, but for those that change nothing.
func positionGraph(w, h int) (positions []Board, next [][]int) {
	empty, _ := NewBoard(w, h)
	number := map[Board]int{empty: 0}
	positions = []Board{empty}
	for i := 0; i < len(positions); i++ {
		next = append(next, nil)
		for _, p := range empty.Points() {
			for _, c := range []Color{Black, White} {
				b := positions[i]
				if b.At(p) != None {
					continue
				}
				if b.Play(p, c); b == positions[i] { // a stone that takes itself off
					continue
				}
				n, found := number[b]
				if !found {
					n = len(positions)
					number[b] = n
					positions = append(positions, b)
				}
				next[i] = append(next[i], n)
			}
		}
	}
	return positions, next
}

// The complete games of Tromp–Taylor: https://tromp.github.io/go.html#games.
// Each ends with two passes. Between two placements there is a pass if the
// same player makes both and none if not, so that a game without its two last
// passes is a path through the graph of positions that meets none twice, and
// every path is such a game.
func TestCompleteTrompTaylorGames(t *testing.T) {
	for w, want := range map[int]uint64{1: 1, 2: 9, 3: 907} {
		g, err := New(&TrompTaylor, Setup{W: w, H: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := completeGames(g); got != want {
			t.Errorf("1×%d: %d games, want %d", w, got, want)
		}
		if got := newPaths(w, 1).count(0, 1); got != want {
			t.Errorf("1×%d: %d paths, want %d", w, got, want)
		}
	}
	if tier.Soaking() {
		// The eight first placements are the same but for reflection and colour.
		paths := newPaths(2, 2)
		first := paths.next[0]
		if got := 1 + uint64(len(first))*paths.count(first[0], 1|1<<first[0]); len(first) != 8 || got != 386_356_909_593 {
			t.Errorf("2×2: %d games, want 386,356,909,593", got)
		}
	}
}

func completeGames(g *Game) (n uint64) {
	for _, t := range PerftTurns(g) {
		next, _ := g.Play(t)
		if next.Phase() == Over {
			n++
		} else {
			n += completeGames(next)
		}
	}
	return n
}

// paths counts the paths through a graph of at most 64 positions that meet
// none twice.
type paths struct {
	next  [][]int
	to    []uint64 // next as sets
	known []known
}

// known is the number of paths that go on from a position through the
// positions that are left and can be reached.
type known struct {
	left uint64
	from int
	n    uint64
}

func newPaths(w, h int) *paths {
	p := &paths{known: make([]known, 1<<21)}
	_, p.next = positionGraph(w, h)
	for _, next := range p.next {
		var to uint64
		for _, n := range next {
			to |= 1 << n
		}
		p.to = append(p.to, to)
	}
	return p
}

// count returns the number of paths that begin at a position, the one of no step
// included, where met has been met already.
func (p *paths) count(from int, met uint64) uint64 {
	// What cannot be reached makes no difference, and that is what makes the
	// memory useful.
	var left uint64
	for more := p.to[from] &^ met; more != 0; {
		i := bits.TrailingZeros64(more)
		left |= 1 << i
		more = (more | p.to[i]) &^ met &^ left
	}
	if left == 0 {
		return 1
	}
	k := &p.known[mix(left^uint64(from)<<58)%uint64(len(p.known))]
	if k.left == left && k.from == from {
		return k.n
	}
	n := uint64(1)
	for _, to := range p.next[from] {
		if left>>to&1 == 1 {
			n += p.count(to, met|1<<to)
		}
	}
	*k = known{left, from, n}
	return n
}

// Boards for perft: nearly empty ones, and one with a ko and stones to take.
var perftBoards = []struct {
	rows  []string
	depth int
}{
	{[]string{"."}, 8},
	{[]string{".."}, 7},
	{[]string{"..."}, 6},
	{[]string{"..", ".."}, 5},
	{[]string{"...", "..."}, 4},
	{[]string{"...", "...", "..."}, 3},
	{[]string{".....", ".....", ".....", ".....", "....."}, 2},
	{[]string{".XO.", "XO.O", ".XO.", "X.OO"}, 4},
}

// The perft table of a ruleset is its fingerprint: how many sequences of turns
// there are from a board, how many of them stop play, and what all of them
// would count together, if play stopped there, for Black and for White.
func TestPerftTables(t *testing.T) {
	var out strings.Builder
	for _, r := range slices.Concat(Catalogue, earlier) {
		for _, x := range perftBoards {
			s := setupOf(boardOf(x.rows...))
			s.Komi = One // so that it is seen; a whole number, as ultimate wants it
			g, err := New(r, s)
			if err != nil {
				t.Fatal(err)
			}
			for d, sum := range perftSums(g, x.depth) {
				fmt.Fprintf(&out, "%s %s %d: %d, %d stop, %v to %v\n", r.ID(), strings.Join(x.rows, "/"), d+1, sum.turns, sum.stop, sum.black, sum.white)
			}
		}
	}
	name := filepath.Join("testdata", "perft.txt")
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := string(file)
	for line := range strings.Lines(out.String()) {
		if !strings.Contains(want, line) {
			t.Errorf("%s does not have %s", name, line)
		}
	}
	if n, m := strings.Count(want, "\n"), strings.Count(out.String(), "\n"); n != m {
		t.Errorf("%s has %d lines, want %d", name, n, m)
	}
}

type perftSum struct {
	turns, stop  int
	black, white Points
}

func perftSums(g *Game, depth int) []perftSum {
	sums := make([]perftSum, depth)
	var walk func(*Game, []perftSum)
	walk = func(g *Game, sums []perftSum) {
		if len(sums) == 0 || g.phase != Playing {
			return
		}
		for _, turn := range PerftTurns(g) {
			next, _ := g.Play(turn)
			sums[0].turns++
			if next.phase != Playing {
				sums[0].stop++
			}
			if s := next.Score(); s != nil {
				sums[0].black += s.Black
				sums[0].white += s.White
			}
			walk(next, sums[1:])
		}
	}
	walk(g, sums)
	for i, n := range Perft(g, depth) {
		if int(n) != sums[i].turns {
			panic(fmt.Sprintf("Perft gives %d, a walk %d", n, sums[i].turns))
		}
	}
	return sums
}

// Ultimate Go on the smallest boards, solved: what the game is worth to Black
// if both play their best, and what it consists of. A line is complete when a
// draw is declared or the player to move can only resign.
func TestUltimateSolved(t *testing.T) {
	for _, x := range []struct {
		w, komi              int
		worth                string
		lines, draws, length int    // complete lines, those drawn, turns of the longest
		best                 string // a line in which both play their best
	}{
		{1, -2, "B+R", 2, 1, 3, "B delay, W delay, B delay"},
		{1, -1, "B+R", 2, 1, 3, "B delay, W delay, B delay"},
		{1, 0, "Draw", 1, 1, 3, "B delay, W delay, B draw"},
		{1, 1, "W+R", 1, 0, 2, "B delay, W delay"},
		{1, 2, "W+R", 1, 0, 2, "B delay, W delay"},
		{2, -2, "B+R", 27, 13, 8, "B delay, W place A1, B place B1, W delay, B delay"},
		{2, -1, "B+R", 21, 13, 7, "B delay, W place A1, B place B1, W delay, B delay"},
		{2, 0, "Draw", 13, 5, 5, "B delay, W delay, B draw"},
		{2, 1, "W+R", 14, 6, 7, "B place A1, W place B1, B delay, W delay"},
		{2, 2, "W+R", 14, 2, 6, "B place A1, W place B1, B delay, W delay"},
		{3, -2, "B+R", 226415, 128723, 31, "B place B1, W delay, B delay"},
		{3, -1, "B+R", 166075, 70719, 29, "B place B1, W delay, B delay"},
		{3, 0, "Draw", 57116, 20980, 27, "B place B1, W delay, B delay, W draw"},
		{3, 1, "W+R", 82549, 30638, 29, "B delay, W place B1"},
		{3, 2, "W+R", 80276, 30731, 31, "B delay, W place B1"},
	} {
		if x.w > tier.Pick(2, 3, 3) || x.w == 3 && x.komi != 0 && !tier.Soaking() {
			continue
		}
		g, err := New(&Ultimate, Setup{W: x.w, H: 1, Komi: Points(x.komi) * One})
		if err != nil {
			t.Fatal(err)
		}
		s := solve(g)
		var best []string
		for i := len(s.best) - 1; i >= 0; i-- {
			best = append(best, s.best[i].String())
		}
		worth := map[int]string{1: "B+R", 0: "Draw", -1: "W+R"}[s.worth]
		if worth != x.worth || s.lines != x.lines || s.draws != x.draws || s.length != x.length || strings.Join(best, ", ") != x.best {
			t.Errorf("{%d, %d, %q, %d, %d, %d, %q},", x.w, x.komi, worth, s.lines, s.draws, s.length, strings.Join(best, ", "))
		}
	}
}

type solution struct {
	worth                int // to the player to move: 1 won, 0 drawn, -1 lost
	lines, draws, length int
	best                 []Turn // the last first
}

func solve(g *Game) solution {
	if g.phase == Over {
		return solution{lines: 1, draws: 1}
	}
	s := solution{worth: -2}
	for _, t := range g.Legal() {
		if t.Kind == Resign {
			continue
		}
		next, _ := g.Play(t)
		x := solve(next)
		s.lines += x.lines
		s.draws += x.draws
		s.length = max(s.length, x.length+1)
		// of the best the shortest
		if -x.worth > s.worth || -x.worth == s.worth && len(x.best) < len(s.best)-1 {
			s.worth, s.best = -x.worth, append(x.best, t)
		}
	}
	if s.lines == 0 { // nothing but resigning
		s.worth, s.lines = -1, 1
	}
	return s
}
