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
