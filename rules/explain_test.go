package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// The explanation has the lines of the score: the same lines, which add up to the totals,
// each by a rule that the book recites, each entry of the ledger behind a
// line too.
func TestExplained(t *testing.T) {
	everyRuleset(t, tier.Pick(20, 60, 600), func(t *testing.T, r *Ruleset, rnd table) {
		recited := map[string]bool{}
		for line := range strings.Lines(r.Book()) {
			if s, ok := strings.CutPrefix(line, "  - "); ok {
				recited[strings.TrimSpace(s)] = true
			}
		}
		rnd.game(t, r, rnd.setup(r), func(g *Game) {
			explained := Explain(g)
			s := g.Score()
			if s == nil {
				if explained != nil {
					t.Errorf("nothing is counted, but explained: %v", explained)
				}
				return
			}
			sum := map[Color]Points{}
			var lines []Line
			for _, e := range explained {
				lines = append(lines, e.Line)
				sum[e.Player] += e.Points()
				if !recited[e.Rule] {
					t.Errorf("the book does not have %q", e.Rule)
				}
				n, moves := 0, 0
				for _, x := range e.Entries {
					n += x.N
					if said, ok := recitedIn(r, x.Why); !ok || !recited[said] || !strings.HasSuffix(said, x.Why) && x.Why != LiftedDead {
						t.Errorf("the ledger's %q is recited as %q", x.Why, said)
					}
				}
				if e.Thing < held && n != e.N || e.Thing >= held && e.Entries != nil {
					t.Errorf("%+v", e)
				}
				for _, reason := range e.Reasons() {
					n -= reason.N
					moves += len(reason.Moves)
				}
				if n != 0 || moves > len(e.Entries) {
					t.Errorf("the reasons leave out %d of %+v", n, e)
				}
			}
			if !slices.Equal(lines, s.Lines) || sum[Black] != s.Black || sum[White] != s.White {
				t.Errorf("explained %v, the score is %+v", lines, s)
			}
		})
	})
}

// A count of stones on the board is a count of area already, whatever else it counts, and
// one without territory is none.
func TestNoViews(t *testing.T) {
	for _, count := range [][]string{
		{"a stone on the board is worth 1", "an empty point that reaches only one colour is worth 1 to that colour", "a pass stone is worth 1"},
		{"a prisoner is worth 1", "a pass stone is worth 1"},
	} {
		r := custom(t, Spec{Name: "other", Base: "aga", Count: count})
		g, err := New(r, Setup{W: 3, H: 3})
		if err != nil {
			t.Fatal(err)
		}
		if g = then(t, g, "pass"); g.Views() != nil {
			t.Errorf("%q: %v", count, g.Views())
		}
	}
}

// Every way of counting comes to the same margin, in every game at every turn;
// the area is the board's own.
func TestViewsAgree(t *testing.T) {
	everyRuleset(t, tier.Pick(20, 60, 600), func(t *testing.T, r *Ruleset, rnd table) {
		stones := slices.Contains(names(r.Count), CountPassStones.Name)
		rnd.game(t, r, rnd.setup(r), func(g *Game) {
			views := g.Views()
			if !stones {
				if views != nil {
					t.Errorf("%s hands over no pass stones: %v", r.Name, views)
				}
				return
			}
			if len(views) != 3 {
				t.Fatalf("%d ways of counting", len(views))
			}
			for _, v := range views[1:] {
				for i, l := range v.Lines[1:] {
					if before := v.Lines[i]; before.Player == l.Player && before.Thing < held && l.Thing >= held {
						t.Errorf("%s: %v is filled in before there is %v", v.Way, before.Thing, l.Thing)
					}
				}
			}
			b := g.Counted()
			area := Points(0)
			for i, v := range views {
				var sum Score
				for _, l := range v.Lines {
					sum.add(l)
					if v.Way == ByArea && (l.Thing == Stone || l.Thing == Territory) {
						area += l.Points() * map[Color]Points{Black: 1, White: -1}[l.Player]
					}
					if v.Way == ByFillingIn && l.Thing < held && g.phase == Playing && l.N != -g.Holds(l.Player.Opponent(), l.Thing) {
						t.Errorf("filled in %+v, held %d", l, g.Holds(l.Player.Opponent(), l.Thing))
					}
				}
				if int(v.Way) != i || v.Margin() != g.Score().Margin() || sum.Black != v.Black || sum.White != v.White {
					t.Errorf("%v: %v to %v, the score is %+v", v.Way, v.Black, v.White, g.Score())
				}
			}
			if area != Points(b.Area())*One {
				t.Errorf("area %v, the board has %d", area, b.Area())
			}
		})
	})
}

