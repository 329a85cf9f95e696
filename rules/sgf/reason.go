package sgf

import (
	"slices"

	"github.com/halfpoint-go/halfpoint/rules"
)

// played returns how many of the first turns of g are turns of the record: a pass
// where the record has a button is one too. The turns after them were added to
// bring the game to the end of its ruleset.
func (rec *Record) played(g *rules.Game) int {
	turns := turnsIn(g)
	n := 0
	for n < min(len(turns), len(rec.Turns)) && replays(turns[n], rec.Turns[n].Turn) {
		n++
	}
	return n
}

// replays reports whether a turn is that of a record, where a pass may stand for a button. What ended
// play is no pass.
func replays(t, was rules.Turn) bool {
	ended := was.Kind == rules.Resign || was.Kind == rules.Draw
	return !ended && t.By == was.By && (t.Kind == rules.Place) == (was.Kind == rules.Place) && t.At == was.At
}

// turnsIn returns the turns of a game, without the talk between them.
func turnsIn(g *rules.Game) []rules.Turn {
	return slices.DeleteFunc(slices.Clone(g.Log()), func(t rules.Turn) bool { return !t.Kind.IsTurn() })
}

// Reasons says in short sentences what makes the margin of a counted row, beginning
// with the area of [Row.Board]: what of the board does not count, and what
// passes, buttons and prisoners change. Each change is written as a margin is,
// "White +½", and they add up to the margin before komi, unless a sentence says
// that it changes nothing.
func (row Row) Reasons() []rules.Saying {
	if row.Follows() {
		if s, ok := row.reading(); ok {
			return []rules.Saying{s}
		}
	}
	var out []rules.Saying
	add := func(d rules.Points, text string, args ...any) {
		if d != 0 {
			out = append(out, rules.Saying{Text: text, Args: append([]any{better(d), max(d, -d)}, args...)})
		}
	}
	g, worth := row.Game, worth(row.Game)
	s, b := g.Setup(), g.Counted()
	rest := g.Score().Margin() + s.Komi + rules.Points(max(s.Handicap-1, 0))*rules.One - rules.Points(b.Area())*rules.One

	black, white := b.Territory()
	territory, counts := worth[rules.Territory]
	territory -= rules.Points(black-white) * rules.One
	if counts {
		add(territory, "points in seki do not count: {0} +{1}")
	} else {
		add(territory, "territory does not count: {0} +{1}")
	}
	buttons, adjusted := worth[rules.ButtonThing], worth[rules.Adjustment]
	add(buttons, "buttons: {0} +{1}")
	add(adjusted, "who passed first: {0} +{1}")
	rest -= territory + buttons + adjusted

	more := placed(g, rules.Black) - placed(g, rules.White)
	passes := 0
	for _, c := range []rules.Color{rules.Black, rules.White} {
		passes += g.Holds(c, rules.PassStone) + g.Holds(c, rules.HalfPassStone)
	}
	switch {
	case passes > 0 || rest != rules.Points(-more)*rules.One:
		add(rest, "prisoners and passes: {0} +{1}")
	case max(more, -more) == 1:
		add(rest, "{2} placed one stone more: {0} +{1}", better(-rest))
	default:
		add(rest, "{2} placed {3} stones more: {0} +{1}", better(-rest), max(more, -more))
	}
	if out == nil {
		out = append(out, rules.Saying{Text: "as on the board"})
	}
	return out
}

