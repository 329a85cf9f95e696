package match

import (
	"maps"
	"slices"
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/rules"
)

// An option is something that people may do in a match, and when it is offered.
type option struct {
	Control                  // without the match in its arguments
	lasts   bool             // lasts or once
	when    func(n now) bool // whether the match is in a state for it; nil: always
}

const (
	lasts = true  // the control is valid for as long as there is the match
	once  = false // the control is valid until something else is done
)

// now is what the state of an option follows from.
type now struct {
	Match
	*Position
	by  PersonID // who may do it; empty: anybody
	seq int      // of the event that asked something; 0: any
}

func (n now) ended() bool    { return n.State == Ended }
func (n now) on() bool       { return (n.State == Going || n.State == Sandbox) && !n.Over() }
func (n now) placing() bool  { return n.on() && n.Placing > 0 }
func (n now) playing() bool  { return n.on() && n.Placing == 0 && n.Game.Phase() == rules.Playing }
func (n now) settling() bool { return n.on() && n.Placing == 0 && n.Game.Phase() == rules.Settling }
func (n now) begun() bool    { return n.Game.Turns() > 0 }
func (n now) counts() bool   { return n.State != Open && len(n.Game.Rules().Count) > 0 }
func (n now) young() bool {
	return (n.State == Open || n.State == Going) && !n.BothMoved() && !n.asks("delete")
}
func (n now) timed() bool    { return n.State == Going && n.Clock.Kind != clock.None }
func (n now) inBranch() bool { return n.playing() && n.Branch > 0 }
func (n now) undoable() bool { // in a branch only the turns of the branch
	return n.placing() && len(n.Stones) > 0 || n.playing() && n.begun() && n.Lines[len(n.Lines)-1].Seq > n.Branch
}
func (n now) challenge() bool {
	return n.State == Open && n.Invited != "" && (n.by == "" || n.by == n.Invited)
}

// asks reports whether one player asks the other for something, or for what is named.
func (n now) asks(what string) bool {
	return n.Asked != nil && (n.seq == 0 || n.seq == n.Asked.Seq) && (what == "" || n.Asked.What == what)
}

// allows reports whether the player to move may make a turn.
func allows(k rules.Kind) func(now) bool {
	return func(n now) bool { return n.playing() && n.Game.Allows(rules.Turn{Kind: k, By: n.Game.ToPlay()}) }
}

// boardOptions are offered below a board: what can be done at this moment, and what a game
// that is over is good for. The last one leads to the menu.
var boardOptions = []option{
	{Control{"label.rematch", "rematch", nil, ""}, lasts, now.ended},
	{Control{"label.replay", "replay", nil, ""}, lasts, now.ended},
	{Control{"label.compare", "compare", nil, ""}, lasts, now.ended},
	{Control{"label.sgf", "sgf", nil, ""}, lasts, now.ended},
	{Control{"label.stones", "place", nil, "at"}, once, now.placing},
	{Control{"label.place", "place", nil, "at"}, once, now.playing},
	{Control{"label.pass", "pass", nil, ""}, once, allows(rules.Pass)},
	{Control{"label.button", "button", nil, ""}, once, allows(rules.Button)},
	{Control{"label.delay", "delay", nil, ""}, once, allows(rules.Delay)},
	{Control{"label.accept", "accept", nil, ""}, once, allows(rules.AcceptSuggestion)},
	{Control{"label.draw", "draw", nil, ""}, once, allows(rules.Draw)},
	{Control{"label.undo", "undo", nil, ""}, once, now.undoable},
	{Control{"label.return", "dispute", with("back", "yes"), ""}, once, now.inBranch},
	{Control{"label.dead", "dead", nil, "points"}, once, now.settling},
	{Control{"label.alive", "dead", with("as", "alive"), "points"}, once,
		func(n now) bool { return n.settling() && len(n.Game.Dead()) > 0 }},
	{Control{"label.accept", "accept", nil, ""}, once, now.settling},
	{Control{"label.resume", "resume", nil, ""}, once, now.settling},
	{Control{"label.dispute", "dispute", nil, ""}, once, now.settling},
	{Control{"label.score", "score", nil, ""}, lasts, func(n now) bool { return (n.playing() || n.settling()) && len(n.Game.Rules().Count) > 0 }},
	{Control{"label.more", "more", nil, ""}, lasts, func(n now) bool { return n.on() || n.ended() }},
}

