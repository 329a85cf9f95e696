package match

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Turns, and the steps of the settlement after play.

// makeTurn plays a placement, a pass or another turn of a ruleset.
func makeTurn(kind rules.Kind) Change {
	return func(in *Input) Step { return in.makeTurn(rules.Turn{Kind: kind, By: in.color()}) }
}

func (in *Input) makeTurn(t rules.Turn) Step {
	w, h := in.Match.Setup.W, in.Match.Setup.H
	if in.Position.Placing > 0 && t.Kind != rules.Resign {
		return in.stones(in.Request.Args["at"])
	}
	if in.Request.Args["handicap"] != "" { // by the name of a command for handicap stones alone
		return in.Refuse(say("placing.none", in.number()))
	}
	if t.Kind == rules.Place {
		if in.Request.Args["at"] == "" {
			return in.Refuse(say("needs", "place", say("needs.point"), "at:"+Example(in.rows())))
		}
		ps, err := ParsePoints(in.Request.Args["at"], w, h)
		if err != nil {
			return in.Refuse(wrong(err))
		}
		if len(ps) != 1 {
			return in.Refuse(say("place.one"))
		}
		t.At = ps[0]
	}
	if dead := in.Request.Args["dead"]; dead != "" && t.Kind == rules.Pass {
		ps, err := ParsePoints(dead, w, h)
		if err != nil {
			return in.Refuse(wrong(err))
		}
		t.Dead = ps
	}
	if s, warned := in.stillStanding(t); warned {
		return s
	}
	return in.play(t)
}

// resume continues play after it has stopped.
func resume(in *Input) Step {
	return in.play(rules.Turn{Kind: rules.Resume, By: in.color()})
}

// mark marks chains as dead, alive or alive in seki, once play has stopped; if none are
// named, those that look dead.
func mark(in *Input) Step {
	t := rules.Turn{Kind: rules.MarkDead, By: in.color()}
	switch as := strings.ToLower(in.arg("as")); as {
	case "", "dead":
		if in.Request.Args["points"] == "" {
			return in.propose()
		}
	case "alive":
		t.Kind = rules.Unmark
	case "seki":
		t.Kind = rules.MarkSeki
	default:
		return in.Refuse(say("bad.as", shortened(as)))
	}
	ps, err := ParsePoints(in.Request.Args["points"], in.Match.Setup.W, in.Match.Setup.H)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	if len(ps) == 0 {
		return in.Refuse(say("needs", "dead", say("needs.chains"), "points:"+in.exampleStone()))
	}
	t.Dead = ps
	return in.play(t)
}

// accept accepts whatever there is to accept: the count, a suggestion of dead
// stones; and, only if that is named, that a game has no result.
func accept(in *Input) Step {
	if s, answered := in.agree(); answered && !in.yes("no-result") {
		return s
	}
	g, by := in.Position.Game, in.color()
	switch {
	case in.yes("no-result") && !g.MayEndWithoutResult():
		return in.Refuse(say("no.result.none", in.number()))
	case in.yes("no-result"):
		return in.accept(rules.NoResult, g.AcceptedNoResult(by), "accepted.no.result")
	case g.Phase() == rules.Settling:
		return in.accept(rules.AcceptScore, g.HasAgreed(by), "accepted")
	case g.Rules().Has(rules.AcceptSuggestion):
		return in.play(rules.Turn{Kind: rules.AcceptSuggestion, By: by})
	case g.Rules().Has(rules.AcceptScore):
		return in.Refuse(say("playing", in.number()))
	}
	return in.Refuse(in.noAgreement(g.Rules()))
}

// accept accepts the count, or that there is no result, unless the player did so already.
// After the first of two the step posts only a line: the board does not change, and the
// controls below it stay valid.
func (in *Input) accept(kind rules.Kind, already bool, key string) Step {
	by := in.color()
	other := in.Match.Seat(by.Opponent())
	switch {
	case in.playsBoth():
		return in.play(rules.Turn{Kind: kind, By: rules.Black}, rules.Turn{Kind: kind, By: rules.White})
	case already:
		return in.Refuse(say("accepted.already", named(other)))
	}
	s := in.play(rules.Turn{Kind: kind, By: by})
	if s.After == nil || s.After.Over() {
		return s
	}
	return in.step(words{above: []text.Message{say(key, named(in.By), text.Called(string(other)))}, calls: other, quiet: true}, s.Events[0].Body)
}

// noAgreement says how a ruleset without an agreement treats dead stones.
func (in *Input) noAgreement(r *rules.Ruleset) text.Message {
	switch {
	case len(r.Count) == 0:
		return say("playing.nocount", r.Title)
	case r.Has(rules.AcceptSuggestion):
		return say("playing.named", r.Title, in.exampleStone())
	}
	return say("playing.never", r.Title)
}

