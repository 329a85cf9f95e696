package bot

import (
	"slices"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules"
)

// An offer is one of the rarer things that somebody may do in a game, behind the button
// "More…". A change is offered to whom the decision lets make it now, a question to
// everybody.
type offer struct {
	match.Control
	when    func(m match.Match, p *match.Position, by match.PersonID) bool // nil: at any time
	example func(p *match.Position) string                                 // a value of Ask to try the change with
}

// offers are in the order of the menu.
var offers = []offer{
	{Control: match.Control{Label: "label.draw.offer", Command: "draw"}, when: undrawn},
	{Control: match.Control{Label: "label.withdraw", Command: "decline"}, when: asking},
	{Control: match.Control{Label: "label.claim", Command: "claim"}},
	{Control: match.Control{Label: "label.noresult", Command: "accept", Args: map[string]string{"no-result": "yes"}}},
	{Control: match.Control{Label: "label.passdead", Command: "pass", Ask: "dead"}, when: suggests, example: someStone},
	{Control: match.Control{Label: "label.seki", Command: "dead", Ask: "points", Args: map[string]string{"as": "seki"}}, example: someStone},
	{Control: match.Control{Label: "label.undo", Command: "undo"}},
	{Control: match.Control{Label: "label.pause", Command: "clock", Args: map[string]string{"pause": "yes"}}, when: ticking},
	{Control: match.Control{Label: "label.unpause", Command: "clock", Args: map[string]string{"pause": "no"}}},
	{Control: match.Control{Label: "label.clock", Command: "clock"}, when: timed},
	{Control: match.Control{Label: "label.board", Command: "board", Ask: "move"}, when: begun},
	{Control: match.Control{Label: "label.score", Command: "score"}, when: counts},
	{Control: match.Control{Label: "label.why", Command: "score", Args: map[string]string{"why": "yes"}}, when: counts},
	{Control: match.Control{Label: "label.ledger", Command: "score", Args: map[string]string{"ledger": "yes"}}, when: begun},
	{Control: match.Control{Label: "label.compare", Command: "compare"}, when: begun},
	{Control: match.Control{Label: "label.replay", Command: "replay"}, when: begun},
	{Control: match.Control{Label: "label.sgf", Command: "sgf"}, when: begun},
	{Control: match.Control{Label: "label.comment", Command: "comment", Ask: "text"}, example: example("…")},
	{Control: match.Control{Label: "label.resign", Command: "resign"}},
	{Control: match.Control{Label: "label.cancel", Command: "delete"}, when: unbegun},
	{Control: match.Control{Label: "label.forget", Command: "delete", Args: map[string]string{"how": "forget"}}, when: undeleted},
	{Control: match.Control{Label: "label.adjudicate", Command: "adjudicate", Ask: "as"}, example: example("void")},
}

// More are the controls behind the button "More…". Like those of [Controls] each is a
// command with options, for platforms where it is typed.
var More = rarer()

func rarer() (cs []match.Control) {
	for _, o := range offers {
		cs = append(cs, o.Control)
	}
	return cs
}

func begun(_ match.Match, p *match.Position, _ match.PersonID) bool { return p.Game.Turns() > 0 }

func counts(m match.Match, p *match.Position, _ match.PersonID) bool {
	return m.State != match.Open && len(p.Game.Rules().Count) > 0
}

func playing(_ match.Match, p *match.Position, _ match.PersonID) bool {
	return p.Game.Phase() == rules.Playing
}

// suggests reports whether players name dead stones when they pass.
func suggests(_ match.Match, p *match.Position, _ match.PersonID) bool {
	return p.Game.Rules().Has(rules.AcceptSuggestion)
}

// unbegun reports whether a game is one that its players can still cancel.
func unbegun(m match.Match, p *match.Position, by match.PersonID) bool {
	return (m.State == match.Open || m.State == match.Going) && !p.BothMoved() && undeleted(m, p, by)
}

func timed(m match.Match, _ *match.Position, _ match.PersonID) bool {
	return m.State == match.Going && m.Clock.Kind != clock.None
}

func ticking(m match.Match, p *match.Position, by match.PersonID) bool {
	return timed(m, p, by) && !p.Paused()
}

// undrawn and undeleted leave out what would not ask the opponent, but agree: the question
// has buttons for that. Where the ruleset has draws, players declare them.
func undrawn(m match.Match, p *match.Position, by match.PersonID) bool {
	return playing(m, p, by) && !p.Game.Rules().Has(rules.Draw) && (p.Asked == nil || p.Asked.What != "draw")
}

func undeleted(_ match.Match, p *match.Position, _ match.PersonID) bool {
	return p.Asked == nil || p.Asked.What != "delete"
}

// asking reports whether somebody waits for the answer to a question of their own.
func asking(m match.Match, p *match.Position, by match.PersonID) bool {
	return p.Asked != nil && m.Seat(p.Asked.By) == by
}

func example(value string) func(*match.Position) string {
	return func(*match.Position) string { return value }
}

// someStone is a stone that has no mark yet.
func someStone(p *match.Position) string {
	board := p.Game.Board()
	marked := slices.Concat(p.Game.Dead(), p.Game.Seki())
	for _, at := range board.Points() {
		if board.At(at) != rules.None && !slices.Contains(marked, at) {
			return at.String()
		}
	}
	return "none"
}

// more answers with the rarer things that the person may do now in the game.
func more(q *question) Answer {
	in := &task{req: q.req, localizer: q.localizer, Input: match.Input{By: q.by, Match: q.match, Now: q.b.now().UTC()}}
	if err := q.b.prepare(q.ctx, in); err != nil {
		return q.failed(err)
	}
	var cs []match.Control
	shown := controls(q.match, q.pos, q.match.Seq)
	for _, o := range offers {
		below := slices.ContainsFunc(shown, func(c match.Control) bool { return c.Label == o.Label })
		if below || o.when != nil && !o.when(q.match, q.pos, q.by) {
			continue
		}
		c := label(q.match, 0, o.Label)
		h, _ := find(o.Command)
		if !h.asks(Request{Args: c.Args}) {
			if !in.may(h, c, o) {
				continue
			}
			c = label(q.match, q.match.Seq, o.Label)
		}
		cs = append(cs, c)
	}
	if len(cs) == 0 {
		return q.refuse(say("more.none", q.number()))
	}
	a := q.answer(say("more", q.number()))
	a.Controls, a.Menu = labelled(q.lang, cs), q.lang.Say(say("label.more"))
	return a
}

// may reports whether the decision would let the person make a change, perhaps after
// asking whether they are sure. It decides, and throws the step away.
func (in *task) may(h handler, c match.Control, o offer) bool {
	try := in.Input
	try.Request = match.Request{Command: h.Name, Args: c.Args, Where: in.req.Where, Moderator: in.req.moderates(h.Name)}
	if o.example != nil {
		try.Request.Args[c.Ask] = o.example(in.Position)
	}
	answer := match.Decide(&try).Answer
	return !answer.Refused || len(answer.Controls) > 0
}
