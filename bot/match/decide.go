package match

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// maxArgument is how long an argument may be, in bytes, unless it is a diagram.
const maxArgument = 1000

// A Request is what somebody asks, as far as a decision depends on it.
type Request struct {
	ID        string            // inbox key
	Command   string            // its name
	Args      map[string]string // by option name, as typed
	Where     Room
	Reply     string // opaque route by which this very request can be answered; may be empty
	Moderator bool   // the person looks after the room
}

// An Input holds everything that a decision depends on. The same input always leads to
// the same step: a decision reads no clock and no storage, and uses no chance. It does
// not change the input.
type Input struct {
	Request  Request
	By       PersonID
	NewID    GameID              // of the game that the request opens, if it opens one
	NewPage  string              // slug of its page
	Salt     string              // random, of a comment
	Coin     bool                // its nigiri
	Users    map[string]PersonID // for options of type User
	Seats    [2]PersonID         // the people in the seats of a local room; empty elsewhere
	Sat      time.Time           // when the person asking took their seat; zero: it is always theirs
	Match    Match
	Position *Position // of the match; nil: the request is about none
	Prefs    map[PersonID]Preferences
	Erased   []PersonID // players who were forgotten
	Limits   Limits
	Here     []Match // unfinished games of the channel, as many as there may be; for commands that open one
	Yours    []Match // unfinished games and sandboxes of the person asking in the channel; for commands that open one
	Alone    bool    // nobody else can join a game in the room of the request
	Away     bool    // the platform cannot be reached
	Decisive bool    // the game is of an event in which it needs a winner
	Left     bool    // the bot has left the server of the game
	Room     RoomSettings
	Welcome  []Room // where games are welcome, when they are not here
	Rulesets Rulesets
	Others   map[PersonID][]Waiting // other games that wait for the people to be reminded
	Offline  []Stretch              // when the bot was not running, as far as reminders of that time may still come
	Now      time.Time
}

// A Stretch of time ends before To.
type Stretch struct{ From, To time.Time }

// A Change decides what a command changes.
type Change func(in *Input) Step

// Decide returns what a request changes and answers. It is the heart of the bot.
func Decide(in *Input) Step {
	command := Commands[in.Request.Command]
	if s, long := in.tooLong(); long {
		return s
	}
	if s, late := in.late(); late {
		return s
	}
	if seq := in.Request.Args["seq"]; seq != "" && !in.unmoved(seq) {
		return in.Refuse(say("moved.on", in.number()))
	}
	if s, barred := in.bars(); barred {
		return s
	}
	if command.Seated {
		if s, blocked := in.blocked(); blocked {
			return s
		}
	}
	return in.logged(command, command.change(in))
}

// DecideSettings returns what a request changes that is about no match.
func DecideSettings(in *Input, change Change) Step {
	if s, long := in.tooLong(); long {
		return s
	}
	return change(in)
}

// tooLong refuses long arguments. Diagrams have a limit of their own.
func (in *Input) tooLong() (Step, bool) {
	for name, a := range in.Request.Args {
		if name != "diagram" && len(a) > maxArgument {
			return in.Refuse(say("text.too.long", strconv.Itoa(maxArgument))), true
		}
	}
	return Step{}, false
}