// resign resigns the game, once the person has confirmed that.
func resign(in *Input) Step {
	by := in.color()
	s := in.play(rules.Turn{Kind: rules.Resign, By: by})
	if s.Answer.Refused || in.yes("confirm") {
		return s
	}
	return in.sure(say("resign.sure", in.number(), in.Match.Player(by.Opponent())), "resign.button", "confirm")
}

// cancel ends a game without a result: before both have moved, by its players, and without
// a clock also after thirty days in which one of them has not answered, by the other;
// at any time, by a moderator who is not a party to it.
func (in *Input) cancel() Step {
	m := in.Match
	yours := in.plays() || m.Opener == in.By
	moderates := in.Request.Moderator && (!yours || in.playsBoth())
	if !yours && !moderates {
		return in.Refuse(say("cancel.not.yours", in.number()))
	}
	if s, gone := in.gone(); gone {
		return s
	}
	if m.State == Ended {
		key := "cancel.over"
		if moderates {
			key = "cancel.over.delete"
		}
		return in.Refuse(say(key, in.number(), Outcome(m, in.Position)))
	}
	if in.Position.BothMoved() && !moderates && !in.silent() {
		return in.Refuse(say("cancel.late", in.number()))
	}
	return in.close(Cancelled, body(eventCancel), above(say("cancelled", named(in.By), in.number())))
}

// play makes turns, or says which rule they break.
func (in *Input) play(turns ...rules.Turn) Step {
	d := in.draft()
	for _, t := range turns {
		if err := in.add(&d, body(eventTurn, t)); err != nil {
			return in.Refuse(in.illegal(err))
		}
		if d.pos.Game.Phase() == rules.Over {
			break
		}
	}
	g := d.pos.Game
	if in.Position.Branch > 0 && g.Phase() != rules.Playing && turns[0].Kind != rules.Resign {
		if err := in.add(&d, leave); err != nil {
			return in.Refuse(wrong(err))
		}
		return in.end(d, above(say("trial.ends", in.number(), text.Turn(turns[0]))))
	}
	var w words
	switch was, is := in.Position.Game.Phase(), g.Phase(); {
	case is == rules.Over:
		w.below = []text.Message{Over(in.Match, &Position{Game: g})}
	case is == rules.Settling && was == rules.Playing:
		w.below = in.stopped(&d)
	case is == rules.Settling:
		if c := in.color().Opponent(); !in.playsBoth() && in.Position.Game.HasAgreed(c) && !g.HasAgreed(c) {
			w.board = []text.Message{say("accept.again", named(in.Match.Seat(c)))}
		}
	case was == rules.Settling:
		if k, final := g.Rules().EndsDisputes(); final {
			w.below = []text.Message{say("resumed.final." + k.String())}
		}
	}
	return in.end(d, w)
}

// illegal says what is wrong with a turn.
func (in *Input) illegal(err error) text.Message {
	var i *rules.Illegal
	if !errors.As(err, &i) {
		return wrong(err)
	}
	switch {
	case errors.Is(err, rules.ErrNotYourTurn):
		return say("not.your.turn", in.number(), text.Color(in.Position.Game.ToPlay()))
	case errors.Is(err, rules.ErrNoSuchTurn):
		return in.noSuchTurn(i.Turn.Kind)
	case errors.Is(err, rules.ErrStopped):
		return say("stopped", in.number())
	case errors.Is(err, rules.ErrPlaying):
		return say("playing", in.number())
	case in.unmarked(i.Turn):
		return say("marked.not", i.Turn.Dead[0].String())
	case in.marked(i.Turn):
		return say("marked.already", i.Turn.Dead[0].String())
	case i.Turn.Kind != rules.Place:
		return text.Whole(i.Because)
	case in.occupied(i.Turn.At):
		return say("occupied", i.Turn.At.String())
	case i.Breaks(rules.NewPosition), i.Breaks(rules.NewSituation): // the reason alone says too little
		return say("illegal.rule", i.Turn.At.String(), text.Sentence(i.Because), text.Sentence(i.Rule))
	}
	return say("illegal.plain", i.Turn.At.String(), text.Sentence(i.Because))
}

// noSuchTurn says that the ruleset does not know a kind of turn, and which it knows.
func (in *Input) noSuchTurn(k rules.Kind) text.Message {
	g := in.Position.Game
	r := g.Rules()
	if !k.IsTurn() && k != rules.MarkSeki {
		return in.noAgreement(r)
	}
	var turns []text.Message
	for k := rules.Place; k <= rules.Resign; k++ {
		if r.Has(k) {
			turns = append(turns, say("use", k.String()))
		}
	}
	if k == rules.Button && g.Table()+g.Holds(rules.Black, rules.ButtonThing)+g.Holds(rules.White, rules.ButtonThing) > 0 {
		return say("button.by.pass", r.Title, text.List(turns...))
	}
	return say("no.such.turn", r.Title, say(k.String()+".word"), text.List(turns...))
}

