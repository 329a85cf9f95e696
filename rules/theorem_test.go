package rules

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The theorems of docs/theorems.md, checked over random games. The numbers of a game
// are taken from its log and its last board alone, and counted here once more:
// nothing that the game itself counted is believed.

// A finished game as the theorems see it, in whole points and stones.
type finished struct {
	black, white possession
	area         int   // A: Black's area less White's
	ahead        int   // e: setup stones of Black less White's, less 1 if White moved first
	firstPass    int   // w by the first pass: 1 if White made it
	firstButton  int   // w by the first button
	buttons      int   // how many buttons were taken
	lead         int   // stones Black had placed at the first two passes in a row, setup included, less White's
	early        bool  // the first pass is not one of these two
	late         bool  // nothing but placements came before the last placement
	last         Color // who made the last placement
}

// A possession is what one player has in the end.
type possession struct{ stones, territory, prisoners int }

func readFinished(g *Game) finished {
	var f finished
	b := g.Board() // the dead are lifted
	f.black, f.white = naiveSides(b)
	f.area = f.black.stones + f.black.territory - f.white.stones - f.white.territory
	var turns []Turn
	for _, t := range g.log {
		if t.Kind.IsTurn() {
			turns = append(turns, t)
		}
	}
	black, white := len(g.setup.Black), len(g.setup.White)
	f.ahead = black - white
	if turns[0].By == White {
		f.ahead--
	}
	passes := func(t Turn) bool { return t.Kind == Pass || t.Kind == AcceptSuggestion }
	if i := slices.IndexFunc(turns, passes); i >= 0 {
		if turns[i].By == White {
			f.firstPass = 1
		}
		f.early = i+1 < len(turns) && !passes(turns[i+1])
	}
	ended := false
	f.late = true
	for i, t := range turns {
		switch {
		case t.Kind == Place:
			if t.By == Black {
				black++
			} else {
				white++
			}
			f.late = f.late && (i == 0 || turns[i-1].Kind == Place)
			f.last = t.By
		case t.Kind == Button:
			if f.buttons == 0 && t.By == White {
				f.firstButton = 1
			}
			f.buttons++
		case i > 0 && passes(t) && passes(turns[i-1]):
			ended = true
		}
		if !ended {
			f.lead = black - white
		}
	}
	f.black.prisoners = white - f.white.stones
	f.white.prisoners = black - f.black.stones
	return f
}

// naiveSides counts stones, and empty points from which one colour alone can
// be reached along empty points: Tromp and Taylor's definition, word for word.
func naiveSides(b Board) (black, white possession) {
	w, h := b.Size()
	around := func(p Point) []Point {
		var ps []Point
		for _, q := range [4]Point{{p.X - 1, p.Y}, {p.X + 1, p.Y}, {p.X, p.Y - 1}, {p.X, p.Y + 1}} {
			if q.X >= 0 && q.Y >= 0 && int(q.X) < w && int(q.Y) < h {
				ps = append(ps, q)
			}
		}
		return ps
	}
	var seen [MaxLines][MaxLines]bool
	for _, p := range b.Points() {
		switch b.At(p) {
		case Black:
			black.stones++
			continue
		case White:
			white.stones++
			continue
		}
		if seen[p.X][p.Y] {
			continue
		}
		seen[p.X][p.Y] = true
		region := []Point{p}
		var reaches [3]bool
		for i := 0; i < len(region); i++ {
			for _, q := range around(region[i]) {
				if c := b.At(q); c != None {
					reaches[c] = true
				} else if !seen[q.X][q.Y] {
					seen[q.X][q.Y] = true
					region = append(region, q)
				}
			}
		}
		switch {
		case reaches[Black] && !reaches[White]:
			black.territory += len(region)
		case reaches[White] && !reaches[Black]:
			white.territory += len(region)
		}
	}
	return black, white
}