// The figures of the example with equivalence scoring: filled in 25 to 20½ and
// the komi of 7, by area 43 to 45½.
func TestE1Views(t *testing.T) {
	g := settled(t, replay(t, "button-equivalence", 9, 9, 14, e1+"button pass pass"), "J8 J2")
	views := g.Views()
	for i, want := range [][2]string{{"30½", "33"}, {"25", "27½"}, {"43", "45½"}} {
		if got := [2]string{views[i].Black.String(), views[i].White.String()}; got != want {
			t.Errorf("%v: %v, want %v", views[i].Way, got, want)
		}
	}
	for _, l := range []Line{{White, ButtonThing, -1, Half}, {White, Prisoner, -1, One}, {White, PassStone, -1, One}, {Black, Prisoner, -2, One}, {Black, PassStone, -1, One}} {
		if !slices.Contains(views[1].Lines, l) {
			t.Errorf("no %+v in %+v", l, views[1].Lines)
		}
	}
	if !slices.Contains(views[2].Lines, Line{White, Adjustment, 1, Half}) {
		t.Errorf("White spent half a stone less: %+v", views[2].Lines)
	}
}

func TestExplainedExample(t *testing.T) {
	g := settled(t, replay(t, "two-button", 9, 9, 0, g1+"pass pass"), "B9 D9")
	i := slices.IndexFunc(Explain(g), func(e Explanation) bool { return e.Player == White && e.Thing == ButtonThing })
	e := Explain(g)[i]
	if e.Rule != "a button is worth ½" || e.Points() != Half || len(e.Reasons()) != 1 ||
		e.Reasons()[0].Words() != "+1 at move 62: the first player to pass gets a button" {
		t.Errorf("%+v", e)
	}
	said, _ := recitedIn(g.rules, "the first player to pass gets a button")
	if said != "when it is the first pass of the game, the first player to pass gets a button" {
		t.Error(said)
	}
	i = slices.IndexFunc(Explain(g), func(e Explanation) bool { return e.Player == White && e.Thing == Prisoner })
	var words []string
	for _, r := range Explain(g)[i].Reasons() {
		words = append(words, r.Words())
	}
	if want := []string{"+1 at move 24: opponent stones without a liberty become prisoners", "+2 at move 63: stones agreed to be dead become prisoners"}; !slices.Equal(words, want) {
		t.Errorf("%q", words)
	}
	if got := (Reason{"a sentence", -1, []int{2, 7, 9}}).Words(); got != "−1 at moves 2, 7 and 9: a sentence" {
		t.Error(got)
	}
	if got := (Reason{"a sentence", 1, []int{0}}).Words(); got != "+1 at the start: a sentence" {
		t.Error(got)
	}
	if _, ok := recitedIn(&TrompTaylor, LiftedDead); ok {
		t.Error("tromp-taylor lifts nothing")
	}
	if s, _ := recitedIn(&HalfPassAgreement, LiftedDead); s != RemoveSuggested.Name {
		t.Error(s)
	}
}

