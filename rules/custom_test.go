package rules

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

func custom(t testing.TB, s Spec) *Ruleset {
	t.Helper()
	r, err := Custom(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A ruleset of the catalogue put together from its own words plays the same
// games, and can be read again from what a game keeps of it.
func TestCatalogueInItsOwnWords(t *testing.T) {
	for _, r := range Catalogue {
		t.Run(r.Name, func(t *testing.T) {
			s := r.Spec()
			s.Name = "copy"
			c := custom(t, s)
			read, err := Find(c.Stored())
			if err != nil {
				t.Fatal(err)
			}
			if read.ID() != c.ID() || read.Stored() != c.Stored() || read.Book() != c.Book() {
				t.Errorf("%s is read as\n%s", c.Stored(), read.Stored())
			}
			if !slices.Equal(c.Closing, r.Closing) {
				t.Errorf("closing %v, want %v", c.Closing, r.Closing)
			}
			for seed := range uint64(20) {
				rnd := table{rand.New(rand.NewPCG(seed, 13)), 0.2}
				end := rnd.game(t, r, rnd.setup(r), nil)
				half := end.At(end.Turns() / 2)
				for _, again := range []*Ruleset{c, read} {
					g, err := Replay(again, end.Setup(), end.Log())
					if err != nil {
						t.Fatal(err)
					}
					same(t, g, end)
					at := g.At(g.Turns() / 2)
					if got, want := fmt.Sprint(at.Legal(), at.Says()), fmt.Sprint(half.Legal(), half.Says()); got != want {
						t.Errorf("legal and to be said is %s, not %s", got, want)
					}
				}
			}
		})
	}
}

// Requirements of variant events.
var variants = map[string]Spec{
	"unlimited buttons": {Name: "unlimited-buttons", Base: "button",
		Moves: map[string][]string{"button": {}, "pass": {
			"the player takes a button", "another button is laid on the table", "when both players have just passed, play stops"}}},
	"three passes": {Name: "three-passes", Base: "aga",
		Moves: map[string][]string{"pass": {"a pass gives your opponent a pass stone", "When 3 passes have been made in a row, play stops."}}},
	"button worth 1": {Name: "whole-button", Base: "button", Komi: "7.5",
		Count: []string{"a stone on the board is worth 1", "an empty point that reaches only one colour is worth 1 to that colour",
			"a button is worth 1", "White gets N − 1 points for N handicap stones", "White gets the komi"}},
	"late pass stones": {Name: "late-stones", Base: "two-button",
		Moves: map[string][]string{"pass": {"unless it is the first pass of the game, a pass gives your opponent a pass stone",
			"when it is the first pass of the game, the first player to pass gets a button", "when both players have just passed, play stops"}}},
	"from nothing": {Name: "from-nothing", Title: "From nothing", Source: "here",
		Moves: map[string][]string{
			"place": {"only if the point is empty", "the player places a stone on it", "opponent stones without a liberty become prisoners",
				"the player's own stones without a liberty become the opponent's prisoners", "only if the position has not occurred before"},
			"pass": {"when 2 passes have been made in a row, play stops"}},
		Count: []string{"a stone on the board is worth 1", "a prisoner is worth ½"}},
	"settling": {Name: "settling", Moves: map[string][]string{"place": names(Placement(NewPosition)), "pass": {"when 1 passes have been made in a row, play stops"}},
		Settle: map[string][]string{"agree": {AcceptMarks.Name}, "resume": {ResumePlay.Name}, "dead": {MarkAsDead.Name}, "alive": {ClearMarks.Name}}, Count: []string{"an empty point that reaches only one colour is worth 1 to that colour"}},
	"no agreement": {Name: "play-out-aga", Base: "aga@1", Settle: map[string][]string{}, Agreed: []string{}},
}

func TestVariants(t *testing.T) {
	for name, s := range variants {
		t.Run(name, func(t *testing.T) {
			r := custom(t, s)
			id, hash, _ := strings.Cut(r.ID(), "@")
			if id != "custom/"+s.Name || len(hash) != 16 || strings.Trim(hash, "0123456789abcdef") != "" || !r.IsCustom() || r.Theorem != "" {
				t.Errorf("id %q", r.ID())
			}
			if !strings.Contains(r.Book(), r.ID()) || !strings.Contains(r.Book(), "\nKomi "+r.Komi.String()+" unless") || strings.Contains(r.Stored(), "\n") {
				t.Error(r.Book(), r.Stored())
			}
			// The laws of every ruleset, in games that it was not tried by.
			for seed := range uint64(60) {
				rnd := table{rand.New(rand.NewPCG(seed, 11)), 0.2}
				end := rnd.game(t, r, rnd.setup(r), func(g *Game) {
					conserved(t, g)
					nobodySurrounded(t, g)
					ledgerAddsUp(t, g)
					for _, v := range g.Views() {
						if v.Margin() != g.Score().Margin() {
							t.Errorf("%v: %v, the score is %v", v.Way, v.Margin(), g.Score().Margin())
						}
					}
				})
				again, err := Replay(r, end.Setup(), end.Log())
				if err != nil {
					t.Fatal(err)
				}
				same(t, again, end)
			}
		})
	}
}

// What is just as long as it may be is taken, whole and as it was written.
func TestLongestSpec(t *testing.T) {
	name := strings.Repeat("x", maxName)
	if r := custom(t, Spec{Name: name, Base: fmt.Sprintf("%-*s", maxName, "aga"), Title: "Go  & <Go> "}); r.ID()[:len(customPrefix)+maxName] != customPrefix+name || !strings.Contains(r.Stored(), "Go & <Go>") {
		t.Error(r.Stored())
	}
	s := Spec{Name: "x", Base: "aga", Moves: map[string][]string{"pass": {HandOverStone.Name, fmt.Sprintf("%-*s", maxRule, When(TwoPasses, StopPlay).Name)}}, Say: slices.Repeat([]string{WhitePassedFirst.Name}, maxRules), Closing: slices.Repeat([]string{"pass"}, maxRules)}
	if r := custom(t, s); len(r.Say) != maxRules || len(r.Closing) != maxRules {
		t.Errorf("%d facts and %d turns", len(r.Say), len(r.Closing))
	}
	s = longSpec()
	s.Note = "x"
	r, err := Custom(s)
	for _, k := range []string{"delay", "button"} {
		for ; err != nil && len(s.Moves[k]) > 0; r, err = Custom(s) {
			s.Moves[k] = s.Moves[k][1:]
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Note = strings.Repeat("x", 1+maxStored-len(r.Stored()))
	r = custom(t, s)
	if found, err := Find(r.Stored()); err != nil || len(r.Stored()) != maxStored || found.ID() != r.ID() {
		t.Errorf("%d bytes: %v", len(r.Stored()), err)
	}
}

// The limits of komi are within them.
func TestLargestKomi(t *testing.T) {
	for text, want := range map[string]Points{"400": MaxKomi, "-400": -MaxKomi} {
		if r := custom(t, Spec{Name: "x", Base: "aga", Komi: text}); r.Komi != want {
			t.Errorf("%s: %v", text, r.Komi)
		}
	}
}

// The effects of the changed rules.
func TestVariantsPlay(t *testing.T) {
	play := func(name string, s string) *Game {
		t.Helper()
		g, err := Replay(custom(t, variants[name]), Setup{W: 5, H: 5}, moves(t, 5, 5, Black, s))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return g
	}
	g := play("unlimited buttons", "pass C3 pass D3 pass C4 D4 pass pass")
	if g.Holds(Black, ButtonThing) != 4 || g.Holds(White, ButtonThing) != 1 || g.Table() != 1 || g.Phase() != Settling {
		t.Errorf("buttons %d and %d, %d on the table, %v", g.Holds(Black, ButtonThing), g.Holds(White, ButtonThing), g.Table(), g.Phase())
	}
	if g := play("three passes", "C3 pass pass"); g.Phase() != Playing || g.Holds(Black, PassStone) != 1 {
		t.Error("two passes stop play")
	}
	if g := play("three passes", "C3 pass pass pass"); g.Phase() != Settling {
		t.Error("three passes do not stop play")
	}
	if g := settled(t, play("button worth 1", "C3 button pass pass"), ""); g.Result() != "B+24" {
		t.Error(g.Result())
	}
	if r := custom(t, variants["button worth 1"]); r.Komi != 15 {
		t.Error(r.Komi)
	}
	if g := play("late pass stones", "C3 pass pass"); g.Holds(Black, PassStone) != 0 || g.Holds(White, PassStone) != 1 || g.Holds(White, ButtonThing) != 1 {
		t.Error(g.Entries())
	}
	if g := play("from nothing", "A1 A2 C3 B1x pass pass"); g.Result() != "W+1.5" {
		t.Error(g.Result(), g.Score())
	}
	if g := play("no agreement", "C3 pass pass"); g.Phase() != Over || g.Result() != "B+24" {
		t.Error(g.Result(), g.Score())
	}
	for name, want := range map[string]string{"three passes": AGA.Source + ", changed", "from nothing": "here", "settling": "a custom ruleset"} {
		if r := custom(t, variants[name]); r.Source != want {
			t.Errorf("%s: the source is %q", name, r.Source)
		}
	}
	fullPasses, err := compose(Spec{Name: "x", Base: "half-pass", Moves: map[string][]string{"pass": {When(FollowsFullPass, StopPlay).Name, HandOverFullStone.Name, When(WhitePassedFirst, PutInHalfPassZone).Name}}})
	if err != nil {
		t.Fatal(err)
	}
	if g, err := Replay(fullPasses, Setup{W: 5, H: 5}, moves(t, 5, 5, Black, "pass pass")); err != nil || g.Phase() == Playing || g.Holds(White, Territory) != 0 {
		t.Errorf("a full pass after a full pass: %v", err)
	}
	early := custom(t, Spec{Name: "x", Base: "territory-1", Moves: map[string][]string{"pass": {
		When(InFinalStage, HandOverStone).Name, When(PreliminaryEnd, BeginFinalStage).Name, When(FinalStageIsEqual, StopPlay).Name}}})
	for passes, want := range map[string]Phase{"pass pass": Playing, "pass pass pass": Playing, "pass pass pass pass": Over} {
		if g, err := Replay(early, Setup{W: 5, H: 5}, moves(t, 5, 5, Black, passes)); err != nil || g.Phase() != want {
			t.Errorf("%s: %v, %v", passes, g.Phase(), err)
		}
	}
	agreeing := custom(t, Spec{Name: "x", Base: "tromp-taylor", Settle: map[string][]string{"agree": {AcceptMarks.Name}}})
	if got := names(agreeing.Settle[Resign]); !slices.Equal(got, []string{ConcedeGame.Name}) {
		t.Errorf("where players only agree they resign by %q", got)
	}
	if r := custom(t, variants["three passes"]); !slices.Equal(r.Closing, []Kind{Pass, Pass, Pass}) {
		t.Error(r.Closing)
	}
}

// A rule that finds nothing to take refuses, wherever it is put; what can be
// laid on the table is bounded.
func TestSentencesHoldBack(t *testing.T) {
	laid, err := compose(Spec{Name: "x", Base: "button", Moves: map[string][]string{"pass": {LayAnotherButton.Name, LayAnotherButton.Name, "when 9 passes have been made in a row, play stops"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range [][]string{{}, {OneButton.Name}, {TwoButtons.Name}, {"3 buttons lie on the table"}} {
		s := Spec{Name: "x", Base: "button", Start: start}
		if len(start) == 0 {
			s.Moves = map[string][]string{"pass": append([]string{LayAnotherButton.Name}, ButtonGo.Spec().Moves["pass"]...)}
		}
		if _, err := compose(s); err != nil {
			t.Error(start, err)
		}
	}
	g, err := Replay(laid, Setup{W: 3, H: 3}, moves(t, 3, 3, Black, "pass pass pass pass pass pass pass pass"))
	if err != nil || g.Table() != mostButtons {
		t.Errorf("%d buttons on the table, %v", g.Table(), err)
	}
	taking, err := compose(Spec{Name: "x", Base: "button", Moves: map[string][]string{"pass": {GiveButton.Name, When(TwoPasses, StopPlay).Name}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(taking, Setup{W: 3, H: 3}, moves(t, 3, 3, Black, "pass pass")); err == nil || !strings.Contains(err.Error(), "no button lies on the table") {
		t.Errorf("a pass that takes a button where there is none: %v", err)
	}
	asking, err := compose(Spec{Name: "x", Base: "aga", Moves: map[string][]string{"pass": {"only if White passed first", When(TwoPasses, StopPlay).Name}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(asking, Setup{W: 3, H: 3}, moves(t, 3, 3, Black, "pass")); err == nil || !strings.Contains(err.Error(), "it is not true that White passed first") {
		t.Errorf("a pass that asks for what is not so: %v", err)
	}
	takeBack := TakeBackLastButton.Name
	stopping := []string{StopPlay.Name, LiftBans.Name, GiveButton.Name}
	for name, x := range map[string]struct {
		button, pass, resume []string
		play                 string
		refused              bool
	}{
		"as it is":           {nil, nil, []string{takeBack, ResumePlay.Name}, "C3 D3 button pass pass button", false},
		"twice":              {nil, nil, []string{takeBack, takeBack, ResumePlay.Name}, "C3 D3 button pass pass button", true},
		"what no turn took":  {nil, []string{HandOverStone.Name, When(TwoPasses, StopPlay).Name}, []string{takeBack, ResumePlay.Name}, "C3 D3 button pass pass", true},
		"twice, both of one": {stopping, []string{GiveButton.Name, HandOverStone.Name}, []string{takeBack, takeBack, ResumePlay.Name}, "C3 pass D3 button", false},
	} {
		spec := Spec{Name: "x", Base: "two-button-separate", Moves: map[string][]string{}, Settle: map[string][]string{"resume": x.resume}}
		if x.button != nil {
			spec.Moves["button"] = x.button
		}
		if x.pass != nil {
			spec.Moves["pass"] = x.pass
		}
		r, err := compose(spec)
		if err != nil {
			t.Fatal(name, err)
		}
		g, err := Replay(r, Setup{W: 5, H: 5}, moves(t, 5, 5, Black, x.play))
		if err != nil || g.Phase() != Settling {
			t.Fatal(name, err)
		}
		resumed, err := g.Play(Turn{Kind: Resume, By: Black})
		if (err != nil) != x.refused {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			ledgerAddsUp(t, resumed)
			if _, err := resumed.Play(Turn{Kind: Place, By: resumed.ToPlay(), At: Point{0, 0}}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The id follows from the whole text and from nothing else.
func TestCustomID(t *testing.T) {
	s := variants["three passes"]
	id := custom(t, s).ID()
	s.Moves = map[string][]string{"pass": {" a pass hands  the opponent a pass stone. ", "when 3 passes have been made in a row, play stops"}}
	if custom(t, s).ID() != id {
		t.Error("blanks, case and full stops make another ruleset")
	}
	s.Moves["delay"] = []string{}
	if custom(t, s).ID() != id {
		t.Error("a turn that is taken away where there is none makes another ruleset")
	}
	whole := custom(t, s).Spec()
	if custom(t, whole).ID() != id {
		t.Error("spelled out it is another ruleset")
	}
	for what, change := range map[string]func(*Spec){
		"komi":  func(s *Spec) { s.Komi = "6" },
		"title": func(s *Spec) { s.Title = "Other" },
		"note":  func(s *Spec) { s.Note = "Other" },
		"pass":  func(s *Spec) { s.Moves["pass"][1] = "when 4 passes have been made in a row, play stops" },
		"say":   func(s *Spec) { s.Say = []string{} },
		"base":  func(s *Spec) { s.Base = "area-2"; s.Count = CountsOf(&AGA) },
	} {
		s := variants["three passes"]
		s.Moves = map[string][]string{"pass": slices.Clone(s.Moves["pass"])}
		change(&s)
		if custom(t, s).ID() == id {
			t.Errorf("another %s is the same ruleset", what)
		}
	}
	stored := custom(t, variants["three passes"]).Stored()
	_, text, _ := strings.Cut(stored, " ")
	text = strings.Replace(text, "three-passes", "x", 1)
	sealed := func(name, text string) string {
		r := &Ruleset{Name: customPrefix + name}
		r.seal(text)
		return r.Stored()
	}
	if _, err := Find(sealed("x", text)); err != nil {
		t.Error(err)
	}
	for what, bad := range map[string]string{
		"the id alone":   id,
		"another text":   strings.Replace(stored, `"komi":"7.5"`, `"komi":"6.5"`, 1),
		"no text":        id + " ",
		"half a text":    stored[:len(stored)/2],
		"an unknown key": strings.Replace(stored, `"komi"`, `"kom"`, 1),
		"a long text":    stored + strings.Repeat(" ", 1<<16),
		"another key":    sealed("x", strings.Replace(text, `"komi"`, `"kom"`, 1)),
		"no such words":  sealed("x", strings.Replace(text, "pass stone", "stone", 1)),
		"a whole base":   sealed("x", `{"name":"x","title":"x","source":"x","base":"aga","komi":"7.5"}`),
		"a base":         `custom/x@0000000000000000 {"name":"x","base":"aga"}`,
	} {
		if r, err := Find(bad); !errors.Is(err, ErrNoSuchRuleset) {
			t.Errorf("%s: %v %v", what, r, err)
		}
	}
	for _, r := range Catalogue {
		if found, err := Find(r.Stored()); found != r || err != nil {
			t.Errorf("%s: %v", r.Stored(), err)
		}
	}
}

// CountsOf returns the count of a ruleset in words.
func CountsOf(r *Ruleset) []string { return r.Spec().Count }

func TestBadSpecs(t *testing.T) {
	pass := func(sentences ...string) map[string][]string { return map[string][]string{"pass": sentences} }
	deep := strings.Repeat("when it is the first pass of the game, ", 4) + "play stops"
	for _, x := range []struct {
		spec Spec
		want string
	}{
		{Spec{Name: "two\nlines"}, `custom ruleset: name: "two\nlines" is not a name: 1 to 30 lower-case letters, digits and hyphens`},
		{Spec{Name: "Upper"}, `custom ruleset: name: "Upper" is not a name: 1 to 30 lower-case letters, digits and hyphens`},
		{Spec{Name: "x", Base: "two-buton"}, `custom ruleset x: base: no such ruleset: "two-buton" (did you mean "two-button"?)`},
		{Spec{Name: "x", Base: strings.Repeat("two-button ", 3)}, `custom ruleset x: base: no such ruleset: "two-button two-butto…"`},
		{Spec{Name: "x", Base: "aga", Komi: "6.3"}, `custom ruleset x: komi: 6.3 is not a multiple of ½`},
		{Spec{Name: "x", Base: "aga", Komi: "401"}, `custom ruleset x: komi: komi is at most 400 points either way`},
		{Spec{Name: "x", Base: "ultimate", Komi: "½"}, `custom ruleset x: in Ultimate Go the komi is a whole number of stones`},
		{Spec{Name: "x", Base: "aga", Moves: pass("a pass hands the oponent a pas stone")},
			`custom ruleset x: moves, pass, rule 1: unknown rule "a pass hands the oponent a pas stone" (did you mean "a pass gives your opponent a pass stone"?)`},
		{Spec{Name: "x", Base: "aga", Moves: pass("os.Exit(1)")}, `custom ruleset x: moves, pass, rule 1: unknown rule "os.Exit(1)"`},
		{Spec{Name: "x", Base: "aga", Moves: pass("when both players have pased in turn, play stops")},
			`custom ruleset x: moves, pass, rule 1: unknown fact "both players have pased in turn" (did you mean "both players have just passed"?)`},
		{Spec{Name: "x", Base: "aga", Moves: pass("when 3 pases have been made in a row, play stops")},
			`custom ruleset x: moves, pass, rule 1: unknown fact "3 pases have been made in a row" (did you mean "3 passes have been made in a row"?)`},
		{Spec{Name: "x", Base: "aga", Moves: pass("when play stops")}, `custom ruleset x: moves, pass, rule 1: "when play stops" must have the form when FACT, RULE`},
		{Spec{Name: "x", Base: "aga", Moves: pass("a stone on the board is worth 1")},
			`custom ruleset x: moves, pass, rule 1: "a stone on the board is worth 1" does not fit here: it belongs to count`},
		{Spec{Name: "x", Base: "aga", Moves: pass("only if the player to move can only resign")},
			`custom ruleset x: moves, pass, rule 1: "the player to move can only resign" cannot be a condition here: only say may name it`},
		{Spec{Name: "x", Base: "aga", Moves: pass("when 12 passes have been made in a row, play stops")},
			`custom ruleset x: moves, pass, rule 1: "12 passes have been made in a row": "12" is not a number from 1 to 9`},
		{Spec{Name: "x", Base: "aga", Moves: pass(deep)}, `custom ruleset x: moves, pass, rule 1: "play stops" has too many conditions`},
		{Spec{Name: "x", Base: "aga", Moves: pass(strings.Repeat("x", 301))}, `custom ruleset x: moves, pass, rule 1: must have at most 300 characters`},
		{Spec{Name: "x", Base: "aga", Moves: pass(make([]string, 25)...)}, `custom ruleset x: moves, pass: at most 24 rules`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"dance": nil}},
			`custom ruleset x: moves: "dance" is not one of place, pass, accept, button, delay, draw, resign, no-result`},
		{Spec{Name: "x", Base: "aga", Count: []string{"a prisoner is worth 0"}}, `custom ruleset x: count, rule 1: "a prisoner is worth 0": a worth is ½ to 20, not 0`},
		{Spec{Name: "x", Base: "aga", Count: []string{"a prisoner is worth 0.7"}}, `custom ruleset x: count, rule 1: "a prisoner is worth 0.7": 0.7 is not a multiple of ½`},
		{Spec{Name: "x", Base: "aga", Count: []string{"a button is worth ½"}}, `custom ruleset x: count: a button is counted, but no rule makes a player hold one`},
		{Spec{Name: "x", Base: "area-2", Count: []string{"a pass stone is worth 1"}}, `custom ruleset x: count: a pass stone is counted, but no rule makes a player hold one`},
		{Spec{Name: "x", Base: "aga", Moves: pass("a pass gives your opponent a pass stone")},
			`custom ruleset x: moves: the game cannot end: no turn has the rule "play stops", as in "when both players have just passed, play stops"`},
		{Spec{Name: "x", Base: "ultimate", Count: []string{"a prisoner is worth 1"}}, `custom ruleset x: moves: there is a count, but play never stops: no turn has the rule "play stops"`},
		{Spec{Name: "x", Base: "ultimate", Settle: AGA.Spec().Settle}, `custom ruleset x: moves: play never stops, so settle and agreed must be empty`},
		{Spec{Name: "x", Base: "ultimate", Settle: map[string][]string{"agree": {AcceptMarks.Name}}}, `custom ruleset x: moves: play never stops, so settle and agreed must be empty`},
		{Spec{Name: "x", Base: "ultimate", Agreed: AGA.Spec().Agreed[:1]}, `custom ruleset x: moves: play never stops, so settle and agreed must be empty`},
		{Spec{Name: "x", Base: "ultimate", Moves: map[string][]string{"draw": {}}},
			`custom ruleset x: moves: the game cannot end: no turn has the rule "play stops", as in "when both players have just passed, play stops"`},
		{Spec{Name: "x", Base: "aga", Count: []string{}}, `custom ruleset x: moves: play stops, but there is no count`},
		{Spec{Name: "x", Base: "aga", Settle: map[string][]string{"agree": {"only if the player has not accepted yet"}}},
			`custom ruleset x: settle: the game cannot end: agree needs the rule "` + AcceptMarks.Name + `"`},
		{Spec{Name: "x", Base: "aga", Settle: map[string][]string{}}, `custom ruleset x: agreed: players agree on nothing, because settle is empty`},
		{Spec{Name: "x", Base: "button", Start: []string{}}, `custom ruleset x: start: players take buttons, but none lies on the table: start needs "a button lies on the table"`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"place": {"the player places a stone on it"}}},
			`custom ruleset x: moves, place: rule 1 must be "only if the point is empty", as in every placement`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"place": names(Placement(NewSituation)[:3])}},
			`custom ruleset x: moves, place: rule 4 must be "only if the stone then has a liberty" or "the player's own stones without a liberty become the opponent's prisoners"`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"place": names(Placement(NewSituation)[:4])}},
			`custom ruleset x: moves, place: a placement needs a rule on repetition: "only if the position has not occurred before", ` +
				`"only if the position has not occurred before with the same player to move" or "only if the position is not the one before the opponent's last turn (ko)"`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"place": append(names(Placement(NewSituation)), "the player places a stone on it")}},
			`custom ruleset x: moves, place: rule 6: a turn places one stone only`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"resign": {"only if it is the player's turn"}}},
			`custom ruleset x: moves, resign: the last rule must be "the opponent wins"`},
		{Spec{Name: "x", Base: "aga", Moves: pass("when the point is empty or White passed first, play stops")},
			`custom ruleset x: moves, pass, rule 1: "the point is empty or White passed first" cannot be a condition here: it belongs to place`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"dead": {}}},
			`custom ruleset x: moves: "dead" is not one of place, pass, accept, button, delay, draw, resign, no-result`},
		{Spec{Name: "x", Base: "aga", Say: []string{"the point is empty"}}, `custom ruleset x: say: "the point is empty" is not a fact that can be said`},
		{Spec{Name: "x", Base: "aga", Say: slices.Repeat([]string{WhitePassedFirst.Name}, maxRules+1)}, `custom ruleset x: say: at most 24 facts`},
		{Spec{Name: "x", Base: "aga", Closing: slices.Repeat([]string{"pass"}, maxRules+1)}, `custom ruleset x: closing: at most 24 turns`},
		{Spec{Name: "x"}, `custom ruleset x: moves, place: rule 1 must be "only if the point is empty", as in every placement`},
		{Spec{Name: "x", Base: "aga", Closing: []string{"resign"}}, `custom ruleset x: closing: "resign": only pass and button can close a game`},
		{Spec{Name: "x", Base: "aga", Title: "two\nlines"}, `custom ruleset x: title: must be one line of text`},
		{Spec{Name: "x", Base: "aga", Note: strings.Repeat("½", 401)}, `custom ruleset x: note: must have at most 400 characters`},
		{longSpec(), `custom ruleset long: it is longer than 16 KiB`},
		// What only playing shows.
		{Spec{Name: "x", Base: "button", Moves: pass("the player takes a button", "when both players have just passed, play stops")},
			`the game cannot end: `},
		{Spec{Name: "x", Base: "aga", Moves: pass("a pass gives your opponent a pass stone", "when taking the last button stops play, play stops")}, `the game cannot end: `},
		{Spec{Name: "x", Base: "tromp-taylor", Count: []string{"a pass stone is worth 1"}, Moves: pass("when both players have just passed, play stops", "a pass gives your opponent a pass stone")},
			`the count misses what a turn moves after "play stops": put that rule last`},
		{Spec{Name: "x", Base: "aga", Moves: map[string][]string{"resign": {"only if White passed first", "the opponent wins"}}}, `the player to move cannot resign at the start`},
	} {
		r, err := Custom(x.spec)
		var bad *SpecError
		if !errors.As(err, &bad) || r != nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s is made, or %v; want %s", x.spec.Name, err, x.want)
			continue
		}
		if got := err.Error(); got != x.want && (strings.HasPrefix(x.want, "custom ruleset") || !strings.Contains(got, x.want)) {
			t.Errorf("got  %s\nwant %s", got, x.want)
		}
	}
}

// Games are kept in these words: a name that was released stays, in formerly
// if it has changed.
func TestVocabularyStays(t *testing.T) {
	name := filepath.Join("testdata", "vocabulary.txt")
	file, err := os.ReadFile(name)
	if err != nil && !*update {
		t.Fatal(err)
	}
	released := strings.Split(strings.TrimSpace(string(file)), "\n")
	known := func(s string) bool {
		_, isWord, _ := findWord(s)
		_, isFact, _ := findCondition(s)
		return isWord || isFact
	}
	var all []string
	for _, w := range words {
		all = append(all, w.Name)
	}
	for _, v := range valued {
		all = append(all, v.prefix+"1½")
	}
	for _, f := range conditions {
		all = append(all, f.Name)
		if strings.Contains(f.Name, " or ") || f.Is == nil {
			t.Errorf("%q cannot be part of a list of facts", f.Name)
		}
	}
	all = append(all, Passes(3).Name, Buttons(3).Name)
	for _, s := range released {
		if s != "" && !known(s) {
			t.Errorf("%q is not known any more", s)
		}
	}
	for i, s := range all {
		if slices.Contains(all[:i], s) {
			t.Errorf("%q is there twice", s)
		}
		if !slices.Contains(released, s) {
			if released = append(released, s); !*update {
				t.Errorf("%q is new: -update keeps it", s)
			}
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(strings.TrimSpace(strings.Join(released, "\n"))+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A stored custom ruleset is readable for ever, and plays the same
// game: a line of text, a game, its proof and its ledger.
func TestStoredStays(t *testing.T) {
	name := filepath.Join("testdata", "custom.txt")
	file, err := os.ReadFile(name)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if *update && len(file) == 0 {
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(variants)) {
			r := custom(t, variants[k])
			g := table{rand.New(rand.NewPCG(1, 29)), 0.3}.game(t, r, Setup{W: 4, H: 4, Komi: r.Komi}, nil)
			var log []string
			for _, turn := range g.Log() {
				log = append(log, turn.String())
			}
			fmt.Fprintf(&b, "%s\n%s\n%s %s %v\n", r.Stored(), strings.Join(log, ", "), g.Proof(), g.Result(), g.Entries())
		}
		file = []byte(b.String())
		if err := os.WriteFile(name, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	if len(lines) < 3*len(variants) {
		t.Errorf("only %d lines", len(lines))
	}
	for i := 0; i+2 < len(lines); i += 3 {
		r, err := Find(lines[i])
		if err != nil {
			t.Error(err)
			continue
		}
		g, err := New(r, Setup{W: 4, H: 4, Komi: r.Komi})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range strings.Split(lines[i+1], ", ") {
			turn, err := ParseTurn(s, 4, 4)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = g.Play(turn); err != nil {
				t.Fatalf("%s: %v", r.ID(), err)
			}
		}
		if got := fmt.Sprintf("%s %s %v", g.Proof(), g.Result(), g.Entries()); got != lines[i+2] {
			t.Errorf("%s: %s, want %s", r.ID(), got, lines[i+2])
		}
	}
}

// hostile puts words together at random, each where it may stand or anywhere.
func hostile(rnd *rand.Rand) Spec {
	s := Catalogue[rnd.IntN(len(Catalogue))].Spec()
	s.Name = "hostile"
	kind := func(m *map[string][]string, ks ...Kind) *[]string {
		k := ks[rnd.IntN(len(ks))].String()
		list := slices.Clone((*m)[k])
		put(m, k, list)
		return &list
	}
	for range 1 + rnd.IntN(4) {
		var list *[]string
		var p place
		done := func() {}
		switch rnd.IntN(8) {
		case 0:
			list, p = &s.Start, atStart
		case 1:
			list, p = &s.Agreed, onAgreed
		case 2:
			list, p = &s.Count, inCount
		case 3:
			k := []Kind{MarkDead, MarkSeki, Unmark, AcceptScore, Resume}[rnd.IntN(5)]
			list, p = kind(&s.Settle, k), on(k)
			done = func() { put(&s.Settle, k.String(), *list) }
		default:
			k := []Kind{Place, Pass, Pass, AcceptSuggestion, Button, Delay, Draw, NoResult}[rnd.IntN(8)]
			list, p = kind(&s.Moves, k), on(k)
			done = func() { put(&s.Moves, k.String(), *list) }
		}
		if rnd.IntN(20) == 0 {
			p = always
		}
		names, facts := wordNames(p), factNames(p, false)
		for range 1 + rnd.IntN(3) {
			sentence := names[rnd.IntN(len(names))]
			if len(facts) > 0 && rnd.IntN(2) == 0 && !strings.HasPrefix(sentence, "only if") {
				fact := facts[rnd.IntN(len(facts))]
				if rnd.IntN(4) == 0 {
					fact += " or " + facts[rnd.IntN(len(facts))]
				}
				sentence = []string{"when ", "unless "}[rnd.IntN(2)] + fact + ", " + sentence
			}
			switch n := rnd.IntN(len(*list) + 1); rnd.IntN(3) {
			case 0:
				*list = slices.Insert(slices.Clone(*list), n, sentence)
			case 1:
				*list = append(slices.Clone(*list), sentence)
			default:
				if n < len(*list) {
					*list = slices.Clone(*list)
					(*list)[n] = sentence
				}
			}
		}
		done()
	}
	return s
}

// Whatever is put together is refused with a reason or keeps the laws, in any
// game: it cannot bring a fold down.
func TestHostileSpecs(t *testing.T) {
	n := tier.Pick(50, 200, 5000)
	made := 0
	why := map[string]int{}
	for seed := range uint64(n) {
		rnd := rand.New(rand.NewPCG(seed, 17))
		spec := hostile(rnd)
		r, err := compose(spec) // all that is asked of what was stored
		if err == nil {
			abuse(t, r, rnd)
			_, err = Custom(spec)
		}
		if err != nil {
			why[strings.Join(strings.Fields(err.Error())[2:6], " ")]++
		} else {
			made++
		}
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, spec)
		}
	}
	if made < n/20 || made > n*19/20 {
		t.Errorf("%d of %d were made: %v", made, n, why)
	}
}

// abuse plays any turns, legal or not.
func abuse(t *testing.T, r *Ruleset, rnd *rand.Rand) {
	t.Helper()
	for range 4 {
		g, err := New(r, Setup{W: 1 + rnd.IntN(4), H: 1 + rnd.IntN(4), Komi: Points(rnd.IntN(9)) * One})
		if err != nil {
			t.Error(err)
			return
		}
		for range 100 {
			p := Point{int8(rnd.IntN(4)), int8(rnd.IntN(4))}
			turn := Turn{Kind: Kind(rnd.IntN(int(kinds))), By: g.toPlay, At: p, Dead: []Point{p}}
			if rnd.IntN(2) == 0 {
				turn.Kind = Kind(rnd.IntN(3))
			}
			if turn.Kind == Resign && rnd.IntN(10) > 0 || turn.Kind == AcceptScore && rnd.IntN(2) == 0 {
				turn.By = g.toPlay.Opponent()
			}
			if turn.Kind == Pass && rnd.IntN(2) == 0 {
				turn.Dead = nil
			}
			next, err := g.Play(turn)
			if err != nil {
				var illegal *Illegal
				if !errors.As(err, &illegal) || illegal.Because.Text == "" {
					t.Errorf("%v: refused without a reason: %#v", turn, err)
				}
				continue
			}
			g = next
			conserved(t, g)
			nobodySurrounded(t, g)
			ledgerAddsUp(t, g)
			g.Says()
			g.Views()
			Explain(g)
			Read(g)
			if g.table < 0 || g.table > mostButtons {
				t.Errorf("%d buttons on the table", g.table)
			}
		}
		again, err := Replay(r, g.Setup(), g.Log())
		if err != nil || again.Proof() != g.Proof() {
			t.Error(err, g.Log())
		}
	}
}

// Bytes choose the words.
func FuzzCustom(f *testing.F) {
	f.Add(uint64(1), "when it is the first pass of the game, play stops", uint8(1))
	f.Add(uint64(2), "a button is worth 1½", uint8(11))
	f.Fuzz(func(t *testing.T, seed uint64, sentence string, where uint8) {
		rnd := rand.New(rand.NewPCG(seed, 19))
		s := hostile(rnd)
		if k := Kind(where % uint8(kinds)); where < 100 {
			put(&s.Moves, k.String(), append(slices.Clone(s.Moves[k.String()]), sentence))
		} else {
			s.Count = append(slices.Clone(s.Count), sentence)
		}
		if r, err := Custom(s); err == nil {
			abuse(t, r, rnd)
		}
	})
}

// longSpec says everything as often as it can be said.
func longSpec() Spec {
	s := AGA.Spec()
	s.Name, s.Note = "long", strings.Repeat("long ", 80)
	list := func(first []string, sentence string) []string {
		return append(slices.Clone(first), slices.Repeat([]string{sentence}, maxRules-len(first))...)
	}
	s.Moves["place"] = list(s.Moves["place"], "only if the position has not occurred before with the same player to move")
	deep := strings.Repeat("when FACT or FACT or FACT, ", 2)
	s.Moves["pass"] = list(s.Moves["pass"], strings.ReplaceAll(deep, "FACT", FirstPass.Name)+HandOverStone.Name)
	for _, k := range []string{"button", "delay"} {
		s.Moves[k] = list(nil, strings.ReplaceAll(deep, "FACT", WhitePassedFirst.Name)+LiftBans.Name)
	}
	s.Agreed = list(nil, "when "+BlackStoppedPlay.Name+", "+WhiteHandsOverStone.Name)
	s.Count = list(nil, strings.ReplaceAll("when FACT or FACT or FACT or FACT, ", "FACT", BlackPassedFirst.Name)+CountTerritory.Name)
	for _, k := range []string{"dead", "alive"} {
		s.Settle[k] = list(s.Settle[k], ForgetAcceptances.Name)
	}
	return s
}

// The cost of the largest spec.
func BenchmarkLongCustom(b *testing.B) {
	s := longSpec()
	for b.Loop() {
		if _, err := Custom(s); err == nil {
			b.Fatal("made")
		}
	}
}

func BenchmarkCustom(b *testing.B) {
	for name, s := range variants {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				custom(b, s)
			}
		})
		stored := custom(b, s).Stored()
		b.Run(strings.ReplaceAll(name, " ", "-")+"-read", func(b *testing.B) {
			for b.Loop() {
				if _, err := Find(stored); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
