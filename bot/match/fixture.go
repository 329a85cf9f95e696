package match

import (
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Games of an event. The event seats the players, and takes note of the result; only its
// organiser changes that.

// barred are the commands that players of an event, and moderators, cannot give in its games:
// its clock ends them, and the organiser corrects results.
var barred = []string{"delete", "clock"}

// bars refuses what cannot be done in the game of an event.
func (in *Input) bars() (Step, bool) {
	draws := in.Decisive && in.Request.Command == "draw"
	if in.Match.Fixture.Event == "" || !slices.Contains(barred, in.Request.Command) && !draws {
		return Step{}, false
	}
	return in.Refuse(say("event.bars."+in.Request.Command, in.number())), true
}

// OpenFixture returns the step with which in.Match begins, which has both players.
func OpenFixture(in *Input) Step {
	m := in.Match
	m.Opened, m.State = in.Now, Open
	r, err := rules.Find(m.Rules)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	g, _, err := m.begin(r, nil)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	next := in.opening(m)
	next.Limits = Limits{Person: 1, Channel: 1} // which those of in.Here and in.Yours do not reach
	next.Here, next.Yours = nil, nil
	return next.openOrBegin(g)
}

// CloseFixture ends a game of an event without its players: by "count", as it is marked, or
// as the organiser decides, by one of the verdicts of [adjudicate]. If the game is over, it
// changes nothing.
func CloseFixture(in *Input, as string) Step {
	if in.Match.State != Going {
		return Step{Request: in.Request.ID, At: in.Now}
	}
	try := *in
	try.Request.Command, try.Request.Args = "adjudicate", map[string]string{"as": as}
	s := try.judge()
	if s.Match == nil && as == "count" { // its ruleset counts no such position
		try.Request.Args["as"] = "void"
		s = try.judge()
	}
	return s
}

// CreditFixture credits the clocks of a game of an event with time that does not count, which
// may be still to come. The event announces it.
func CreditFixture(in *Input, from, to time.Time) Step {
	if in.Match.State != Going {
		return Step{Request: in.Request.ID, At: in.Now}
	}
	return in.credit(body(eventCredit, from.UnixMilli(), to.UnixMilli()), text.Message{}, false)
}

// Contested reports whether the players try out what is dead.
func (p *Position) Contested() bool { return p.Branch > 0 }

// decidedBy says who decided a game that its players did not end.
func (m Match) decidedBy(by PersonID, result string) string {
	switch {
	case m.Fixture.Event == "":
		return "a moderator decided it"
	case by != "":
		return "an organiser of the event decided it"
	case strings.HasSuffix(result, "+F"):
		return "a player left the event"
	case result == "Void":
		return "it does not count in the event"
	}
	return "the time of the event was over"
}

// judgedWords say how such a game ended.
func (in *Input) judgedWords(p *Position, dead string) text.Message {
	m := in.Match
	switch {
	case m.Fixture.Event == "" && dead != "":
		return say("decided.dead", named(in.By), in.number(), Outcome(m, p), dead)
	case m.Fixture.Event == "":
		return say("decided", named(in.By), in.number(), Outcome(m, p), dead)
	case in.By != "":
		return say("event.decided", named(in.By), in.number(), Outcome(m, p))
	case strings.HasSuffix(p.Result, "+F"):
		return say("event.forfeit", in.number(), Outcome(m, p))
	case p.Result == "Void":
		return say("event.void", in.number())
	}
	return say("event.closed", in.number(), Outcome(m, p))
}
