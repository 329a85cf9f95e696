package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The edges of the rules as drawn boards. Unless said, komi is 0, the stones
// drawn were set up, and turns alternate.

// drawn begins a game of a ruleset on a drawn board.
func drawn(t testing.TB, id string, first Color, rows ...string) *Game {
	t.Helper()
	s := setupOf(boardOf(rows...))
	s.First = first
	g, err := New(ruleset(t, id), s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// then plays on, turn by turn from the player to move.
func then(t testing.TB, g *Game, s string) *Game {
	t.Helper()
	for _, word := range strings.Fields(s) {
		next, err := g.Replay(moves(t, g.setup.W, g.setup.H, g.toPlay, word))
		if err != nil {
			t.Fatalf("%s: %v, after %v\n%v", g.rules.Name, err, g.log, g.board)
		}
		g = next
	}
	return g
}

// forbidden tries a turn and gives why it is illegal.
func forbidden(t testing.TB, g *Game, s string) string {
	t.Helper()
	_, err := g.Replay(moves(t, g.setup.W, g.setup.H, g.toPlay, s))
	var illegal *Illegal
	if !errors.As(err, &illegal) {
		t.Fatalf("%s: %s is legal after %v\n%v", g.rules.Name, s, g.log, g.board)
	}
	return illegal.Because.String()
}

func stands(t testing.TB, g *Game, rows ...string) {
	t.Helper()
	if got := g.board.Rows(); !slices.Equal(got, rows) {
		t.Errorf("%s: after %v stands\n%s\nwant\n%s", g.rules.Name, g.log, strings.Join(got, "\n"), strings.Join(rows, "\n"))
	}
}

// comesTo compares Black's score less White's, of the finished game or if play
// stopped now, in half points.
func comesTo(t testing.TB, g *Game, want Points) {
	t.Helper()
	if got := g.Score().Margin(); got != want {
		t.Errorf("%s: %v after %v, want %v: %v", g.rules.Name, got, g.log, want, g.Score().Lines)
	}
}

// idsOf returns the rulesets for which a fact holds.
func idsOf(has func(*Ruleset) bool) []string {
	var ids []string
	for _, r := range Catalogue {
		if has(r) {
			ids = append(ids, r.Name)
		}
	}
	return ids
}

// repetition says what a ruleset forbids to repeat, as its rules of placing have it.
func repetition(r *Ruleset) string {
	has := func(f Fact) bool { return slices.Contains(names(r.Moves[Place]), Require(f).Name) }
	switch {
	case has(NotKo):
		return "simple ko"
	case has(NewPosition):
		return "positional superko"
	}
	return "situational superko"
}

// A ko, and Black has just taken it. Taking the button instead of a threat
// lifts the ban; a pass lifts nothing, for the situation has stood already.
func TestKoWhenTheButtonIsTaken(t *testing.T) {
	ko := []string{
		".XO..",
		"XO.O.",
		".XO..",
		".....",
		"....."}
	for id, button := range map[string]bool{"button": true, "button-equivalence": true, "two-button-separate": true,
		"aga": false, "reverse-button": false, "two-button": false, "half-pass": false, "area-2": false, "territory-1": false} {
		g := then(t, drawn(t, id, Black, ko...), "C4x")
		stands(t, g, ".XO..", "X.XO.", ".XO..", ".....", ".....")
		if why := forbidden(t, g, "B4"); !strings.Contains(why, "same as at the start") {
			t.Error(why)
		}
		switch {
		case button:
			// White takes the button, Black answers nothing, White takes the ko.
			g = then(t, g, "button pass B4x")
			stands(t, g, ".XO..", "XO.O.", ".XO..", ".....", ".....")
			// Now it is Black who may not take at once: the record began
			// with the button, and in it stands Black's stone on C4.
			if why := forbidden(t, g, "C4"); !strings.Contains(why, "same as after move 3 (ko)") {
				t.Error(why)
			}
		default:
			// White's pass and Black's do not help: the position has stood.
			g = then(t, g, "pass E1")
			g = then(t, g, "B4x") // a stone on E1 makes it another position
			stands(t, g, ".XO..", "XO.O.", ".XO..", ".....", "....X")
		}
	}
	// In two-button-separate it is the first button that lifts; the last one
	// stops play, and after a resumption the ko stands as it stood.
	g := then(t, drawn(t, "two-button-separate", White, ko...), "button C4x pass pass")
	g = then(t, g, "button")
	if g.phase != Settling {
		t.Error(g.phase)
	}
	g = then(t, g, "resume")
	if why := forbidden(t, g, "B4"); g.toPlay != White || !strings.Contains(why, "same as after move 1") {
		t.Error(g.toPlay, why)
	}
}

// White sends two stones and takes back one, again and again. The whole goes on
// for ever under simple ko, one round under situational superko, and not even
// one under positional superko.
func TestSendingTwoReturningOne(t *testing.T) {
	board := []string{
		".XO.",
		"XXOO",
		".O.O"}
	for _, id := range idsOf(func(r *Ruleset) bool { return r.Has(Pass) }) {
		g := then(t, drawn(t, id, White, board...), "A1 C1x")
		stands(t, g, ".XO.", "XXOO", "..XO")
		if g.Captured(White) != 2 {
			t.Errorf("%s: %d captured", id, g.Captured(White))
		}
		switch repetition(g.rules) {
		case "positional superko":
			if why := forbidden(t, g, "B1"); why != "the board would be the same as at the start (superko)" {
				t.Error(id, why)
			}
		case "situational superko":
			g = then(t, g, "B1x")
			stands(t, g, board...)
			// It is Black's turn now, as it was not at the start. After a
			// pass White may not send two again.
			if g = then(t, g, "pass"); g.phase == Playing {
				if why := forbidden(t, g, "A1"); why != "the board would be the same as after move 1 (superko)" {
					t.Error(id, why)
				}
			}
		default:
			g = then(t, g, "B1x pass A1 C1x B1x pass")
			stands(t, g, board...)
			if g.Captured(White) != 4 || g.Captured(Black) != 2 {
				t.Errorf("%s: captured %d white, %d black", id, g.Captured(White), g.Captured(Black))
			}
			// The position with White to move stands for the third time, but after a
			// pass. The next taking makes one for the third time.
			if g.MayEndWithoutResult() {
				t.Errorf("%s: a pass makes no repetition", id)
			}
			g = then(t, g, "A1 C1x B1x")
			for _, by := range []Color{White, Black} {
				var err error
				if g, err = g.Play(Turn{Kind: NoResult, By: by}); err != nil {
					t.Fatal(err)
				}
			}
			if g.Result() != "Void" {
				t.Errorf("%s: %q", id, g.Result())
			}
		}
	}
}

// Three kos, of which Black holds one and White two. Each player takes one in
// turn; the sixth taking restores the board.
func TestTripleKo(t *testing.T) {
	board := []string{
		".XO.",
		"XO.O",
		".XO.",
		"X.XO",
		".XO.",
		"XO.O",
		".XO."}
	for _, r := range Catalogue {
		g := then(t, drawn(t, r.Name, Black, board...), "C6x B4x C2x B6x C4x")
		stands(t, g, ".XO.", "XO.O", ".XO.", "X.XO", ".XO.", "X.XO", ".XO.")
		if repetition(r) != "simple ko" {
			if why := forbidden(t, g, "B2"); why != "the board would be the same as at the start (superko)" {
				t.Error(r.Name, why)
			}
			continue
		}
		g = then(t, g, "B2x")
		stands(t, g, board...)
		if g.MayEndWithoutResult() {
			t.Error("the position has stood twice only")
		}
		if _, err := g.Play(Turn{Kind: NoResult, By: White}); err == nil {
			t.Error("no result is accepted, but the position has stood twice only")
		}
		g = then(t, g, "C6x B4x C2x B6x C4x B2x")
		if !g.MayEndWithoutResult() || !slices.Contains(g.Says(), RepeatedWhilePlaying.Name) {
			t.Errorf("the position stands for the third time: %v", g.Says())
		}
		// Nobody must accept: play may go on.
		then(t, g, "C6x")
	}
}

// Nothing moves between two stops of play: that repeats no position, whatever passes and
// resumptions leave; under the reading of the first release it did.
func TestNothingMoves(t *testing.T) {
	for id, may := range map[string]bool{"japanese": false, "japanese@1": true} {
		g := then(t, drawn(t, id, Black, "...", "...", "..."), "B2 pass pass")
		for range 2 {
			var err error
			for _, kind := range []Kind{Resume, Pass, Pass} {
				if g, err = g.Play(Turn{Kind: kind, By: g.ToPlay()}); err != nil {
					t.Fatal(err)
				}
			}
		}
		g, err := g.Play(Turn{Kind: Resume, By: g.ToPlay()})
		if err != nil || g.MayEndWithoutResult() != may {
			t.Errorf("%s: may end without a result: %v, %v", id, g.MayEndWithoutResult(), err)
		}
	}
}

// A molasses ko in small: four stones and a pass, and the board is the same but
// for left, right and colour; ten turns, and it is the same.
func TestMolassesKo(t *testing.T) {
	board := []string{
		"OO..",
		".XO.",
		"X.XO"}
	for _, id := range idsOf(func(r *Ruleset) bool { return r.Has(Pass) }) {
		g := then(t, drawn(t, id, Black, board...), "D3 A2 C3x B1x")
		mirrored := []string{"..XX", ".XO.", "XO.O"}
		stands(t, g, mirrored...)
		if why := forbidden(t, g, "C1"); !strings.Contains(why, "(ko)") {
			t.Error(id, why)
		}
		g = then(t, g, "pass A3 D2 B3x")
		switch repetition(g.rules) {
		case "positional superko":
			if why := forbidden(t, g, "C1"); why != "the board would be the same as at the start (superko)" {
				t.Error(id, why)
			}
		case "situational superko":
			g = then(t, g, "C1x pass")
			stands(t, g, board...)
			if why := forbidden(t, g, "D3"); why != "the board would be the same as after move 1 (superko)" {
				t.Error(id, why)
			}
		default:
			g = then(t, g, "C1x pass D3 A2 C3x B1x pass A3 D2 B3x C1x pass")
			stands(t, g, board...)
			if g.MayEndWithoutResult() || !then(t, g, "D3").MayEndWithoutResult() {
				t.Error("the third time comes with a placement, after that of the pass")
			}
		}
		if g.phase != Playing {
			t.Errorf("%s: %v, but no two passes met", id, g.phase)
		}
	}
	// In Ultimate Go a delay is what a pass is here, and what it costs is a prisoner.
	g := then(t, drawn(t, "ultimate", Black, board...), "D3 A2 C3x B1x delay A3 D2 B3x")
	if why := forbidden(t, g, "C1"); why != "the board would be the same as at the start (superko)" {
		t.Error(why)
	}
	// Taking the button for a pass lifts the ban: the cycle goes round once more.
	g = then(t, drawn(t, "button", Black, board...), "D3 A2 C3x B1x button A3 D2 B3x C1x pass D3")
	stands(t, g, "OO.X", ".XO.", "X.XO")
}

// A ko that is taken as the first turn and taken back at once is a ko and no superko, although
// the position is that of the start.
func TestKoAtTheStart(t *testing.T) {
	for _, r := range Catalogue {
		g := then(t, drawn(t, r.Name, Black, ".XO.", "XO.O", ".XO."), "C2x")
		if why := forbidden(t, g, "B2"); why != "the board would be the same as at the start (ko)" {
			t.Error(r.Name, why)
		}
	}
}

// Eternal life: each player gives up two stones and takes two, and four turns
// restore the board with the same player to move.
func TestEternalLife(t *testing.T) {
	board := []string{
		".O..",
		"XXOO",
		".OX."}
	for _, r := range Catalogue {
		g := then(t, drawn(t, r.Name, Black, board...), "D3 A3 C3x")
		stands(t, g, "..XX", "XXOO", ".OX.")
		if repetition(r) != "simple ko" {
			if why := forbidden(t, g, "B3"); why != "the board would be the same as at the start (superko)" {
				t.Error(r.Name, why)
			}
			continue
		}
		g = then(t, g, "B3x D3 A3 C3x B3x")
		stands(t, g, board...)
		if !g.MayEndWithoutResult() || g.Captured(Black) != 4 || g.Captured(White) != 4 {
			t.Errorf("third time %v, captured %d and %d", g.MayEndWithoutResult(), g.Captured(Black), g.Captured(White))
		}
	}
}

// Bent four in the corner. White has no threat anywhere, so that Black may
// play the ko out; where that is not done, both agree that White is dead.
func TestBentFour(t *testing.T) {
	board := []string{
		".X.X.X",
		"XXXXXX",
		"OOXXXX",
		"XOOOOX",
		"XX..OX"}
	const points = 30
	playedOut := "C1 D1x B1 A1 A2x pass A1 C1x A1 A2 B1x"
	for _, id := range []string{"tromp-taylor", "area-2", "area-3", "half-pass", "territory-1", "aga", "japanese"} {
		g := then(t, drawn(t, id, Black, board...), playedOut)
		if g.board.Stones(White) != 0 {
			t.Errorf("%s:\n%v", id, g.board)
		}
		if a := g.board.Area(); a != points {
			t.Errorf("%s: area %d", id, a)
		}
	}
	// Without playing: by agreement where there is one, by the half-pass that
	// names the stones, and not at all where what stands is alive.
	for id, want := range map[string]Points{ // e is 11
		"aga":                 2 * (points - 11),
		"two-button":          2 * (points - 11), // Black passes first
		"half-pass-agreement": 2 * (points - 11),
		"reverse-button":      2*(points-11) - 1,
		"japanese":            2 * (points - 11),
		"tromp-taylor":        2 * (18 + 3 - 7), // it stands, so it lives
		"area-1":              2 * (18 - 7),
		"half-pass":           2 * (18 + 3 - 7 - 11),
	} {
		g := drawn(t, id, Black, board...)
		switch {
		case g.rules.Has(AcceptSuggestion):
			g, _ = g.Replay([]Turn{{Kind: Pass, By: Black, Dead: []Point{{0, 2}}}, {Kind: AcceptSuggestion, By: White}})
		case g.rules.Has(AcceptScore):
			g = settled(t, then(t, g, "pass pass"), "A3")
		case id == "half-pass":
			g = then(t, g, "pass pass pass")
		default:
			g = then(t, g, "pass pass")
		}
		if g.phase != Over {
			t.Errorf("%s: %v", id, g.phase)
		}
		comesTo(t, g, want)
	}
}

// A seki in which each chain has an eye and they share a liberty. Naive
// territory counts the eyes. Japanese counting does too while nobody marks the
// chains, and does not once they are marked.
func TestSekiWithEyes(t *testing.T) {
	board := []string{
		".X.O.",
		"XXXOO"}
	// Who takes the shared liberty is taken.
	g := then(t, drawn(t, "aga", Black, board...), "C2 A2x")
	stands(t, g, "O..O.", "...OO")
	g = then(t, drawn(t, "aga", White, board...), "C2 E2x")
	stands(t, g, ".X..X", "XXX..")

	for id, want := range map[string]Points{
		"tromp-taylor": 2 * (5 - 4), "area-1": 2 * (4 - 3), // stones and eyes, stones
		"aga": 2 * (5 - 4 - 1), "half-pass": 2 * (5 - 4 - 1), // e is 1
	} {
		comesTo(t, drawn(t, id, Black, board...), want)
	}
	g = then(t, drawn(t, "japanese", Black, board...), "pass pass")
	lines(t, g, Line{Black, Territory, 1, One}, Line{White, Territory, 1, One})
	for _, x := range []struct {
		mark         string
		black, white int
	}{{"B2", 0, 1}, {"D2", 0, 0}} {
		var err error
		if g, err = g.Play(Turn{Kind: MarkSeki, By: White, Dead: points(t, 5, 2, x.mark)}); err != nil {
			t.Fatal(err)
		}
		lines(t, g, Line{Black, Territory, x.black, One}, Line{White, Territory, x.white, One})
	}
}

// finish brings a game to its end by its ruleset's closing, with nothing dead.
func finish(t testing.TB, g *Game) *Game {
	t.Helper()
	end, err := Close(g.rules, g.setup, g.log, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", g.rules.Name, err)
	}
	return end
}

// A one-sided dame: C2 touches Black's stones alone, but if White plays there
// D2 falls. Filling it costs Black a point where the last stone tells (w) and in
// Japanese counting, and nothing where it does not: the free teire.
func TestOneSidedDame(t *testing.T) {
	board := []string{
		".XO..",
		"XXOOO",
		".XXO.",
		"XX.XO",
		".XXOO"}
	stands(t, then(t, drawn(t, "aga", White, board...), "C2x"), ".XO..", "XXOOO", ".XXO.", "XXO.O", ".XXOO")
	for id, x := range map[string]struct{ open, filled Points }{
		"tromp-taylor": {6, 6}, "area-2": {6, 6}, "area-agreement": {6, 6}, "aga": {2, 2}, "reverse-button": {1, 1}, // e is 2
		"area-3": {6, 4}, "territory-1": {2, 0}, "two-button": {2, 0}, "two-button-separate": {2, 0},
		"half-pass": {2, 0}, "half-pass-agreement": {2, 0}, "japanese": {2, 0},
		"button": {7, 5}, "button-equivalence": {3, 1},
	} {
		comesTo(t, finish(t, drawn(t, id, Black, board...)), x.open)
		comesTo(t, finish(t, then(t, drawn(t, id, Black, board...), "C2")), x.filled)
	}
}

// A dame that nobody fills. It is a point to who fills it where areas are
// counted, and nothing where w or a button makes up for it, as in Japanese
// counting.
func TestDameLeftUnfilled(t *testing.T) {
	board := []string{
		".X.O.",
		".XXO.",
		".XXO."}
	for id, x := range map[string]struct{ open, filled Points }{
		"tromp-taylor": {4, 6}, "area-2": {4, 6}, "area-agreement": {4, 6}, "aga": {0, 2}, "reverse-button": {-1, 1}, // e is 2
		"area-3": {4, 4}, "territory-1": {0, 0}, "two-button": {0, 0}, "two-button-separate": {0, 0},
		"half-pass": {0, 0}, "half-pass-agreement": {0, 0}, "japanese": {0, 0},
		"button": {5, 5}, "button-equivalence": {1, 1},
	} {
		open := finish(t, drawn(t, id, Black, board...))
		comesTo(t, open, x.open)
		comesTo(t, finish(t, then(t, drawn(t, id, Black, board...), "C3")), x.filled)
		if black, white := open.board.Territory(); black != 3 || white != 3 {
			t.Errorf("%s: territory %d and %d", id, black, white)
		}
	}
}

// The pass fight of a ruleset with pass stones in which the second pass stops
// play and White need not be last: Black passes, White makes a threat, Black
// answers, White passes, Black passes, and White has gained a point. No
// ruleset here has it: in aga White hands over one more stone, the buttons and
// the half-passes give back what the fight took.
func TestPassFights(t *testing.T) {
	board := []string{"..XO.", "..XO.", "..XO.", "..XO.", "..XO."}
	// White's stone is dead in the end; the closing passes are the ruleset's.
	count := func(r *Ruleset, s, dead string) Points {
		setup := setupOf(boardOf(board...))
		g, err := Close(r, setup, moves(t, 5, 5, Black, s), points(t, 5, 5, dead), nil)
		if err != nil {
			t.Fatal(err)
		}
		return g.Score().Margin()
	}
	fought := AGA.But(Ruleset{Name: "pass-fights", Version: 1, Agreed: []Rule{}})
	if plain, fight := count(&fought, "", ""), count(&fought, "pass A3 B3", "A3"); fight != plain-2 {
		t.Errorf("%v, with a pass fight %v: White should have gained a point", plain, fight)
	}
	for _, r := range Catalogue {
		if len(r.Count) == 0 || r.Name == "area-1" { // where stones alone count the answer is a point
			continue
		}
		first := "pass"
		if r.Has(Button) {
			first = "button"
		}
		if plain, fight := count(r, "", ""), count(r, first+" A3 B3", "A3"); plain != fight {
			t.Errorf("%s: %v, with a pass fight %v", r.Name, plain, fight)
		}
	}
}

// holds says what the players hold besides prisoners, Black's first.
func holds(g *Game) string {
	var out []string
	for _, c := range []Color{Black, White} {
		var has []string
		for thing := PassStone; thing < held; thing++ {
			if n := g.held[c][thing]; n != 0 {
				has = append(has, thing.Words(n))
			}
		}
		out = append(out, c.Letter()+": "+strings.Join(has, ", "))
	}
	return strings.Join(out, "; ")
}

// White passes first and Black's pass stops play. They dispute the count and
// go on, White to move. What the first pass or button did stays; what the last
// one would have done falls, and is done by the pass that stops play at last.
func TestResumptionAfterADispute(t *testing.T) {
	// After C1 Black has 15 points and White 10, and e is -1.
	board := []string{"..XO.", "..XO.", "..XO.", "..XO.", "...O."}
	const a = 5 + 1
	for _, x := range []struct {
		id, stop, more string
		disputed       string // what they would hold if they agreed
		agreed         string // what they hold in the end
		margin         Points
	}{
		// White places a stone: Black passes, White passes, so that the last pass is White's.
		{"aga", "pass pass", "E3 pass pass", "B: 2 pass stones; W: 1 pass stone", "B: 2 pass stones; W: 2 pass stones", 2 * a},
		{"reverse-button", "pass pass", "E3 pass pass", "B: 1 pass stone, 1 button; W: 1 pass stone", "B: 2 pass stones; W: 2 pass stones, 1 button", 2*a - 1},
		{"two-button", "pass pass", "E3 pass pass", "B: 1 pass stone, 1 button; W: 1 pass stone, 1 button", "B: 2 pass stones; W: 2 pass stones, 2 buttons", 2*a - 2},
		{"japanese", "pass pass", "E3 pass pass", "B: ; W: ", "B: ; W: ", 2 * a},
		// White passes: the last pass is Black's once more.
		{"aga", "pass pass", "pass pass", "B: 2 pass stones; W: 1 pass stone", "B: 3 pass stones; W: 2 pass stones", 2 * a},
		{"reverse-button", "pass pass", "pass pass", "B: 1 pass stone, 1 button; W: 1 pass stone", "B: 2 pass stones, 1 button; W: 2 pass stones", 2*a - 1},
		{"two-button", "pass pass", "pass pass", "B: 1 pass stone, 1 button; W: 1 pass stone, 1 button", "B: 2 pass stones, 1 button; W: 2 pass stones, 1 button", 2*a - 2},
		// The button that was taken stays taken.
		{"button", "button pass pass", "pass pass", "B: ; W: 1 button", "B: ; W: 1 button", 2*(a-1) - 1},
		// The last button lies on the table again, and who took it is to move.
		{"two-button-separate", "button pass pass button", "pass pass button", "B: 1 pass stone, 1 button; W: 1 pass stone, 1 button", "B: 2 pass stones, 1 button; W: 2 pass stones, 1 button", 2*a - 2},
		{"button-equivalence", "button pass pass", "pass pass", "B: 1 pass stone, 1 button; W: 1 pass stone", "B: 2 pass stones, 1 button; W: 2 pass stones", 2*a - 1},
		{"button-equivalence", "pass button pass pass", "E3 pass pass", "B: 3 pass stones; W: 1 pass stone, 1 button", "B: 3 pass stones; W: 2 pass stones, 1 button", 2*a + 1},
	} {
		g := then(t, drawn(t, x.id, Black, board...), "C1 "+x.stop)
		if g.phase != Settling {
			t.Fatalf("%s: %v", x.id, g.phase)
		}
		now := g.ifStoppedNow()
		if got := holds(now); got != x.disputed {
			t.Errorf("%s: if agreed they would hold %s, want %s", x.id, got, x.disputed)
		}
		// One accepts, the other marks a stone, for which it must be accepted
		// anew; then the other resumes.
		mover := g.toPlay
		if x.id == "two-button-separate" {
			mover = mover.Opponent()
		}
		for _, turn := range []Turn{{Kind: AcceptScore, By: Black}, {Kind: MarkDead, By: White, Dead: points(t, 5, 5, "C3")},
			{Kind: AcceptScore, By: Black}, {Kind: Resume, By: White}} {
			var err error
			if g, err = g.Play(turn); err != nil {
				t.Fatal(err)
			}
		}
		if g.phase != Playing || g.toPlay != mover || len(g.dead) > 0 || g.HasAgreed(Black) || g.run != 0 {
			t.Errorf("%s: %v, %v to move, dead %v, run %d", x.id, g.phase, g.toPlay, g.dead, g.run)
		}
		g = then(t, g, x.more)
		_, final := g.rules.EndsDisputes()
		if final = final && !strings.Contains(x.more, "E3"); final != (g.phase == Over) { // after a stone they talk again
			t.Errorf("%s, %s: %v after both have passed again", x.id, x.more, g.phase)
		} else if !final {
			g = settled(t, g, "")
		}
		if got := holds(g); got != x.agreed {
			t.Errorf("%s, %s: they hold %s, want %s", x.id, x.more, got, x.agreed)
		}
		comesTo(t, g, x.margin)
	}
}

// White makes the last pass, after a resumption too: what would have been
// handed over falls with it, and is handed over when Black's pass stops play
// once more.
func TestLastPassAfterAResumption(t *testing.T) {
	for _, id := range []string{"aga@1", "button-equivalence@1"} {
		g := then(t, drawn(t, id, Black, "..XO.", "..XO.", "..XO.", "..XO.", "..XO."), "B3 pass pass")
		last := func(g *Game, want int) {
			t.Helper()
			n := 0
			for _, e := range g.IfAgreed() {
				if e.Player == Black && e.Thing == PassStone && e.Why == WhiteHandsOverStone.Name {
					n += e.N
				}
			}
			owes := slices.Contains(g.Says(), WhiteStillOwesAPass.Name)
			if n != want || owes != (want == 1) {
				t.Errorf("%s after %v: White's last pass hands over %d, want %d; said %v", id, g.log, n, want, owes)
			}
		}
		last(g, 1)
		last(then(t, g, "resume"), 0)
		last(then(t, g, "resume pass pass"), 1)
		last(then(t, g, "resume E3 pass pass"), 0)
		last(then(t, g, "resume E3 pass pass resume B2 pass pass"), 1)
		end := settled(t, then(t, g, "resume pass pass"), "")
		if got := end.held; got[Black][PassStone] != 3 || got[White][PassStone] != 2 {
			t.Errorf("%s: %s", id, holds(end))
		}
		name, _, _ := strings.Cut(id, "@")
		now := then(t, drawn(t, name, Black, "..XO.", "..XO.", "..XO.", "..XO.", "..XO."), "B3 pass pass resume pass pass")
		if now.held != end.held || now.Result() != end.Result() {
			t.Errorf("%s: %s, %s", name, holds(now), now.Result())
		}
	}
}

// A player who never accepts keeps no game from being counted: whoever resumes, and both
// pass again, everything on the board is alive, and what the count moves has moved.
func TestDisputesEnd(t *testing.T) {
	board := []string{
		"...X.",
		"O..XO",
		"...XO",
		"...XO",
		"...X."}
	for _, r := range Catalogue {
		k, final := r.EndsDisputes()
		if !final {
			if r.Has(Resume) && r.Name != "button" && r.Name != "japanese" {
				t.Errorf("%s: who never accepts keeps a game from being counted", r.Name)
			}
			continue
		}
		stop, again := "pass pass", "pass pass"
		if k == Button {
			stop, again = "button pass pass button", "pass pass button"
		}
		for _, by := range []Color{Black, White} {
			g := then(t, drawn(t, r.Name, Black, board...), stop)
			for _, turn := range []Turn{{Kind: MarkDead, By: Black, Dead: points(t, 5, 5, "A4")}, {Kind: AcceptScore, By: Black}, {Kind: Resume, By: by}} {
				var err error
				if g, err = g.Play(turn); err != nil {
					t.Fatal(err)
				}
			}
			mayPass := then(t, g, strings.TrimSuffix(again, " "+k.String()))
			if mayPass.phase != Playing {
				t.Errorf("%s: %v before the last of %q", r.Name, mayPass.phase, again)
			}
			g = then(t, g, again)
			if g.phase != Over || g.board.At(Point{0, 3}) != White || len(g.dead) > 0 || g.Captured(White) > 0 {
				t.Errorf("%s: %v, %v is dead\n%v", r.Name, g.phase, g.dead, g.board)
			}
			// Once a stone has been placed there is something new to talk about.
			played := then(t, drawn(t, r.Name, Black, board...), stop+" resume C5 "+again)
			if played.phase != Settling {
				t.Errorf("%s: %v after a stone and %q", r.Name, played.phase, again)
			}
			if last := then(t, played, "resume "+again); last.phase != Over {
				t.Errorf("%s: %v after another resumption and %q", r.Name, last.phase, again)
			}
			// The stone on A4 keeps three columns from being territory, as where it was agreed to be alive.
			alive := settled(t, then(t, drawn(t, r.Name, Black, board...), stop), "")
			if g.Score().Margin() != alive.Score().Margin() {
				t.Errorf("%s: %v, where both agree that it is alive %v", r.Name, g.Score().Lines, alive.Score().Lines)
			}
			// Both may still agree before that, and a game of version 1 goes on.
			if before := earlierVersion(r); before != nil {
				if old := then(t, drawn(t, before.ID(), Black, board...), stop+" resume "+again+" resume "+again); old.phase != Settling {
					t.Errorf("%s: %v", before.ID(), old.phase)
				}
			}
		}
	}
}

// earlierVersion returns the first version of a ruleset, nil if it is the only one.
func earlierVersion(r *Ruleset) *Ruleset {
	for _, before := range earlier {
		if before.Name == r.Name {
			return before
		}
	}
	return nil
}

// Black places one stone on an empty board and White passes first, or takes
// the first button: w is 1. What moves, and what it comes to, book by book.
func TestWhitePassesFirst(t *testing.T) {
	for id, x := range map[string]struct {
		holds  string
		margin Points // A is 25
	}{
		"tromp-taylor":        {"B: ; W: ", 50},
		"area-1":              {"B: ; W: ", 2},
		"area-2":              {"B: ; W: ", 50},
		"area-3":              {"B: ; W: ", 48},
		"territory-1":         {"B: 1 pass stone; W: 1 pass stone", 48},
		"aga":                 {"B: 2 pass stones; W: 1 pass stone", 50},
		"button":              {"B: ; W: 1 button", 49},
		"button-equivalence":  {"B: 1 pass stone, 1 button; W: 1 pass stone", 49},
		"reverse-button":      {"B: 1 pass stone, 1 button; W: 1 pass stone", 49},
		"two-button":          {"B: 1 pass stone, 1 button; W: 1 pass stone, 1 button", 48},
		"two-button-separate": {"B: 1 pass stone, 1 button; W: 1 pass stone, 1 button", 48},
		"half-pass":           {"B: 2 half-pass stones; W: 1 pass stone", 48},
		"half-pass-agreement": {"B: 2 half-pass stones; W: 1 pass stone", 48},
		"japanese":            {"B: ; W: ", 48},
	} {
		g, err := New(ruleset(t, id), Setup{W: 5, H: 5})
		if err != nil {
			t.Fatal(err)
		}
		g = finish(t, then(t, g, "C3"))
		if got := holds(g); got != x.holds {
			t.Errorf("%s: they hold %s, want %s", id, got, x.holds)
		}
		comesTo(t, g, x.margin)
	}
}

// A player who resigns has lost, also once play has stopped, and out of turn except in
// Ultimate Go.
func TestResigning(t *testing.T) {
	for _, r := range Catalogue {
		for by, want := range map[Color]string{Black: "W+R", White: "B+R"} {
			g, err := New(r, Setup{W: 3, H: 3})
			if err != nil {
				t.Fatal(err)
			}
			next, err := g.Play(Turn{Kind: Resign, By: by})
			switch {
			case r.Name == "ultimate" && by == White:
				if err == nil || err.Error() != "move 1 (White resign): it is the other player's turn" {
					t.Errorf("%s: %v", r.Name, err)
				}
			case err != nil || next.Result() != want || next.Phase() != Over:
				t.Errorf("%s: %v resigns: %q, %v", r.Name, by, next.Result(), err)
			}
			if r.Has(AcceptScore) {
				g = then(t, g, "pass pass")
				if g.phase == Playing { // the last button is to be taken
					continue
				}
				if next, err = g.Play(Turn{Kind: Resign, By: by}); err != nil || next.Result() != want {
					t.Errorf("%s, stopped: %v resigns: %q, %v", r.Name, by, next.Result(), err)
				}
			}
		}
	}
}

// The first pass of the game alone may name dead stones, on which stones must
// stand, and only the turn after it may accept them.
func TestSuggestionsOfTheFirstPass(t *testing.T) {
	board := []string{
		".XO..",
		".XOX.",
		".XO.."}
	refused := func(g *Game, turn Turn, want string) {
		t.Helper()
		_, err := g.Play(turn)
		var illegal *Illegal
		if !errors.As(err, &illegal) || illegal.Because.String() != want {
			t.Errorf("after %v, %v: %v, want %s", g.log, turn, err, want)
		}
	}
	named := func(by Color, names string) Turn {
		return Turn{Kind: Pass, By: by, Dead: points(t, 5, 3, names)}
	}
	const late = "only the first pass of the game may name dead stones"
	const nothing = "there is nothing to accept: the turn before was not the first pass of the game"
	g := drawn(t, "half-pass-agreement", Black, board...)
	refused(g, Turn{Kind: AcceptSuggestion, By: Black}, nothing)
	refused(g, named(Black, "A1"), "there is no stone on A1")
	refused(g, named(Black, "D2 A1"), "there is no stone on A1")
	refused(drawn(t, "half-pass", Black, board...), named(Black, "D2"), ErrNoSuggestion.Error())

	first, err := g.Play(named(Black, "D2"))
	if err != nil || !slices.Equal(first.Suggested(), points(t, 5, 3, "D2")) {
		t.Fatal(err, first.Suggested())
	}
	refused(first, named(White, "B2"), late)
	accepted := then(t, first, "accept")
	if accepted.phase != Over || accepted.Captured(Black) != 1 || holds(accepted) != "B: 1 half-pass stone; W: 1 half-pass stone" {
		t.Errorf("%v, %d captured, %s", accepted.phase, accepted.Captured(Black), holds(accepted))
	}
	// Naming nothing says that nothing is dead, and may be accepted.
	if nobody := then(t, g, "pass accept"); nobody.phase != Over || nobody.Captured(Black) != 0 {
		t.Errorf("%v, %d captured", nobody.phase, nobody.Captured(Black))
	}
	// A plain pass is full; it and any other turn drop the suggestion.
	plain := then(t, first, "pass")
	if plain.phase != Playing || plain.Suggested() != nil || holds(plain) != "B: 1 pass stone; W: 1 half-pass stone" {
		t.Errorf("%v, %v, %s", plain.phase, plain.Suggested(), holds(plain))
	}
	refused(plain, Turn{Kind: AcceptSuggestion, By: Black}, nothing)
	played := then(t, first, "E2")
	refused(played, Turn{Kind: AcceptSuggestion, By: Black}, nothing)
	refused(played, named(Black, "E2"), late)
	refused(then(t, played, "A2"), Turn{Kind: AcceptSuggestion, By: White}, nothing)
	refused(then(t, played, "pass"), Turn{Kind: AcceptSuggestion, By: White}, nothing)
}

// Two stones without a liberty come off as White's prisoners in Tromp–Taylor, and
// may not be played anywhere else.
func TestSuicide(t *testing.T) {
	for _, r := range Catalogue {
		g := drawn(t, r.Name, Black, "...", "OO.", "X.O")
		if r.Name != "tromp-taylor" {
			if why := forbidden(t, g, "B1"); why != HasLiberty.Not {
				t.Errorf("%s: %s", r.Name, why)
			}
			continue
		}
		g = then(t, g, "B1")
		stands(t, g, "...", "OO.", "..O")
		if g.Captured(Black) != 2 || g.Holds(White, Prisoner) != 2 {
			t.Errorf("%d captured, White holds %d", g.Captured(Black), g.Holds(White, Prisoner))
		}
		// One stone alone restores the position.
		if why := forbidden(t, drawn(t, r.Name, Black, "...", "O..", ".O."), "A1"); why != "the board would be the same as at the start (superko)" {
			t.Error(why)
		}
	}
}

// In Ultimate Go komi is stones in the bowls, whole ones: black ones for White,
// and below zero white ones for Black, each beside the one that lies there.
func TestKomiInBowls(t *testing.T) {
	for komi, want := range map[Points][2]int{0: {1, 1}, 3 * One: {1, 4}, -2 * One: {3, 1}} {
		g, err := New(&Ultimate, Setup{W: 2, H: 2, Komi: komi})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{g.Holds(Black, Prisoner), g.Holds(White, Prisoner)}; got != want {
			t.Errorf("komi %v: %v in the bowls, want %v", komi, got, want)
		}
	}
	for _, komi := range []Points{Half, -Half, 7*One + Half} {
		if _, err := New(&Ultimate, Setup{W: 2, H: 2, Komi: komi}); err == nil || err.Error() != KomiIsWhole.Not {
			t.Errorf("komi %v: %v", komi, err)
		}
	}
}

// In Ultimate Go the player who made the first delay may declare a draw, and
// only while the opponent's bowl holds the ultimate stone and nothing else.
func TestWhoMayDeclareADraw(t *testing.T) {
	g, err := New(&Ultimate, Setup{W: 2, H: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ turn, why string }{
		{"", MadeTheFirstDelay.Not},
		{"delay", MadeTheFirstDelay.Not},              // White holds the ultimate stone
		{"A1", OpponentHoldsOnlyTheUltimateStone.Not}, // and a prisoner
		{"B1x", MadeTheFirstDelay.Not},                // Black's bowl has a prisoner, none of them ultimate
	} {
		if g = then(t, g, x.turn); forbidden(t, g, "draw") != x.why {
			t.Errorf("after %v: %s, want %s", g.log, forbidden(t, g, "draw"), x.why)
		}
	}
	g = then(t, g, "delay draw")
	if g.Result() != "Draw" {
		t.Error(g.Result())
	}
}

// A game has bounds, and what ends it is possible at them.
func TestBounds(t *testing.T) {
	for komi, ok := range map[Points]bool{MaxKomi: true, -MaxKomi: true, MaxKomi + Half: false, -MaxKomi - Half: false} {
		if _, err := New(&AGA, Setup{W: 2, H: 2, Komi: komi}); (err == nil) != ok {
			t.Errorf("komi %v: %v", komi, err)
		}
	}
	// A setup is the game's own.
	black, white := []Point{{0, 0}}, []Point{{1, 1}}
	set, err := New(&AGA, Setup{W: 3, H: 3, Black: black, White: white})
	if err != nil {
		t.Fatal(err)
	}
	black[0], white[0] = Point{2, 0}, Point{0, 2}
	if s := set.Setup(); s.Black[0] != (Point{0, 0}) || s.White[0] != (Point{1, 1}) {
		t.Errorf("the setup has become %v %v", s.Black, s.White)
	}

	try := func(b *Builder, turns ...Turn) {
		t.Helper()
		for _, turn := range turns {
			if err := b.Play(turn); err != nil {
				t.Fatal(err)
			}
		}
	}
	refuses := func(g *Game, turn Turn, want error) {
		t.Helper()
		if _, err := g.Play(turn); !errors.Is(err, want) {
			t.Errorf("%v after %d turns: %v, want %v", turn, g.Turns(), err, want)
		}
	}
	start, _ := New(aga1, Setup{W: 2, H: 2}) // in which play is resumed without end
	b := start.Build()
	for range MaxTurns / 2 {
		try(b, Turn{Kind: Pass, By: Black}, Turn{Kind: Pass, By: White}, Turn{Kind: Resume, By: Black})
	}
	g := b.Game()
	refuses(g, Turn{Kind: Pass, By: Black}, ErrTooLong)
	refuses(g, Turn{Kind: Place, By: Black}, ErrTooLong)
	refuses(g, Turn{Kind: Resign, By: Black}, nil)

	b = start.Build()
	stone := []Point{{0, 0}}
	try(b, Turn{By: Black, At: stone[0]}, Turn{Kind: Pass, By: White}, Turn{Kind: Pass, By: Black})
	if b.Phase() != Settling {
		try(b, Turn{Kind: Pass, By: White})
	}
	for range MaxTurns / 2 {
		try(b, Turn{Kind: MarkDead, By: White, Dead: stone}, Turn{Kind: Unmark, By: Black, Dead: stone})
	}
	g = b.Game()
	for kind, want := range map[Kind]error{MarkDead: ErrTooLong, MarkSeki: ErrTooLong, Unmark: ErrTooLong, AcceptScore: nil, Resume: nil, Resign: nil} {
		turn := Turn{Kind: kind, By: White}
		if kind.marks() {
			turn.Dead = stone
		}
		refuses(g, turn, want)
	}
	for _, made := range []Kind{MarkDead, MarkSeki, Unmark} { // together they are counted
		marked := *g
		marked.times = [kinds]int{}
		marked.times[made] = MaxTurns
		refuses(&marked, Turn{Kind: MarkDead, By: White, Dead: stone}, ErrTooLong)
	}
}

// A game begins on a board, with a komi and stones that can be.
func TestSetupsThatCannotBe(t *testing.T) {
	ps := func(names string) []Point { return points(t, 5, 5, names) }
	for name, x := range map[string]struct {
		setup Setup
		want  string
	}{
		"no stones":           {Setup{}, ""},
		"handicap":            {Setup{Black: ps("B2 C3"), Handicap: 2}, ""},
		"handicap and stones": {Setup{Black: ps("B2 C3 D4"), White: ps("A1"), Handicap: 2}, ""},
		"highest komi":        {Setup{Komi: MaxKomi}, ""},
		"lowest komi":         {Setup{Komi: -MaxKomi}, ""},
		"higher komi":         {Setup{Komi: MaxKomi + Half}, "komi is at most 400 points either way"},
		"lower komi":          {Setup{Komi: -MaxKomi - Half}, "komi is at most 400 points either way"},
		"off the board":       {Setup{White: []Point{{5, 0}}}, "a setup stone is not on the board: F1"},
		"one on another":      {Setup{Black: ps("B2"), White: ps("B2")}, "two setup stones on B2"},
		"twice the same":      {Setup{Black: ps("B2 B2")}, "two setup stones on B2"},
		"without a liberty":   {Setup{Black: ps("A1"), White: ps("A2 B1")}, "a setup stone without a liberty: A1"},
		"handicap of one":     {Setup{Black: ps("B2"), Handicap: 1}, "a handicap is 2 stones or more, and all of them on the board: not 1"},
		"negative handicap":   {Setup{Black: ps("B2"), Handicap: -1}, "a handicap is 2 stones or more, and all of them on the board: not -1"},
		"not all of them":     {Setup{Black: ps("B2 C3"), Handicap: 3}, "a handicap is 2 stones or more, and all of them on the board: not 3"},
	} {
		x.setup.W, x.setup.H = 5, 5
		got := ""
		if _, err := New(&AGA, x.setup); err != nil {
			got = err.Error()
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// The game before one that was counted without its dead stones still has them.
func TestBeforeDeadStonesAreLifted(t *testing.T) {
	g, err := Close(&TrompTaylor, Setup{W: 3, H: 3}, moves(t, 3, 3, Black, "B2 A1"), points(t, 3, 3, "A1"), nil)
	if err != nil {
		t.Fatal(err)
	}
	board, before := g.Board(), g.Before().Board()
	if p := (Point{0, 0}); g.Phase() != Over || board.At(p) != None || before.At(p) != White {
		t.Errorf("%v, A1 is %v, before %v", g.Phase(), board.At(p), before.At(p))
	}
}

// A game keeps nothing of its caller's.
func TestTurnsAreCopied(t *testing.T) {
	g := replay(t, "aga", 5, 5, 0, "C3 pass pass")
	dead := points(t, 5, 5, "C3")
	g, err := g.Play(Turn{Kind: MarkDead, By: Black, Dead: dead})
	if err != nil {
		t.Fatal(err)
	}
	dead[0] = Point{0, 0}
	if last := g.Log()[len(g.Log())-1]; Names(last.Dead) != "C3" {
		t.Errorf("%v", last)
	}
}

// Games that go on from one without its dead stones do not write into each other.
func TestSiblingsAfterLift(t *testing.T) {
	lifted := replay(t, "aga", 5, 5, 0, "A1 B1 E5 A2 B2 E1 C1 C5").Lift(points(t, 5, 5, "E5 E1"))
	after := func(turn Turn) *Game {
		t.Helper()
		turn.By = Black
		g, err := lifted.Play(turn)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	passed := after(Turn{Kind: Pass})
	want := fmt.Sprint(passed.Entries())
	after(Turn{At: Point{0, 0}}) // takes B1
	if got := fmt.Sprint(passed.Entries()); got != want {
		t.Errorf("%s, before that %s", got, want)
	}
}
