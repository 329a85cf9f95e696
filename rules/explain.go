package rules

import (
	"fmt"
	"slices"
	"strings"
)

// An Explanation is a line of the count with what stands behind it.
type Explanation struct {
	Line
	Rule    string  // of the count, as Book recites it
	Entries []Entry // of the ledger, oldest first, where the thing is held: they add up to N
}

// Explain accounts for [Game.Score], line by line in its order: its lines, the
// rule that counts each, and the entries of the ledger that made it. While
// settling, what accepting the marks would write is among the entries. It is
// nil under a ruleset without a count.
func Explain(g *Game) []Explanation {
	now := g.ifStoppedNow()
	var out []Explanation
	for _, r := range g.rules.Count {
		next := *now
		next.score = &Score{}
		r.Do(&next)
		for _, l := range next.score.Lines {
			e := Explanation{Line: l, Rule: r.Name}
			for _, x := range now.entries {
				if x.Player == l.Player && x.Thing == l.Thing {
					e.Entries = append(e.Entries, x)
				}
			}
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Explanation) int { return int(a.Player) - int(b.Player) })
	return out
}

// A Reason is the entries of an explanation that the same rule wrote.
type Reason struct {
	Why   string
	N     int   // what they add up to
	Moves []int // the turns with which they were written; 0 is the start
}

// Reasons returns the entries by rule, in the order in which the rules
// were first carried out.
func (e Explanation) Reasons() []Reason {
	var out []Reason
	for _, x := range e.Entries {
		i := slices.IndexFunc(out, func(r Reason) bool { return r.Why == x.Why })
		if i < 0 {
			out = append(out, Reason{Why: x.Why})
			i = len(out) - 1
		}
		out[i].N += x.N
		if n := len(out[i].Moves); n == 0 || out[i].Moves[n-1] != x.Move {
			out[i].Moves = append(out[i].Moves, x.Move)
		}
	}
	return out
}

// When returns "at moves 3 and 8", "at the start".
func (r Reason) When() string {
	var moves []string
	for _, m := range r.Moves {
		moves = append(moves, itoa(m))
	}
	last := len(moves) - 1
	switch {
	case r.Moves[last] == 0:
		return "at the start"
	case last == 0:
		return "at move " + moves[0]
	}
	return "at moves " + strings.Join(moves[:last], ", ") + " and " + moves[last]
}

// Signed returns N as people read it: "+2", "−1".
func (r Reason) Signed() string { return strings.ReplaceAll(fmt.Sprintf("%+d", r.N), "-", "−") }

// Words returns "+2 at moves 3 and 8: a pass gives your opponent a pass stone".
func (r Reason) Words() string { return fmt.Sprintf("%s %s: %s", r.Signed(), r.When(), r.Why) }

// LiftedDead is the rule of the ledger for stones that both players agreed
// to be dead.
const LiftedDead = "stones agreed to be dead become prisoners"

// A Reading is what the theorem of a ruleset says of a game whose play has
// stopped.
type Reading struct {
	Theorem string
	A       int    // Black's area less White's on the board that is counted, in whole points
	W       int    // see [Game.W]
	D       Points // Theorem worked out: Black's score less White's before komi and handicap
	Counted Points // the same by the count

	button bool // W is about the button
}

// Read returns the theorem's reading of a game. Where there is none its error is a
// [Saying] that tells why: before play has stopped, without a count or a theorem, after
// a resignation, or when the game began with setup stones other than handicap or
// with the wrong player.
func Read(g *Game) (Reading, error) {
	s := g.setup
	even := len(s.White) == 0 && len(s.Black) == s.Handicap && (s.First == None || (s.First == White) == (s.Handicap > 0))
	score := g.Score()
	switch {
	case g.rules.Theorem == "":
		return Reading{}, saying("no theorem speaks of this ruleset")
	case g.phase == Playing:
		return Reading{}, saying("the theorem speaks only once play has stopped")
	case g.phase == Over && g.score == nil || score == nil:
		return Reading{}, saying("the theorem speaks only of games that are counted")
	case !even:
		return Reading{}, saying("the theorem speaks only of games that begin on an empty board or with handicap stones")
	}
	b := g.Counted()
	r := Reading{Theorem: g.rules.Theorem, A: b.Area(), W: g.W(), button: len(g.rules.Moves[Button]) > 0}
	r.Counted = score.Margin() + s.Komi + Points(max(s.Handicap-1, 0))*One
	r.D, _ = g.rules.Difference(r.A, r.W)
	return r, nil
}

// Words returns the reading as people read it: "Black − White = A − w before komi. A = 5
// is Black's area less White's, w = 1 because White passed first. That makes 4, and so does
// the count".
func (r Reading) Words() string {
	s := fmt.Sprintf("Black − White = %s before komi. A = %s is Black's area less White's", r.Theorem, number(r.A))
	if strings.Contains(r.Theorem, "w") {
		did := "passed first"
		if r.button {
			did = "took the first button"
		}
		if r.W == 1 {
			s += ", w = 1 because White " + did
		} else {
			s += ", w = 0 because White " + strings.NewReplacer("passed", "did not pass", "took", "did not take").Replace(did)
		}
	}
	s += fmt.Sprintf(". That makes %v", r.D)
	if r.D == r.Counted {
		return s + ", and so does the count"
	}
	return s + fmt.Sprintf(", but the count is %v: the game does not meet a condition of the theorem", r.Counted)
}
