package match

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Limits on arguments.
const (
	maxArgument = 1000
	maxFree     = 50 // handicap stones that are placed freely
)

// A Request is what somebody asks, as far as a decision depends on it.
type Request struct {
	ID        string            // inbox key
	Command   string            // its name
	Args      map[string]string // by option name, as typed
	Where     Room
	Reply     string // opaque route by which this very request can be answered; may be empty
	Moderator bool   // the person looks after the room
}

// An Input is everything that a decision depends on. Deciding the same input
// gives the same step: no clock, chance or storage is asked. Deciding leaves it as
// it is.
type Input struct {
	Request  Request
	By       Person
	Kind     rules.Kind        // of the turn, for commands that are one
	NewID    GameID            // of the game that the request opens, if it opens one
	Coin     bool              // its nigiri
	Users    map[string]Person // for options of type User
	Seats    [2]Person         // who sits at a local board; empty elsewhere
	Match    Match
	Position *Position // of the match; nil: it is about none
	Prefs    map[Person]Preferences
	Limits   Limits
	Here     []Match // unfinished games of the channel, as many as there may be; for commands that open one
	Yours    []Match // unfinished games and sandboxes of the person who asks in the channel; for commands that open one
	Away     bool    // the platform cannot be reached
	Left     bool    // the bot has left the server of the game
	Room     RoomSettings
	Welcome  []Room // where games are welcome, when they are not here
	Rulesets Rulesets
	Others   []Waiting // games in which the person to be reminded is to move too
	Now      time.Time
}

// A Change decides what a command changes.
type Change func(in *Input) Step

// Decide is the heart of the bot: what one request changes and answers.
func Decide(in *Input, what Change) Step {
	for name, a := range in.Request.Args {
		most := maxArgument
		if name == "diagram" {
			most = maxDiagram
		}
		if len(a) > most {
			return in.Refuse(say("text.too.long", strconv.Itoa(most)))
		}
	}
	if s, late := in.late(); late {
		return s
	}
	if seq := in.Request.Args["seq"]; seq != "" && !in.stands(seq) {
		return in.Refuse(say("moved.on", in.number()))
	}
	return what(in)
}

