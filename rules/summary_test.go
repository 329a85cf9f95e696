package rules

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Every ruleset says in two lines how one wins and what a pass costs.
func TestSummaries(t *testing.T) {
	for _, r := range Catalogue {
		for _, s := range []string{r.Aim, r.PassCost} {
			if n := utf8.RuneCountInString(s); n == 0 || n > MaxSummary || !strings.HasSuffix(s, ".") {
				t.Errorf("%s: %q has %d characters, 1 to %d and a full stop are right", r.Name, s, n, MaxSummary)
			}
		}
	}
}

// The summaries are true: what a ruleset says of its aim and of passing is what its
// count and its ledger do.
func TestSummariesAreTrue(t *testing.T) {
	pass, a, b := "pass", "B2", "A2"
	for _, x := range []struct {
		rules string
		game  string // turns from an empty board of 3×3, Black or White first
		cost  Points // of the last of them, to the player who makes it
		says  string
	}{
		{"tromp-taylor", "B " + pass, 0, "A pass is free."},
		{"area-3", "B " + pass, 0, "A pass is free."},
		{"area-3", "W " + pass, -One, "If White passes first, Black gives White half a point."},
		{"territory-1", "B pass " + a + " pass", 0, "A pass is free until both players pass in turn;"},
		{"territory-1", "B pass pass pass", One, "then it costs one point."},
		{"aga", "B pass", One, "A pass costs one point."},
		{"aga", "W pass pass", 0, "White must make the last pass."}, // for Black's pass White hands over another
		{"button", "B pass", 0, "A pass is free."},
		{"button", "B button", -Half, "Taking the button instead gains half a point."},
		{"button-equivalence", "B pass", One, "A pass costs one point,"},
		{"button-equivalence", "B button", Half, "giving the button half a point."},
		{"button-equivalence", "W pass pass", 0, "White passes last."},
		{"reverse-button", "B pass", One, "A pass costs one point;"},
		{"reverse-button", "B pass pass", Half, "the last pass costs half a point."},
		{"two-button", "B pass", Half, "the first and the last pass cost half a point."},
		{"two-button", "B pass " + a + " " + b + " pass", One, "A pass costs one point;"},
		{"two-button", "B pass pass", Half, "the first and the last pass cost half a point."},
		{"two-button-separate", "B pass", One, "A pass costs one point,"},
		{"two-button-separate", "B button", Half, "a button half a point."},
		{"half-pass", "B pass", Half, "the first and the last pass cost half a point."},
		{"half-pass", "B pass pass", One, "A pass costs one point;"},
		{"half-pass", "B pass pass pass", Half, "the first and the last pass cost half a point."},
		{"half-pass-agreement", "B pass pass pass", Half, "the first and the last pass cost half a point."},
		{"japanese", "B pass", 0, "A pass is free."},
	} {
		r, err := Find(x.rules)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(x.game)
		g, err := New(r, Setup{W: 3, H: 3, First: map[string]Color{"B": Black, "W": White}[words[0]]})
		if err != nil {
			t.Fatal(err)
		}
		cost := Points(0)
		for _, word := range words[1:] {
			turn := Turn{Kind: map[string]Kind{"pass": Pass, "button": Button}[word], By: g.ToPlay()}
			if turn.Kind == Place {
				turn.At = points(t, 3, 3, word)[0]
			}
			next, err := g.Play(turn)
			if err != nil {
				t.Fatalf("%s: %s: %v", x.rules, x.game, err)
			}
			if cost = g.Score().Margin() - next.Score().Margin(); turn.By == White {
				cost = -cost
			}
			g = next
		}
		if cost != x.cost || !strings.Contains(r.PassCost, x.says) {
			t.Errorf("%s: %s costs %v, want %v; it says %q, want %q in it", x.rules, x.game, cost, x.cost, r.PassCost, x.says)
		}
	}
	for _, r := range Catalogue {
		if found, _, _ := strings.Cut(strings.TrimSuffix(r.measuredPassCost(), "."), ";"); !strings.HasPrefix(r.PassCost, found) && found+"." != dependsOnGame {
			t.Errorf("%s says %q, passing says %q", r.Name, r.PassCost, found)
		}
		if (len(r.Count) == 0) != strings.Contains(r.Aim, "Nothing is counted") {
			t.Errorf("%s: %q", r.Name, r.Aim)
		}
		for thing, word := range map[string]string{"a prisoner ": "prisoners", "a pass stone ": "pass stones", "a button ": "button",
			"an empty point ": "surround", "a stone on the board ": "stones"} {
			counted := false
			for _, rule := range r.Count {
				counted = counted || strings.Contains(rule.Name, thing)
			}
			if said := strings.Contains(r.Aim, word); counted && !said {
				t.Errorf("%s counts %q, its aim is %q", r.Name, thing, r.Aim)
			}
		}
	}
}

