package rules

import (
	"math/rand/v2"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// passed returns a game under r on a drawing in which first has passed.
func passed(t testing.TB, r *Ruleset, b Board, first Color) *Game {
	t.Helper()
	s := setupOf(b)
	s.First, s.Komi = first, r.Komi
	g, err := New(r, s)
	if err == nil {
		g, err = g.Play(Turn{Kind: Pass, By: first})
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// dead returns the stones of a drawing that are dead.
func (d drawing) dead() (ps []Point) {
	for p, c := range d.truth {
		if c == 'x' || c == 'o' {
			ps = append(ps, p)
		}
	}
	return ps
}

// Where nothing is left to decide the estimate is the count that each ruleset comes
// to once the dead are lifted, whoever passes first.
func TestEstimateOfAFinishedBoard(t *testing.T) {
	for _, d := range []drawing{
		readDrawing("a dead stone each", []string{
			".X.XO.O",
			"XXXXOOO",
			"o.XXO.x",
			".XXXOO.",
			"XXXOOOO",
			".XXO.O.",
			"X.XOOOO",
		}),
		readDrawing("filled but for the eyes", []string{
			".X.XO",
			"XXXXO",
			"XXOOO",
			"OOO.O",
			".OOOO",
		}),
	} {
		for _, r := range Catalogue {
			if r == &Ultimate || r == &Area1 && len(d.dead()) > 0 { // no count; a count that more stones would change
				continue
			}
			for _, first := range []Color{Black, White} {
				g := passed(t, r, d.board, first)
				closed, err := Close(r, g.Setup(), g.Log(), d.dead(), nil)
				if err != nil {
					t.Fatal(d.name, r.Name, err)
				}
				want := Estimate{Margin: closed.Score().Margin(), Clear: true}
				if e, ok := g.Estimate(1); !ok || e != want {
					t.Errorf("%s, %s, %v passes: %+v, want %+v", d.name, r.Name, first, e, want)
				}
			}
		}
	}
}

// Large boards with several dead groups come to their count too: all but the one on
// which White, to move, may throw in a stone.
func TestEstimateOfLargeBoards(t *testing.T) {
	wrong, unclear := 0, 0
	for _, d := range drawings(t, "whole.txt") {
		for _, first := range []Color{Black, White} {
			g := passed(t, &TwoButton, d.board, first)
			closed, err := Close(&TwoButton, g.Setup(), g.Log(), d.dead(), nil)
			if err != nil {
				t.Fatal(err)
			}
			e, _ := g.Estimate(1)
			if !e.Clear {
				unclear++
			}
			if e.Margin != closed.Score().Margin() {
				t.Logf("%s, %v passes: %+v, want %v", d.name, first, e, closed.Score().Margin())
				wrong++
			}
		}
	}
	if wrong > 1 || unclear > 2 {
		t.Errorf("%d estimates are wrong, %d are not clear", wrong, unclear)
	}
}

// While placements go on, half is counted of what hangs on who passes first: of a
// point in two-button, of nothing in aga, and in japanese of the point that one more
// neutral stone would cost Black.
func TestEstimateBeforeAnybodyPasses(t *testing.T) {
	b := boardOf(
		".X.XO",
		"XXXXO",
		"XXOOO",
		"OOO.O",
		".OOO.",
	)
	s := setupOf(b)
	s.First = White
	area := -5 * One   // Black's 10 points and White's 15
	stones := -5 * One // Black's 8 and White's 13, E1 included
	for r, want := range map[*Ruleset]Points{
		&AGA: area - stones, &Area2: area, &TwoButton: area - stones - Half, &Japanese: area - stones - Half,
	} {
		g, err := New(r, s)
		if err == nil {
			g, err = g.Play(Turn{By: White, At: Point{4, 0}})
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := g.Estimate(1); !ok || e.Margin != want {
			t.Errorf("%s: %+v, want %v", r.Name, e, want)
		}
	}
}

// Where a large fight is open the estimate is not clear.
func TestEstimateOfAnOpenFight(t *testing.T) {
	for _, d := range drawings(t, "unsettled.txt")[1:] {
		if e, ok := passed(t, &Area2, d.board, White).Estimate(1); !ok || e.Clear || e.Spread < 20*One {
			t.Errorf("%s: %+v", d.name, e)
		}
	}
}

// The same game and seed give the same estimate.
func TestEstimateIsItsSeed(t *testing.T) {
	g := passed(t, &AGA, drawings(t, "unsettled.txt")[0].board, Black)
	a, _ := g.Estimate(1)
	if b, _ := g.Estimate(1); a != b {
		t.Errorf("%+v and %+v", a, b)
	}
}

// With the colours changed the estimate is, on the average, that of the other player.
func TestEstimateWithColoursChanged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	sum := Points(0)
	n := tier.Pick(40, 200, 1000)
	for range n {
		b, _ := NewBoard(9, 9)
		for range 40 {
			p, c := Point{int8(rnd.IntN(9)), int8(rnd.IntN(9))}, Color(1+rnd.IntN(2))
			if b.At(p) == None {
				b.Play(p, c)
			}
		}
		swapped, _ := NewBoard(9, 9)
		for _, p := range b.Points() {
			if c := b.At(p); c != None {
				swapped.Put(p, c.Opponent())
			}
		}
		for _, b := range []Board{b, swapped} {
			for _, first := range []Color{Black, White} {
				s := setupOf(b)
				s.First = first
				g, err := New(&Area2, s)
				if err != nil {
					t.Fatal(err)
				}
				e, ok := g.Estimate(rnd.Uint64())
				if !ok && g.Estimable() {
					t.Fatal("no estimate")
				}
				sum += e.Margin
			}
		}
	}
	if mean := float64(sum) / 2 / float64(n); mean > 2 || mean < -2 {
		t.Errorf("the four estimates of a board add up to %.1f points on the average", mean)
	}
}

// Nothing is estimated where nothing is counted, before a quarter of the board is
// filled, and once play has stopped.
func TestNoEstimate(t *testing.T) {
	open := boardOf(".....", ".X.O.", ".X.O.", ".X.O.", ".....")
	full := boardOf(".X.XO", "XXXXO", "XXOOO", "O.O.O", ".OOOO")
	settling, err := passed(t, &AGA, full, Black).Play(Turn{Kind: Pass, By: White})
	if err != nil {
		t.Fatal(err)
	}
	ultimate, err := New(&Ultimate, setupOf(full))
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*Game{"few stones": passed(t, &AGA, open, Black), "stopped": settling, "uncounted": ultimate} {
		if e, ok := g.Estimate(1); ok || g.Estimable() {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// BenchmarkEstimate estimates a game on 19×19 of which a quarter is filled, the most
// there is to play out.
func BenchmarkEstimate(b *testing.B) {
	g, err := Replay(&TwoButton, Setup{W: 19, H: 19}, aGame(b, 100))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := g.Estimate(1); !ok {
			b.Fatal("no estimate")
		}
	}
}