// theorem returns D, Black's score less White's before komi and in half points, as
// docs/theorems.md has it: what Theorem says, less N-1 for N handicap stones where the
// ruleset counts by area and gives it to White, or less e where prisoners and pass
// stones are counted, whatever was set up.
func theorem(t *testing.T, r *Ruleset, f finished, handicap int) int {
	stones := func(p possession) int { return p.territory + p.prisoners }
	given := func(rule Rule) bool { return rule.Name == AddHandicap.Name }
	setup := f.ahead
	if slices.ContainsFunc(r.Count, given) {
		setup = handicap
	}
	w := f.firstPass
	if r.Has(Button) {
		w = f.firstButton
	}
	said, ok := r.Difference(f.area, w)
	switch {
	case r.Name == "area-1":
		return 2*(f.black.stones-f.white.stones) - 2*handicap
	case r.Name == "japanese":
		return 2 * (stones(f.black) - stones(f.white))
	case !ok:
		t.Fatalf("%s has no theorem: write in its file, as Theorem, what its count comes to, or here why that cannot be said", r.Name)
	case r.Name == "territory-1" && f.early: // the stones at the preliminary end stand in the place of w
		return 2*f.area - 2*f.lead
	case r.Has(Button) && f.buttons == 0: // nobody took it
		said = Points(2 * f.area)
	}
	return int(said) - 2*setup
}

// checkTheorem compares what a finished game was counted to with the theorem.
func checkTheorem(t *testing.T, g *Game) {
	t.Helper()
	r, s := g.rules, g.setup
	f := readFinished(g)
	n := max(s.Handicap-1, 0)
	want := Points(theorem(t, r, f, n))
	if got := g.Score().Margin() + s.Komi; got != want {
		t.Errorf("%s: D = %v, the theorem says %v: %+v\n%v\n%v\n%v", r.Name, got, want, f, g.log, g.board.Rows(), g.Score().Lines)
	}
	// The stones lemma, of which the others are corollaries.
	if d := f.black.territory + f.black.prisoners - f.white.territory - f.white.prisoners; d != f.area-(f.black.stones+f.white.prisoners-f.white.stones-f.black.prisoners) {
		t.Errorf("%s: territory and prisoners give %d: %+v", r.Name, d, f)
	}
	if f.black.prisoners != g.Captured(White) || f.white.prisoners != g.Captured(Black) {
		t.Errorf("%s: prisoners %d and %d, captured %d and %d", r.Name, f.black.prisoners, f.white.prisoners, g.Captured(White), g.Captured(Black))
	}
	w := f.firstPass
	if r.Has(Button) {
		w = f.firstButton
	}
	if g.W() != w {
		t.Errorf("%s: w = %d, the log says %d", r.Name, g.W(), w)
	}
	// Where nothing but stones is played before the last stone, Japanese
	// counting is theirs too.
	if r.Name == "japanese" && f.late && f.ahead == 0 {
		last := 0
		if f.last == Black {
			last = 1
		}
		if want != Points(2*f.area-2*last) {
			t.Errorf("japanese: D = %v, A = %d, last stone %v\n%v", want, f.area, f.last, g.log)
		}
	}
}

// TestTheorem plays small boards in every way that a game can go: early
// passes, handicap and other setups, either player first, talk about the dead,
// resumptions.
func TestTheorem(t *testing.T) {
	everyRuleset(t, tier.Pick(100, 400, 4000), func(t *testing.T, r *Ruleset, rnd table) {
		s := rnd.setup(r)
		if s.Handicap == 0 && s.W*s.H > 4 && rnd.IntN(3) == 0 {
			b, _ := NewBoard(s.W, s.H)
			ps := b.Points()
			rnd.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
			n, m := rnd.IntN(3), rnd.IntN(3)
			s.Black, s.White, s.First = ps[:n], ps[n:n+m], Color(rnd.IntN(3))
			if _, err := New(r, s); err != nil { // a stone without a liberty
				s.Black, s.White = nil, nil
			}
		}
		g := rnd.game(t, r, s, nil)
		if g.Score() == nil || g.Phase() != Over || g.Result() == "B+R" || g.Result() == "W+R" {
			return
		}
		checkTheorem(t, g)
	})
}