// A custom ruleset says it in words of its own, or in those that its rules suggest.
func TestSummariesOfCustomRulesets(t *testing.T) {
	for _, x := range []struct {
		Spec
		aim, pass string
	}{
		{Spec{Base: "two-button"}, TwoButton.Aim, TwoButton.PassCost},
		{Spec{Base: "two-button", Moves: map[string][]string{"pass": names(TwoButton.Moves[Pass])}}, "Most points win: surrounded points, prisoners, pass stones, buttons.",
			"A pass costs one point; the first and the last pass cost half a point."},
		{Spec{Base: "aga", Aim: "Have fun.", Pass: "Pass, friend."}, "Have fun.", "Pass, friend."},
		{Spec{Base: "aga", Moves: map[string][]string{"pass": {
			"unless it is the first pass of the game, a pass gives your opponent a pass stone", When(TwoPasses, StopPlay).Name}}},
			"Most points win: surrounded points, prisoners, pass stones.", "A pass costs one point; the first pass is free; the last, if Black's, is free."},
		{Spec{Base: "aga", Count: []string{CountStones.Name, CountTerritory.Name, "a pass stone is worth 2"}},
			"Most points win: stones on the board, surrounded points, pass stones.", "A pass costs 2 points; the last, if Black's, is free."},
		{Spec{Base: "territory-1", Title: "Mine"}, Territory1.Aim, Territory1.PassCost},
		{Spec{Base: "territory-1", Pass: "Pass, friend."}, Territory1.Aim, "Pass, friend."},
		{Spec{Base: "territory-1", Count: []string{CountTerritory.Name, CountPassStones.Name}},
			"Most points win: surrounded points, pass stones.", "What a pass costs depends on the game."},
		{Spec{Base: "area-3"}, "Most area wins: your stones and the points they surround.",
			Area3.PassCost},
		{Spec{Base: "area-3", Count: names(Area3.Count)}, "Most area wins: your stones and the points they surround.",
			"A pass is free; the first, if White's, gains one point."},
		{Spec{Base: "aga", Komi: "0"}, AGA.Aim, AGA.PassCost},
		{Spec{Base: "tromp-taylor", Count: []string{CountStones.Name}}, "Most points win: stones on the board.", "A pass is free."},
		{Spec{Base: "tromp-taylor", Count: []string{CountStones.Name, "a pass stone is worth 1"}, Moves: map[string][]string{"pass": {
			"when White passed first, when 2 passes have been made in a row, a pass gives your opponent a pass stone", "when 4 passes have been made in a row, play stops"}}},
			"Most points win: stones on the board, pass stones.", "What a pass costs depends on the game."},
		{Spec{Base: "ultimate"}, Ultimate.Aim, Ultimate.PassCost},
	} {
		x.Name = "mine"
		r, err := Custom(x.Spec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Find(r.Stored())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*Ruleset{r, again} {
			if r.Aim != x.aim || r.PassCost != x.pass {
				t.Errorf("%v: %q and %q, want %q and %q", x.Spec, r.Aim, r.PassCost, x.aim, x.pass)
			}
		}
		if explicit := strings.Contains(r.Stored(), `"aim"`); explicit != (r.Aim != r.measuredAim()) {
			t.Errorf("%v keeps %s", x.Spec, r.Stored())
		}
	}
	// The game that is played for it cannot be played by every ruleset.
	if r, err := compose(Spec{Name: "mine", Base: "aga", Moves: map[string][]string{"place": append(names(Placement(NewPosition)), "only if White passed first")}}); err != nil || r.PassCost != dependsOnGame {
		t.Errorf("%q, %v", r.PassCost, err)
	}
	if _, err := Custom(Spec{Name: "mine", Base: "aga", Aim: strings.Repeat("long ", 20)}); err == nil || !strings.Contains(err.Error(), "aim: must have at most 80") {
		t.Error(err)
	}
}