// answerOptions are offered below a notice that asks somebody something.
var answerOptions = []option{
	{Control{"label.join", "join", nil, ""}, lasts, func(n now) bool { return n.State == Open }},
	{Control{"label.decline", "decline", nil, ""}, lasts, now.challenge},
	{Control{"label.delete", "delete", nil, ""}, once, func(n now) bool { return n.asks("delete") }},
	{Control{"label.page", "page", with("agree", "yes"), ""}, once, func(n now) bool { return n.asks("page") }},
	{Control{"label.yes", "accept", nil, ""}, once, func(n now) bool { return n.asks("") && !n.Asked.byCommand() }},
	{Control{"label.decline", "decline", nil, ""}, once, func(n now) bool { return n.asks("") }},
}

// menuOptions are the rarer things. What would not ask the opponent, but agree, is left to
// the buttons of the question.
var menuOptions = []option{
	{Control{"label.draw.offer", "draw", nil, ""}, once,
		func(n now) bool {
			return n.Game.Phase() == rules.Playing && !n.Game.Rules().Has(rules.Draw) && !n.asks("draw")
		}},
	{Control{"label.withdraw", "decline", nil, ""}, once, func(n now) bool { return n.asks("") && n.Seat(n.Asked.By) == n.by }},
	{Control{"label.claim", "claim", nil, ""}, once, nil},
	{Control{"label.noresult", "accept", with("no-result", "yes"), ""}, once,
		func(n now) bool { return n.Game.MayEndWithoutResult() }},
	{Control{"label.passdead", "pass", nil, "dead"}, once,
		func(n now) bool { return n.Game.Rules().Has(rules.AcceptSuggestion) }},
	{Control{"label.seki", "dead", with("as", "seki"), "points"}, once, now.settling},
	{Control{"label.undo", "undo", nil, ""}, once, func(n now) bool { return len(n.Lines)+len(n.Stones) > 0 }},
	{Control{"label.pause", "clock", with("pause", "yes"), ""}, once, func(n now) bool { return n.timed() && !n.paused }},
	{Control{"label.unpause", "clock", with("pause", "no"), ""}, once, nil},
	{Control{"label.clock", "clock", nil, ""}, lasts, now.timed},
	{Control{"label.board", "board", nil, "move"}, lasts, now.begun},
	{Control{"label.score", "score", nil, ""}, lasts, func(n now) bool { return n.counts() && n.State != Cancelled }},
	{Control{"label.why", "score", with("why", "yes"), ""}, lasts, now.counts},
	{Control{"label.ledger", "score", with("ledger", "yes"), ""}, lasts, now.begun},
	{Control{"label.compare", "compare", nil, ""}, lasts, now.begun},
	{Control{"label.replay", "replay", nil, ""}, lasts, now.begun},
	{Control{"label.sgf", "sgf", nil, ""}, lasts, now.begun},
	{Control{"label.comment", "comment", nil, "text"}, once, nil},
	{Control{"label.resign", "resign", nil, ""}, once, nil},
	{Control{"label.cancel", "delete", nil, ""}, once, func(n now) bool { return n.young() && n.plays(n.by) }},
	{Control{"label.cancel", "delete", with("how", "cancel"), ""}, once, func(n now) bool { return n.young() && !n.plays(n.by) }}, // else it would delete
	{Control{"label.forget", "delete", with("how", "forget"), ""}, once, func(n now) bool { return !n.asks("delete") }},
	{Control{"label.adjudicate", "adjudicate", nil, "as"}, once, nil},
}

func with(option, value string) map[string]string { return map[string]string{option: value} }

// Controls and More are all that posts, and the menu, may ever offer.
var Controls, More = controlsOf(boardOptions, answerOptions), controlsOf(menuOptions)

func controlsOf(options ...[]option) (cs []Control) {
	for _, o := range slices.Concat(options...) {
		if !labelled(cs, o.Label) {
			cs = append(cs, o.Control)
		}
	}
	return cs
}

func labelled(cs []Control, label string) bool {
	return slices.ContainsFunc(cs, func(c Control) bool { return c.Label == label })
}

// BoardOptions returns what is offered to everybody below the board after event seq.
func BoardOptions(m Match, p *Position, seq int) []Control { return offered(boardOptions, m, p, seq) }

// AnswerOptions returns what is offered to everybody below the notice of event seq.
func AnswerOptions(m Match, p *Position, seq int) []Control { return offered(answerOptions, m, p, seq) }

func offered(options []option, m Match, p *Position, seq int) (cs []Control) {
	for _, o := range options {
		if o.fits(now{m, p, "", seq}) {
			cs = append(cs, o.control(m, seq))
		}
	}
	return cs
}

func (o option) fits(n now) bool { return o.when == nil || o.when(n) }

// control returns the control of an option for a match, as it is after event seq.
func (o option) control(m Match, seq int) Control {
	c := o.Control
	c.Args = map[string]string{"game": strconv.Itoa(m.Number)}
	maps.Copy(c.Args, o.Args)
	if !o.lasts {
		c.Args["seq"] = strconv.Itoa(seq)
	}
	return c
}

