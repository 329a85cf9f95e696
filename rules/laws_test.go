package rules

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A table plays at random: mostly placements, now and then anything else that
// the ruleset knows. The same seed plays the same game.
type table struct {
	*rand.Rand
	passes float64 // how often a player tries something other than a placement
}

func (rnd table) turn(g *Game) (Turn, bool) {
	w, h := g.board.Size()
	by := g.toPlay
	if rnd.Float64() >= rnd.passes {
		for range 2 * w * h {
			t := Turn{Kind: Place, By: by, At: Point{int8(rnd.IntN(w)), int8(rnd.IntN(h))}}
			if g.Allows(t) {
				return t, true
			}
		}
	}
	var other []Turn
	for _, k := range []Kind{Pass, AcceptSuggestion, Button, Delay} {
		if t := (Turn{Kind: k, By: by}); g.Allows(t) {
			other = append(other, t)
		}
		if t := (Turn{Kind: k, By: by, Dead: rnd.stones(g)}); k == Pass && len(t.Dead) > 0 && g.Allows(t) {
			other = append(other, t)
		}
	}
	if len(other) == 0 {
		legal := PerftTurns(g)
		if len(legal) == 0 {
			return Turn{}, false
		}
		return legal[rnd.IntN(len(legal))], true
	}
	return other[rnd.IntN(len(other))], true
}

// stones names a few stones of either colour.
func (rnd table) stones(g *Game) []Point {
	var ps []Point
	for _, p := range g.board.Points() {
		if g.board.At(p) != None && rnd.IntN(8) == 0 {
			ps = append(ps, p)
		}
	}
	return ps
}

// game plays from a setup to the end of play, with resumptions, and settles
// with random dead stones. It calls see with every game on the way. Games of
// Ultimate Go, which end by nobody's will here, stop after a while.
func (rnd table) game(t testing.TB, r *Ruleset, s Setup, see func(*Game)) *Game {
	t.Helper()
	g, err := New(r, s)
	if err != nil {
		t.Fatal(err)
	}
	play := func(turn Turn) {
		if g, err = g.Play(turn); err != nil {
			t.Fatal(err)
		}
		if see != nil {
			see(g)
		}
	}
	resumptions := rnd.IntN(3)
	for len(g.log) < MaxTurns-8 {
		switch g.phase {
		case Over:
			return g
		case Playing:
			if g.turns > 4*s.W*s.H+20 {
				if r.Name == "ultimate" {
					return g
				}
				rnd.passes = 1
			}
			turn, ok := rnd.turn(g)
			if !ok {
				turn = Turn{Kind: Resign, By: g.toPlay}
			}
			play(turn)
		case Settling:
			by := []Color{Black, White}[rnd.IntN(2)]
			if dead := rnd.stones(g); len(dead) > 0 {
				play(Turn{Kind: MarkDead, By: by, Dead: dead})
				if rnd.IntN(4) == 0 {
					play(Turn{Kind: Unmark, By: by, Dead: dead[:1]})
				}
			}
			play(Turn{Kind: AcceptScore, By: by})
			if resumptions > 0 {
				resumptions--
				play(Turn{Kind: Resume, By: by.Opponent()})
			} else {
				play(Turn{Kind: AcceptScore, By: by.Opponent()})
			}
		}
	}
	t.Fatalf("%s: no end after %d turns", r.Name, g.turns)
	return nil
}

// setup returns a small board, sometimes with handicap stones.
func (rnd table) setup(r *Ruleset) Setup {
	s := Setup{W: 1 + rnd.IntN(5), H: 1 + rnd.IntN(5), Komi: Points(rnd.IntN(41) - 20)}
	if r.Name == "ultimate" {
		s.Komi = s.Komi / One * One
	}
	if rnd.IntN(3) == 0 && s.W*s.H >= 9 {
		b, _ := NewBoard(s.W, s.H)
		ps := b.Points()
		rnd.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
		s.Handicap = 2 + rnd.IntN(3)
		s.Black = ps[:s.Handicap]
	}
	return s
}

