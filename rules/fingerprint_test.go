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
		for seed := range uint64(16) {
			f.Add(r.Name, seed, shownGame(t, r, seed))
		}
		f.Add(r.Name+", the ruleset", 0, shownRuleset(r))
		for seed := range uint64(3) {
			f.Add(r.Name+", changed", seed, shownChanges(r, seed))
		}
		f.Add(r.Name+", crossed", 0, shownCrossed(t, r))
	}
	for seed := range uint64(40) {
		f.Add("typed", seed, shownTyped(seed))
	}
	for w := range 26 {
		var out strings.Builder
		for h := range 26 {
			for n := -1; n < 11; n++ {
				ps, err := HandicapPoints(w, h, n)
				fmt.Fprintln(&out, h, n, ps, err)
			}
		}
		f.Add("handicap on boards of so many columns", uint64(w), out.String())
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
		closed, err := Close(Catalogue[rnd.IntN(len(Catalogue))], g.Setup(), g.Log(), rnd.stones(g), rnd.stones(g))
		if say("closed: %v", err); err == nil {
			say("%+v", closed.Score())
		}
		settled, err := g.Settled(rnd.stones(g), rnd.stones(g))
		if say("settled: %v", err); err == nil {
			say("%+v", settled.Score())
		}
		lifted := g.Lift(rnd.stones(g))
		say("lifted: %v %d %d", lifted.Board(), lifted.Captured(Black), lifted.Captured(White))
		for _, c := range []Color{Black, White} {
			say("%d placements, agreed %v %v, prisoners %d", g.Placements(c), g.HasAgreed(c), g.AcceptedNoResult(c), g.Captured(c))
		}
		say("%s, may void %v, estimable %v, dead %v, seki %v, counted %v, taken %v", g.Proof(), g.MayEndWithoutResult(), g.Estimable(), g.Dead(), g.Seki(), g.Counted(), g.Taken())
		for _, n := range []int{-1, 0, rnd.IntN(g.Turns() + 1), g.Turns() + 2} {
			at := g.At(n)
			say("at %d: %d turns, %s, entries %v", n, at.Turns(), at.Proof(), g.EntriesOf(n))
		}
	})
	return out.String()
}

// shownCrossed returns what is made of a ruleset that has a part of each of the others.
func shownCrossed(t *testing.T, r *Ruleset) string {
	var out strings.Builder
	for i, other := range Catalogue {
		part := (i + len(r.Name)) % 7
		s, from := r.Spec(), other.Spec()
		s.Name, s.Base, s.Aim, s.Pass = "crossed", "", "", ""
		switch part {
		case 0:
			s.Start = from.Start
		case 1:
			s.Settle, s.Agreed = from.Settle, from.Agreed
		case 2:
			s.Count = from.Count
		case 3:
			s.Say = from.Say
			for k, list := range s.Moves {
				longer := strings.NewReplacer(TwoPasses.Name, Passes(1+i%4).Name).Replace(strings.Join(list, "\n"))
				s.Moves[k] = strings.Split(longer, "\n")
			}
		case 4:
			s.Closing = from.Closing
		default:
			kinds := slices.Sorted(maps.Keys(from.Moves))
			k := kinds[(i+part)%len(kinds)]
			s.Moves[k] = from.Moves[k]
			if part == 6 {
				delete(s.Moves, []string{"pass", "button", "resign"}[i%3])
			}
		}
		made, err := Custom(s)
		fmt.Fprintln(&out, other.Name, part, err)
		if err != nil {
			continue
		}
		fmt.Fprintln(&out, shownRuleset(made))
		rnd := table{rand.New(rand.NewPCG(uint64(i), 47)), 0.3}
		g, err := New(made, rnd.setup(made))
		for range 12 {
			if err != nil || len(g.Legal()) == 0 {
				break
			}
			turns := g.Legal()
			if g, err = g.Play(turns[rnd.IntN(len(turns))]); err == nil {
				fmt.Fprintln(&out, everything(g), g.Says(), g.Views())
			}
		}
		fmt.Fprintln(&out, err)
	}
	return out.String()
}

// shownTyped returns what is read from what somebody types, and what is said of it.
func shownTyped(seed uint64) string {
	var out strings.Builder
	rnd := rand.New(rand.NewPCG(seed, 61))
	pieces := strings.Fields("a E i J t z 0 1 5 9 10 19 25 99 - + . , ½ .5 1/2 6½ 6.5 pass button resign dead A1 Z9 rules go igo aga japan chinese two button half pass " +
		"ultimate area territory ikeda ing 中国 日本 규칙 ルール @2 @9 x é _ “ : / ?")
	for range 40 {
		var b strings.Builder
		for range rnd.IntN(4) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
			if rnd.IntN(3) == 0 {
				b.WriteByte(' ')
			}
		}
		typed, other := b.String(), pieces[rnd.IntN(len(pieces))]
		if rnd.IntN(3) == 0 {
			typed = Catalogue[rnd.IntN(len(Catalogue))].Name
			at := rnd.IntN(len(typed))
			typed = typed[:at] + other + typed[at+rnd.IntN(len(typed)-at):]
		}
		w, h := 1+rnd.IntN(25), 1+rnd.IntN(25)
		point, err := ParsePoint(typed, w, h)
		fmt.Fprintf(&out, "%q on %d×%d: %v %v\n", typed, w, h, point, err)
		points, err := ParsePoints(typed)
		fmt.Fprintln(&out, points, points.Decimal(), err)
		turn, err := ParseTurn(typed, w, h)
		fmt.Fprintln(&out, turn, turn.Words(), err)
		found, err := Find(typed)
		fmt.Fprintln(&out, found != nil, err, About(typed), Known(typed), Distance(typed, other), Shorten(typed, rnd.IntN(8)))
		if found != nil {
			fmt.Fprintln(&out, found.Name)
		}
	}
	return out.String()
}

// shownRuleset returns all that a ruleset says of itself.
func shownRuleset(r *Ruleset) string {
	stored, _ := json.Marshal(r.Spec())
	return strings.Join([]string{r.ID(), r.Book(), string(stored), r.Aim, r.PassCost, r.measuredPassCost(), r.Stored(), About(r.Title)}, "\n")
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
		s.Name, s.Aim, s.Pass = "changed", "", ""
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