// A reading is the count's where the conditions of the theorem are met.
func TestReading(t *testing.T) {
	g := settled(t, replay(t, "two-button", 9, 9, 3, g1+"pass pass"), "B9 D9")
	if r, err := Read(g); err != nil || r.Words() != "Black − White = A − w before komi. A = 5 is Black's area less White's, w = 1 because White passed first. That makes 4, and so does the count" {
		t.Error(r.Words(), err)
	}
	g = settled(t, replay(t, "reverse-button", 9, 9, 0, "pass pass"), "")
	if r, err := Read(g); err != nil || r.Words() != "Black − White = A − ½ before komi. A = 0 is Black's area less White's. That makes −½, and so does the count" {
		t.Error(r.Words(), err)
	}
	g = settled(t, replay(t, "button", 9, 9, 0, "pass pass"), "")
	if r, err := Read(g); err != nil || r.Words() != "Black − White = A + ½ − w before komi. A = 0 is Black's area less White's, w = 0 because White did not take the first button. "+
		"That makes ½, but the count is 0: the game does not meet a condition of the theorem" {
		t.Error(r.Words(), err)
	}
	conceded, err := replay(t, "aga", 3, 3, 0, "pass pass").Play(Turn{Kind: Resign, By: White})
	if err != nil {
		t.Fatal(err)
	}
	for why, gs := range map[string][]*Game{
		"the theorem speaks only once play has stopped": {replay(t, "aga", 3, 3, 0, "B2 pass")},
		"no theorem speaks of this ruleset": {
			settled(t, replay(t, "japanese", 3, 3, 0, "B2 pass pass"), ""), replay(t, "ultimate", 1, 1, 0, "delay delay draw"), replay(t, "japanese", 3, 3, 0, "B2")},
		"the theorem speaks only of games that are counted": {conceded},
	} {
		for _, g := range gs {
			if r, err := Read(g); err == nil || err.Error() != why {
				t.Errorf("%s is read as %+v, %v", g.Rules().Name, r, err)
			}
		}
	}
	for name, s := range map[string]Setup{
		"set up":        {W: 3, H: 3, Black: []Point{{1, 1}}},
		"set up white":  {W: 3, H: 3, White: []Point{{1, 1}}},
		"White first":   {W: 3, H: 3, First: White},
		"handicap":      {W: 3, H: 3, Black: []Point{{1, 1}, {0, 1}}, Handicap: 2},
		"by area":       {W: 3, H: 3, Black: []Point{{1, 1}, {0, 1}}, Handicap: 2},
		"wrong to move": {W: 3, H: 3, Black: []Point{{1, 1}, {0, 1}}, Handicap: 2, First: Black},
	} {
		r := &AGA
		if name == "by area" {
			r = &Area2
		}
		g, err := Close(r, s, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(g)
		if (err == nil) != (name == "handicap" || name == "by area") || err == nil && (read.D != read.Counted || read.A != 9) {
			t.Errorf("%s: %+v %v", name, read, err)
		}
	}
}

// recitedIn returns the rule with which the book recites a rule of the
// ledger: itself, or with the condition that it stands under. It reports false
// if the book does not have it: where play is played out and stones were
// lifted all the same, see [Game.Lift].
func recitedIn(r *Ruleset, why string) (string, bool) {
	if why == LiftedDead {
		switch {
		case r.Has(AcceptScore):
			why = AcceptMarks.Name
		case r.Has(AcceptSuggestion):
			why = RemoveSuggested.Name
		}
	}
	for _, s := range r.allRules() {
		if s.Name == why || strings.HasSuffix(s.Name, ", "+why) {
			return s.Name, true
		}
	}
	return "", false
}

// rules returns every rule of the book, in the order of Book.
func (r *Ruleset) allRules() []Rule {
	all := slices.Clone(r.Start)
	for _, k := range TurnKinds() {
		all = append(all, r.Moves[k]...)
	}
	for _, k := range TurnKinds() {
		all = append(all, r.Settle[k]...)
	}
	return slices.Concat(all, r.Agreed, r.Count)
}

// A ruleset without a theorem says nothing of the difference, whatever the area is.
func TestNoDifference(t *testing.T) {
	if d, ok := Japanese.Difference(5, 1); d != 0 || ok {
		t.Errorf("%v, %v", d, ok)
	}
}

// A ruleset with a heading that is there and empty has none of the rules under it.
func TestButWithout(t *testing.T) {
	r := AGA.But(Ruleset{Settle: map[Kind][]Rule{}, Agreed: []Rule{}, Moves: map[Kind][]Rule{Pass: {}}})
	if len(r.Settle)+len(r.Agreed) > 0 || r.Has(Pass) || !r.Has(Place) || len(r.Count) == 0 {
		t.Error(r.Book())
	}
}
