package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/fingerprint"
)

// Everything that random games show, and what is said of random turns and rulesets, stays
// as it is.
func TestFingerprints(t *testing.T) {
	f := fingerprint.Open(t, "testdata/fingerprints.txt", *update)
	for _, r := range Catalogue {
		for seed := range uint64(8) {
			f.Add(r.Name, seed, shownGame(t, r, seed))
		}
		f.Add(r.Name+", the ruleset", 0, shownRuleset(r))
		for seed := range uint64(3) {
			f.Add(r.Name+", changed", seed, shownChanges(r, seed))
		}
	}
}

// shownGame returns all that a random game shows on its way.
func shownGame(t *testing.T, r *Ruleset, seed uint64) string {
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	rnd := table{rand.New(rand.NewPCG(seed, 41)), []float64{0.05, 0.2, 0.5}[seed%3]}
	n := 0
	rnd.game(t, r, rnd.setup(r), func(g *Game) {
		if n++; n%3 != 0 && g.Phase() != Over {
			return
		}
		say("%v\n%s", g.Log(), everything(g))
		say("says %q, legal %v, suggested %v, W %d, views %+v, explained %+v", g.Says(), g.Legal(), g.Suggested(), g.W(), g.Views(), Explain(g))
		area, agrees := g.AreaAgrees()
		reading, err := Read(g)
		say("area %v %v, if agreed %v, reading %+v %v", area, agrees, g.IfAgreed(), reading, err)
		report, err := json.Marshal(g.Report())
		say("%s %v, decided %v", report, err, g.Decided())
		reasons, err := json.Marshal(g.Reasons())
		say("%s %v", reasons, err)
		for range 8 {
			turn := Turn{Kind: Kind(rnd.IntN(int(kinds) + 1)), By: Color(rnd.IntN(4)), At: Point{int8(rnd.IntN(7) - 1), int8(rnd.IntN(7) - 1)}, Dead: rnd.stones(g)}
			next, err := g.Play(turn)
			say("%v: %v", turn, err)
			if err == nil {
				say("%v %v %v", next.Phase(), next.ToPlay(), next.Entries()[len(g.Entries()):])
			}
		}
		closed, err := Close(&AGA, g.Setup(), g.Log(), nil, nil)
		if say("closed: %v", err); err == nil {
			say("%+v", closed.Score())
		}
	})
	return out.String()
}

// shownRuleset returns all that a ruleset says of itself.
func shownRuleset(r *Ruleset) string {
	stored, _ := json.Marshal(r.Spec())
	return strings.Join([]string{r.ID(), r.Book(), string(stored), r.Aim, r.PassCost, r.Stored(), About(r.Title)}, "\n")
}

// shownChanges returns what is made of a ruleset of which something has been changed: the
// ruleset, or what is wrong with it.
func shownChanges(r *Ruleset, seed uint64) string {
	var out strings.Builder
	rnd := rand.New(rand.NewPCG(seed, 43))
	var sentences []string
	for _, h := range Vocabulary() {
		sentences = append(append(sentences, h.Rules...), h.Facts...)
	}
	for range 8 {
		s := r.Spec()
		s.Name = "changed"
		var list *[]string
		put := func() {}
		switch m := []map[string][]string{s.Moves, s.Settle}[rnd.IntN(2)]; {
		case len(m) > 0 && rnd.IntN(3) > 0:
			keys := slices.Sorted(maps.Keys(m))
			k := keys[rnd.IntN(len(keys))]
			one := slices.Clone(m[k])
			list, put = &one, func() { m[k] = one }
		default:
			list = []*[]string{&s.Start, &s.Agreed, &s.Count, &s.Say, &s.Closing}[rnd.IntN(5)]
		}
		for range 1 + rnd.IntN(2) {
			i := rnd.IntN(len(*list) + 1)
			switch {
			case rnd.IntN(3) == 0 || len(*list) == 0:
				*list = slices.Insert(*list, i, sentences[rnd.IntN(len(sentences))])
			case i == len(*list):
				*list = (*list)[:i-1]
			default:
				w := (*list)[i]
				at := rnd.IntN(len(w) + 1)
				(*list)[i] = w[:at] + []string{"", "x", "when ", " 3 "}[rnd.IntN(4)] + w[min(len(w), at+rnd.IntN(3)):]
			}
		}
		put()
		made, err := Custom(s)
		fmt.Fprintln(&out, err)
		if err == nil {
			fmt.Fprintln(&out, shownRuleset(made))
		}
	}
	return out.String()
}