// TestTheoremOfFilledBoards plays on boards of 5×5 to 9×9 until nobody can
// place a stone but into an own eye, sometimes with passes and buttons on the way.
func TestTheoremOfFilledBoards(t *testing.T) {
	for _, r := range Catalogue {
		if r.Name == "ultimate" { // nothing is counted
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range tier.Pick(150, 1500, 7200) {
				rnd := rand.New(rand.NewPCG(uint64(seed), 3))
				s := Setup{W: 5 + rnd.IntN(5), H: 5 + rnd.IntN(5), Komi: Points(rnd.IntN(31) - 15)}
				g := fill(t, rnd, r, s, []float64{0, 0, 0.01, 0.1}[seed%4])
				checkTheorem(t, g)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// fill plays a game of r to its count. With the chance passes a player does
// something else than placing a stone although one could be placed.
func fill(t testing.TB, rnd *rand.Rand, r *Ruleset, s Setup, passes float64) *Game {
	start, err := New(r, s)
	if err != nil {
		t.Fatal(err)
	}
	g := *start // played on in place: nobody else holds it
	play := func(turn Turn) {
		if err := g.play(turn); err != nil {
			t.Fatalf("%s: %v\n%v", r.Name, err, g.log)
		}
	}
	points := g.board.Points()
	resumptions := rnd.IntN(4) - 1
	for g.phase != Over {
		switch turn, ok := placement(rnd, &g, points); {
		case g.phase == Settling:
			by := Color(1 + rnd.IntN(2))
			if p := points[rnd.IntN(len(points))]; g.board.At(p) != None && rnd.IntN(2) == 0 {
				play(Turn{Kind: MarkDead, By: by, Dead: []Point{p}})
			}
			play(Turn{Kind: AcceptScore, By: by})
			if resumptions--; resumptions > 0 {
				play(Turn{Kind: Resume, By: by})
			} else {
				play(Turn{Kind: AcceptScore, By: by.Opponent()})
			}
		case ok && len(g.log) < 4*len(points) && rnd.Float64() >= passes:
			play(turn)
		default:
			play(otherTurn(rnd, &g, points))
		}
	}
	return &g
}

// placement finds a legal placement that fills no eye of one point, if there is
// one. It leaves points in another order.
func placement(rnd *rand.Rand, g *Game, points []Point) (Turn, bool) {
	for n := len(points); n > 0; n-- {
		i := rnd.IntN(n)
		p := points[i]
		points[i], points[n-1] = points[n-1], p
		turn := Turn{Kind: Place, By: g.toPlay, At: p}
		if g.board.At(p) == None && !ownEye(&g.board, p, g.toPlay) && g.Allows(turn) {
			return turn, true
		}
	}
	return Turn{}, false
}

// ownEye reports whether all that is next to p is of colour c.
func ownEye(b *Board, p Point, c Color) bool {
	for _, i := range b.around(b.index(p)) {
		if b.cell[i] != c && b.cell[i] != edge {
			return false
		}
	}
	return true
}

// otherTurn takes a button as often as not if that is possible, accepts what
// was named dead, or passes, now and then naming what is dead.
func otherTurn(rnd *rand.Rand, g *Game, points []Point) Turn {
	for _, k := range []Kind{Button, AcceptSuggestion} {
		if t := (Turn{Kind: k, By: g.toPlay}); rnd.IntN(2) == 0 && g.rules.Has(k) && g.Allows(t) {
			return t
		}
	}
	t := Turn{Kind: Pass, By: g.toPlay}
	if p := points[rnd.IntN(len(points))]; g.rules.Has(AcceptSuggestion) && g.times[Pass] == 0 && g.board.At(p) != None {
		t.Dead = []Point{p}
	}
	return t
}

// docs/theorems.md names tests that exist, and says of every ruleset what the
// ruleset says of itself.
func TestTheoremsOnPaper(t *testing.T) {
	page, err := os.ReadFile("../docs/theorems.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, pattern := range []string{"*_test.go", "sgf/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	names := regexp.MustCompile(`\bTest\w+`).FindAllString(string(page), -1)
	if len(names) < 5 {
		t.Errorf("it names only %v", names)
	}
	for _, name := range names {
		if !strings.Contains(code.String(), "func "+name+"(t ") {
			t.Errorf("there is no %s", name)
		}
	}
	for _, r := range Catalogue {
		row := regexp.MustCompile("(?m)^\\| T\\d+ \\| `" + r.Name + "` \\| ([^|]*) \\|").FindStringSubmatch(string(page))
		switch {
		case len(r.Count) > 0 && row == nil:
			t.Errorf("it says nothing of %s: prove its margin, and add a row \"| T13 | `%s` | %s | none |\" with the number of the proof and the conditions", r.Name, r.Name, r.Theorem)
		case r.Theorem != "" && row[1] != r.Theorem:
			t.Errorf("it says %q of %s, which says %q", row[1], r.Name, r.Theorem)
		}
	}
}
