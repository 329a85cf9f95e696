package sgf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A Flip is how far the winner of a count parts from the winner under the
// record's own ruleset.
type Flip string

// The flips. A resignation is no count: nothing flips it.
const (
	NoFlip    Flip = ""
	HalfFlip  Flip = "half" // one of the two is a jigo
	WholeFlip Flip = "flip"
)

// judge says of the counted rows of a comparison what moved, which row is the
// last counted one above each, and where the winner is another than under
// the record's own ruleset.
func judge(rows []Row) {
	var judged *rules.Game
	for _, row := range rows {
		if row.Own && row.Err == nil && !strings.HasSuffix(row.Game.Result(), "+R") && row.Game.Result() != "Void" {
			judged = row.Game
		}
	}
	var above *Row
	for i := range rows {
		row := &rows[i]
		if row.Err != nil || row.Game.Score() == nil {
			continue
		}
		row.Moved, row.above, above = moved(row.Game), above, row
		if judged != nil {
			row.Flip = parted(better(judged.Score().Margin()), better(row.Game.Score().Margin()))
		}
	}
}

func parted(a, b rules.Color) Flip {
	switch {
	case a == b:
		return NoFlip
	case a == rules.None || b == rules.None:
		return HalfFlip
	}
	return WholeFlip
}

// better returns who is better off by a margin, None if nobody is.
func better(d rules.Points) rules.Color {
	switch {
	case d > 0:
		return rules.Black
	case d < 0:
		return rules.White
	}
	return rules.None
}

func moved(g *rules.Game) []rules.Line {
	var out []rules.Line
	for _, l := range g.Score().Lines {
		switch l.Thing {
		case rules.PassStone, rules.ButtonThing, rules.HalfPassStone, rules.Adjustment:
			if l.N != 0 {
				out = append(out, l)
			}
		}
	}
	return out
}

// A Change is a thing that is worth something else, Black's less White's, in
// one count than in another.
type Change struct {
	Thing       rules.Thing
	Was, Is     rules.Points
	Lost, Found bool // the second count does not know the thing; the first did not
}

// Since returns what makes the count of row differ from that of another counted
// row of the comparison. The changes add up to the difference of the margins.
func (row Row) Since(above Row) []Change {
	was, is := worth(above.Game), worth(row.Game)
	var out []Change
	for t := rules.Prisoner; t <= rules.Komi; t++ {
		a, before := was[t]
		b, now := is[t]
		if a != b {
			out = append(out, Change{t, a, b, before && !now, now && !before})
		}
	}
	return out
}

// worth returns what each thing that is counted is worth to Black less to White.
func worth(g *rules.Game) map[rules.Thing]rules.Points {
	out := map[rules.Thing]rules.Points{}
	for _, l := range g.Score().Lines {
		if l.Player == rules.Black {
			out[l.Thing] += l.Points()
		} else {
			out[l.Thing] -= l.Points()
		}
	}
	return out
}

// Why says in one sentence why the row differs from the last counted one above
// it, from what the two games have in their counts and ledgers; "" for the
// first and for a row that is not counted.
func (row Row) Why() string {
	if row.above == nil {
		return ""
	}
	above := *row.above
	var found, lost, other []string
	for _, c := range row.Since(above) {
		switch {
		case c.Found:
			found = append(found, fmt.Sprintf("%s (%s%s)", things[c.Thing], plus(c.Is), row.because(c.Thing)))
		case c.Lost:
			lost = append(lost, fmt.Sprintf("%s (%s)", things[c.Thing], plus(c.Was)))
		default:
			other = append(other, fmt.Sprintf("%s come to %s instead of %s%s", things[c.Thing], plus(c.Is), plus(c.Was), row.because(c.Thing)))
		}
	}
	var clauses []string
	switch {
	case found != nil && lost != nil:
		clauses = append(clauses, and(found)+" count, "+and(lost)+" do not")
	case found != nil:
		clauses = append(clauses, and(found)+" count too")
	case lost != nil:
		clauses = append(clauses, and(lost)+" do not count")
	}
	clauses = append(clauses, other...)
	d := row.Game.Score().Margin() - above.Game.Score().Margin()
	head := "the same margin as " + above.Rules.Name
	if d != 0 {
		head = fmt.Sprintf("%v better for %v than %s", max(d, -d), better(d), above.Rules.Name)
	}
	if clauses == nil {
		head += ", line by line"
		for _, t := range []rules.Thing{rules.ButtonThing, rules.HalfPassStone} {
			if b := row.because(t); b != "" && b != above.because(t) {
				head += "; " + things[t] + b
			}
		}
		return head
	}
	return head + ": " + strings.Join(clauses, "; ")
}

// The things of a count as a sentence has them, all of them in the plural.
var things = map[rules.Thing]string{rules.Prisoner: "prisoners", rules.PassStone: "pass stones", rules.ButtonThing: "buttons",
	rules.HalfPassStone: "stones in the half-pass zone", rules.UltimateStone: "ultimate stones", rules.Stone: "stones on the board",
	rules.Territory: "points of territory", rules.Adjustment: "adjustments", rules.Handicap: "handicap points", rules.Komi: "points of komi"}

// plus returns "White +2½", "even".
func plus(p rules.Points) string {
	if p == 0 {
		return "even"
	}
	return fmt.Sprintf("%v +%v", better(p), max(p, -p))
}

// because returns what in the ledger made a thing that nobody captures: whose it
// became, with which turn and by which rule; of an adjustment the rule
// of the count.
func (row Row) because(t rules.Thing) string {
	var said []string
	for _, e := range rules.Explain(row.Game) {
		switch {
		case e.Thing != t || e.N == 0:
		case t == rules.Adjustment || t == rules.Handicap:
			if s := "“" + e.Rule + "”"; !slices.Contains(said, s) {
				said = append(said, s)
			}
		case t == rules.ButtonThing || t == rules.HalfPassStone:
			for _, r := range e.Reasons() {
				if r.N > 0 {
					said = append(said, fmt.Sprintf("%v's %s, “%s”", e.Player, row.when(r), r.Why))
				}
			}
		}
	}
	if said == nil {
		return ""
	}
	return ": " + strings.Join(said, "; ")
}

// when returns "at move 62", "at move 62 and when play stops": of the turns that
// were added to bring the game to its end nobody has seen the numbers.
func (row Row) when(r rules.Reason) string {
	seen := r
	seen.Moves = slices.DeleteFunc(slices.Clone(r.Moves), func(n int) bool { return n > row.played })
	switch len(seen.Moves) {
	case len(r.Moves):
		return r.When()
	case 0:
		return "when play stops"
	}
	return seen.When() + " and when play stops"
}

func and(parts []string) string {
	if n := len(parts) - 1; n > 0 {
		return strings.Join(parts[:n], ", ") + " and " + parts[n]
	}
	return parts[0]
}