// MenuOptions returns what the menu offers to the person asking: the questions, and the
// changes that Decide lets them make, perhaps after they have confirmed; but nothing that
// the board offers.
func MenuOptions(in *Input, moderates func(command string) bool) (cs []Control) {
	board := BoardOptions(in.Match, in.Position, in.Match.Seq)
	for _, o := range menuOptions {
		if labelled(board, o.Label) || !o.fits(now{in.Match, in.Position, in.By, 0}) {
			continue
		}
		if c := o.control(in.Match, in.Match.Seq); o.lasts || in.may(c, moderates(o.Command)) {
			cs = append(cs, c)
		}
	}
	return cs
}

// may reports whether the person may make a change, perhaps after confirming it.
func (in *Input) may(c Control, moderator bool) bool {
	answer := in.try(c, moderator).Answer
	return !answer.Refused || len(answer.Controls) > 0
}

// try decides a change, with an example of what it asks for. The step is not stored.
func (in *Input) try(c Control, moderator bool) Step {
	try := *in
	try.Request = Request{Command: c.Command, Args: maps.Clone(c.Args), Where: in.Request.Where, Moderator: moderator}
	switch dead := in.Position.Game.Dead(); {
	case c.Ask == "at":
		try.Request.Args[c.Ask] = in.freePoint()
	case c.Ask == "points" && c.Args["as"] == "alive" && len(dead) > 0:
		try.Request.Args[c.Ask] = dead[0].String()
	case c.Ask == "dead", c.Ask == "points":
		try.Request.Args[c.Ask] = in.unmarkedStone()
	case c.Ask == "text":
		try.Request.Args[c.Ask] = "…"
	case c.Ask == "as":
		try.Request.Args[c.Ask] = "void"
	}
	return Decide(&try)
}

// An Offer is a change that a person may make now.
type Offer struct {
	Control
	After *Position // after it; nil if it asks for something first
}

// offerOptions are what the menu offers that pages offer, too.
var offerOptions = slices.DeleteFunc(slices.Clone(menuOptions), func(o option) bool {
	return !slices.Contains([]string{"label.withdraw", "label.claim", "label.noresult", "label.passdead", "label.unpause", "label.draw.offer", "label.resign"}, o.Label)
})

// Offers returns the changes that the person asking may make now: answers to what the other
// player asks, or to take back their own question; what the board offers; and some rarer
// things. An onlooker may change nothing, and who has accepted the count accepts nothing.
func Offers(in *Input) (all []Offer) {
	n := now{in.Match, in.Position, in.By, 0}
	add := func(seq int, options []option) {
		for _, o := range options {
			c := o.control(in.Match, seq)
			if o.lasts || !o.fits(n) || o.Label == "label.decline" && n.asks("") && n.Seat(n.Asked.By) == in.By { // that is to withdraw
				continue
			}
			step := in.try(c, in.Request.Moderator)
			switch {
			case step.Answer.Refused && len(step.Answer.Controls) == 0:
			case c.Ask != "":
				all = append(all, Offer{c, nil})
			default:
				all = append(all, Offer{c, step.After})
			}
		}
	}
	if n.asks("") {
		add(in.Position.Asked.Seq, answerOptions)
	}
	add(in.Match.Seq, boardOptions)
	add(in.Match.Seq, offerOptions)
	return all
}

// freePoint returns a point where the player to move may place a stone.
func (in *Input) freePoint() string {
	g := in.Position.Game
	board := g.Board()
	for _, at := range board.Points() {
		if board.At(at) == rules.None && (in.Position.Placing > 0 && !slices.Contains(in.Position.Stones, at) || g.Allows(rules.Turn{Kind: rules.Place, By: g.ToPlay(), At: at})) {
			return at.String()
		}
	}
	return "none"
}

// unmarkedStone returns a stone that has no mark yet.
func (in *Input) unmarkedStone() string {
	board, marked := in.Position.Game.Board(), slices.Concat(in.Position.Game.Dead(), in.Position.Game.Seki())
	for _, at := range board.Points() {
		if board.At(at) != rules.None && !slices.Contains(marked, at) {
			return at.String()
		}
	}
	return "none"
}

// Takes reports whether a match is in a state for a command of a person. It matters only
// for commands that are Rare.
func Takes(m Match, p *Position, command string, by PersonID) bool {
	return slices.ContainsFunc(slices.Concat(boardOptions, answerOptions, menuOptions), func(o option) bool {
		return o.Command == command && o.fits(now{m, p, by, 0})
	})
}
