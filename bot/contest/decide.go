package contest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// An Input holds everything that a decision depends on; a decision does not change it.
type Input struct {
	Request  match.Request
	By       match.PersonID
	Users    map[string]match.PersonID // for options of type User
	Contest  *Contest                  // nil: the request is about none
	NewID    ID                        // of the event that the request publishes
	NewPage  string                    // slug of its page
	Games    map[match.GameID]Game     // of the last round, those that exist
	Fixture  func(round, table int) (id match.GameID, page string)
	Draft    Draft // of the person asking, in the room
	Alone    bool  // nobody else can come into the room of the request
	Running  int   // events in the room of the request
	Room     match.RoomSettings
	Rulesets match.Rulesets
	Zone     *time.Location // of the person asking
	Away     bool           // the place of the event cannot be reached
	Outage   match.Stretch  // in which the sign-up, or the time to answer between two rounds, ended; zero: in none
	Links    int            // games to which the message of the event can lead
	Linking  bool           // it can soon lead to more
	Unasked  []int          // players whom the question about the next round did not reach
	Now      time.Time
}

// A Game is what an event knows of one of its games.
type Game struct {
	match.Match
	Disputed bool // the players try out what is dead
}

// maxRunning is how many events a room can have at a time.
const maxRunning = 20

// An action is what somebody can do about an event.
type action struct {
	do        func(*Input) Step
	organises bool // only for organisers and moderators
	states    []State
	did       func(in *Input, after Step) text.Message // for the log of moderators; nil: it is not for that
}

// actions are the values of the option "what" of /event that change something.
var actions = map[string]action{
	"new":       {do: newEvent},
	"discard":   {do: discard},
	"publish":   {do: publish, did: didPublish},
	"join":      {do: join, states: []State{SignUp}},
	"leave":     {do: leave, states: []State{SignUp, Playing}},
	"start":     {do: start, organises: true, states: []State{SignUp, Playing}, did: didStart},
	"extend":    {do: extend, organises: true, states: []State{SignUp, Playing}, did: didExtend},
	"withdraw":  {do: withdraw, organises: true, states: []State{SignUp, Playing}, did: didWithdraw},
	"replace":   {do: replace, organises: true, states: []State{SignUp, Playing}, did: didReplace},
	"result":    {do: result, organises: true, states: []State{Playing, Over}, did: didResult},
	"organiser": {do: organiser, organises: true, did: didOrganiser},
	"play":      {do: play, states: []State{Playing}},
	"sitout":    {do: sitOut, states: []State{Playing}},
	"meet":      {do: meet, organises: true, states: []State{SignUp, Playing}, did: didChoose},
	"forbid":    {do: forbid, organises: true, states: []State{SignUp, Playing}, did: didChoose},
	"swap":      {do: swap, organises: true, states: []State{SignUp, Playing}, did: didChoose},
	"cancel":    {do: cancel, organises: true, states: []State{SignUp, Playing}, did: didCancel},
}

// Changes reports whether a value of the option "what" changes something.
func Changes(what string) bool { return actions[what].do != nil }

// NeedsEvent reports whether an action is about an event that there is.
func NeedsEvent(what string) bool { return what != "new" && what != "discard" && what != "publish" }

// Decide returns what a request changes and answers.
func Decide(in *Input) Step {
	a := actions[in.Request.Args["what"]]
	switch {
	case a.organises && !in.directs():
		return in.refuse(say("event.organisers", in.Contest.Name, in.organisers()))
	case a.states != nil && !slices.Contains(a.states, in.Contest.State):
		return in.refuse(in.Contest.stands())
	}
	s := a.do(in)
	if a.did != nil && s.Contest != nil && in.Request.Moderator {
		s.Act = &match.Act{Where: s.Contest.Where.WithoutThread(), What: a.did(in, s)}
	}
	return s
}

// directs reports whether the person asking may direct the event. Moderators can, so that
// an event outlives its organiser.
func (in *Input) directs() bool { return in.Request.Moderator || in.Contest.Organises(in.By) }

// moment says when something is, in the time zone of the person asking.
func (in *Input) moment(at time.Time) text.Message { return clock.InstantText(at, in.Now.In(in.Zone)) }

func (in *Input) organisers() text.Message {
	var who []text.Arg
	for _, p := range in.Contest.Organisers {
		who = append(who, named(p))
	}
	return text.List(who...)
}

// refuse answers the person who asked, and changes nothing.
func (in *Input) refuse(texts ...text.Message) Step {
	return Step{Step: match.Step{Request: in.Request.ID, At: in.Now, Answer: match.Reply{Texts: texts, Private: true, Refused: true}}}
}

// answer returns a step that tells the person asking something, and changes no event.
func (in *Input) answer(texts ...text.Message) Step {
	s := in.refuse(texts...)
	s.Answer.Refused = false
	return s
}

// arg returns what was typed for an option.
func (in *Input) arg(option string) string { return strings.TrimSpace(in.Request.Args[option]) }

// sure asks the person to confirm.
func (in *Input) sure(question text.Message, label string) Step {
	args := map[string]string{"confirm": "yes", "event": strconv.Itoa(in.Contest.Number)}
	for name, value := range in.Request.Args {
		if name != "confirm" && name != "event" {
			args[name] = value
		}
	}
	if n, _ := in.who("player"); n > 0 { // a button knows nobody by name
		args["player"] = "#" + itoa(n)
	}
	s := in.refuse(question)
	s.Answer.Controls = []match.Control{{Label: label, Command: in.Request.Command, Args: args}}
	return s
}

