package rules

import (
	"slices"
	"strings"
)

// MaxSummary is the length, in characters, that a ruleset's Aim and PassCost may have.
const MaxSummary = 80

// summarize writes the summary of a custom ruleset that has none of its own.
func (r *Ruleset) summarize() {
	if r.Aim == "" {
		r.Aim = r.measuredAim()
	}
	if r.PassCost == "" {
		r.PassCost = r.measuredPassCost()
	}
}

// measuredAim returns how one wins, read from the rules of the count.
func (r *Ruleset) measuredAim() string {
	if len(r.Count) == 0 {
		return "You win when your opponent resigns. Nothing is counted."
	}
	var counted []string
	for _, x := range []struct{ prefix, name string }{
		{"a stone on the board ", "stones on the board"},
		{"an empty point ", "surrounded points"},
		{"a prisoner ", "prisoners"},
		{"a pass stone ", "pass stones"},
		{"a stone in the half-pass zone ", "half-passes"},
		{"a button ", "buttons"},
		{"an ultimate stone ", "ultimate stones"},
	} {
		if slices.ContainsFunc(r.Count, func(rule Rule) bool { return strings.Contains(rule.Name, x.prefix) }) {
			counted = append(counted, x.name)
		}
	}
	switch {
	case counted == nil:
		return "Most points win."
	case len(counted) == 2 && counted[0] == "stones on the board" && counted[1] == "surrounded points":
		return TrompTaylor.Aim
	}
	return "Most points win: " + strings.Join(counted, ", ") + "."
}

const dependsOnGame = "What a pass costs depends on the game."

// measuredPassCost returns what a pass costs, found by passing.
func (r *Ruleset) measuredPassCost() string {
	if len(r.Moves[Pass]) == 0 {
		return "There is no pass."
	}
	if len(r.Count) == 0 {
		return "A pass hands the turn to your opponent. Nothing is counted."
	}
	costs, last, ok := r.passCosts(Black)
	white, _, also := r.passCosts(White)
	if last == White {
		costs[2], white[2] = white[2], costs[2]
	}
	if !ok || !also || costs[1] != white[1] {
		return dependsOnGame
	}
	said := "A pass " + amount(costs[1], true)
	if costs == white && costs[0] == costs[2] && costs[0] != costs[1] {
		return said + "; the first and the last pass " + amount(costs[0], false) + "."
	}
	for i, pass := range []string{"the first", "", "the last"} {
		switch {
		case costs[i] == white[i] && costs[i] != costs[1]:
			said += "; " + pass + " pass " + amount(costs[i], true)
		case costs[i] == white[i]:
		case costs[i] != costs[1]:
			said += "; " + pass + ", if Black's, " + amount(costs[i], true)
		default:
			said += "; " + pass + ", if White's, " + amount(white[i], true)
		}
	}
	return said + "."
}

// amount says what one pass, or several, cost.
func amount(p Points, one bool) string {
	s := ""
	if one {
		s = "s"
	}
	abs, verb := max(p, -p), "cost"+s
	if p < 0 {
		verb = "gain" + s
	}
	switch {
	case p == 0 && one:
		return "is free"
	case p == 0:
		return "are free"
	case abs == Half:
		return verb + " half a point"
	case abs == One:
		return verb + " one point"
	}
	return verb + " " + abs.String() + " points"
}

// passCosts plays a short game in which a player makes the first and the last pass, and
// returns by how much the margin moves to the opponent with the first pass, with one in the
// middle of the game and with the one that stops play, which last makes. It reports false
// if that cannot be played, or if other passes at the end cost something else.
func (r *Ruleset) passCosts(first Color) (costs [3]Points, last Color, ok bool) {
	g, err := New(r, Setup{W: 3, H: 3, First: first})
	play := func(t Turn) (cost Points) {
		if err != nil || g.phase != Playing {
			return 0
		}
		t.By = g.toPlay
		last = t.By
		before := g.Score().Margin()
		if g, err = g.Play(t); err != nil {
			return 0
		}
		if cost = before - g.Score().Margin(); t.By == White {
			cost = -cost
		}
		return cost
	}
	costs[0] = play(Turn{Kind: Pass})
	costs[1], costs[2] = costs[0], costs[0]
	if err == nil && g.phase == Playing {
		play(Turn{At: Point{1, 1}})
		play(Turn{At: Point{0, 1}})
		costs[1] = play(Turn{Kind: Pass})
		costs[2] = costs[1]
		for range 2 * mostButtons {
			if err == nil && g.phase == Playing {
				if costs[2] = play(Turn{Kind: Pass}); err == nil && g.phase == Playing && costs[2] != costs[1] {
					return costs, last, false
				}
			}
		}
	}
	return costs, last, err == nil
}
