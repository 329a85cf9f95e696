package rules

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// finishAtRandom plays to the end of the game, two passes, or for a long while,
// and calls see after every turn.
func (p *playout) finishAtRandom(see func(by Color, at Point, passed bool)) {
	c, passes := Black, 0
	for n := 3 * int(p.w) * int(p.h); n > 0 && passes < 2; n-- {
		placed := p.random(c, false)
		if passes++; placed {
			passes = 0
		}
		if see != nil {
			var at Point
			if placed {
				at = p.point(int(p.moves[len(p.moves)-1].at))
			}
			see(c, at, !placed)
		}
		c = c.Opponent()
	}
}

// A playout is a game under positional superko without suicide: after every turn
// it has the same board, allows the same placements and knows the same chains.
func TestPlayoutIsAGame(t *testing.T) {
	repeats, long := 0, 0 // placements that repeat a position, and those that are no simple ko
	for seed := range tier.Pick(100, 400, 4000) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 5))
		s := Setup{W: 1 + rnd.IntN(6), H: 1 + rnd.IntN(6)}
		g, err := New(&Area2, s)
		if err != nil {
			t.Fatal(err)
		}
		b := g.Board()
		p := newPlayout(&b, uint64(seed))
		if seed%3 == 0 { // and it is one also when it begins again
			p.finishAtRandom(nil)
			p.restart()
		}
		p.finishAtRandom(func(by Color, at Point, passed bool) {
			turn := Turn{Kind: Place, By: by, At: at}
			if passed {
				turn.Kind = Pass
			}
			if g, err = g.Play(turn); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if p.Board != g.board {
				t.Fatalf("seed %d, after %v:\n%v\n\n%v", seed, turn, p.Board, g.board)
			}
			p.knowsItsChains(t)
			if g.phase != Playing {
				return
			}
			var want []Point
			for _, turn := range g.Legal() {
				if turn.Kind == Place {
					want = append(want, turn.At)
				}
			}
			if got := p.placements(g.toPlay, nil); !slices.Equal(got, want) {
				t.Fatalf("seed %d, after %v: %v may place on %v, not on %v\n%v", seed, turn, g.toPlay, want, got, g.board)
			}
			for _, at := range newPlayout(&g.board, 0).placements(g.toPlay, nil) {
				if !slices.Contains(want, at) {
					repeats++
					if !p.retakes(p.index(at), g.toPlay) {
						long++
					}
				}
			}
		})
	}
	if repeats == 0 || long == 0 {
		t.Errorf("%d repetitions were met, %d of them no simple ko: this test does not see superko", repeats, long)
	}
}

// knowsItsChains compares what a playout knows with what a Board finds.
func (p *playout) knowsItsChains(t *testing.T) {
	t.Helper()
	for _, q := range p.Points() {
		if p.At(q) == None {
			continue
		}
		l, chain := p.chains.of(p.index(q)), p.Chain(q)
		var key uint64
		for _, r := range chain {
			key ^= zobrist[p.At(r)][p.index(r)]
		}
		n := p.Liberties(q)
		if int(l.size) != len(chain) || l.key != key || l.several() != (n > 1) || (l.last() != 0) != (n == 1) {
			t.Fatalf("%v: %d stones with %d liberties, not %+v\n%v", q, len(chain), n, *l, p.Board)
		}
		if n == 1 && p.cell[l.last()] != None {
			t.Fatalf("%v: its liberty is not %v\n%v", q, p.point(l.last()), p.Board)
		}
	}
}