// stands reports whether the game still stands as it did after event seq: a
// button below its board must not die of a question or an outage.
func (in *Input) stands(seq string) bool {
	n, err := strconv.Atoi(seq)
	if err != nil || n < 0 || n > in.Match.Seq {
		return false
	}
	for _, e := range in.events()[n:] {
		switch verb, _, _ := strings.Cut(e.Body, " "); verb {
		case "credit", "comment", "pause", "unpause":
		case "ask", "deny":
			// What answers a question must be for that very question.
			if c := in.Request.Command; c == "accept" || c == "decline" || c == "delete" {
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
	return Step{Request: in.Request.ID, At: in.Now, Answer: Reply{Texts: texts, Private: true}}
}

func (in *Input) number() string { return strconv.Itoa(in.Match.Number) }

// colors gives the seats that the person holds in the match.
func (in *Input) colors() (black, white bool) {
	return in.Match.Black == in.By, in.Match.White == in.By
}

// color gives the seat for which the person speaks: their own, or with both
// seats the one whose turn it is.
func (in *Input) color() rules.Color {
	black, white := in.colors()
	switch {
	case black && white:
		if c := in.Position.Game.ToPlay(); c != rules.None {
			return c
		}
		return rules.Black
	case black:
		return rules.Black
	case white:
		return rules.White
	}
	return rules.None
}

// A draft is what a step does to a match, as far as it has been decided.
type draft struct {
	match  Match
	pos    *Position // after the events; nil if there are none yet
	events []Event
}

func (in *Input) draft() draft { return draft{match: in.Match, pos: in.Position} }

// add adds an event to a draft, if it is possible.
func (in *Input) add(d *draft, body string) (err error) {
	e := Event{Seq: d.match.Seq + 1, At: in.Now, By: in.By, Body: body}
	var after *Position
	if d.pos == nil {
		after, err = Fold(d.match, []Event{e})
	} else {
		after, err = d.pos.Next(d.match, e)
	}
	if err != nil {
		return err
	}
	last := &after.Events[len(after.Events)-1] // nobody else has it yet
	last.Proof = after.Game.Proof()
	d.pos, d.events = after, append(d.events, *last)
	d.match.Seq++
	return nil
}

// step returns the step that adds events to the match, with the texts to be read
// before the board and after it; see end.
func (in *Input) step(bodies []string, before, after []text.Message) Step {
	d := in.draft()
	for _, body := range bodies {
		if err := in.add(&d, body); err != nil { // what was decided must be possible
			return in.Refuse(wrong(err))
		}
	}
	return in.end(d, before, after)
}

// end returns the step of a draft, with its posts: the board, after what must be
// read before it and before what must be read after it. Everything in it follows
// from the position after the events.
func (in *Input) end(d draft, before, after []text.Message) Step {
	m := d.match
	m.Changed = in.Now
	m.Standing = d.pos.standing(m, in.Now)
	s := Step{Request: in.Request.ID, At: in.Now, Match: &m, Events: d.events, Due: in.dues(m, d.pos), After: d.pos}
	notify := []Person(nil)
	if m.ToMove != "" && m.ToMove != in.By {
		notify = []Person{m.ToMove}
	}
	post := func(kind, id string, texts []text.Message, notify []Person) {
		s.Posts = append(s.Posts, Owed{
			ID: fmt.Sprintf("%s-%d-%s", m.ID, m.Seq, id), Game: m.ID, Where: m.Where, Kind: kind, Seq: m.Seq,
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
	if len(before) > 0 {
		post(Notice, "before", before, nil)
	}
	if m.State == Going || m.State == Ended || m.State == Sandbox {
		post(Show, "show", nil, notify)
	}
	if len(after) > 0 {
		post(Notice, "after", after, nil)
	}
	return s
}

// opening is the input for a new match.
func (in *Input) opening(m Match) *Input {
	next := *in
	next.Match, next.Position = m, nil
	return &next
}

// with is the input with a state and players that the step gives to the match.
func (in *Input) with(s Standing) *Input {
	next := *in
	next.Match.Standing = s
	return &next
}

// as is the input of what somebody does who has not asked for it.
func (in *Input) as(by Person) *Input {
	next := *in
	next.By = by
	return &next
}

// events are those of the match so far.
func (in *Input) events() []Event {
	if in.Position == nil {
		return nil
	}
	return in.Position.Events
}

// NewGame opens a game, and begins it if both seats are known.
func NewGame(in *Input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	if in.Room.Opens == "moderators" && !in.Request.Moderator {
		return in.Refuse(say("opens.moderators"))
	}
	arg := func(name string) string { return strings.TrimSpace(in.Request.Args[name]) }
	r := &rules.TwoButton
	id, board := arg("rules"), arg("size")
	if id != "" && id[0] >= '0' && id[0] <= '9' { // "/new 9x9" and "/new 9x9 aga" are plain enough
		id, board = board, id
	}
	id, board = cmp.Or(id, in.Room.Rules), cmp.Or(board, in.Room.Size)
	if id != "" {
		found, err := in.Rulesets.Find(id)
		if err != nil {
			return in.Refuse(NoRuleset(id))
		}
		r = found
	}
	s := rules.Setup{W: 9, H: 9, Komi: r.Komi}
	if board != "" {
		w, h, ok := ParseSize(board)
		if !ok {
			return in.Refuse(say("bad.size", shortened(board)))
		}
		s.W, s.H = w, h
	}
	if komi := arg("komi"); komi != "" && komi != "default" {
		k, err := rules.ParsePoints(komi)
		if err == nil && (k > rules.MaxKomi || k < -rules.MaxKomi) {
			err = rules.Saying{Text: "{0} is too large", Args: []any{k}}
		}
		if err != nil {
			return in.Refuse(say("bad.komi", text.Sentence(err)))
		}
		s.Komi = k
	}
	if h := arg("handicap"); h != "" {
		n, err := strconv.Atoi(h)
		if err != nil {
			return in.Refuse(say("bad.number", shortened(h)))
		}
		switch how := strings.ToLower(arg("placement")); how {
		case "", "fixed":
			if s.Black, err = rules.HandicapPoints(s.W, s.H, n); err != nil {
				return in.Refuse(say("bad.handicap", text.Begins(err)))
			}
		case "free":
			if most := min(maxFree, s.W*s.H/2); n == 1 || n < 0 || n > most {
				return in.Refuse(say("bad.free", strconv.Itoa(most)))
			}
		default:
			return in.Refuse(say("bad.placement", shortened(how)))
		}
		s.Handicap = n
	}
	rated := false
	switch answer := strings.ToLower(arg("rated")); answer {
	case "", "no", "n", "false":
	case "yes", "y", "true":
		rated = true
	default:
		return in.Refuse(say("bad.rated", shortened(answer)))
	}
	var tc clock.Control
	if c := cmp.Or(arg("clock"), in.Room.Clock); c != "" {
		var err error
		if tc, err = clock.Parse(c); err != nil {
			return in.Refuse(wrong(err))
		}
	}
	g, _, err := Match{Setup: s}.begin(r, nil)
	if err != nil {
		return in.Refuse(say("bad.handicap", text.Begins(err)))
	}
	mine := rules.Black
	switch c := strings.ToLower(arg("color")); c {
	case "", "black", "b":
	case "white", "w":
		mine = rules.White
	case "random", "nigiri":
		if in.Coin {
			mine = rules.White
		}
	default:
		return in.Refuse(say("bad.color", shortened(c)))
	}
	m := Match{
		ID: in.NewID, Rules: r.Stored(), Setup: s, Clock: tc, Rated: rated, Opener: in.By, Where: in.Request.Where,
		Opened: in.Now, Standing: Standing{State: Open},
	}
	if mine == rules.Black {
		m.Black = in.By
	} else {
		m.White = in.By
	}
	both := func(b, w Person) { m.Black, m.White = b, w }
	opponent := arg("opponent")
	switch other, known := in.Users["opponent"]; {
	case strings.EqualFold(opponent, text.English.Say(say("opponent.me"))) || known && other == in.By:
		both(in.By, in.By)
	case known && (other == in.Seats[0] || other == in.Seats[1]):
		if mine == rules.Black {
			both(in.By, other)
		} else {
			both(other, in.By)
		}
	case known:
		m.Invited = other
	case opponent != "":
		return in.Refuse(say("unknown.user", shortened(opponent)))
	case in.By == in.Seats[0] || in.By == in.Seats[1]:
		if arg("color") == "" || in.By == in.Seats[0] && mine == rules.Black || in.By == in.Seats[1] && mine == rules.White {
			both(in.Seats[0], in.Seats[1])
		} else {
			both(in.Seats[1], in.Seats[0])
		}
	}
	return in.opening(m).openOrBegin(g)
}

func (in *Input) opened() text.Message {
	title, size, komi, handicap := in.terms()
	return say("opened", named(in.By), text.ThisGame, title, size, komi, handicap)
}

func (in *Input) seatOpen(c rules.Color) text.Message {
	if in.Match.Invited != "" {
		return say("opened.for", named(in.Match.Invited))
	}
	return say("opened.anyone", text.Color(c))
}

func (in *Input) started(g *rules.Game) []text.Message {
	title, size, komi, handicap := in.terms()
	first := centre(in.Match.Setup).String()
	out := []text.Message{say("started", text.ThisGame, title, size, komi, handicap, named(in.Match.Black), named(in.Match.White), text.Color(g.ToPlay()), first)}
	if in.Seats[0] != "" && in.Match.Black == in.Seats[0] && in.Match.White == in.Seats[1] {
		out = []text.Message{say("started.seats", text.ThisGame, title, size, komi, handicap, text.Color(g.ToPlay()), first)}
	}
	if in.Match.free() {
		out = append(out, say("placing.how", strconv.Itoa(in.Match.Setup.Handicap)))
	}
	return out
}

// terms gives what a game is played with, as arguments.
func (in *Input) terms() (title, size, komi string, handicap text.Message) {
	r, err := rules.Find(in.Match.Rules)
	if err != nil {
		return in.Match.Rules, "", "", text.Message{}
	}
	s := in.Match.Setup
	var stones, rated, timed any = "", "", ""
	switch {
	case in.Match.free():
		stones = say("handicap.free", s.Handicap)
	case s.Handicap > 0:
		stones = say("handicap", s.Handicap)
	}
	if in.Match.Rated {
		rated = say("rated")
	}
	if in.Match.Clock.Kind != clock.None {
		timed = say("with.clock", in.Match.Clock.Text())
	}
	return r.Title, fmt.Sprintf("%d×%d", s.W, s.H), s.Komi.String(), say("joined", stones, rated, timed, "")
}

// Join takes the open seat.
func Join(in *Input) Step {
	m := in.Match
	switch {
	case m.State == Open && m.Invited != "" && m.Invited != in.By && m.Opener != in.By:
		return in.Refuse(say("not.invited", in.number(), named(m.Invited)))
	case m.State == Open && m.Opener == in.By:
		return in.Refuse(say("yourself", in.number()))
	case m.Black == in.By || m.White == in.By:
		return in.Refuse(say("already.in", in.number()))
	case m.State == Cancelled:
		return in.Refuse(say("game.cancelled", in.number()))
	case m.State == Deleted:
		return in.Refuse(say("game.deleted", in.number()))
	case m.State != Open:
		return in.Refuse(say("full", in.number(), named(m.Black), named(m.White)))
	}
	seat := rules.White
	if m.Black == "" {
		seat, m.Black = rules.Black, in.By
	} else {
		m.White = in.By
	}
	m.State = Going
	in = in.with(m.Standing)
	return in.step([]string{"join " + seat.Letter() + " " + string(in.By), "begin"}, in.started(in.Position.Game), nil)
}

// blocked refuses what cannot be done in a match that is not being played, or
// by somebody who does not play in it.
func (in *Input) blocked() (Step, bool) {
	m := in.Match
	switch {
	case m.State == Cancelled:
		return in.Refuse(say("game.cancelled", in.number())), true
	case m.State == Deleted:
		return in.Refuse(say("game.deleted", in.number())), true
	case m.State == Ended:
		return in.Refuse(say("game.over", in.number(), Outcome(in.Position))), true
	case m.State == Sandbox && m.Opener != in.By:
		return in.Refuse(say("sandbox.whose", in.number(), named(m.Opener))), true
	case m.Black != in.By && m.White != in.By && m.State == Open:
		return in.Refuse(say("waiting", in.number())), true
	case m.Black != in.By && m.White != in.By:
		return in.Refuse(say("onlooker", in.number(), named(m.Black), named(m.White))), true
	case m.State == Open:
		return in.Refuse(say("waiting", in.number())), true
	}
	return Step{}, false
}

// MakeTurn plays placements, passes and all that a rulebook calls a turn.
func MakeTurn(in *Input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	t := rules.Turn{Kind: in.Kind, By: in.color()}
	w, h := in.Match.Setup.W, in.Match.Setup.H
	if in.Position.Placing > 0 && t.Kind != rules.Resign {
		return in.stones(in.Request.Args["at"])
	}
	if t.Kind == rules.Place {
		if in.Request.Args["at"] == "" {
			return in.Refuse(say("missing", "place", say("needs.point"), "/place "+centre(in.Match.Setup).String()))
		}
		p, err := rules.ParsePoint(in.Request.Args["at"], w, h)
		if err != nil {
			return in.Refuse(wrong(err))
		}
		t.At = p
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

// Resume goes on playing after play has stopped.
func Resume(in *Input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	return in.play(rules.Turn{Kind: in.Kind, By: in.color()})
}

// Mark marks chains as dead, alive or alive in seki, once play has stopped.
func Mark(in *Input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	t := rules.Turn{Kind: rules.MarkDead, By: in.color()}
	switch as := strings.ToLower(strings.TrimSpace(in.Request.Args["as"])); as {
	case "", "dead":
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
		return in.Refuse(say("missing", "dead", say("needs.chains"), "/dead C3 D5"))
	}
	t.Dead = ps
	return in.play(t)
}

// Accept accepts whatever there is to accept: the count, a suggestion of dead
// stones, or that a game has no result.
func Accept(in *Input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	if s, answered := in.yes(); answered {
		return s
	}
	g, by := in.Position.Game, in.color()
	switch {
	case g.Phase() == rules.Settling:
		black, white := in.colors()
		if black && white {
			return in.play(rules.Turn{Kind: rules.Agree, By: rules.Black}, rules.Turn{Kind: rules.Agree, By: rules.White})
		}
		if g.HasAgreed(by) {
			return in.Refuse(say("accepted.already", named(in.Match.seat(by.Opponent()))))
		}
		return in.play(rules.Turn{Kind: rules.Agree, By: by})
	case g.Rules().Has(rules.NoResult) && g.ThirdTime():
		if black, white := in.colors(); black && white {
			return in.play(rules.Turn{Kind: rules.NoResult, By: rules.Black}, rules.Turn{Kind: rules.NoResult, By: rules.White})
		}
		return in.play(rules.Turn{Kind: rules.NoResult, By: by})
	case g.Rules().Has(rules.Accept):
		return in.play(rules.Turn{Kind: rules.Accept, By: by})
	case g.Rules().Has(rules.Agree):
		return in.Refuse(say("playing", in.number()))
	}
	return in.Refuse(noAgreement(g.Rules()))
}

// noAgreement says how a ruleset without an agreement on dead stones goes about them.
func noAgreement(r *rules.Ruleset) text.Message {
	switch {
	case len(r.Count) == 0:
		return say("playing.nocount", r.Title)
	case r.Has(rules.Accept):
		return say("playing.named", r.Title)
	}
	return say("playing.never", r.Title)
}

// Resign resigns the game, once the person has confirmed that.
func Resign(in *Input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	by := in.color()
	switch strings.ToLower(strings.TrimSpace(in.Request.Args["confirm"])) {
	case "yes", "y", "true":
		return in.play(rules.Turn{Kind: rules.Resign, By: by})
	}
	s := in.Refuse(say("resign.sure", in.number(), text.Color(by.Opponent())))
	s.Answer.Controls = []Control{{Label: "resign.button", Command: "resign", Args: map[string]string{
		"confirm": "yes", "game": in.number(), "seq": strconv.Itoa(in.Match.Seq)}}}
	return s
}

// Cancel ends a game without a result: before both have moved, by its players;
// at any time, by a moderator who is not a party to it.
func Cancel(in *Input) Step {
	m := in.Match
	black, white := in.colors()
	yours := black || white || m.Opener == in.By
	moderates := in.Request.Moderator && (!yours || black && white)
	if !yours && !moderates {
		return in.Refuse(say("cancel.not.yours", in.number()))
	}
	switch m.State {
	case Cancelled:
		return in.Refuse(say("game.cancelled", in.number()))
	case Deleted:
		return in.Refuse(say("game.deleted", in.number()))
	case Ended:
		return in.Refuse(say("game.over", in.number(), Outcome(in.Position)))
	}
	moved := map[rules.Color]bool{}
	for _, l := range in.Position.Lines {
		moved[l.Turn.By] = true
	}
	if moved[rules.Black] && moved[rules.White] && !moderates {
		return in.Refuse(say("cancel.late", in.number()))
	}
	m.State = Cancelled
	return in.with(m.Standing).step([]string{"cancel"}, []text.Message{say("cancelled", named(in.By), in.number())}, nil)
}

// play makes turns, or says which rule they break.
func (in *Input) play(turns ...rules.Turn) Step {
	d := in.draft()
	for _, t := range turns {
		if err := in.add(&d, "turn "+t.String()); err != nil {
			return in.Refuse(in.illegal(err))
		}
		if d.pos.Game.Phase() == rules.Over {
			break
		}
	}
	g := d.pos.Game
	if in.Position.Branch > 0 && g.Phase() != rules.Playing && turns[0].Kind != rules.Resign {
		if err := in.add(&d, "return"); err != nil {
			return in.Refuse(wrong(err))
		}
		return in.end(d, []text.Message{say("branch.ends", in.number(), text.Turn(turns[0]))}, nil)
	}
	var after []text.Message
	switch {
	case g.Phase() == rules.Over:
		after = append(after, say("over", in.number(), Outcome(&Position{Game: g}), g.Result(), text.Begins(g.Decided())))
	case g.Phase() == rules.Settling && in.Position.Game.Phase() == rules.Playing:
		after = append(append(after, say("settle", in.number())), looksDead(g)...)
	}
	return in.end(d, nil, after)
}

// illegal says what is wrong with a turn.
func (in *Input) illegal(err error) text.Message {
	var i *rules.Illegal
	if !errors.As(err, &i) {
		return wrong(err)
	}
	r := in.Position.Game.Rules()
	switch {
	case errors.Is(err, rules.ErrNotYourTurn):
		return say("not.your.turn", in.number(), text.Color(in.Position.Game.ToPlay()))
	case errors.Is(err, rules.ErrNoSuchTurn):
		if k := i.Turn.Kind; !k.IsTurn() && k != rules.MarkSeki {
			return noAgreement(r)
		}
		var turns []string
		for k := rules.Place; k <= rules.Resign; k++ {
			if r.Has(k) {
				turns = append(turns, "/"+k.String())
			}
		}
		if i.Turn.Kind == rules.Button && (in.Position.Game.Table() > 0 || in.Position.Game.Holds(rules.Black, rules.ButtonThing)+in.Position.Game.Holds(rules.White, rules.ButtonThing) > 0) {
			return say("button.by.pass", r.Title, strings.Join(turns, ", "))
		}
		return say("no.such.turn", r.Title, say(i.Turn.Kind.String()+".word"), strings.Join(turns, ", "))
	case errors.Is(err, rules.ErrStopped):
		return say("stopped", in.number())
	case errors.Is(err, rules.ErrPlaying):
		return say("playing", in.number())
	case i.Rule != "":
		return say("illegal", what(i.Turn), text.Sentence(i.Because), text.Sentence(i.Rule))
	}
	return say("illegal.plain", what(i.Turn), text.Sentence(i.Because))
}

// what makes an argument of a turn without its player.
func what(t rules.Turn) any {
	if t.Kind == rules.Place {
		return t.At.String()
	}
	return say("what." + t.Kind.String())
}

// Outcome says how a game ended.
func Outcome(p *Position) text.Message {
	who := map[byte]text.Message{'B': text.Color(rules.Black), 'W': text.Color(rules.White)}
	result := p.Game.Result()
	if p.Result != "" {
		result = p.Result
	}
	switch r := result; {
	case r == "0" && p.Result != "":
		return say("draw")
	case r == "0":
		return say("jigo")
	case r == "Draw":
		return say("draw")
	case r == "Void" || r == "":
		return say("void")
	default:
		if m, err := rules.ParsePoints(r[2:]); err == nil {
			return say("win", who[r[0]], m.String())
		}
		return say("win.other", who[r[0]])
	}
}

// centre is a point to give as an example.
func centre(s rules.Setup) rules.Point {
	return rules.Point{X: int8((s.W - 1) / 2), Y: int8((s.H - 1) / 2)}
}

// ParseSize reads "9", "9x13", "9×13" and "9*13".
func ParseSize(s string) (w, h int, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	a, b, two := s, s, false
	for _, sep := range []string{"x", "×", "*", ":"} {
		if a, b, two = strings.Cut(s, sep); two {
			break
		}
	}
	if !two {
		a, b = s, s
	}
	w, err1 := strconv.Atoi(strings.TrimSpace(a))
	h, err2 := strconv.Atoi(strings.TrimSpace(b))
	return w, h, err1 == nil && err2 == nil && w >= 1 && h >= 1 && w <= rules.MaxLines && h <= rules.MaxLines
}

// ParsePoints reads "C3 D5", "C3,D5"; "none" is no point.
func ParsePoints(s string, w, h int) ([]rules.Point, error) {
	var ps []rules.Point
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		if strings.EqualFold(word, "none") {
			continue
		}
		p, err := rules.ParsePoint(word, w, h)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}
