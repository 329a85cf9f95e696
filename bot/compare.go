package bot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// compare counts the game under every ruleset and answers with a chart of the rulesets
// that come to another margin, or of all of them.
func compare(q *question) outbox.Post {
	dead, err := match.ParsePoints(q.req.Args["dead"], q.match.Setup.W, q.match.Setup.H)
	if err != nil {
		return q.refuse(wrong(err))
	}
	rec := sgf.Of(q.pos.Game)
	board := q.pos.Game.Board()
	if stopped, _, err := rec.Count(sgf.Count{Stop: true, Move: q.pos.Game.Turns()}); err == nil {
		board = stopped.Board() // dead stones and all
	}
	marked := len(dead) == 0 && q.pos.Game.Phase() == rules.Settling
	if marked {
		dead = match.OneOfEach(board, q.pos.Game.Dead())
	}
	for _, p := range dead {
		if board.At(p) == rules.None {
			return q.refuse(text.Whole(rules.Saying{Text: "there is no stone on {0}", Args: []any{p}}))
		}
	}
	rows := rec.Compare(sgf.Count{Dead: dead, Also: q.b.rulesets})
	all := q.req.Args["all"] == "yes"
	supposed := len(dead) > 0 && !slices.Equal(chains(board, dead), chains(board, rec.Dead()))
	var out []Text
	switch {
	case supposed && marked:
		out = append(out, say("compare.marked", rules.Names(dead)))
	case supposed && q.pos.Game.Phase() == rules.Over && (rec.Ending.Accepted || len(rec.Dead()) > 0):
		out = append(out, say("compare.not.agreed", rules.Names(dead)))
	case supposed:
		out = append(out, say("compare.supposed", rules.Names(dead)))
	}
	if supposed {
		out = append(out, supposing(rows)...)
	} else {
		out = append(out, differ(q.number(), rows))
	}
	if len(dead) == 0 && len(rec.Dead()) == 0 && !rec.Ending.Accepted {
		if stone, ok := firstStone(board); ok {
			out = append(out, say("compare.no.dead", stone.String()))
		}
	}
	a := q.answer(out...)
	chart := Comparison(q.lang, rows, all, Titles)
	chart.Black, chart.White = seatName(q.lang, q.match.Black, q.who), seatName(q.lang, q.match.White, q.who)
	chart.Look = q.look()
	if supposed && !marked {
		for i := range chart.Rows {
			chart.Rows[i].Label = "" // none of them is this game
		}
	}
	a.Chart = &chart
	return a
}