// reading says what the theorem of the row's ruleset does, which the row follows.
// It reports false if the theorem speaks of a pass that nobody made.
func (row Row) reading() (rules.Saying, bool) {
	g := row.Game
	if g.Rules().Theorem == "A" {
		return rules.Saying{Text: "as on the board: who passes first does not matter"}, true
	}
	if g.Rules().Theorem == "A − ½" {
		return rules.Saying{Text: "White +½, whoever passes first"}, true
	}
	kind := rules.Pass
	if len(g.Rules().Moves[rules.Button]) > 0 {
		kind = rules.Button
	}
	turns := turnsIn(g)
	is := func(k rules.Kind) func(rules.Turn) bool { return func(t rules.Turn) bool { return t.Kind == k } }
	first := slices.IndexFunc(turns, is(kind))
	if first < 0 {
		return rules.Saying{}, false
	}
	by, n := turns[first].By, first+1
	passed := slices.ContainsFunc(turns[:first], is(rules.Pass)) // before the first button
	way := 0                                                     // 0: passed, 1: took a button, 2: neither yet, 3: neither yet, after a pass
	switch {
	case n > row.played && passed:
		way = 3
	case n > row.played:
		way = 2
	case passed || row.button(n):
		way = 1
	}
	text := map[string][2][4]string{ // by theorem, whether White was first, and the way
		"A − w": {
			{"{0} passed first: nothing is added", "{0} took the first button: nothing is added", "if {0} passes first, nothing is added", "if {0} takes the first button, nothing is added"},
			{"{0} passed first: {0} +1", "{0} took the first button: {0} +1", "if {0} passes first: {0} +1", "if {0} takes the first button: {0} +1"},
		},
		"A + ½ − w": {
			{"{0} passed first and so has the button: {0} +½", "{0} took the button: {0} +½", "if {0} takes the button: {0} +½", "if {0} takes the button: {0} +½"},
			{"{0} passed first and so has the button: {0} +½", "{0} took the button: {0} +½", "if {0} takes the button: {0} +½", "if {0} takes the button: {0} +½"},
		},
	}[g.Rules().Theorem][g.W()][way]
	return rules.Saying{Text: text, Args: []any{by}}, text != ""
}

// Unfinished reports whether turns had to be added to bring the game to its end.
func (row Row) Unfinished() bool { return row.Err == nil && row.played < row.Game.Turns() }

// button reports whether turn n of the record took or gave a button.
func (row Row) button(n int) bool {
	return n <= len(row.turns) && row.turns[n-1].Kind == rules.Button
}

// placed returns how many stones a player has placed, handicap stones aside.
func placed(g *rules.Game, c rules.Color) int {
	n := 0
	for _, t := range g.Log() {
		if t.Kind == rules.Place && t.By == c {
			n++
		}
	}
	return n
}

// A Group is rows of a comparison that come to the same margin with the same komi for the same reasons, or
// cannot be counted for the same one.
type Group struct {
	Row  Row   // by which it is shown
	Same []Row // the others, in the order of the comparison
}

// Groups returns the rows of a comparison for people. The first group is led by the
// record's own ruleset and has every row of its margin and komi; if that ruleset
// counts nothing the first counted row leads. Then come the others, from Black's best
// to White's best, and last the rows that cannot be counted because the record breaks
// a rule. Rulesets that count nothing are left out.
//
// With all, every row is a group by itself, in the order of the comparison.
func Groups(rows []Row, all bool) []Group {
	var out, broken []Group
	lead := slices.IndexFunc(rows, func(r Row) bool { return r.Own && r.counted() })
	if lead < 0 {
		lead = slices.IndexFunc(rows, Row.counted)
	}
	if lead >= 0 && !all {
		out = append(out, Group{Row: rows[lead]})
	}
	for i, row := range rows {
		switch {
		case all:
			out = append(out, Group{Row: row})
		case i == lead:
		case row.counted():
			out = join(out, row, func(g Group) bool {
				return g.Row.margin() == row.margin() && g.Row.Komi == row.Komi && (g.Row.Rules == rows[lead].Rules || g.sharesReasons(row))
			})
		case row.Err != rules.ErrNoCount:
			broken = join(broken, row, func(g Group) bool { return g.Row.Err.Error() == row.Err.Error() })
		}
	}
	if !all && len(out) > 0 {
		slices.SortStableFunc(out[1:], func(a, b Group) int { return int(b.Row.margin() - a.Row.margin()) })
	}
	return append(out, broken...)
}

// join adds a row to the first of some groups that fits, or as a group of its own.
func join(groups []Group, row Row, fits func(Group) bool) []Group {
	i := slices.IndexFunc(groups, fits)
	if i < 0 {
		return append(groups, Group{Row: row})
	}
	groups[i].Same = append(groups[i].Same, row)
	return groups
}

func (row Row) counted() bool { return row.Err == nil && row.Game.Score() != nil }

func (row Row) margin() rules.Points { return row.Game.Score().Margin() }

// sharesReasons reports whether a row has the reasons of a group.
func (g Group) sharesReasons(row Row) bool {
	return slices.EqualFunc(g.Row.Reasons(), row.Reasons(), func(a, b rules.Saying) bool { return a.String() == b.String() })
}

// Board returns the area of each player on the board that a counted row counts:
// stones and territory, in whole points.
func (row Row) Board() (black, white int) {
	b := row.Game.Counted()
	black, white = b.Territory()
	return black + b.Stones(rules.Black), white + b.Stones(rules.White)
}
