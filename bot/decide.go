package bot

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

// A request is what somebody asks, as far as a decision depends on it.
type request struct {
	ID        string            // inbox key
	Command   string            // its name
	Args      map[string]string // by option name, as typed
	Where     Room
	Reply     string // opaque route by which this very request can be answered; may be empty
	Moderator bool   // the person looks after the room
}

// An input is everything that a decision depends on. Deciding the same input
// gives the same step: no clock, chance or storage is asked. Deciding leaves it as
// it is.
type input struct {
	request  request
	by       Person
	kind     rules.Kind        // of the turn, for commands that are one
	newID    GameID            // of the game that the request opens, if it opens one
	coin     bool              // its nigiri
	users    map[string]Person // for options of type User
	seats    [2]Person         // who sits at a local board; empty elsewhere
	match    Match
	pos      *position // of the match; nil: it is about none
	prefs    map[Person]Preferences
	limits   limits
	here     []Match // unfinished games of the channel, as many as there may be; for commands that open one
	yours    []Match // unfinished games and sandboxes of the person who asks in the channel; for commands that open one
	away     bool    // the platform cannot be reached
	left     bool    // the bot has left the server of the game
	room     RoomSettings
	welcome  []Room // where games are welcome, when they are not here
	rulesets Rulesets
	others   []waits // games in which the person to be reminded is to move too
	now      time.Time
}

// A change decides what a command changes.
type change func(in *input) Step

// decide is the heart of the bot: what one request changes and answers.
func decide(in *input, what change) Step {
	for name, a := range in.request.Args {
		most := maxArgument
		if name == "diagram" {
			most = maxDiagram
		}
		if len(a) > most {
			return in.refuse(say("text.too.long", strconv.Itoa(most)))
		}
	}
	if s, late := in.late(); late {
		return s
	}
	if seq := in.request.Args["seq"]; seq != "" && !in.stands(seq) {
		return in.refuse(say("moved.on", in.number()))
	}
	return what(in)
}