// chains returns all stones of the chains on these points, in order, each once.
func chains(board rules.Board, ps []rules.Point) (stones []rules.Point) {
	for _, p := range ps {
		stones = append(stones, board.Chain(p)...)
	}
	slices.SortFunc(stones, func(a, b rules.Point) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
	return slices.Compact(stones)
}

// firstStone returns a point with a stone, as an example.
func firstStone(board rules.Board) (rules.Point, bool) {
	for _, p := range board.Points() {
		if board.At(p) != rules.None {
			return p, true
		}
	}
	return rules.Point{}, false
}

// supposing says who would win if other stones than in the game were dead, and under
// which rulesets somebody else would.
func supposing(rows []sgf.Row) (out []Text) {
	var others []string
	for _, row := range rows {
		if row.Own && row.Err == nil {
			out = append(out, say("compare.then", row.Rules.Title, won(row.Game.Score().Margin())))
		}
		if row.Flip != sgf.NoFlip {
			others = append(others, row.Rules.Title)
		}
	}
	if len(out) > 0 && len(others) > 0 {
		out = append(out, say("compare.then.flips", strings.Join(others, ", ")))
	}
	return out
}

// won says who wins by a count and by how much.
func won(margin rules.Points) Text {
	switch {
	case margin > 0:
		return say("win", text.Color(rules.Black), text.Points(margin))
	case margin < 0:
		return say("win", text.Color(rules.White), text.Points(-margin))
	}
	return say("jigo")
}

// differ returns a line that says by how much the rows of a comparison differ.
func differ(game string, rows []sgf.Row) Text {
	groups := sgf.Groups(rows, false)
	var flips []string
	counted := 0
	for _, row := range rows {
		if row.Err == nil {
			counted++
		}
		if row.Flip != sgf.NoFlip {
			flips = append(flips, row.Rules.Title)
		}
	}
	switch {
	case len(flips) > 0:
		return say("compare.flips", game, len(flips), counted, strings.Join(flips, ", "))
	case len(groups) > 1:
		return say("compare.margins", game)
	case counted == 0:
		return say("compare.uncounted", game)
	}
	return say("compare.equal", game, counted, lead(groups[0].Row.Game.Score().Margin()))
}

// Titles and Names return the title of a ruleset and the name that people type for it.
func Titles(r *rules.Ruleset) string { return r.Title }
func Names(r *rules.Ruleset) string  { return r.Name }

// Comparison is the chart of a comparison of a game: of the groups of [sgf.Groups],
// or with all of every row. It calls the rulesets as name does.
func Comparison(l *text.Language, rows []sgf.Row, all bool, name func(*rules.Ruleset) string) render.Chart {
	chart := render.Chart{Title: l.Say(say("compare.title")), Words: l.PictureWords()}
	groups := sgf.Groups(rows, all)
	oneKomi := true
	for _, g := range groups {
		oneKomi = oneKomi && g.Row.Komi == groups[0].Row.Komi
	}
	var board Text
	handicap := 0
	lifted := false
	for _, g := range groups {
		row := g.Row
		r := render.ChartRow{Title: name(row.Rules)}
		if row.Own {
			r.Label = l.Say(say("compare.own"))
		}
		if len(g.Same) > 0 {
			var same []string
			for _, row := range g.Same {
				same = append(same, name(row.Rules))
				lifted = lifted || row.Assumed
			}
			between := ", "
			if strings.Contains(strings.Join(same, ""), ",") {
				between = "; "
			}
			r.Same = l.Say(say("compare.same", strings.Join(same, between)))
		}
		if row.Err != nil {
			r.Value, r.Why = "–", l.Say(text.Sentence(row.Err))
			chart.Rows = append(chart.Rows, r)
			continue
		}
		if black, white := row.Board(); board.Key == "" && oneKomi {
			board = say("compare.board.komi", black, white, text.Points(row.Komi))
		} else if board.Key == "" {
			board = say("compare.board", black, white)
		}
		handicap = row.Game.Setup().Handicap
		lifted = lifted || row.Assumed
		margin := row.Game.Score().Margin()
		r.Bar, r.Margin, r.Value = true, margin, l.Say(lead(margin))
		switch {
		case row.Flip == sgf.NoFlip:
		case margin == 0:
			r.Flip = l.Say(say("compare.nobody"))
		case margin > 0:
			r.Flip = l.Say(say("compare.winner", text.Color(rules.Black)))
		default:
			r.Flip = l.Say(say("compare.winner", text.Color(rules.White)))
		}
		var why []string
		for _, reason := range row.Reasons() {
			why = append(why, l.Say(text.Sentence(reason)))
		}
		if !oneKomi {
			why = append(why, l.Say(say("compare.komi", text.Points(row.Komi))))
		}
		r.Why = strings.Join(why, "; ")
		chart.Rows = append(chart.Rows, r)
		switch {
		case !row.Own:
		case strings.HasSuffix(row.Game.Result(), "+R"):
			chart.Notes = append(chart.Notes, l.Say(say("compare.resigned")))
		case row.Unfinished():
			chart.Notes = append(chart.Notes, l.Say(say("compare.unfinished")))
		}
	}
	if board.Key != "" {
		chart.Lead = append(chart.Lead, l.Say(board))
		if handicap >= 2 {
			chart.Lead = append(chart.Lead, l.Say(say("compare.handicap", handicap, handicap-1)))
		}
	}
	if lifted {
		chart.Notes = append(chart.Notes, l.Say(say("compare.lifted")))
	}
	return chart
}