func (in *Input) confirmed() bool { return in.Request.Args["confirm"] == "yes" }

// step returns the step that adds lines to the log of the event, with the answer to the
// person who asked. Everything else in it follows from the event after these lines.
func (in *Input) step(answer []text.Message, bodies ...Body) Step {
	c := in.Contest
	if c == nil {
		c = &Contest{Head: Head{ID: in.NewID}}
	}
	s := Step{Step: match.Step{Request: in.Request.ID, At: in.Now, By: in.By, Answer: match.Reply{Texts: answer, Private: true}}}
	at := in.Now
	if at.Before(c.Changed) { // the time of a log does not go back, though a clock may
		at = c.Changed
	}
	for _, b := range bodies {
		s.Log = append(s.Log, Event{Seq: c.Seq + len(s.Log) + 1, At: at, By: in.By, Body: b})
	}
	after, err := c.With(s.Log...)
	if err != nil { // what was decided must be possible
		return in.refuse(text.Explain(err))
	}
	s.Contest, s.Opens = after, in.Contest == nil
	s.Timed = after.timed(in.Now)
	s.Posts = []match.OutboxPost{after.sheet()}
	if after.Asking != nil && c.Asking == nil {
		s.Posts = append(s.Posts, after.questions()...)
	}
	return s
}

// timed returns the timed actions of an event, if nothing happens before.
func (c *Contest) timed(now time.Time) []match.Due {
	due := func(kind string, at time.Time) []match.Due {
		return []match.Due{{Game: c.ID, Kind: kind, At: at, Seq: c.Seq}}
	}
	switch {
	case c.State == SignUp:
		return due("signup", c.Until)
	case c.State != Playing:
		return nil
	case len(c.Unopened()) > 0:
		return due("open", now)
	case c.Asking != nil:
		return due("pair", c.Asking.Until)
	case len(c.Unfinished()) > 0:
		at := c.Round().Ends.Add(endGrace)
		if late := now.Sub(at); late >= 0 { // the organiser has been asked, and is reminded each day
			at = at.Add(late.Truncate(day) + day)
		}
		return due("ends", at)
	}
	return nil
}

// endGrace is how long the flags of a round have to fall, once it is over.
const endGrace = 3 * time.Minute

// about returns the arguments of a control for an action in this event.
func (in *Input) about(what string) map[string]string {
	return map[string]string{"what": what, "event": strconv.Itoa(in.Contest.Number)}
}

// open returns the numbers of the tables of the last round at which somebody still plays.
func (c *Contest) open(player int) (tables []int) {
	for _, n := range c.Unfinished() {
		if t := c.Round().Tables[n-1]; t.Black == player || t.White == player {
			tables = append(tables, n)
		}
	}
	return tables
}

// withdraws takes a player out of the event: they lose the games that are left.
func (in *Input) withdraws(n int, notice text.Message, before ...Body) Step {
	c := in.Contest
	var scores []Score
	for _, number := range c.open(n) {
		t := c.Round().Tables[number-1]
		s := Score{Round: len(c.Rounds), Table: number, How: Forfeited, Black: 2} // whoever is at an open table is in
		if t.Black == n {
			s.Black, s.White = 0, 2
		}
		scores = append(scores, s)
	}
	s := in.step([]text.Message{say("event.done")}, in.and(append(before, Body{Kind: withdrawn, Player: n, Scores: scores})...)...)
	in.closes(&s, scores)
	return in.finish(in.tell(s, notice))
}

// and adds the end of the event to lines after which no table is open.
func (in *Input) and(bodies ...Body) []Body {
	c := in.Contest.clone()
	for _, b := range bodies {
		if err := c.take(Event{Seq: c.Seq + 1, At: in.Now, By: in.By, Body: b}); err != nil {
			return bodies
		}
	}
	if c.State == Playing && c.Asking == nil && len(c.Rounds) > 0 && len(c.Unfinished()) == 0 {
		bodies = append(bodies, c.next(in.Now))
	}
	return bodies
}

// closes owes the end of the games of tables whose results are given.
func (in *Input) closes(s *Step, scores []Score) {
	for _, score := range scores {
		t := in.Contest.Rounds[score.Round-1].Tables[score.Table-1]
		if g, exists := in.Games[t.Game]; exists && g.State == match.Going {
			s.Owes = append(s.Owes, match.Due{Game: in.Contest.ID, Kind: "close:" + string(t.Game), At: in.Now})
		}
	}
}

// tell adds a notice to a step, which mentions people.
func (in *Input) tell(s Step, notice text.Message, mentions ...match.PersonID) Step {
	if s.Contest != nil {
		s.Posts = append(s.Posts, s.Contest.notice("told", []text.Message{notice}, mentions...))
	}
	return s
}

// Leave withdraws a person whose data is about to be deleted, and ends that they organise, if
// somebody else does. Moderators can take over.
func Leave(in *Input, p match.PersonID) Step {
	c := in.Contest
	nothing := Step{Step: match.Step{Request: in.Request.ID, At: in.Now}}
	if !c.Running() {
		return nothing
	}
	in.By = ""
	var bodies []Body
	if c.Organises(p) && len(c.Organisers) > 1 {
		bodies = append(bodies, Body{Kind: organises, Person: p, Off: true})
	}
	n := c.Player(p)
	switch {
	case n > 0 && c.State == Playing:
		return in.withdraws(n, say("event.leaves", named(p), c.Name), bodies...)
	case n > 0:
		bodies = append(bodies, Body{Kind: left, Player: n})
	}
	if bodies == nil {
		return nothing
	}
	return in.step(nil, bodies...)
}
