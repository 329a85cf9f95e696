package contest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/pairing"
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
	Outage   match.Stretch  // in which the sign-up ended; zero: in none
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
}

// actions are the values of the option "what" of /event that change something.
var actions = map[string]action{
	"new":       {do: newEvent},
	"discard":   {do: discard},
	"publish":   {do: publish},
	"join":      {do: join, states: []State{SignUp}},
	"leave":     {do: leave, states: []State{SignUp, Playing}},
	"start":     {do: start, organises: true, states: []State{SignUp, Playing}},
	"extend":    {do: extend, organises: true, states: []State{SignUp, Playing}},
	"withdraw":  {do: withdraw, organises: true, states: []State{SignUp, Playing}},
	"replace":   {do: replace, organises: true, states: []State{SignUp, Playing}},
	"result":    {do: result, organises: true, states: []State{Playing, Over}},
	"organiser": {do: organiser, organises: true},
	"play":      {do: play, states: []State{Playing}},
	"sitout":    {do: sitOut, states: []State{Playing}},
	"meet":      {do: meet, organises: true, states: []State{SignUp, Playing}},
	"forbid":    {do: forbid, organises: true, states: []State{SignUp, Playing}},
	"swap":      {do: swap, organises: true, states: []State{SignUp, Playing}},
	"cancel":    {do: cancel, organises: true, states: []State{SignUp, Playing}},
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
	return a.do(in)
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

// newEvent adds to the draft of the person asking, and shows what would be published.
func newEvent(in *Input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	for _, name := range []string{"player", "other", "rank", "table", "as"} { // a title of several words without quotation marks ends up there
		if stray := in.arg(name); stray != "" {
			return in.refuse(say("event.stray", text.Shorten(stray)))
		}
	}
	draft := Draft{}
	for name, value := range in.Draft {
		draft[name] = value
	}
	for _, name := range Chosen {
		switch value := in.arg(name); value {
		case "":
		case "default":
			delete(draft, name)
		default:
			draft[name] = value
		}
	}
	terms, err := draft.Terms(in.Rulesets, in.Room, in.Zone, in.Now)
	if err != nil {
		s := in.refuse(text.Explain(err))
		if in.arg("form") == "yes" { // which an adapter shows
			s.Draft = in.readable(draft)
		}
		return s
	}
	s := in.answer(append([]text.Message{say("event.preview", terms.Name)}, append(terms.Words(in.Now, in.Zone), say("event.preview.how"))...)...)
	s.Draft = &match.Draft{Person: in.By, Where: in.Request.Where.WithoutThread(), Text: draft.Encode(), At: in.Now}
	s.Answer.Controls = []match.Control{
		{Label: "label.event.publish", Command: "event", Args: map[string]string{"what": "publish"}},
		{Label: "label.event.change", Command: "event", Args: map[string]string{"what": "new"}, Ask: "title"},
		{Label: "label.event.discard", Command: "event", Args: map[string]string{"what": "discard"}},
	}
	return s
}

// readable returns what can be read of a draft in which something is wrong: who has filled in a
// form need not type the rest again. nil: nothing of it is new.
func (in *Input) readable(draft Draft) *match.Draft {
	kept := Draft{}
	maps.Copy(kept, in.Draft)
	for _, name := range Chosen {
		was, had := kept[name]
		if value, has := draft[name]; has {
			kept[name] = value
		} else {
			delete(kept, name)
		}
		if _, err := kept.Terms(in.Rulesets, in.Room, in.Zone, in.Now); err != nil {
			if delete(kept, name); had {
				kept[name] = was
			}
		}
	}
	if len(kept) == 0 || maps.Equal(kept, in.Draft) {
		return nil
	}
	return &match.Draft{Person: in.By, Where: in.Request.Where.WithoutThread(), Text: kept.Encode(), At: in.Now}
}

// closed refuses to organise an event where the person may not.
func (in *Input) closed() (Step, bool) {
	switch {
	case in.Alone:
		return in.refuse(say("event.alone")), true
	case in.Room.Events != "anyone" && !in.Request.Moderator:
		return in.refuse(say("event.moderators")), true
	case in.Room.Opens == "nobody":
		return in.refuse(say("opens.nobody")), true
	case in.Running >= maxRunning:
		return in.refuse(say("event.many", strconv.Itoa(in.Running))), true
	}
	return Step{}, false
}

func discard(in *Input) Step {
	if in.Draft == nil {
		return in.refuse(say("event.nodraft"))
	}
	s := in.answer(say("event.discarded"))
	s.Draft = &match.Draft{Person: in.By, Where: in.Request.Where.WithoutThread(), At: in.Now}
	return s
}

// publish opens the sign-up of the event that the person asking has drafted.
func publish(in *Input) Step {
	if s, closed := in.closed(); closed {
		return s
	}
	if in.Draft == nil {
		return in.refuse(say("event.nodraft"))
	}
	terms, err := in.Draft.Terms(in.Rulesets, in.Room, in.Zone, in.Now)
	if err != nil {
		return in.refuse(text.Explain(err), say("event.preview.again"))
	}
	for _, c := range []byte(in.NewID) { // which nobody can choose
		terms.Lot = terms.Lot*31 + int64(c)
	}
	where := in.Request.Where.WithoutThread()
	s := in.step([]text.Message{say("event.published", terms.Name)}, Body{Kind: opened, Terms: &terms, Place: &where, Page: in.NewPage})
	s.Draft = &match.Draft{Person: in.By, Where: where, At: in.Now}
	return s
}

// join takes a seat, or a place on the waiting list.
func join(in *Input) Step {
	c := in.Contest
	rank := NoRank
	switch typed := in.arg("rank"); {
	case c.Player(in.By) > 0:
		return in.refuse(c.place(in.By))
	case !in.Now.Before(c.Until):
		return in.refuse(say("event.late", c.Name))
	case len(c.Players) >= 4*MaxPlayers: // with those who left
		return in.refuse(say("event.full", c.Name))
	case c.Ranks && typed == "":
		s := in.refuse(say("event.rank", c.Name))
		s.Answer.Controls = []match.Control{{Label: "label.event.join", Command: "event", Args: in.about("join"), Ask: "rank"}}
		return s
	case c.Ranks:
		var err error
		if rank, err = ParseRank(typed); err != nil {
			return in.refuse(text.Explain(err))
		}
	}
	s := in.step(nil, Body{Kind: joined, Person: in.By, Rank: rankBody(rank)})
	if s.Contest != nil {
		s.Answer.Texts = []text.Message{s.Contest.place(in.By)}
	}
	return s
}

func rankBody(rank int) *int {
	if rank == NoRank {
		return nil
	}
	return &rank
}

// about returns the arguments of a control for an action in this event.
func (in *Input) about(what string) map[string]string {
	return map[string]string{"what": what, "event": strconv.Itoa(in.Contest.Number)}
}

// place says where somebody stands in the sign-up.
func (c *Contest) place(p match.PersonID) text.Message {
	n := c.Player(p)
	seated, waiting := c.Seated()
	if i := slices.Index(waiting, n); i >= 0 {
		return say("event.waiting", c.Name, strconv.Itoa(i+1))
	}
	if c.State == SignUp {
		return say("event.joined", c.Name, strconv.Itoa(slices.Index(seated, n)+1))
	}
	return say("event.in", c.Name)
}

// leave takes back a sign-up, or withdraws the person asking from the games that are left.
func leave(in *Input) Step {
	c := in.Contest
	n := c.Player(in.By)
	switch {
	case n == 0:
		return in.refuse(say("event.notin", c.Name))
	case c.State == SignUp:
		return in.step([]text.Message{say("event.left", c.Name)}, Body{Kind: left, Player: n})
	case !in.confirmed():
		return in.sure(say("event.leave.sure", len(c.open(n)), c.Name), "label.event.leave")
	}
	return in.withdraws(n, say("event.leaves", named(in.By), c.Name))
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
		c.Seq++
		if err := c.changes(Event{Seq: c.Seq, At: in.Now, By: in.By, Body: b}); err != nil {
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

// start ends the sign-up, or the time between two rounds, now.
func start(in *Input) Step {
	c := in.Contest
	playing := c.Playing(in.Unasked)
	switch {
	case c.State == Playing && c.Asking == nil:
		return in.refuse(c.stands())
	case len(playing) < 2:
		return in.refuse(say("event.few", len(playing)))
	case !in.confirmed() && c.State == SignUp:
		return in.sure(say("event.start.sure", len(playing), c.Name), "label.event.start")
	case !in.confirmed():
		return in.sure(say("event.round.sure", len(playing), itoa(len(c.Rounds)+1), c.Name), "label.event.start")
	}
	return in.pair()
}

// pair pairs the next round.
func (in *Input) pair() Step {
	c := in.Contest
	playing := c.Playing(in.Unasked)
	first := len(c.Rounds) == 0
	b := Body{Kind: paired, Lasts: c.Lasts.Milliseconds()}
	if first {
		players := slices.Clone(playing)
		if c.Ranks {
			slices.SortStableFunc(players, func(a, b int) int { return c.Players[b-1].Rank - c.Players[a-1].Rank })
		} else {
			players = pairing.Lot(players, uint64(c.Lot))
		}
		b.Groups = [][]int{players}
		switch c.System {
		case Groups:
			b.Groups = pairing.Groups(players, c.Group)
		case McMahon:
			bar, floor := c.bars(players)
			b.Bar, b.Floor = &bar, &floor
		}
	}
	var pairs []Pairing
	if c.System == Groups {
		for g, group := range b.Groups {
			for _, r := range pairing.RoundRobin(group) {
				for _, game := range r.Games {
					pairs = append(pairs, Pairing{Group: g + 1, Black: game.Black, White: game.White})
				}
			}
		}
	} else {
		draft := c.clone()
		if first { // the field and the bars
			draft.State = Playing
			draft.Drawn = b.Groups
			if b.Bar != nil {
				draft.Bar, draft.Floor = *b.Bar, *b.Floor
			}
		}
		var err error
		if pairs, b.Bye, err = draft.pairs(playing); err != nil { // a choice no longer fits
			draft.Choices = nil
			pairs, b.Bye, err = draft.pairs(playing)
		}
		if err != nil {
			return in.refuse(text.Explain(err))
		}
		for _, n := range c.still() {
			if !slices.Contains(playing, n) {
				b.Absent = append(b.Absent, n)
			}
		}
	}
	for _, t := range pairs {
		for book := range c.Rules {
			t.Book = book
			t.Game, t.Page = in.Fixture(len(c.Rounds)+1, len(b.Tables)+1)
			b.Tables = append(b.Tables, t)
		}
	}
	var bodies []Body
	if c.State == SignUp {
		bodies = in.and(b)
	} else if bodies = in.and(b); len(b.Tables) == 0 && len(bodies) == 1 {
		return in.refuse(say("event.few", len(playing)))
	}
	s := in.step([]text.Message{say("event.started", c.Name)}, bodies...)
	if s.Contest != nil && len(b.Tables) > 0 {
		s.Posts = append(s.Posts, s.Contest.announcement())
	}
	return in.finish(s)
}

// bars returns the ranks between which players of a McMahon start with different scores: above
// the upper one a quarter of them, and at least four, start alike.
func (c *Contest) bars(players []int) (bar, floor int) {
	top := min(max(len(players)/4, 4), len(players))
	return c.Players[players[top-1]-1].Rank, c.Players[players[len(players)-1]-1].Rank
}

// extend moves the end of the sign-up, or that of the round with the clocks of its games, or
// between two rounds when the next one is paired.
func extend(in *Input) Step {
	c := in.Contest
	typed := cmp.Or(in.arg("until"), in.arg("days"))
	if n, err := strconv.Atoi(typed); err == nil {
		typed = fmt.Sprint(n, "d")
	}
	was := c.Until
	switch {
	case c.State == SignUp:
	case len(c.Unopened()) > 0:
		return in.refuse(say("event.opening", c.Name))
	case c.Asking != nil:
		was = c.Asking.Until
	default:
		was = c.Round().Ends
	}
	if typed == "" {
		return in.refuse(say("event.extend.how", in.moment(was)))
	}
	at, err := ParseTime(typed, in.Zone, in.Now)
	if err != nil {
		return in.refuse(text.Explain(err))
	}
	if length, ok := clock.ParseLength(typed); ok {
		at = was.Add(length)
	}
	until := in.moment(at)
	switch {
	case !at.After(was):
		return in.refuse(say("event.extend.later", in.moment(was)))
	case at.Sub(in.Now) > maxLasts:
		return in.refuse(say("event.bad.until", until))
	case c.State == SignUp:
		terms := c.Terms
		terms.Until = at
		return in.tell(in.step([]text.Message{say("event.done")}, Body{Kind: changed, Terms: &terms}), say("event.extended.signup", c.Name, until))
	}
	s := in.step([]text.Message{say("event.done")}, Body{Kind: extended, Ends: at.UnixMilli()})
	if c.Asking != nil {
		return in.tell(s, say("event.extended.asking", c.Name, until))
	}
	for _, n := range c.Unfinished() {
		s.Owes = append(s.Owes, credit(c.ID, c.Round().Tables[n-1].Game, in.Now, in.Now.Add(at.Sub(was)), in.Now))
	}
	return in.tell(s, say("event.extended", c.Name, until))
}

// who returns the number of the player whom an option names.
func (in *Input) who(option string) (n int, refusal *text.Message) {
	p, known := in.Users[option]
	switch typed := in.arg(option); {
	case typed == "":
		return 0, new(say("event.who", option))
	case !known:
		return 0, new(say("unknown.user", text.Shorten(typed)))
	}
	if n = in.Contest.Player(p); n == 0 {
		for i, player := range in.Contest.Players { // who has been withdrawn
			if player.Person == p && in.Contest.State == Playing {
				return i + 1, nil
			}
		}
		return 0, new(say("event.notplaying", named(p), in.Contest.Name))
	}
	return n, nil
}

// withdraw takes a player out of the event.
func withdraw(in *Input) Step {
	c := in.Contest
	n, refusal := in.who("player")
	switch {
	case refusal != nil:
		return in.refuse(*refusal)
	case !c.Players[n-1].In():
		return in.refuse(say("event.already.out", named(c.Players[n-1].Person), c.Name))
	case c.State == SignUp:
		return in.step([]text.Message{say("event.done")}, Body{Kind: left, Player: n})
	case !in.confirmed():
		return in.sure(say("event.withdraw.sure", len(c.open(n)), named(c.Players[n-1].Person), c.Name), "label.event.withdraw")
	}
	return in.withdraws(n, say("event.withdrawn", named(c.Players[n-1].Person), c.Name, named(in.By)))
}

// replace gives the seat of a player to somebody else: with its results, and the games that
// are left begin again.
func replace(in *Input) Step {
	c := in.Contest
	n, refusal := in.who("player")
	if refusal != nil {
		return in.refuse(*refusal)
	}
	next, known := in.Users["other"]
	_, waiting := c.Seated()
	switch typed := in.arg("other"); {
	case typed == "" && len(waiting) > 0:
		next = c.Players[waiting[0]-1].Person
	case typed == "":
		return in.refuse(say("event.who", "other"))
	case !known:
		return in.refuse(say("unknown.user", text.Shorten(typed)))
	}
	at := c.Player(next)
	if at > 0 && !slices.Contains(waiting, at) {
		return in.refuse(say("event.already.in", named(next), c.Name))
	}
	rank := NoRank
	if typed := in.arg("rank"); typed != "" {
		var err error
		if rank, err = ParseRank(typed); err != nil {
			return in.refuse(text.Explain(err))
		}
	}
	b := Body{Kind: replaced, Player: n, Person: next, Rank: rankBody(rank)}
	var bodies []Body
	if at > 0 { // they leave the waiting list for the seat
		bodies = append(bodies, Body{Kind: left, Player: at})
	}
	if c.State == Playing && c.Asking == nil { // between two rounds no game is left
		if len(c.Unopened()) > 0 {
			return in.refuse(say("event.opening", c.Name))
		}
		round, r := len(c.Rounds), c.Round()
		main := r.Ends.Sub(in.Now) / 2
		if main < time.Minute {
			return in.refuse(say("event.over.soon", c.Name))
		}
		for i, t := range r.Tables {
			if (t.Black != n && t.White != n) || !t.Open() && t.Result.How != Forfeited {
				continue
			}
			other := t.Black + t.White - n
			if b.Scores = append(b.Scores, Score{Round: round, Table: i + 1, How: Annulled}); !c.Players[other-1].In() {
				continue
			}
			again := Pairing{Group: t.Group, Book: t.Book, Black: t.Black, White: t.White, Main: main.Milliseconds()}
			again.Game, again.Page = in.Fixture(round, len(r.Tables)+len(b.Tables)+1)
			b.Tables = append(b.Tables, again)
		}
	}
	s := in.step([]text.Message{say("event.done")}, append(bodies, b)...)
	in.closes(&s, b.Scores)
	notice := say("event.replaced", len(b.Tables), named(next), named(c.Players[n-1].Person), c.Name)
	if len(b.Tables) == 0 {
		notice = say("event.replaced.seat", named(next), named(c.Players[n-1].Person), c.Name)
	}
	return in.tell(s, notice, next)
}

// results are the values of the option "as", with the half points of Black and White.
var results = map[string]Score{"black": {Black: 2}, "white": {White: 2}, "draw": {Black: 1, White: 1}, "both-lose": {}, "void": {How: Annulled}}

// result gives a table a result by hand.
func result(in *Input) Step {
	c := in.Contest
	score, known := results[strings.ToLower(in.arg("as"))]
	if !known {
		return in.refuse(say("event.as"))
	}
	round, table := len(c.Rounds), 0
	if typed := in.arg("round"); typed != "" {
		round, _ = strconv.Atoi(typed)
	}
	if c.System == Knockout && (score.How == Annulled || score.Black == 1) {
		return in.refuse(say("event.knockout.winner"))
	}
	if round < 1 || round > len(c.Rounds) {
		return in.refuse(say("event.bad.round", strconv.Itoa(len(c.Rounds))))
	}
	tables := c.Rounds[round-1].Tables
	if table, _ = strconv.Atoi(in.arg("table")); table < 1 || table > len(tables) {
		return in.refuse(say("event.bad.table", strconv.Itoa(len(tables))))
	}
	t := tables[table-1]
	score.Round, score.Table, score.How = round, table, cmp.Or(score.How, Typed)
	said := say("event.result", strconv.Itoa(table), named(c.Players[t.Black-1].Person), named(c.Players[t.White-1].Person), score.words(), named(in.By))
	if !in.confirmed() {
		return in.sure(said, "label.event.result")
	}
	s := in.finish(in.step([]text.Message{say("event.done")}, in.and(Body{Kind: corrected, Scores: []Score{score}})...))
	in.closes(&s, []Score{score})
	return in.tell(s, said, c.Players[t.Black-1].Person, c.Players[t.White-1].Person)
}

// organiser makes somebody an organiser, or no longer one.
func organiser(in *Input) Step {
	c := in.Contest
	p, known := in.Users["player"]
	switch typed := in.arg("player"); {
	case typed == "" && !c.Organises(in.By): // a moderator takes over
		p = in.By
	case typed == "":
		return in.refuse(say("event.who", "player"))
	case !known:
		return in.refuse(say("unknown.user", text.Shorten(typed)))
	}
	off := strings.EqualFold(in.arg("as"), "remove")
	switch is := c.Organises(p); {
	case off && !is:
		return in.refuse(say("event.organiser.not", named(p), c.Name))
	case off && len(c.Organisers) == 1:
		return in.refuse(say("event.organiser.last", c.Name))
	case !off && is:
		return in.refuse(say("event.organiser.is", named(p), c.Name))
	}
	key := "event.organiser"
	if off {
		key = "event.organiser.off"
	}
	return in.tell(in.step([]text.Message{say("event.done")}, Body{Kind: organises, Person: p, Off: off}), say(key, named(p), c.Name))
}

// cancel calls the event off. Its games end without a result.
func cancel(in *Input) Step {
	c := in.Contest
	if !in.confirmed() {
		return in.sure(say("event.cancel.sure", c.Name), "label.event.cancel")
	}
	return in.cancels(say("event.cancelled", c.Name, named(in.By)))
}

func (in *Input) cancels(notice text.Message) Step {
	c := in.Contest
	var scores []Score
	for _, n := range c.Unfinished() {
		scores = append(scores, Score{Round: len(c.Rounds), Table: n, How: Annulled})
	}
	s := in.step([]text.Message{say("event.done")}, Body{Kind: cancelled, Scores: scores})
	in.closes(&s, scores)
	return in.tell(s, notice)
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
