package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A rule that lifts bans lifts those of whatever rule on repetition stands beside it, in
// custom rulesets on any base too.

var repetitions = []Fact{NotKo, NewPosition, NewSituation}

// onRepetition returns the ruleset with that rule on repetition, and more rules for some
// turns. The copy that a stored game would be read with must play as the ruleset does.
func onRepetition(t testing.TB, base *Ruleset, f Fact, start []string, more map[string][]string) []*Ruleset {
	t.Helper()
	s := base.Spec()
	place := slices.Clone(s.Moves["place"])
	place[len(place)-1] = Require(f).Name
	spec := Spec{Name: "bans", Base: base.Name, Moves: map[string][]string{"place": place}}
	if start != nil {
		spec.Start = append(slices.Clone(s.Start), start...)
	}
	for k, list := range more {
		if k == "place" {
			list = append(place, list...)
		}
		spec.Moves[k] = list
	}
	r := custom(t, spec)
	stored, err := Find(r.Stored())
	if err != nil {
		t.Fatal(err)
	}
	return []*Ruleset{r, stored}
}

// begun begins a game of a ruleset on a drawn board.
func begun(t testing.TB, r *Ruleset, rows ...string) *Game {
	t.Helper()
	g, err := New(r, setupOf(boardOf(rows...)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var openKo = []string{
	".XO..",
	"XO.O.",
	".XO..",
	".....",
	"....."}

// White passes, or delays, and from then on every placement lifts the bans: a ko may be
// taken back at once.
func TestPlacementLiftsBans(t *testing.T) {
	for _, base := range Catalogue {
		wait, fact := "pass", FirstPass
		if !base.Has(Pass) {
			wait, fact = "delay", FirstDelay
		}
		for _, f := range repetitions {
			t.Run(fmt.Sprintf("%s, %s", base.Name, f.Name), func(t *testing.T) {
				for _, r := range onRepetition(t, base, f, nil, nil) {
					forbidden(t, then(t, begun(t, r, openKo...), "E1 "+wait+" C4x"), "B4x")
				}
				for _, r := range onRepetition(t, base, f, nil, map[string][]string{"place": {When(fact, LiftBans).Name}}) {
					forbidden(t, then(t, begun(t, r, openKo...), "C4x"), "B4x")
					g := then(t, begun(t, r, openKo...), "E1 "+wait+" C4x B4x C4x B4x")
					stands(t, g, ".XO..", "XO.O.", ".XO..", ".....", "....X")
				}
			})
		}
	}
}

// Taking a button lifts the bans: the record begins anew with the board as it lies then.
func TestButtonLiftsBansOfEveryKind(t *testing.T) {
	for _, base := range Catalogue {
		wait := "pass"
		if !base.Has(Pass) {
			wait = "delay"
		}
		var start []string
		button := []string{Require(ButtonLies).Name, GiveButton.Name}
		switch {
		case base.Has(Button):
			button = slices.DeleteFunc(base.Spec().Moves["button"], func(s string) bool {
				return s == LiftBans.Name || s == When(FirstButtonLies, LiftBans).Name
			})
		case slices.ContainsFunc(base.Start, func(r Rule) bool { return r.Name == OneButton.Name || r.Name == TwoButtons.Name }):
			continue // its passes take the buttons
		default:
			start = []string{OneButton.Name}
		}
		for _, f := range repetitions {
			t.Run(fmt.Sprintf("%s, %s", base.Name, f.Name), func(t *testing.T) {
				for _, r := range onRepetition(t, base, f, start, map[string][]string{"button": button}) {
					if g := then(t, begun(t, r, openKo...), "C4x button "+wait); f.Name != NotKo.Name {
						forbidden(t, g, "B4x")
					}
				}
				for _, r := range onRepetition(t, base, f, start, map[string][]string{"button": append([]string{LiftBans.Name}, button...)}) {
					g := then(t, begun(t, r, openKo...), "C4x")
					forbidden(t, g, "B4x")
					g = then(t, g, "button "+wait+" B4x")
					stands(t, g, ".XO..", "XO.O.", ".XO..", ".....", ".....")
					if why := forbidden(t, g, "C4x"); !strings.HasPrefix(why, "the board would be the same as after move ") {
						t.Error(why)
					}
				}
			})
		}
	}
}

// What a ruleset of the catalogue lifts is lifted under another rule on repetition.
func TestCatalogueLiftsBansOfEveryKind(t *testing.T) {
	for _, id := range []string{"button", "button-equivalence", "two-button-separate"} {
		for _, f := range repetitions {
			for _, r := range onRepetition(t, ruleset(t, id), f, nil, nil) {
				then(t, begun(t, r, openKo...), "C4x button pass B4x")
			}
		}
	}
}

// A button that lifted bans and is taken back leaves the position that stands then in the
// record: one stone placed to die would repeat it.
func TestTakenBackButtonKeepsThePosition(t *testing.T) {
	base := TwoButtonSeparate.Spec()
	spec := Spec{Name: "bans", Base: "two-button-separate", Moves: map[string][]string{
		"place":  names(PlacementWithSuicide(NewPosition)),
		"button": append(base.Moves["button"], LiftBans.Name)}}
	g := then(t, begun(t, custom(t, spec), "...", "O..", ".O."), "button C3 pass pass button resume")
	if g.toPlay != Black {
		t.Fatal(g.toPlay)
	}
	if why := forbidden(t, g, "A1"); why != "the board would be the same as after move 4 (ko)" {
		t.Error(why)
	}
}
