package rules

import (
	"slices"
	"strings"
	"testing"
)

// Every ruleset says what its sources leave open; nobody else does.
func TestChoices(t *testing.T) {
	for _, r := range Catalogue {
		cs := r.Choices
		if len(cs) == 0 {
			t.Errorf("%s says nothing of what its sources leave open", r.Name)
		}
		for i, c := range cs {
			if !strings.Contains(c.Open, "?") || !strings.HasSuffix(c.Chosen, ".") || slices.Contains(cs[:i], c) {
				t.Errorf("%s: %+v", r.Name, c)
			}
		}
	}
	if custom(t, variants["three passes"]).Choices != nil {
		t.Error("a custom ruleset leaves nothing open")
	}
}

// The first version of a ruleset says nothing of an end of disputes that it does not have.
func TestChoicesOfFirstVersions(t *testing.T) {
	for _, r := range earlier {
		if _, final := r.EndsDisputes(); final {
			continue
		}
		for _, c := range r.Choices {
			if strings.Contains(c.Chosen, "again at once") {
				t.Errorf("%s: %s", r.ID(), c.Chosen)
			}
		}
	}
}

// Only the rules that count all stones as alive when play stops again at once end disputes.
func TestEndsDisputes(t *testing.T) {
	for _, r := range []*Ruleset{
		custom(t, Spec{Name: "three", Base: "aga@1", Moves: map[string][]string{"pass": {
			HandOverStone.Name, When(TwoPasses, StopPlay).Name, "when 3 passes have been made in a row, " + CountAllAlive.Name}}}),
		aga1, &Area2, &Japanese,
	} {
		if k, final := r.EndsDisputes(); final || r.Undisputed() != r {
			t.Errorf("%s ends disputes with a %v", r.Name, k)
		}
	}
	for _, r := range []*Ruleset{&AGA, &TwoButtonSeparate, &AreaAgreement} {
		u := r.Undisputed()
		if _, final := u.EndsDisputes(); final || u.ID() != r.ID() || u != r.Undisputed() || u != u.Undisputed() {
			t.Errorf("%s without the end of disputes is %s", r.ID(), u.ID())
		}
	}
}

// The vocabulary lists under a heading exactly the rules allowed there.
func TestVocabularyOffers(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range Vocabulary() {
		kind, k, _ := strings.Cut(h.Name, ", ")
		p := map[string]place{"start": atStart, "agreed": onAgreed, "count": inCount}[kind]
		if i := slices.Index(kindNames[:], k); i >= 0 && k != "" {
			p = on(Kind(i))
		}
		for _, s := range h.Rules {
			seen[s] = true
			c := &composer{used: map[string]bool{}, gives: map[Thing]bool{}}
			if c.rule(s, p, 0); c.err != nil {
				t.Errorf("%s: %v", h.Name, c.err)
			}
		}
		for _, s := range h.Facts {
			seen[s] = true
			c := &composer{used: map[string]bool{}, gives: map[Thing]bool{}}
			if h.Name == "say" {
				if f, ok, _ := findCondition(s); !ok || !f.said {
					t.Errorf("the table does not hear %q", s)
				}
			} else if c.rule("only if "+s, p, 0); c.err != nil {
				t.Errorf("%s: %v", h.Name, c.err)
			}
		}
	}
	for _, w := range words {
		if !seen[w.Name] {
			t.Errorf("%q is offered nowhere", w.Name)
		}
	}
	for _, f := range conditions {
		if !seen[f.Name] {
			t.Errorf("%q is offered nowhere", f.Name)
		}
	}
}