// stands reports whether the game still stands as it did after event seq: a
// button below its board must not die of a question or an outage.
func (in *input) stands(seq string) bool {
	n, err := strconv.Atoi(seq)
	if err != nil || n < 0 || n > in.match.Seq {
		return false
	}
	for _, e := range in.events()[n:] {
		switch verb, _, _ := strings.Cut(e.Body, " "); verb {
		case "credit", "comment", "pause", "unpause":
		case "ask", "deny":
			// What answers a question must be for that very question.
			if c := in.request.Command; c == "accept" || c == "decline" || c == "delete" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// refuse answers the person who asked, and changes nothing.
func (in *input) refuse(texts ...Text) Step {
	return Step{Request: in.request.ID, At: in.now, Answer: Reply{Texts: texts, Private: true}}
}

func (in *input) number() string { return strconv.Itoa(in.match.Number) }

// colors gives the seats that the person holds in the match.
func (in *input) colors() (black, white bool) {
	return in.match.Black == in.by, in.match.White == in.by
}

// color gives the seat for which the person speaks: their own, or with both
// seats the one whose turn it is.
func (in *input) color() rules.Color {
	black, white := in.colors()
	switch {
	case black && white:
		if c := in.pos.game.ToPlay(); c != rules.None {
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
	pos    *position // after the events; nil if there are none yet
	events []Event
}

func (in *input) draft() draft { return draft{match: in.match, pos: in.pos} }

// add adds an event to a draft, if it is possible.
func (in *input) add(d *draft, body string) (err error) {
	e := Event{Seq: d.match.Seq + 1, At: in.now, By: in.by, Body: body}
	var after *position
	if d.pos == nil {
		after, err = fold(d.match, []Event{e})
	} else {
		after, err = d.pos.next(d.match, e)
	}
	if err != nil {
		return err
	}
	last := &after.events[len(after.events)-1] // nobody else has it yet
	last.Proof = after.game.Proof()
	d.pos, d.events = after, append(d.events, *last)
	d.match.Seq++
	return nil
}

// step returns the step that adds events to the match, with the texts to be read
// before the board and after it; see end.
func (in *input) step(bodies []string, before, after []Text) Step {
	d := in.draft()
	for _, body := range bodies {
		if err := in.add(&d, body); err != nil { // what was decided must be possible
			return in.refuse(wrong(err))
		}
	}
	return in.end(d, before, after)
}

// end returns the step of a draft, with its posts: the board, after what must be
// read before it and before what must be read after it. Everything in it follows
// from the position after the events.
func (in *input) end(d draft, before, after []Text) Step {
	m := d.match
	m.Changed = in.now
	m.Standing = d.pos.standing(m, in.now)
	s := Step{Request: in.request.ID, At: in.now, Match: &m, Events: d.events, Due: in.dues(m, d.pos), After: d.pos}
	notify := []Person(nil)
	if m.ToMove != "" && m.ToMove != in.by {
		notify = []Person{m.ToMove}
	}
	post := func(kind, id string, texts []Text, notify []Person) {
		s.Posts = append(s.Posts, Owed{
			ID: fmt.Sprintf("%s-%d-%s", m.ID, m.Seq, id), Game: m.ID, Where: m.Where, Kind: kind, Seq: m.Seq,
			Texts: texts, Notify: notify, Reply: in.request.Reply,
		})
	}
	if in.reminded(d.pos) {
		post(Remove, "reminder", nil, nil)
		if in.prefs[m.Black].Remind == "direct" || in.prefs[m.White].Remind == "direct" {
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
func (in *input) opening(m Match) *input {
	next := *in
	next.match, next.pos = m, nil
	return &next
}

// with is the input with a state and players that the step gives to the match.
func (in *input) with(s Standing) *input {
	next := *in
	next.match.Standing = s
	return &next
}

// as is the input of what somebody does who has not asked for it.
func (in *input) as(by Person) *input {
	next := *in
	next.by = by
	return &next
}

// events are those of the match so far.
func (in *input) events() []Event {
	if in.pos == nil {
		return nil
	}
	return in.pos.events
}

// newGame opens a game, and begins it if both seats are known.
func newGame(in *input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	if in.room.Opens == "moderators" && !in.request.Moderator {
		return in.refuse(say("opens.moderators"))
	}
	arg := func(name string) string { return strings.TrimSpace(in.request.Args[name]) }
	r := &rules.TwoButton
	id, board := arg("rules"), arg("size")
	if id != "" && id[0] >= '0' && id[0] <= '9' { // "/new 9x9" and "/new 9x9 aga" are plain enough
		id, board = board, id
	}
	id, board = cmp.Or(id, in.room.Rules), cmp.Or(board, in.room.Size)
	if id != "" {
		found, err := in.rulesets.Find(id)
		if err != nil {
			return in.refuse(noRuleset(id))
		}
		r = found
	}
	s := rules.Setup{W: 9, H: 9, Komi: r.Komi}
	if board != "" {
		w, h, ok := parseSize(board)
		if !ok {
			return in.refuse(say("bad.size", shortened(board)))
		}
		s.W, s.H = w, h
	}
	if komi := arg("komi"); komi != "" && komi != "default" {
		k, err := rules.ParsePoints(komi)
		if err == nil && (k > rules.MaxKomi || k < -rules.MaxKomi) {
			err = rules.Saying{Text: "{0} is too large", Args: []any{k}}
		}
		if err != nil {
			return in.refuse(say("bad.komi", text.Sentence(err)))
		}
		s.Komi = k
	}
	if h := arg("handicap"); h != "" {
		n, err := strconv.Atoi(h)
		if err != nil {
			return in.refuse(say("bad.number", shortened(h)))
		}
		switch how := strings.ToLower(arg("placement")); how {
		case "", "fixed":
			if s.Black, err = rules.HandicapPoints(s.W, s.H, n); err != nil {
				return in.refuse(say("bad.handicap", text.Begins(err)))
			}
		case "free":
			if most := min(maxFree, s.W*s.H/2); n == 1 || n < 0 || n > most {
				return in.refuse(say("bad.free", strconv.Itoa(most)))
			}
		default:
			return in.refuse(say("bad.placement", shortened(how)))
		}
		s.Handicap = n
	}
	rated := false
	switch answer := strings.ToLower(arg("rated")); answer {
	case "", "no", "n", "false":
	case "yes", "y", "true":
		rated = true
	default:
		return in.refuse(say("bad.rated", shortened(answer)))
	}
	var tc clock.Control
	if c := cmp.Or(arg("clock"), in.room.Clock); c != "" {
		var err error
		if tc, err = clock.Parse(c); err != nil {
			return in.refuse(wrong(err))
		}
	}
	g, _, err := Match{Setup: s}.begin(r, nil)
	if err != nil {
		return in.refuse(say("bad.handicap", text.Begins(err)))
	}
	mine := rules.Black
	switch c := strings.ToLower(arg("color")); c {
	case "", "black", "b":
	case "white", "w":
		mine = rules.White
	case "random", "nigiri":
		if in.coin {
			mine = rules.White
		}
	default:
		return in.refuse(say("bad.color", shortened(c)))
	}
	m := Match{
		ID: in.newID, Rules: r.Stored(), Setup: s, Clock: tc, Rated: rated, Opener: in.by, Where: in.request.Where,
		Opened: in.now, Standing: Standing{State: Open},
	}
	if mine == rules.Black {
		m.Black = in.by
	} else {
		m.White = in.by
	}
	both := func(b, w Person) { m.Black, m.White = b, w }
	opponent := arg("opponent")
	switch other, known := in.users["opponent"]; {
	case strings.EqualFold(opponent, text.English.Say(say("opponent.me"))) || known && other == in.by:
		both(in.by, in.by)
	case known && (other == in.seats[0] || other == in.seats[1]):
		if mine == rules.Black {
			both(in.by, other)
		} else {
			both(other, in.by)
		}
	case known:
		m.Invited = other
	case opponent != "":
		return in.refuse(say("unknown.user", shortened(opponent)))
	case in.by == in.seats[0] || in.by == in.seats[1]:
		if arg("color") == "" || in.by == in.seats[0] && mine == rules.Black || in.by == in.seats[1] && mine == rules.White {
			both(in.seats[0], in.seats[1])
		} else {
			both(in.seats[1], in.seats[0])
		}
	}
	return in.opening(m).openOrBegin(g)
}

func (in *input) opened() Text {
	title, size, komi, handicap := in.terms()
	return say("opened", named(in.by), text.ThisGame, title, size, komi, handicap)
}

func (in *input) seatOpen(c rules.Color) Text {
	if in.match.Invited != "" {
		return say("opened.for", named(in.match.Invited))
	}
	return say("opened.anyone", text.Color(c))
}

func (in *input) started(g *rules.Game) []Text {
	title, size, komi, handicap := in.terms()
	first := centre(in.match.Setup).String()
	out := []Text{say("started", text.ThisGame, title, size, komi, handicap, named(in.match.Black), named(in.match.White), text.Color(g.ToPlay()), first)}
	if in.seats[0] != "" && in.match.Black == in.seats[0] && in.match.White == in.seats[1] {
		out = []Text{say("started.seats", text.ThisGame, title, size, komi, handicap, text.Color(g.ToPlay()), first)}
	}
	if in.match.free() {
		out = append(out, say("placing.how", strconv.Itoa(in.match.Setup.Handicap)))
	}
	return out
}

// terms gives what a game is played with, as arguments.
func (in *input) terms() (title, size, komi string, handicap Text) {
	r, err := rules.Find(in.match.Rules)
	if err != nil {
		return in.match.Rules, "", "", Text{}
	}
	s := in.match.Setup
	var stones, rated, timed any = "", "", ""
	switch {
	case in.match.free():
		stones = say("handicap.free", s.Handicap)
	case s.Handicap > 0:
		stones = say("handicap", s.Handicap)
	}
	if in.match.Rated {
		rated = say("rated")
	}
	if in.match.Clock.Kind != clock.None {
		timed = say("with.clock", in.match.Clock.Text())
	}
	return r.Title, fmt.Sprintf("%d×%d", s.W, s.H), s.Komi.String(), say("joined", stones, rated, timed, "")
}

// join takes the open seat.
func join(in *input) Step {
	m := in.match
	switch {
	case m.State == Open && m.Invited != "" && m.Invited != in.by && m.Opener != in.by:
		return in.refuse(say("not.invited", in.number(), named(m.Invited)))
	case m.State == Open && m.Opener == in.by:
		return in.refuse(say("yourself", in.number()))
	case m.Black == in.by || m.White == in.by:
		return in.refuse(say("already.in", in.number()))
	case m.State == Cancelled:
		return in.refuse(say("game.cancelled", in.number()))
	case m.State == Deleted:
		return in.refuse(say("game.deleted", in.number()))
	case m.State != Open:
		return in.refuse(say("full", in.number(), named(m.Black), named(m.White)))
	}
	seat := rules.White
	if m.Black == "" {
		seat, m.Black = rules.Black, in.by
	} else {
		m.White = in.by
	}
	m.State = Going
	in = in.with(m.Standing)
	return in.step([]string{"join " + seat.Letter() + " " + string(in.by), "begin"}, in.started(in.pos.game), nil)
}

// blocked refuses what cannot be done in a match that is not being played, or
// by somebody who does not play in it.
func (in *input) blocked() (Step, bool) {
	m := in.match
	switch {
	case m.State == Cancelled:
		return in.refuse(say("game.cancelled", in.number())), true
	case m.State == Deleted:
		return in.refuse(say("game.deleted", in.number())), true
	case m.State == Ended:
		return in.refuse(say("game.over", in.number(), outcome(in.pos))), true
	case m.State == Sandbox && m.Opener != in.by:
		return in.refuse(say("sandbox.whose", in.number(), named(m.Opener))), true
	case m.Black != in.by && m.White != in.by && m.State == Open:
		return in.refuse(say("waiting", in.number())), true
	case m.Black != in.by && m.White != in.by:
		return in.refuse(say("onlooker", in.number(), named(m.Black), named(m.White))), true
	case m.State == Open:
		return in.refuse(say("waiting", in.number())), true
	}
	return Step{}, false
}

// turn plays placements, passes and all that a rulebook calls a turn.
func turn(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	t := rules.Turn{Kind: in.kind, By: in.color()}
	w, h := in.match.Setup.W, in.match.Setup.H
	if in.pos.placing > 0 && t.Kind != rules.Resign {
		return in.stones(in.request.Args["at"])
	}
	if t.Kind == rules.Place {
		if in.request.Args["at"] == "" {
			return in.refuse(say("missing", "place", say("needs.point"), "/place "+centre(in.match.Setup).String()))
		}
		p, err := rules.ParsePoint(in.request.Args["at"], w, h)
		if err != nil {
			return in.refuse(wrong(err))
		}
		t.At = p
	}
	if dead := in.request.Args["dead"]; dead != "" && t.Kind == rules.Pass {
		ps, err := parsePoints(dead, w, h)
		if err != nil {
			return in.refuse(wrong(err))
		}
		t.Dead = ps
	}
	if s, warned := in.stillStanding(t); warned {
		return s
	}
	return in.play(t)
}

// talk plays what needs nothing but its kind.
func talk(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	return in.play(rules.Turn{Kind: in.kind, By: in.color()})
}

func mark(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	t := rules.Turn{Kind: rules.MarkDead, By: in.color()}
	switch as := strings.ToLower(strings.TrimSpace(in.request.Args["as"])); as {
	case "", "dead":
	case "alive":
		t.Kind = rules.Unmark
	case "seki":
		t.Kind = rules.MarkSeki
	default:
		return in.refuse(say("bad.as", shortened(as)))
	}
	ps, err := parsePoints(in.request.Args["points"], in.match.Setup.W, in.match.Setup.H)
	if err != nil {
		return in.refuse(wrong(err))
	}
	if len(ps) == 0 {
		return in.refuse(say("missing", "dead", say("needs.chains"), "/dead C3 D5"))
	}
	t.Dead = ps
	return in.play(t)
}

// accept accepts whatever there is to accept: the count, a suggestion of dead
// stones, or that a game has no result.
func accept(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	if s, answered := in.yes(); answered {
		return s
	}
	g, by := in.pos.game, in.color()
	switch {
	case g.Phase() == rules.Settling:
		black, white := in.colors()
		if black && white {
			return in.play(rules.Turn{Kind: rules.Agree, By: rules.Black}, rules.Turn{Kind: rules.Agree, By: rules.White})
		}
		if g.HasAgreed(by) {
			return in.refuse(say("accepted.already", named(in.match.seat(by.Opponent()))))
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
		return in.refuse(say("playing", in.number()))
	}
	return in.refuse(noAgreement(g.Rules()))
}

// noAgreement says how a ruleset without an agreement on dead stones goes about them.
func noAgreement(r *rules.Ruleset) Text {
	switch {
	case len(r.Count) == 0:
		return say("playing.nocount", r.Title)
	case r.Has(rules.Accept):
		return say("playing.named", r.Title)
	}
	return say("playing.never", r.Title)
}

func resign(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	by := in.color()
	switch strings.ToLower(strings.TrimSpace(in.request.Args["confirm"])) {
	case "yes", "y", "true":
		return in.play(rules.Turn{Kind: rules.Resign, By: by})
	}
	s := in.refuse(say("resign.sure", in.number(), text.Color(by.Opponent())))
	s.Answer.Controls = []Control{{Label: "resign.button", Command: "resign", Args: map[string]string{
		"confirm": "yes", "game": in.number(), "seq": strconv.Itoa(in.match.Seq)}}}
	return s
}

// cancel ends a game without a result: before both have moved, by its players;
// at any time, by a moderator who is not a party to it.
func cancel(in *input) Step {
	m := in.match
	black, white := in.colors()
	yours := black || white || m.Opener == in.by
	moderates := in.request.Moderator && (!yours || black && white)
	if !yours && !moderates {
		return in.refuse(say("cancel.not.yours", in.number()))
	}
	switch m.State {
	case Cancelled:
		return in.refuse(say("game.cancelled", in.number()))
	case Deleted:
		return in.refuse(say("game.deleted", in.number()))
	case Ended:
		return in.refuse(say("game.over", in.number(), outcome(in.pos)))
	}
	moved := map[rules.Color]bool{}
	for _, l := range in.pos.lines {
		moved[l.turn.By] = true
	}
	if moved[rules.Black] && moved[rules.White] && !moderates {
		return in.refuse(say("cancel.late", in.number()))
	}
	m.State = Cancelled
	return in.with(m.Standing).step([]string{"cancel"}, []Text{say("cancelled", named(in.by), in.number())}, nil)
}

// play makes turns, or says which rule they break.
func (in *input) play(turns ...rules.Turn) Step {
	d := in.draft()
	for _, t := range turns {
		if err := in.add(&d, "turn "+t.String()); err != nil {
			return in.refuse(in.illegal(err))
		}
		if d.pos.game.Phase() == rules.Over {
			break
		}
	}
	g := d.pos.game
	if in.pos.branch > 0 && g.Phase() != rules.Playing && turns[0].Kind != rules.Resign {
		if err := in.add(&d, "return"); err != nil {
			return in.refuse(wrong(err))
		}
		return in.end(d, []Text{say("branch.ends", in.number(), text.Turn(turns[0]))}, nil)
	}
	var after []Text
	switch {
	case g.Phase() == rules.Over:
		after = append(after, say("over", in.number(), outcome(&position{game: g}), g.Result(), text.Begins(g.Decided())))
	case g.Phase() == rules.Settling && in.pos.game.Phase() == rules.Playing:
		after = append(append(after, say("settle", in.number())), looksDead(g)...)
	}
	return in.end(d, nil, after)
}

// illegal says what is wrong with a turn.
func (in *input) illegal(err error) Text {
	var i *rules.Illegal
	if !errors.As(err, &i) {
		return wrong(err)
	}
	r := in.pos.game.Rules()
	switch {
	case errors.Is(err, rules.ErrNotYourTurn):
		return say("not.your.turn", in.number(), text.Color(in.pos.game.ToPlay()))
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
		if i.Turn.Kind == rules.Button && (in.pos.game.Table() > 0 || in.pos.game.Holds(rules.Black, rules.ButtonThing)+in.pos.game.Holds(rules.White, rules.ButtonThing) > 0) {
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

// outcome says how a game ended.
func outcome(p *position) Text {
	who := map[byte]Text{'B': text.Color(rules.Black), 'W': text.Color(rules.White)}
	result := p.game.Result()
	if p.result != "" {
		result = p.result
	}
	switch r := result; {
	case r == "0" && p.result != "":
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

// parseSize reads "9", "9x13", "9×13" and "9*13".
func parseSize(s string) (w, h int, ok bool) {
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

// parsePoints reads "C3 D5", "C3,D5"; "none" is no point.
func parsePoints(s string, w, h int) ([]rules.Point, error) {
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