// A ko is known at a glance: a stone that took one is taken back alone.
func TestPlayoutKnowsKo(t *testing.T) {
	point := func(name string) Point {
		at, err := ParsePoint(name, 4, 3)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, x := range []struct {
		name     string
		rows     []string
		at, back string
		c        Color
		ko       bool
	}{
		{"ko", []string{".XO.", "XO.O", ".XO."}, "C2", "B2", White, true},
		{"ko, after a pass", []string{".XO.", "XO.O", ".XO."}, "C2", "B2", Black, false},
		{"another point", []string{".XO.", "XO.O", ".XO."}, "C2", "A1", White, false},
		{"snapback", []string{"OOO.", "XXO.", "O.O."}, "B1", "A1", White, false},
		{"two stones taken", []string{"XXO.", "OO.O", "XXO."}, "C2", "B2", White, false},
		{"another liberty", []string{".X..", "XO.O", ".XO."}, "C2", "B2", White, false},
	} {
		b := boardOf(x.rows...)
		p := newPlayout(&b, 0)
		p.place(p.index(point(x.at)), Black)
		if got := p.retakes(p.index(point(x.back)), x.c); got != x.ko {
			t.Errorf("%s: %v\n%v", x.name, got, p.Board)
		}
	}
}

// Nobody fills an eye, so that what has two of them lives.
func TestPlayoutKeepsEyes(t *testing.T) {
	b := boardOf(
		".XXOO",
		"X.XO.",
		"XXXOO",
		"XXOO.",
		".XO.O",
	)
	for seed := range uint64(50) {
		p := newPlayout(&b, seed)
		p.finishAtRandom(nil)
		if p.Board.Area() != b.Area() || len(p.moves) > 2 {
			t.Fatalf("seed %d: %d placements\n%v", seed, len(p.moves), p.Board)
		}
	}
}

// The same seed plays the same turns, a restart and another seed play others.
func TestPlayoutIsItsSeed(t *testing.T) {
	b, _ := NewBoard(9, 9)
	p, same, other := newPlayout(&b, 1), newPlayout(&b, 1), newPlayout(&b, 2)
	for _, x := range []*playout{p, same, other} {
		x.finishAtRandom(nil)
	}
	if !slices.Equal(p.moves, same.moves) || slices.Equal(p.moves, other.moves) {
		t.Error("the seed does not decide the playout")
	}
	same.restart()
	same.finishAtRandom(nil)
	if slices.Equal(p.moves, same.moves) {
		t.Error("a restart plays the same turns")
	}
}

// BenchmarkRandomPlay plays whole games on 19×19, every placement legal under
// positional superko; the metric is millions of placements a second.
func BenchmarkRandomPlay(b *testing.B) {
	start, _ := NewBoard(19, 19)
	p, turns := newPlayout(&start, 1), 0
	for b.Loop() {
		p.restart()
		p.finishAtRandom(nil)
		turns += len(p.moves)
	}
	b.ReportMetric(float64(turns)/b.Elapsed().Seconds()/1e6, "Mturns/s")
}

// BenchmarkRandomPlayNaive does the same as a first program would.
func BenchmarkRandomPlayNaive(b *testing.B) {
	turns, seed := 0, uint64(0)
	for b.Loop() {
		seed++
		turns += naivePlayout(19, rand.New(rand.NewPCG(seed, 1)))
	}
	b.ReportMetric(float64(turns)/b.Elapsed().Seconds()/1e6, "Mturns/s")
}

// midgames returns positions of one playout on 19×19, one after every 20
// placements, with all that came before them.
func midgames() (ps []*playout) {
	start, _ := NewBoard(19, 19)
	p := newPlayout(&start, 1)
	p.finishAtRandom(func(Color, Point, bool) {
		if len(p.moves)%20 == 10 {
			now := *p
			now.moves, now.keys, now.empty = slices.Clone(p.moves), slices.Clone(p.keys), slices.Clone(p.empty)
			ps = append(ps, &now)
		}
	})
	return ps
}

// BenchmarkPlacements finds all legal placements of a position, taking
// positions from all stages of a game in turn.
func BenchmarkPlacements(b *testing.B) {
	ps := midgames()
	var found []Point
	n := 0
	for b.Loop() {
		found = ps[n%len(ps)].placements(White, found[:0])
		n++
	}
}

// BenchmarkPlacementsNaive does the same as a first program would.
func BenchmarkPlacementsNaive(b *testing.B) {
	ps := midgames()
	boards := make([][]naiveBoard, len(ps))
	for i, p := range ps {
		boards[i] = naiveHistory(p)
	}
	n := 0
	for b.Loop() {
		naivePlacements(boards[n%len(boards)], White)
		n++
	}
}

func naiveHistory(p *playout) (boards []naiveBoard) {
	for n := range len(p.moves) + 1 {
		b := p.after(n)
		naive := make(naiveBoard, p.h)
		for y := range naive {
			naive[y] = make([]Color, p.w)
			for x := range naive[y] {
				naive[y][x] = b.At(Point{int8(x), int8(y)})
			}
		}
		boards = append(boards, naive)
	}
	return boards
}

func naivePlacements(boards []naiveBoard, c Color) (ps []Point) {
	now := boards[len(boards)-1]
	for y := range now {
		for x := range now[y] {
			if p := (Point{int8(x), int8(y)}); now[y][x] == None && naivePlace(boards, p, c) != nil {
				ps = append(ps, p)
			}
		}
	}
	return ps
}

// naivePlace returns the board after a placement, nil if it is illegal.
func naivePlace(boards []naiveBoard, p Point, c Color) naiveBoard {
	next := boards[len(boards)-1].clone()
	next[p.Y][p.X] = c
	for _, d := range []Point{{0, 1}, {1, 0}, {0, -1}, {-1, 0}} {
		q := Point{p.X + d.X, p.Y + d.Y}
		if q.X < 0 || q.Y < 0 || int(q.X) >= len(next[0]) || int(q.Y) >= len(next) || next[q.Y][q.X] != c.Opponent() {
			continue
		}
		if stones, liberties := next.group(q); liberties == 0 {
			for _, s := range stones {
				next[s.Y][s.X] = None
			}
		}
	}
	if _, liberties := next.group(p); liberties == 0 {
		return nil
	}
	for _, old := range boards {
		if old.equal(next) {
			return nil
		}
	}
	return next
}

func naivePlayout(size int, rnd *rand.Rand) (turns int) {
	now := make(naiveBoard, size)
	for i := range now {
		now[i] = make([]Color, size)
	}
	boards := []naiveBoard{now}
	for c, passes := Black, 0; passes < 2 && len(boards) < 3*size*size; c = c.Opponent() {
		var empty []Point
		for y := range now {
			for x := range now[y] {
				if now[y][x] == None {
					empty = append(empty, Point{int8(x), int8(y)})
				}
			}
		}
		rnd.Shuffle(len(empty), func(i, j int) { empty[i], empty[j] = empty[j], empty[i] })
		passes++
		for _, p := range empty {
			if now.eye(p, c) {
				continue
			}
			if next := naivePlace(boards, p, c); next != nil {
				now, boards, passes = next, append(boards, next), 0
				break
			}
		}
	}
	return len(boards) - 1
}

func (n naiveBoard) eye(p Point, c Color) bool {
	theirs, off := 0, 0
	for dy := int8(-1); dy <= 1; dy++ {
		for dx := int8(-1); dx <= 1; dx++ {
			x, y := p.X+dx, p.Y+dy
			outside := x < 0 || y < 0 || int(x) >= len(n[0]) || int(y) >= len(n)
			switch {
			case dx == 0 && dy == 0:
			case dx == 0 || dy == 0:
				if !outside && n[y][x] != c {
					return false
				}
			case outside:
				off = 1
			case n[y][x] == c.Opponent():
				theirs++
			}
		}
	}
	return theirs+off < 2
}

// The naive program of the benchmarks finds the same, or the ratios would mean
// nothing.
func TestNaivePlacementsAgree(t *testing.T) {
	ps := midgames()
	for _, p := range []*playout{ps[0], ps[len(ps)/2], ps[len(ps)-1]} {
		boards := naiveHistory(p)
		for _, c := range []Color{Black, White} {
			if got, want := naivePlacements(boards, c), p.placements(c, nil); !slices.Equal(got, want) {
				t.Errorf("%v: %v and %v", c, got, want)
			}
			for _, q := range p.Points() {
				if p.At(q) == None && boards[len(boards)-1].eye(q, c) != p.eye(p.index(q), c) {
					t.Errorf("%v: an eye of %v?", q, c)
				}
			}
		}
	}
}

// placements adds the points where c may place a stone to ps, from A1.
func (p *playout) placements(c Color, ps []Point) []Point {
	for y := range p.h {
		i := p.index(Point{0, y})
		for x := range p.w {
			if p.cell[i] == None && p.legal(i, c) {
				ps = append(ps, Point{x, y})
			}
			i++
		}
	}
	return ps
}