// unmoved reports whether nothing that matters to a button has happened since event
// seq: a question, an outage or the other player's acceptance must not disable the
// buttons below a board.
func (in *Input) unmoved(seq string) bool {
	n, err := strconv.Atoi(seq)
	if err != nil || n < 0 || n > in.Match.Seq {
		return false
	}
	for _, e := range in.events()[n:] {
		switch e.Body.Kind {
		case eventCredit, eventComment:
		case eventPause, eventUnpause: // pressed twice it would do both
			if in.Request.Command == "clock" {
				return false
			}
		case eventTurn: // the first of two who accept
			if t, err := rules.ParseTurn(e.Body.Args, in.Match.Setup.W, in.Match.Setup.H); err != nil || t.Kind != rules.AcceptScore && t.Kind != rules.NoResult {
				return false
			}
		case eventAsk, eventDeny:
			// An answer must be for that very question.
			if slices.Contains([]string{"accept", "decline", "delete", "page"}, in.Request.Command) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// Refuse answers the person who asked, and changes nothing.
func (in *Input) Refuse(texts ...text.Message) Step {
	return Step{Request: in.Request.ID, At: in.Now, Answer: Reply{Texts: texts, Private: true, Refused: true}}
}

// sure asks the person to confirm: a button asks for the command again, with an option
// set to yes.
func (in *Input) sure(question text.Message, label, option string) Step {
	s := in.Refuse(question)
	s.Answer.Controls = []Control{{Label: label, Command: in.Request.Command, Args: map[string]string{
		option: "yes", "game": in.number(), "seq": strconv.Itoa(in.Match.Seq)}}}
	return s
}

// yes reports whether an option was set to yes. The bot has refused what is neither yes
// nor no.
func (in *Input) yes(option string) bool { return in.Request.Args[option] == "yes" }

func (in *Input) number() string { return strconv.Itoa(in.Match.Number) }

// plays reports whether the person has a seat in the match.
func (in *Input) plays() bool { return in.Match.plays(in.By) }

// playsBoth reports whether the person has both seats.
func (in *Input) playsBoth() bool { return in.Match.Black == in.By && in.Match.White == in.By }

// color returns the seat for which the person speaks: their own, or with both
// seats the one whose turn it is.
func (in *Input) color() rules.Color {
	if in.playsBoth() {
		return cmp.Or(in.Position.Game.ToPlay(), rules.Black)
	}
	switch in.By {
	case in.Match.Black:
		return rules.Black
	case in.Match.White:
		return rules.White
	}
	return rules.None
}

// A draft is a step in the making.
type draft struct {
	match  Match
	pos    *Position // after the events; nil if there are none yet
	events []Event
}

func (in *Input) draft() draft { return draft{match: in.Match, pos: in.Position} }

// add adds an event to a draft, if it is possible.
func (in *Input) add(d *draft, what Body) (err error) {
	e := Event{Seq: d.match.Seq + 1, At: in.Now, By: in.By, Body: what}
	if d.pos != nil && len(d.pos.Events) > 0 {
		if last := d.pos.Events[len(d.pos.Events)-1].At; e.At.Before(last) && what != setRight { // the time of a log does not go back, though a clock may
			e.At = last
		}
	}
	var after *Position
	if d.pos == nil {
		after, err = Fold(d.match, []Event{e})
	} else {
		after, err = d.pos.Next(d.match, e)
	}
	if err != nil {
		return err
	}
	last := &after.Events[len(after.Events)-1] // not shared yet
	last.prove(d.match, after.Events[:len(after.Events)-1], in.Salt)
	d.pos, d.events = after, append(d.events, *last)
	d.match.Seq++
	return nil
}

// words are what people read about a step.
type words struct {
	above, board, below []text.Message // in a notice before the board, with the board, in a notice after it
	calls               PersonID       // the person whom the notice above mentions, unless the board does or they asked
	quiet               bool           // without the board: nothing on it has changed
}

func above(texts ...text.Message) words { return words{above: texts} }

// step returns the step that adds events to the match; see end.
func (in *Input) step(w words, bodies ...Body) Step {
	d := in.draft()
	for _, body := range bodies {
		if err := in.add(&d, body); err != nil { // what was decided must be possible
			return in.Refuse(wrong(err))
		}
	}
	return in.end(d, w)
}

// end returns the step of a draft, with its posts. Everything in it follows from the
// position after the events.
func (in *Input) end(d draft, w words) Step {
	m := d.match
	m.Changed = d.pos.At
	m.Standing = d.pos.standing(m, in.Now)
	m.Head = headOf(m, d.pos.Events[len(d.pos.Events)-1], d.pos.Game.Proof())
	s := Step{Request: in.Request.ID, At: in.Now, Match: &m, Events: d.events, Due: in.dues(m, d.pos), After: d.pos}
	notify := slices.DeleteFunc(m.WaitsFor(d.pos), func(p PersonID) bool { return p == in.By || in.called(p, m, d.pos) })
	post := func(kind, id string, texts []text.Message, notify []PersonID) {
		s.Posts = append(s.Posts, OutboxPost{
			ID: postID(m, d.pos, id), Game: m.ID, Where: m.Where, Kind: kind, Seq: m.Seq,
			Texts: texts, Notify: notify, Reply: in.Request.Reply,
		})
	}
	if in.reminded(d.pos) {
		post(Remove, "reminder", nil, nil)
		if in.Prefs[m.Black].Remind == "direct" || in.Prefs[m.White].Remind == "direct" {
			post(Remove, "reminder-direct", nil, nil)
			s.Posts[len(s.Posts)-1].Private = true
		}
	}
	shown := !w.quiet && (m.State == Going || m.State == Ended || m.State == Sandbox)
	if len(w.above) > 0 {
		var calls []PersonID
		if w.calls != "" && w.calls != in.By && !(shown && slices.Contains(notify, w.calls)) {
			calls = []PersonID{w.calls}
		}
		post(Notice, "before", w.above, calls)
	}
	if shown {
		post(Show, "show", w.board, notify)
	}
	if len(w.below) > 0 {
		post(Notice, "after", w.below, nil)
	}
	if m.State != in.Match.State && (m.State == Ended || m.State == Deleted) {
		in.tellPlayers(&s)
	}
	if m.Fixture.Event != "" && m.State != in.Match.State && m.State != Going {
		s.Owes = []Due{{Game: m.Fixture.Event, Kind: "result:" + string(m.ID), At: in.Now}}
	}
	return s
}

// tellPlayers makes the last notice of a step that ends a match mention the players who
// did not end it: nothing else would call them to a game that waits for nobody. A person
// alone in both seats is not mentioned.
func (in *Input) tellPlayers(s *Step) {
	if s.Match.Black == s.Match.White {
		return
	}
	for i, o := range slices.Backward(s.Posts) {
		if o.Kind == Notice {
			s.Posts[i].Notify = slices.DeleteFunc([]PersonID{s.Match.Black, s.Match.White}, func(p PersonID) bool { return p == "" || p == in.By })
			return
		}
	}
}

// called reports whether somebody has been mentioned for their turn in the position after
// a step: the match waited for them before, for the same, and the last who did anything
// was somebody else.
func (in *Input) called(p PersonID, m Match, after *Position) bool {
	before := in.Position
	if before == nil {
		return false
	}
	waited := in.Match.WaitsFor(before)
	same := slices.Contains(waited, p) && len(waited) == len(m.WaitsFor(after)) && before.Game.Phase() == after.Game.Phase() &&
		(before.Game.Phase() == rules.Settling || len(before.Lines) == len(after.Lines)) && (!before.paused || after.paused)
	if !same {
		return false
	}
	for _, e := range slices.Backward(before.Events) {
		if e.By != "" { // not time that was credited
			return e.By != p
		}
	}
	return false
}

// postID returns the id of a post by what has been done in a match, time that was credited
// aside: where an old copy of the database is put back and people's turns come again, the
// posts of each have the ids that they had before.
func postID(m Match, p *Position, what string) string {
	n := m.Seq
	for _, e := range p.Events {
		if e.credits() {
			n--
		}
	}
	return fmt.Sprintf("%s-t%d-%s", m.ID, n, what)
}

// opening is the input for a new match.
func (in *Input) opening(m Match) *Input {
	next := *in
	next.Match, next.Position = m, nil
	return &next
}

// with returns the input with the state and players that the match has after the step.
func (in *Input) with(s Standing) *Input {
	next := *in
	next.Match.Standing = s
	return &next
}

// close ends a match without a result.
func (in *Input) close(as State, what Body, w words) Step {
	standing := in.Match.Standing
	standing.State = as
	s := in.with(standing).step(w, what)
	if s.Match != nil {
		in.tellPlayers(&s)
	}
	return s
}

// as returns the input of an action of somebody else than the person who asked.
func (in *Input) as(by PersonID) *Input {
	next := *in
	next.By = by
	return &next
}

// events returns the events of the match so far.
func (in *Input) events() []Event {
	if in.Position == nil {
		return nil
	}
	return in.Position.Events
}

// asked reports whether one player has asked the other for something.
func (in *Input) asked(what string) bool {
	return in.Position != nil && in.Position.Asked != nil && in.Position.Asked.What == what
}

// askedByOther reports whether the other player has asked the person for something.
func (in *Input) askedByOther(what string) bool {
	return in.asked(what) && in.Match.Seat(in.Position.Asked.By) != in.By
}

// answers reports whether the request answers, or takes back, what one player has asked
// after the game.
func (in *Input) answers() bool {
	switch in.Request.Command {
	case "accept": // a wish to delete the game is answered by /delete
		return in.asked("rematch")
	case "decline":
		return in.asked("rematch") || in.asked("delete") || in.asked("page")
	}
	return false
}

// blocked refuses what cannot be done in a match that is not being played, or
// by somebody who does not play in it.
func (in *Input) blocked() (Step, bool) {
	m := in.Match
	if s, gone := in.gone(); gone && (m.State == Deleted || !in.answers()) {
		return s, true
	}
	switch {
	case m.State == Ended && !in.answers():
		return in.Refuse(say("game.over", in.number(), Outcome(m, in.Position))), true
	case m.State == Sandbox && m.Opener != in.By:
		return in.Refuse(say("sandbox.whose", in.number(), named(m.Opener))), true
	case m.State == Open:
		return in.Refuse(m.Waiting(in.By)), true
	case !in.plays():
		return in.Refuse(say("onlooker", in.number())), true
	}
	return Step{}, false
}

// gone refuses what cannot be done in a match that was cancelled or deleted.
func (in *Input) gone() (Step, bool) {
	switch in.Match.State {
	case Cancelled:
		return in.Refuse(say("game.cancelled", in.number())), true
	case Deleted:
		return in.Refuse(say("game.deleted", in.number())), true
	}
	return Step{}, false
}

// Waiting says that an open game has not begun, and who has to join it.
func (m Match) Waiting(by PersonID) text.Message {
	number := strconv.Itoa(m.Number)
	switch {
	case m.Invited == "":
		return say("waiting", number)
	case m.Invited == by:
		return say("waiting.you", number)
	}
	return say("waiting.for", number, named(m.Invited))
}
