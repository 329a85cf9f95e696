package rules

import (
	"math/rand/v2"
	"testing"
)

// aGame returns the log of a game of n placements on 19×19, played at random but
// filling no single-point eyes, so that it looks like a game.
func aGame(b testing.TB, n int) []Turn {
	rnd := rand.New(rand.NewPCG(7, 7))
	g, err := New(&AGA, Setup{W: 19, H: 19})
	if err != nil {
		b.Fatal(err)
	}
	for len(g.log) < n {
		t := Turn{Kind: Place, By: g.toPlay, At: Point{int8(rnd.IntN(19)), int8(rnd.IntN(19))}}
		if g.board.At(t.At) != None {
			continue
		}
		own := 0
		for _, d := range g.board.around(g.board.index(t.At)) {
			if c := g.board.cell[d]; c == g.toPlay || c == edge {
				own++
			}
		}
		if next, err := g.Play(t); own < 4 && err == nil {
			g = next
		}
	}
	return g.log
}

// BenchmarkFold replays 300 turns on 19×19.
func BenchmarkFold(b *testing.B) {
	log := aGame(b, 300)
	for b.Loop() {
		if _, err := Replay(&AGA, Setup{W: 19, H: 19}, log); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFoldNaive does the same as a first program would: a new board for
// every turn, chains found by flooding, repetition by comparing every board.
func BenchmarkFoldNaive(b *testing.B) {
	log := aGame(b, 300)
	for b.Loop() {
		naiveFold(b, 19, log)
	}
}

type naiveBoard [][]Color

func (n naiveBoard) clone() naiveBoard {
	out := make(naiveBoard, len(n))
	for i := range n {
		out[i] = append([]Color(nil), n[i]...)
	}
	return out
}

func (n naiveBoard) equal(o naiveBoard) bool {
	for y := range n {
		for x := range n[y] {
			if n[y][x] != o[y][x] {
				return false
			}
		}
	}
	return true
}

func (n naiveBoard) group(p Point) (stones []Point, liberties int) {
	c := n[p.Y][p.X]
	seen := map[Point]bool{p: true}
	queue := []Point{p}
	for len(queue) > 0 {
		q := queue[0]
		queue = queue[1:]
		stones = append(stones, q)
		for _, d := range []Point{{0, 1}, {1, 0}, {0, -1}, {-1, 0}} {
			r := Point{q.X + d.X, q.Y + d.Y}
			if r.X < 0 || r.Y < 0 || int(r.X) >= len(n[0]) || int(r.Y) >= len(n) || seen[r] {
				continue
			}
			switch n[r.Y][r.X] {
			case None:
				seen[r] = true
				liberties++
			case c:
				seen[r] = true
				queue = append(queue, r)
			}
		}
	}
	return stones, liberties
}

func naiveFold(b testing.TB, size int, log []Turn) naiveBoard {
	board := make(naiveBoard, size)
	for i := range board {
		board[i] = make([]Color, size)
	}
	history := []naiveBoard{board}
	for _, t := range log {
		next := board.clone()
		next[t.At.Y][t.At.X] = t.By
		for y := range next {
			for x := range next[y] {
				if next[y][x] == t.By.Opponent() {
					if stones, liberties := next.group(Point{int8(x), int8(y)}); liberties == 0 {
						for _, s := range stones {
							next[s.Y][s.X] = None
						}
					}
				}
			}
		}
		for i := len(history) - 2; i >= 0; i -= 2 {
			if history[i].equal(next) {
				b.Fatal("repetition")
			}
		}
		history = append(history, next)
		board = next
	}
	return board
}

// The two folds of the benchmark agree, or the ratio would mean nothing.
func TestNaiveFoldAgrees(t *testing.T) {
	log := aGame(t, 300)
	g, err := Replay(&AGA, Setup{W: 19, H: 19}, log)
	if err != nil {
		t.Fatal(err)
	}
	naive := naiveFold(t, 19, log)
	for _, p := range g.board.Points() {
		if g.board.At(p) != naive[p.Y][p.X] {
			t.Fatalf("%v: %v and %v", p, g.board.At(p), naive[p.Y][p.X])
		}
	}
}