// marked reports whether a turn marks stones as they are marked already.
func (in *Input) marked(t rules.Turn) bool {
	marks := map[rules.Kind][]rules.Point{rules.MarkDead: in.Position.Game.Dead(), rules.MarkSeki: in.Position.Game.Seki()}[t.Kind]
	return len(t.Dead) > 0 && !slices.ContainsFunc(t.Dead, func(p rules.Point) bool { return !slices.Contains(marks, p) })
}

// unmarked reports whether a turn takes marks off stones that have none.
func (in *Input) unmarked(t rules.Turn) bool {
	g := in.Position.Game
	board, marks := g.Board(), slices.Concat(g.Dead(), g.Seki())
	return t.Kind == rules.Unmark && len(t.Dead) > 0 && !slices.ContainsFunc(t.Dead, func(p rules.Point) bool {
		return board.At(p) == rules.None || slices.Contains(marks, p)
	})
}

// occupied reports whether a stone stands on a point.
func (in *Input) occupied(at rules.Point) bool {
	board := in.Position.Game.Board()
	return board.At(at) != rules.None
}

// Over says that a game is over and who won, with the count if it was counted. What ended
// it stands with the board.
func Over(m Match, p *Position) text.Message {
	number := strconv.Itoa(m.Number)
	if s := p.Game.Score(); s != nil && p.Result == "" && byCount(p.Game.Result()) {
		more, less := max(s.Black, s.White), min(s.Black, s.White)
		return say("over.count", number, Outcome(m, p), more.String(), less.String())
	}
	return say("over.plain", number, Outcome(m, p))
}

// byCount reports whether a result, as SGF writes it, is that of a count.
func byCount(result string) bool {
	_, err := rules.ParsePoints(strings.TrimLeft(result, "BW+"))
	return err == nil
}

// Player is how a text calls who plays a colour: by name, or by the colour where one person
// plays both.
func (m Match) Player(c rules.Color) text.Message {
	if id := m.Seat(c); id != "" && m.Black != m.White {
		return say("player", named(id))
	}
	return text.Color(c)
}

// Outcome says how a game ended.
func Outcome(m Match, p *Position) text.Message {
	who := map[byte]text.Message{'B': m.Player(rules.Black), 'W': m.Player(rules.White)}
	result := cmp.Or(p.Result, p.Game.Result())
	switch {
	case result == "Draw" || result == "0" && p.Result != "":
		return say("draw")
	case result == "0":
		return say("jigo")
	case result == "Void" || result == "":
		return say("void")
	}
	if m, err := rules.ParsePoints(result[2:]); err == nil {
		return say("win", who[result[0]], text.Points(m))
	}
	return say("win.other", who[result[0]])
}

// Example returns an empty point near the centre of a board, as an example of where to
// play. The rows are those of [rules.Board.Rows].
func Example(rows []string) string { return central(rows).String() }

func central(rows []string) (nearest rules.Point) {
	far := 1 << 20
	for y := range rows {
		row := rows[len(rows)-1-y]
		for x := range row {
			across, up := 2*x+1-len(row), 2*y+1-len(rows)
			if d := across*across + up*up; row[x] == '.' && d < far {
				nearest, far = rules.Point{X: int8(x), Y: int8(y)}, d
			}
		}
	}
	return nearest
}

func (in *Input) rows() []string {
	board := in.Position.Game.Board()
	return board.Rows()
}

// exampleStone is a point with a stone to give as an example, if there is one.
func (in *Input) exampleStone() string {
	board := in.Position.Game.Board()
	for _, p := range board.Points() {
		if board.At(p) != rules.None {
			return p.String()
		}
	}
	return Example(in.rows())
}

// exampleFree is up to n points to give as an example of where handicap stones may go.
func (in *Input) exampleFree(n int) string {
	s := in.Match.Setup
	board, _ := rules.NewBoard(s.W, s.H)
	usual, err := rules.HandicapPoints(s.W, s.H, 4)
	if err != nil { // a board with no usual points
		usual = []rules.Point{central(board.Rows())}
	}
	var free, taken []rules.Point
	if in.Position != nil {
		taken = in.Position.Stones
	}
	for _, p := range slices.Concat(usual, board.Points()) {
		if len(free) < n && !slices.Contains(taken, p) && !slices.Contains(free, p) {
			free = append(free, p)
		}
	}
	return rules.Names(free)
}

// Number reads an argument that is a whole number; otherwise is its value if there is none. Its error
// is for the person who typed.
func Number(args map[string]string, name string, otherwise int) (int, error) {
	typed := strings.TrimSpace(args[name])
	if typed == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(typed)
	if err != nil {
		return 0, text.Error("bad.number", shortened(typed))
	}
	return n, nil
}
