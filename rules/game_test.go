package rules

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// moves reads turns as examples write them: points alternate from first; "x"
// after a point says that it captures; pass, button, delay and draw are words.
func moves(t testing.TB, w, h int, first Color, s string) []Turn {
	t.Helper()
	var log []Turn
	by := first
	for _, word := range strings.Fields(s) {
		turn := Turn{By: by}
		switch word {
		case "pass":
			turn.Kind = Pass
		case "accept":
			turn.Kind = AcceptSuggestion
		case "button":
			turn.Kind = Button
		case "delay":
			turn.Kind = Delay
		case "draw":
			turn.Kind = Draw
		case "resume":
			log = append(log, Turn{Kind: Resume, By: by})
			continue
		default:
			p, err := ParsePoint(strings.TrimSuffix(word, "x"), w, h)
			if err != nil {
				t.Fatal(err)
			}
			turn.At = p
		}
		log = append(log, turn)
		by = by.Opponent()
	}
	return log
}

func points(t testing.TB, w, h int, s string) []Point {
	t.Helper()
	var ps []Point
	for _, word := range strings.Fields(s) {
		p, err := ParsePoint(word, w, h)
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, p)
	}
	return ps
}

func ruleset(t testing.TB, id string) *Ruleset {
	t.Helper()
	r, err := Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func replay(t testing.TB, id string, w, h int, komi Points, s string) *Game {
	t.Helper()
	g, err := Replay(ruleset(t, id), Setup{W: w, H: h, Komi: komi}, moves(t, w, h, Black, s))
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return g
}

func settled(t testing.TB, g *Game, dead string) *Game {
	t.Helper()
	g, err := g.Settled(points(t, g.setup.W, g.setup.H, dead), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const e1 = `A2 A1 B1x F1 E1 F2 E2 F3 E3 F4 E5 F5 E6 F6 E7 F7 D8 E8 D9 E9 J8 G3 J2 G7 D4 H5 C7 H2 B5 H8 C3 J5 E4 `

const g1 = `E5 C7 C6 B6 D7 D8 D6 B8 B5 F7 A6 B7 G7 F8 F6 E3 D2 D3 C3 E2 G3 C2 B2 D1x B3 G2 H2 F3 H3 H1 G8 G4 H4 G5 H5 F4
	G9 G6 H6 D4 C4 F9 B9 C8 D9 E8 B1 C1 A7 A8 A5 C9 J2 F5 E6 E4 J1 G1 E7 D5 C5 `

// The examples of the sources, each with its own turns and result.
func TestWorkedExamples(t *testing.T) {
	for _, x := range []struct {
		name, id    string
		w           int
		komi        Points
		moves, dead string // dead: stones agreed, "-" for none and no agreement
		margin      Points
		result      string
	}{
		{"E1", "button-equivalence", 9, 14, e1 + "button pass pass", "J8 J2", -5, "W+2.5"},
		{"E1", "button", 9, 14, e1 + "button pass pass", "J8 J2", -5, "W+2.5"},
		{"G1", "area-3", 9, 0, g1 + "pass pass A9x pass E9x pass pass", "-", 8, "B+4"},
		{"G1", "button", 9, 0, g1 + "button pass pass", "B9 D9", 9, "B+4.5"},
		{"G1", "two-button", 9, 0, g1 + "pass pass", "B9 D9", 8, "B+4"},
		{"G1", "aga", 9, 0, g1 + "pass pass", "B9 D9", 10, "B+5"},
		{"G1", "reverse-button", 9, 0, g1 + "pass pass", "B9 D9", 9, "B+4.5"},
		{"G1", "territory-1", 9, 0, g1 + "pass pass A9x pass E9x pass pass pass", "-", 8, "B+4"},
		{"two buttons 1", "two-button", 9, 0, "pass E4 E5 pass pass", "", 0, "0"},
		{"two buttons 2", "two-button", 9, 0, "E5 E4 pass pass", "", 0, "0"},
		{"two buttons 3", "two-button-separate", 9, 0, "button E4 E5 pass pass button", "", 0, "0"},
		{"two buttons 4", "two-button-separate", 9, 0, "E5 E4 button pass pass button", "", 0, "0"},
		{"resumption", "reverse-button", 9, 0, "pass pass resume pass pass", "", -1, "W+0.5"},
	} {
		t.Run(x.name+" "+x.id, func(t *testing.T) {
			g := replay(t, x.id, x.w, x.w, x.komi, x.moves)
			if x.dead != "-" && g.phase != Over {
				g = settled(t, g, x.dead)
			}
			if g.Phase() != Over || g.Score().Margin() != x.margin || g.Result() != x.result {
				t.Errorf("%v, margin %v, result %q; want %v, %q\n%v", g.Phase(), g.Score().Margin(), g.Result(), x.margin, x.result, g.Score().Lines)
			}
		})
	}
}

func lines(t *testing.T, g *Game, want ...Line) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(g.Score().Lines, w) {
			t.Errorf("no line %+v in %+v", w, g.Score().Lines)
		}
	}
}

func TestE1Lines(t *testing.T) {
	g := settled(t, replay(t, "button-equivalence", 9, 9, 14, e1+"button pass pass"), "J8 J2")
	lines(t, g, Line{Black, Territory, 28, One}, Line{Black, ButtonThing, 1, Half},
		Line{White, Territory, 23, One}, Line{White, Komi, 1, 14})
	if s := g.Score(); s.Black != 61 || s.White != 66 {
		t.Errorf("%v to %v, want 30½ to 33", s.Black, s.White)
	}
	g = settled(t, replay(t, "button", 9, 9, 14, e1+"button pass pass"), "J8 J2")
	lines(t, g, Line{Black, Stone, 15, One}, Line{White, Stone, 15, One}, Line{White, ButtonThing, 1, Half})
	if s := g.Score(); s.Black != 86 || s.White != 91 {
		t.Errorf("%v to %v, want 43 to 45½", s.Black, s.White)
	}
}

func TestG1(t *testing.T) {
	g := replay(t, "territory-1", 9, 9, 0, g1+"pass pass A9x pass E9x pass pass pass")
	lines(t, g, Line{Black, Territory, 15, One}, Line{Black, PassStone, 1, One},
		Line{White, Territory, 6, One}, Line{White, Prisoner, 3, One}, Line{White, PassStone, 3, One})

	b := settled(t, replay(t, "aga", 9, 9, 0, g1+"pass pass"), "B9 D9")
	if b.Captured(Black) != 3 || b.Captured(White) != 0 {
		t.Errorf("prisoners lost: B %d, W %d; want 3 and 0", b.Captured(Black), b.Captured(White))
	}
	counted := b.Counted()
	if black, white := counted.Territory(); black != 15 || white != 8 || counted.Stones(Black) != 28 || counted.Stones(White) != 30 {
		t.Errorf("territory %d/%d, stones %d/%d; want 15/8 and areas 43/38", black, white, counted.Stones(Black), counted.Stones(White))
	}
	g = replay(t, "half-pass-agreement", 9, 9, 0, g1)
	g, err := g.Replay([]Turn{{Kind: Pass, By: White, Dead: points(t, 9, 9, "B9 D9")}, {Kind: AcceptSuggestion, By: Black}})
	if err != nil || g.Result() != "B+4" {
		t.Errorf("%v %v", g.Result(), err)
	}
}

func TestHalfPassH1(t *testing.T) {
	b := boardOf("..XO.", "..XO.", "..XO.", "..XO.", "..XO.")
	s := setupOf(b)
	s.White = append(s.White, Point{1, 2})
	g, err := Replay(&HalfPass, s, moves(t, 5, 5, Black, "pass pass A3 pass B2 pass B4x pass pass"))
	if err != nil {
		t.Fatal(err)
	}
	lines(t, g, Line{Black, Territory, 7, One}, Line{Black, Prisoner, 1, One}, Line{Black, PassStone, 4, One},
		Line{White, Territory, 5, One}, Line{White, HalfPassStone, 2, Half})
	if g.Result() != "B+6" {
		t.Error(g.Result(), g.Score())
	}
}

// setupOf returns a setup with the stones of a drawing.
func setupOf(b Board) Setup {
	w, h := b.Size()
	s := Setup{W: w, H: h}
	for _, p := range b.Points() {
		switch b.At(p) {
		case Black:
			s.Black = append(s.Black, p)
		case White:
			s.White = append(s.White, p)
		}
	}
	return s
}

func TestArea3W1(t *testing.T) {
	s := setupOf(boardOf(".....", "XXXXX", "XX.OO", "OOOOO", "....."))
	g, err := Replay(&Area3, s, moves(t, 5, 5, Black, "pass pass pass"))
	if err != nil || g.Result() != "0" {
		t.Error(g.Result(), err)
	}
}

func TestReverseButtonPasses(t *testing.T) {
	g := settled(t, replay(t, "reverse-button", 9, 9, 0, "pass pass"), "")
	if s := g.Score(); s.Black != 2 || s.White != 3 {
		t.Errorf("%v to %v, want 1 to 1½", s.Black, s.White)
	}
}

const superko = "C4 D4 B3 E3 C2 D2 A1 C3 "

// The situation that a pass or the button leaves counts.
func TestSuperkoAndPasses(t *testing.T) {
	for _, x := range []struct{ id, moves string }{
		{"aga", superko + "A5 pass D3x C3x"},
		{"half-pass", superko + "A5 pass D3x C3x"},
		{"button", superko + "A5 button D3x C3x"},
	} {
		log := moves(t, 5, 5, Black, x.moves)
		g, err := Replay(ruleset(t, x.id), Setup{W: 5, H: 5}, log)
		var illegal *Illegal
		if !errors.As(err, &illegal) || g.Turns() != len(log)-1 || !strings.Contains(illegal.Because.String(), "same as after move 10") {
			t.Errorf("%s: %v after %d turns", x.id, err, g.Turns())
		}
	}
}

func TestButtonLiftsBans(t *testing.T) {
	for _, id := range []string{"button", "button-equivalence", "two-button-separate"} {
		replay(t, id, 5, 5, 0, superko+"D3x button pass C3x")
	}
}

func TestResumeTwoButtonSeparate(t *testing.T) {
	g := replay(t, "two-button-separate", 9, 9, 0, "E5 E4 button pass pass button")
	if g.Phase() != Settling || g.Table() != 0 {
		t.Fatal(g.Phase(), g.Table())
	}
	g, err := g.Play(Turn{Kind: Resume, By: Black})
	if err != nil || g.Table() != 1 || g.ToPlay() != White || g.Holds(Black, ButtonThing) != 0 || g.Holds(White, ButtonThing) != 1 {
		t.Error(err, g.Table(), g.ToPlay(), g.Holds(Black, ButtonThing), g.Holds(White, ButtonThing))
	}
	if g.Allows(Turn{Kind: Button, By: White}) {
		t.Error("the last button needs two new passes")
	}
}

func TestPerft(t *testing.T) {
	for _, x := range []struct {
		id   string
		w, h int
		want []uint64
	}{
		{"tromp-taylor", 1, 3, []uint64{4, 11, 22, 41, 58, 78}},
		{"tromp-taylor", 3, 1, []uint64{4, 11, 22, 41, 58, 78}},
		{"tromp-taylor", 2, 2, []uint64{5, 21, 68, 156, 316, 604, 1088}},
		{"tromp-taylor", 3, 3, []uint64{10, 91, 738}},
		{"ultimate", 1, 2, []uint64{3, 7, 8, 8, 2, 0}},
		{"aga", 1, 3, []uint64{4, 11, 22, 41, 60, 84}},
	} {
		g, err := New(ruleset(t, x.id), Setup{W: x.w, H: x.h})
		if err != nil {
			t.Fatal(err)
		}
		if got := Perft(g, len(x.want)); !slices.Equal(got, x.want) {
			t.Errorf("%s %d×%d: %v, want %v", x.id, x.w, x.h, got, x.want)
		}
	}
}

func TestUltimateOnOnePoint(t *testing.T) {
	g, _ := New(&Ultimate, Setup{W: 1, H: 1})
	for _, k := range []Kind{Delay, Delay, Draw} {
		legal := g.Legal()
		if len(legal) != 2 || legal[0].Kind != k || legal[1].Kind != Resign {
			t.Fatalf("legal: %v, want %v and resign", legal, k)
		}
		g, _ = g.Play(legal[0])
	}
	if g.Result() != "Draw" || g.Score() != nil {
		t.Error(g.Result(), g.Score())
	}
}
