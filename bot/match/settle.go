package match

import (
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// The end of a game: proposals of dead stones, decisions of moderators, and the
// deletion of games.

// seed is the seed of the playouts behind a proposal. Any will do; the same seed makes
// the same proposal for the same position.
const seed = 1

// judged returns one stone of each chain that looks dead, of each that looks alive in
// seki, and of each that is in doubt.
func judged(g *rules.Game) (dead, seki, unsure []rules.Point) {
	board := g.Board()
	j := rules.Judge(board, seed)
	if !g.Rules().Has(rules.MarkSeki) {
		j.Seki = nil
	}
	doubtful := func(p rules.Point) bool { return slices.Contains(j.Unsettled, p) }
	j.Dead, j.Seki = slices.DeleteFunc(j.Dead, doubtful), slices.DeleteFunc(j.Seki, doubtful)
	return OneOfEach(board, j.Dead), OneOfEach(board, j.Seki), OneOfEach(board, j.Unsettled)
}

// OneOfEach returns the first of the points of each chain.
func OneOfEach(board rules.Board, ps []rules.Point) (out []rules.Point) {
	seen := map[rules.Point]bool{}
	for _, p := range ps {
		if !seen[p] {
			out = append(out, p)
		}
		for _, q := range board.Chain(p) {
			seen[q] = true
		}
	}
	return out
}

// stopped says that play has stopped and how to agree on a count, and marks what looks dead.
func (in *Input) stopped(d *draft) []text.Message {
	says := []text.Message{say("stops", in.number())}
	if !in.Match.NoHints {
		says = append(says, in.suggest(d)...)
	}
	if !d.pos.Suggested() {
		return append(says, say("settle.how"))
	}
	last := d.pos.Lines[len(d.pos.Lines)-1]
	return append(says, say("settle.marked", last.Turn.Dead[0].String()))
}

// suggest marks what looks dead, so that there is a sensible count to agree on as soon
// as play has stopped, and returns the texts about it. It adds no marks to a game that
// has reached the limit of marks.
func (in *Input) suggest(d *draft) (says []text.Message) {
	dead, seki, unsure := judged(d.pos.Game)
	for _, l := range []struct {
		key  string
		kind rules.Kind
		ps   []rules.Point
	}{{"suggested.dead", rules.MarkDead, dead}, {"suggested.seki", rules.MarkSeki, seki}} {
		if len(l.ps) == 0 {
			continue
		}
		if in.add(d, body(eventSuggest, rules.Turn{Kind: l.kind, By: in.color(), Dead: l.ps})) != nil {
			return nil
		}
		says = append(says, say(l.key, pointList(l.ps)))
	}
	if len(unsure) > 0 {
		says = append(says, say("looks.doubtful", pointList(unsure), unsure[0].String()))
	}
	return says
}

// Suggested reports whether the last line of the game's log is the bot's suggestion of
// dead stones, made when play stopped.
func (p *Position) Suggested() bool { return len(p.Lines) > 0 && p.suggested(p.Lines[len(p.Lines)-1]) }

func (p *Position) suggested(l Line) bool { return p.Events[l.Seq-1].Suggested() }

// stillStanding warns a player whose pass ends play, or lets the opponent end it by
// another pass, under a ruleset in which all stones at the end are alive, if opponent
// stones look dead and capturing them first leads to a better result. After the warning
// the player may pass anyway.
func (in *Input) stillStanding(t rules.Turn) (Step, bool) {
	g := in.Position.Game
	r := g.Rules()
	_, final := r.EndsDisputes() // which may make this pass the last
	if t.Kind != rules.Pass || r.Has(rules.AcceptScore) && !(final && g.Times(rules.Resume) > 0) || r.Has(rules.AcceptSuggestion) || len(r.Count) == 0 || in.Position.Branch > 0 || in.Match.NoHints || !g.Allows(t) || in.yes("anyway") {
		return Step{}, false
	}
	passed := passOut(g, 2)
	if passed == nil || passed.Phase() != rules.Over { // the players agree on what is dead
		return Step{}, false
	}
	board := g.Board()
	dead, _, _ := judged(g)
	dead = slices.DeleteFunc(dead, func(p rules.Point) bool { return board.At(p) == t.By })
	obeyed, captured := captureFirst(g, dead)
	const most = 8 // passes that end a game, in any ruleset
	if obeyed = accepted(passOut(obeyed, most)); len(captured) == 0 || obeyed == nil || lead(obeyed, t.By) <= lead(passed, t.By) {
		return Step{}, false
	}
	return in.sure(say("pass.standing", pointList(captured), r.Title), "pass.anyway", "anyway"), true
}

// passOut returns the game after as many passes as stop play; nil if the first n do not.
func passOut(g *rules.Game, n int) *rules.Game {
	for range n {
		next, err := g.Play(rules.Turn{Kind: rules.Pass, By: g.ToPlay()})
		if err != nil || next.Phase() != rules.Playing {
			return next
		}
		g = next
	}
	return nil
}

// accepted returns a game that has stopped as it is counted if both players accept that
// all stones are alive.
func accepted(g *rules.Game) *rules.Game {
	for _, c := range []rules.Color{rules.Black, rules.White} {
		if g != nil && g.Phase() == rules.Settling {
			g, _ = g.Play(rules.Turn{Kind: rules.AcceptScore, By: c}) // nil after an error
		}
	}
	return g
}

// captureFirst returns the game after the player to move has captured the chains of these
// points, as far as that is possible while the opponent passes, and a point of each.
func captureFirst(g *rules.Game, dead []rules.Point) (_ *rules.Game, captured []rules.Point) {
	by := g.ToPlay()
	for _, p := range dead {
		taken := false
		for after := g; !taken; {
			board := after.Board()
			i := slices.IndexFunc(around(board, p), func(q rules.Point) bool {
				next, err := after.Play(rules.Turn{Kind: rules.Place, By: by, At: q})
				if err == nil {
					after = next
				}
				return err == nil
			})
			if i < 0 {
				break
			}
			board = after.Board()
			taken = board.At(p) == rules.None
			next, err := after.Play(rules.Turn{Kind: rules.Pass, By: after.ToPlay()})
			if err != nil {
				break
			}
			if after = next; taken {
				g, captured = after, append(captured, p)
			}
		}
	}
	return g, captured
}

// around returns the liberties of the chain at a point.
func around(board rules.Board, p rules.Point) (liberties []rules.Point) {
	for _, q := range board.Chain(p) {
		for _, d := range []rules.Point{{X: 1}, {X: -1}, {Y: 1}, {Y: -1}} {
			l := rules.Point{X: q.X + d.X, Y: q.Y + d.Y}
			if board.Has(l) && board.At(l) == rules.None && !slices.Contains(liberties, l) {
				liberties = append(liberties, l)
			}
		}
	}
	return liberties
}

// lead returns how far a player is ahead in a game that has been counted.
func lead(g *rules.Game, c rules.Color) rules.Points {
	margin := g.Score().Margin()
	if c == rules.White {
		return -margin
	}
	return margin
}

func pointList(ps []rules.Point) string { return strings.ReplaceAll(rules.Names(ps), " ", ", ") }

// propose marks what looks dead, for both to look at. Chains that are marked
// already stay as they are.
func (in *Input) propose() Step {
	g := in.Position.Game
	if !g.Rules().Has(rules.AcceptScore) {
		return in.Refuse(in.noAgreement(g.Rules()))
	}
	if g.Phase() != rules.Settling {
		return in.Refuse(say("playing", in.number()))
	}
	if in.Match.NoHints {
		return in.Refuse(say("no.hints.propose", in.number()))
	}
	dead, seki, _ := judged(g)
	var ts []rules.Turn
	for _, l := range []struct {
		kind   rules.Kind
		ps     []rules.Point
		marked []rules.Point
	}{{rules.MarkDead, dead, g.Dead()}, {rules.MarkSeki, seki, g.Seki()}} {
		ps := slices.DeleteFunc(l.ps, func(p rules.Point) bool { return slices.Contains(l.marked, p) })
		if len(ps) > 0 {
			ts = append(ts, rules.Turn{Kind: l.kind, By: in.color(), Dead: ps})
		}
	}
	if len(ts) == 0 {
		return in.Refuse(say("looks.settled", in.number()))
	}
	return in.play(ts...)
}

// verdicts are the results that a moderator may decide on without a count.
var verdicts = map[string]string{"black": "B+F", "white": "W+F", "draw": "0", "void": "Void"}

// adjudicate ends a game as a moderator decides.
func adjudicate(in *Input) Step {
	m := in.Match
	switch {
	case !in.Request.Moderator:
		return in.Refuse(say("moderators.only"))
	case m.State == Going && (m.Black == in.By) != (m.White == in.By):
		return in.Refuse(say("adjudicate.yours", in.number()))
	case m.State != Going:
		if s, blocked := in.blocked(); blocked {
			return s
		}
	}
	return in.judge()
}

// judge ends a game by a verdict.
func (in *Input) judge() Step {
	d := in.draft()
	if d.pos.Branch > 0 { // what was tried out decides nothing
		if err := in.add(&d, leave); err != nil {
			return in.Refuse(wrong(err))
		}
	}
	result, dead, err := in.verdict(d.pos.Game)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	if err := in.add(&d, body(eventAdjudicate, result, dead)); err != nil {
		return in.Refuse(wrong(err))
	}
	return in.end(d, words{below: []text.Message{in.judgedWords(d.pos, dead)}})
}

// verdict returns the result that a moderator decides on, and which stones are dead if the
// game is counted.
func (in *Input) verdict(g *rules.Game) (result, dead string, err error) {
	as := strings.ToLower(in.arg("as"))
	if verdicts[as] != "" {
		return verdicts[as], "", nil
	}
	if as != "count" {
		return "", "", text.Error("adjudicate.as", shortened(as))
	}
	ps := g.Dead() // as it is marked
	if in.Request.Args["dead"] != "" {
		if ps, err = ParsePoints(in.Request.Args["dead"], in.Match.Setup.W, in.Match.Setup.H); err != nil {
			return "", "", err
		}
	}
	if g, err = counted(g, ps); err != nil {
		return "", "", err
	}
	return g.Result(), rules.Names(ps), nil
}

// counted brings a game to its count, with these stones dead.
func counted(g *rules.Game, dead []rules.Point) (*rules.Game, error) {
	c := sgf.Count{Dead: append([]rules.Point{}, dead...)}
	if !g.Rules().Has(rules.AcceptScore) && len(dead) == 0 {
		c.Dead = nil
	}
	g, _, err := sgf.Of(g).Count(c)
	if err == nil && g.Phase() != rules.Over { // nobody can be asked to play on
		g, err = rules.Close(g.Rules(), g.Setup(), g.Log(), c.Dead, nil)
	}
	return g, err
}

// Final returns the game to show and count: the game that was played, or the one that
// a moderator's decision made of it.
func (p *Position) Final() *rules.Game {
	if len(p.Result) < 3 || p.Result[2] < '0' || p.Result[2] > '9' {
		return p.Game
	}
	g, err := counted(p.Game, p.dead)
	if err != nil { // it could be counted when it was decided
		return p.Game
	}
	return g
}

// withdraw cancels a game, or deletes it. If the person does not say which, a player's
// game that has hardly begun is cancelled.
func withdraw(in *Input) Step {
	m := in.Match
	switch how := strings.ToLower(in.arg("how")); {
	case how == "cancel":
		return in.cancel()
	case how != "" && how != "forget":
		return in.Refuse(say("delete.how", shortened(how)))
	case how == "" && (!in.Position.BothMoved() || in.silent()) && !in.asked("delete") &&
		(m.State == Open && m.Opener == in.By || m.State == Going && in.plays()):
		if m.State == Going && !in.yes("confirm") {
			s := in.sure(say("cancel.sure", in.number()), "cancel.button", "confirm")
			s.Answer.Controls[0].Args["how"] = "cancel"
			return s
		}
		return in.cancel()
	}
	return in.erase()
}

// BothMoved reports whether both players have made a turn.
func (p *Position) BothMoved() bool {
	moved := map[rules.Color]bool{}
	for _, l := range p.Lines {
		moved[l.Turn.By] = true
	}
	return moved[rules.Black] && moved[rules.White]
}

// erase deletes a game if both players, or a moderator, want that.
func (in *Input) erase() Step {
	switch m := in.Match; {
	case m.State == Deleted:
		return in.Refuse(say("game.deleted", in.number()))
	case !in.plays() && !in.Request.Moderator:
		return in.Refuse(say("delete.whose", in.number()))
	case !in.plays() && m.State == Ended:
		return in.sureToForget("delete.sure.over")
	case !in.plays():
		return in.sureToForget("delete.sure")
	case in.playsBoth(), m.State == Cancelled && m.plays(""): // there is nobody to ask
		return in.sureToForget("delete.sure.alone")
	case in.askedByOther("delete"):
		return in.forget()
	case m.State == Open:
		return in.Refuse(say("delete.open", in.number()))
	}
	return in.ask("delete", say("request.delete", named(in.By), in.other(), in.number()), say("request.how.delete")) // /accept could mean the count
}

// sureToForget deletes a game once the person has confirmed that.
func (in *Input) sureToForget(question string) Step {
	if in.yes("confirm") {
		return in.forget()
	}
	s := in.sure(say(question, in.number()), "delete.button", "confirm")
	if question == "delete.sure.alone" { // without it the command may cancel
		s.Answer.Controls[0].Args["how"] = "forget"
	}
	return s
}

// Leave ends the match of a person whose data is about to be deleted.
func Leave(in *Input, by PersonID) Step {
	in = in.as(by)
	switch m := in.Match; {
	case m.State == Open && m.Opener == by:
		return in.close(Cancelled, body(eventCancel), above(say("cancelled", named(by), in.number())))
	case m.State != Going || !in.plays():
		return in.Refuse()
	case in.playsBoth():
		return in.step(words{}, body(eventDelete))
	}
	return in.play(rules.Turn{Kind: rules.Resign, By: in.color()})
}

func (in *Input) forget() Step {
	return in.step(above(say("deleted", named(in.By), in.number())), body(eventDelete))
}

// Limits on comments on a game.
const (
	maxRemarks = 200
	maxRemark  = 500 // characters
)

// comment adds a comment on a turn of a game that is over. The record contains it.
func comment(in *Input) Step {
	if s, gone := in.gone(); gone {
		return s
	}
	if in.Match.State != Ended {
		return in.Refuse(say("comment.when", in.number()))
	}
	remark := in.arg("text")
	turns := in.Position.Game.Turns()
	n, err := Number(in.Request.Args, "move", turns)
	switch {
	case err != nil:
		return in.Refuse(wrong(err))
	case n < 1 || n > turns:
		return in.Refuse(say("review.range", in.number(), strconv.Itoa(turns)))
	case remark == "":
		return in.Refuse(say("needs", "comment", say("needs.comment"), "text:Why not C3? move:12"))
	case len([]rune(remark)) > maxRemark:
		return in.Refuse(say("text.too.long", strconv.Itoa(maxRemark)))
	case len(in.Position.Remarks) >= maxRemarks:
		return in.Refuse(say("comment.many", in.number(), strconv.Itoa(maxRemarks)))
	}
	move := strconv.Itoa(n)
	return in.step(words{above: []text.Message{say("commented", named(in.By), move, in.number(), remark)}, quiet: true}, body(eventComment, move, remark))
}