// everyRuleset runs a test over many games of each ruleset.
func everyRuleset(t *testing.T, games int, test func(*testing.T, *Ruleset, table)) {
	for _, r := range Catalogue {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range games {
				rnd := table{rand.New(rand.NewPCG(uint64(seed), 1)), []float64{0.05, 0.2, 0.5, 0.02}[seed%4]}
				test(t, r, rnd)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// Laws of every game under every ruleset, after every turn.
func TestLaws(t *testing.T) {
	everyRuleset(t, tier.Pick(40, 150, 1500), func(t *testing.T, r *Ruleset, rnd table) {
		var all []*Game
		var proofs []string
		end := rnd.game(t, r, rnd.setup(r), func(g *Game) {
			all = append(all, g)
			proofs = append(proofs, g.Proof())
			conserved(t, g)
			nobodySurrounded(t, g)
			ledgerAddsUp(t, g)
			placementsAreLegal(t, g)
		})
		noRepetition(t, all)
		// Earlier games are unchanged by what was played on them.
		for i, g := range all {
			if g.Proof() != proofs[i] || len(g.Log()) != i+1 {
				t.Errorf("after line %d the game has changed", i+1)
			}
		}
		// Replay is Play.
		again, err := Replay(r, end.Setup(), end.Log())
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, end)
		// At is the game as it was.
		for _, n := range []int{0, end.Turns() / 2, end.Turns()} {
			at := end.At(n)
			if at.Turns() != n {
				t.Errorf("At(%d) has %d turns", n, at.Turns())
			}
			i := slices.IndexFunc(all, func(g *Game) bool { return len(g.Log()) == len(at.Log()) })
			if n > 0 {
				same(t, at, all[i])
			}
		}
	})
}

// same compares everything that two games keep.
func same(t *testing.T, a, b *Game) {
	t.Helper()
	if x, y := everything(a), everything(b); x != y {
		t.Errorf("not the same game:\n%s\n%s", x, y)
	}
}

func everything(g *Game) string {
	x := *g
	x.rules, x.score, x.turn, x.ruleName, x.because, x.backing, x.before = nil, nil, Turn{}, "", Saying{}, nil, nil
	before := "nothing"
	if g.before != nil {
		before = everything(g.before)
	}
	var notes []string // without their keys, which are addresses
	for _, v := range g.notes {
		notes = append(notes, fmt.Sprintf("%+v", v))
	}
	slices.Sort(notes)
	x.notes = nil
	return fmt.Sprintf("%+v %v %+v\nafter %s", x, notes, g.Score(), before)
}

func conserved(t *testing.T, g *Game) {
	for _, c := range []Color{Black, White} {
		b := g.Board()
		if g.placed[c] != b.Stones(c)+g.Captured(c) {
			t.Errorf("%v placed %d, %d on the board, %d captured", c, g.placed[c], b.Stones(c), g.Captured(c))
		}
	}
}

func nobodySurrounded(t *testing.T, g *Game) {
	b := g.Board()
	for _, p := range b.Points() {
		if b.At(p) != None && b.Liberties(p) == 0 {
			t.Errorf("%v stands without a liberty:\n%v", p, b.Rows())
		}
	}
}

// placementsAreLegal: the placements counted for the player to move are those
// that are legal; once play has stopped there are none.
func placementsAreLegal(t *testing.T, g *Game) {
	n := 0
	for _, turn := range g.Legal() {
		if turn.Kind == Place {
			n++
		}
	}
	if got := g.Placements(g.toPlay); got != n {
		t.Errorf("%d placements are counted, %d are legal", got, n)
	}
}

// ledgerAddsUp: what is held is the sum of the entries, a score is the sum of
// its lines.
func ledgerAddsUp(t *testing.T, g *Game) {
	var sum [3][held]int
	for _, e := range g.Entries() {
		sum[e.Player][e.Thing] += e.N
		if e.N == 0 || e.Why == "" || e.Move < 0 || e.Move > g.Turns() {
			t.Errorf("entry %+v", e)
		}
	}
	if sum != g.held {
		t.Errorf("entries give %v, held %v", sum, g.held)
	}
	for c := range sum {
		for thing, n := range sum[c] {
			if n < 0 {
				t.Errorf("%v holds %d of %v", Color(c), n, Thing(thing))
			}
		}
	}
	if s := g.Score(); s != nil {
		var black, white Points
		for _, l := range s.Lines {
			if l.Player == Black {
				black += l.Points()
			} else {
				white += l.Points()
			}
		}
		if black != s.Black || white != s.White {
			t.Errorf("lines give %v to %v, the score is %v to %v", black, white, s.Black, s.White)
		}
	}
}

// The facts of who did something first, and of the passes, as the log alone tells them: of
// every ruleset, also of those that do not ask.
func TestFactsOfTheLog(t *testing.T) {
	first := func(g *Game, k Kind) Color {
		for _, turn := range g.Log() {
			if turn.Kind == k {
				return turn.By
			}
		}
		return None
	}
	times := func(g *Game, k Kind) (n int) {
		for _, turn := range g.Log() {
			if turn.Kind == k {
				n++
			}
		}
		return n
	}
	// passes returns how many passes were made last, in a row, since play was last resumed;
	// to accept what a pass suggests is to pass.
	passes := func(g *Game) (n int) {
		for _, turn := range slices.Backward(g.Log()) {
			passed := turn.Kind == Pass || turn.Kind == AcceptSuggestion
			if turn.Kind.IsTurn() && !passed || turn.Kind == Resume {
				break
			}
			if passed {
				n++
			}
		}
		return n
	}
	facts := []struct {
		Fact
		is func(*Game) bool
	}{
		{BlackPassedFirst, func(g *Game) bool { return first(g, Pass) == Black }},
		{WhitePassedFirst, func(g *Game) bool { return first(g, Pass) == White }},
		{BlackTookTheButton, func(g *Game) bool { return first(g, Button) == Black }},
		{WhiteTookTheButton, func(g *Game) bool { return first(g, Button) == White }},
		{BlackMayDeclareDraw, func(g *Game) bool { return first(g, Delay) == Black }},
		{WhiteMayDeclareDraw, func(g *Game) bool { return first(g, Delay) == White }},
		{FirstPass, func(g *Game) bool { return times(g, Pass) == 1 }},
		{FirstDelay, func(g *Game) bool { return times(g, Delay) == 1 }},
		{TwoPasses, func(g *Game) bool { return passes(g) >= 2 }},
		{Passes(3), func(g *Game) bool { return passes(g) >= 3 }},
		{TwoPassesAfterTheFirst, func(g *Game) bool { return passes(g) >= 2 && times(g, Pass)+times(g, AcceptSuggestion) >= 3 }},
		{KomiIsWhole, func(g *Game) bool { return !strings.Contains(g.Setup().Komi.Decimal(), ".") }},
	}
	everyRuleset(t, tier.Pick(15, 40, 400), func(t *testing.T, r *Ruleset, rnd table) {
		rnd.game(t, r, rnd.setup(r), func(g *Game) {
			for _, f := range facts {
				if f.Is(g) != f.is(g) {
					t.Errorf("%q is %v after %v", f.Name, f.Is(g), g.Log())
				}
			}
			said := g.Says()
			next, err := g.Play(Turn{Kind: Pass, By: g.ToPlay()})
			playing := g.Phase() == Playing && err == nil
			for what, is := range map[string]bool{
				"one more pass stops play":    playing && next.Phase() == Settling,
				"one more pass ends the game": playing && next.Phase() == Over,
			} {
				if slices.Contains(said, what) != is {
					t.Errorf("it says %q after %v", said, g.Log())
				}
			}
			if g.Phase() == Over && said != nil {
				t.Errorf("it still says %q", said)
			}
		})
	})
}

// noRepetition judges a finished game from outside, from the boards alone.
func noRepetition(t *testing.T, all []*Game) {
	if len(all) == 0 {
		return
	}
	type seen struct {
		b      Board
		toPlay Color
	}
	start := all[0].At(0)
	r := start.Rules()
	record := []seen{{start.Board(), start.ToPlay()}}
	for i, g := range all {
		last := g.Log()[i]
		if !last.Kind.IsTurn() {
			if last.Kind == Resume && r.Name == "two-button-separate" {
				record = record[:len(record)-1]
			}
			continue
		}
		now := seen{g.Board(), g.toPlay}
		lifts := last.Kind == Button && (r.Name != "two-button-separate" || g.Table() == 1)
		if last.Kind == Place {
			for j, s := range record {
				forbidden := false
				switch repetition(r) {
				case "positional superko":
					forbidden = s.b == now.b
				case "simple ko":
					forbidden = j == len(record)-2 && s.b == now.b
				default:
					forbidden = s == now
				}
				if forbidden {
					t.Errorf("turn %d (%v) repeats situation %d", i+1, last, j)
				}
			}
		}
		if lifts {
			record = nil
		}
		record = append(record, now)
	}
}

// Random turns of every kind, legal or not, are refused or played, and leave
// the game that they were tried on alone.
func TestRefusalsChangeNothing(t *testing.T) {
	everyRuleset(t, tier.Pick(15, 40, 400), func(t *testing.T, r *Ruleset, rnd table) {
		rnd.game(t, r, rnd.setup(r), func(g *Game) {
			proof, lines, entries := g.Proof(), len(g.log), len(g.entries)
			turn := Turn{Kind: Kind(rnd.IntN(int(kinds) + 1)), By: Color(rnd.IntN(4)), At: Point{int8(rnd.IntN(8) - 1), int8(rnd.IntN(8) - 1)}, Dead: rnd.stones(g)}
			next, err := g.Play(turn)
			var illegal *Illegal
			if err != nil && (!errors.As(err, &illegal) || illegal.Because.Text == "" || illegal.Rule == "" && illegal.Err == nil) {
				t.Errorf("%v: refused without a reason: %#v", turn, err)
			}
			if (err == nil) != g.Allows(turn) || (next == nil) == (err == nil) {
				t.Errorf("%v: Play and Allows disagree", turn)
			}
			if g.Proof() != proof || len(g.log) != lines || len(g.entries) != entries {
				t.Errorf("%v: the game has changed", turn)
			}
		})
	})
}

// A board that is played on gives what a game gives.
func TestBoardPlaysAsGame(t *testing.T) {
	everyRuleset(t, tier.Pick(10, 20, 200), func(t *testing.T, r *Ruleset, rnd table) {
		s := rnd.setup(r)
		start, err := New(r, s)
		if err != nil {
			t.Fatal(err)
		}
		b := start.Board()
		rnd.game(t, r, s, func(g *Game) {
			last := g.Log()[len(g.Log())-1]
			if last.Kind == Place {
				b.Play(last.At, last.By)
			}
			if g.Phase() == Playing && b != g.Board() {
				t.Errorf("after %v:\n%v\n%v", last, b.Rows(), g.board.Rows())
			}
		})
	})
}

// A log of bytes is no game, but it must not bring the fold down.
func FuzzPlay(f *testing.F) {
	f.Add(uint8(0), uint8(3), uint8(3), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 200, 200})
	f.Add(uint8(9), uint8(5), uint8(2), []byte{201, 201, 207, 210, 210})
	f.Fuzz(func(t *testing.T, which, w, h uint8, log []byte) {
		r := Catalogue[int(which)%len(Catalogue)]
		g, err := New(r, Setup{W: 1 + int(w)%7, H: 1 + int(h)%7})
		if err != nil {
			t.Fatal(err)
		}
		if len(log) > 200 {
			log = log[:200]
		}
		for _, c := range log {
			turn := Turn{By: g.ToPlay(), At: Point{int8(c % 7), int8(c / 7 % 7)}}
			if c >= 200 {
				turn.Kind = Kind(c-200) % kinds
				turn.Dead = []Point{turn.At}
				if turn.Kind == Pass || c%2 == 0 && turn.Kind != Unmark {
					turn.Dead = nil
				}
				if turn.Kind == AcceptScore && g.HasAgreed(turn.By) {
					turn.By = turn.By.Opponent()
				}
			}
			next, err := g.Play(turn)
			if err != nil {
				continue
			}
			g = next
			conserved(t, g)
			nobodySurrounded(t, g)
			ledgerAddsUp(t, g)
		}
		again, err := Replay(r, g.Setup(), g.Log())
		if err != nil || again.Proof() != g.Proof() {
			t.Error(err, fmt.Sprint(g.Log()))
		}
	})
}
