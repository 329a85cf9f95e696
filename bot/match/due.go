package match

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Timed actions: flags, reminders, and the end of games that nobody joins.

const (
	challengeLives = 7 * 24 * time.Hour  // after which an open game that nobody has joined expires
	sandboxLives   = 14 * 24 * time.Hour // a sandbox in which nobody has moved
	flagGrace      = 90 * time.Second    // how long a turn made in time may be on its way
	silentLasts    = 30 * 24 * time.Hour // without a clock, until the player who waits may end the game
	awayWait       = 5 * time.Minute     // between looks at a flag that may not fall
	announced      = 2 * time.Minute     // longer outages are announced in each credited game
)

// slowTurns and slowCounts say how long after the last event players are reminded of a
// turn without a clock, and of a count to accept.
var (
	slowTurns  = []time.Duration{3 * 24 * time.Hour, 10 * 24 * time.Hour}
	slowCounts = []time.Duration{24 * time.Hour, 4 * 24 * time.Hour, 10 * 24 * time.Hour}
)

// dues returns the timed actions of a match, if nothing happens before.
func (in *Input) dues(m Match, p *Position) []Due {
	switch m.State {
	case Open:
		since := m.Opened
		if in.Now.Before(since) { // opened by a clock that was ahead
			since = in.Now
		}
		return []Due{{m.ID, "expire", since.Add(challengeLives), m.Seq}}
	case Sandbox:
		return []Due{{m.ID, "expire", in.Now.Add(sandboxLives), m.Seq}}
	case Going:
	default:
		return nil
	}
	var ds []Due
	r := p.Reading(in.Now)
	if !r.Deadline.IsZero() && !r.Paused && !m.Clock.Claim {
		ds = append(ds, Due{m.ID, "flag", r.Deadline.Add(flagGrace), m.Seq})
	}
	for _, at := range in.reminders(m, p, r) {
		if at.After(in.Now) {
			ds = append(ds, Due{m.ID, "remind", at, m.Seq})
		}
	}
	if at := m.Changed.Add(silentLasts); len(m.left(p)) > 0 && at.After(in.Now) {
		ds = append(ds, Due{m.ID, "silent", at, m.Seq})
	}
	return ds
}

// left returns the player who waits for the other, in a game without a clock, where no
// flag would ever fall.
func (m Match) left(p *Position) []PersonID {
	waits := m.WaitsFor(p)
	if m.State != Going || m.Clock.Kind != clock.None || m.Black == m.White || len(waits) != 1 {
		return nil
	}
	return slices.DeleteFunc([]PersonID{m.Black, m.White}, func(p PersonID) bool { return p == waits[0] })
}

// silent reports whether the person may end the game because the other player has been
// silent for so long. While the game cannot be reached, nobody can answer.
func (in *Input) silent() bool {
	return in.Position != nil && !in.Away && !in.Left && slices.Contains(in.Match.left(in.Position), in.By) && !in.Now.Before(in.Match.Changed.Add(silentLasts))
}

// reminders returns when to remind the player to move. Without a deadline that is some
// days after the last event.
func (in *Input) reminders(m Match, p *Position, r clock.Reading) []time.Time {
	var out []time.Time
	for _, who := range in.listening(m, p) {
		out = append(out, in.remindersOf(who, m, p, r)...)
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// remindersOf returns when to remind one of them.
func (in *Input) remindersOf(who PersonID, m Match, p *Position, r clock.Reading) []time.Time {
	if r.Paused {
		return nil
	}
	prefs := in.Prefs[who]
	zone, _ := clock.Zone(prefs.Zone)
	if !r.Deadline.IsZero() && p.Game.Phase() == rules.Playing {
		return clock.Reminders(r, prefs.Quiet, zone)
	}
	after := slowTurns
	if p.Game.Phase() == rules.Settling {
		after = slowCounts
	}
	var out []time.Time
	for _, d := range after {
		at := m.Changed.Add(d)
		if end, within := prefs.Quiet.Until(at, zone); within {
			at = end
		}
		out = append(out, at)
	}
	return out
}

// listening returns the people for whom the match waits and who want reminders.
func (in *Input) listening(m Match, p *Position) (who []PersonID) {
	for _, w := range m.WaitsFor(p) {
		if in.Prefs[w].Remind != "none" {
			who = append(who, w)
		}
	}
	return who
}

// reminded reports whether there was a reminder of the turn that led to the position
// after, so that the reminder can be removed.
func (in *Input) reminded(after *Position) bool {
	before := in.Position
	if before == nil || in.Match.State != Going || before.Over() {
		return false
	}
	r := before.Reading(in.Match.Changed)
	if r.Flagged != rules.None && !r.Deadline.IsZero() { // an outage was credited after the flag fell, and nobody claimed
		r = before.Reading(r.Deadline.Add(-time.Millisecond))
	}
	if now := after.Reading(in.Now); in.Match.Clock.Kind != clock.None && !after.Over() &&
		before.Game.Phase() == rules.Playing && after.Game.Phase() == rules.Playing && now.Began.Equal(r.Began) && now.ToPlay == r.ToPlay {
		return false
	}
	for _, at := range in.reminders(in.Match, before, r) {
		if !at.After(in.Now) {
			return true
		}
	}
	return false
}

// DecideDue decides a timed action. If it has become pointless, the step holds only the
// next timed actions.
func DecideDue(in *Input, d Due) Step {
	m := in.Match
	going := m
	next := Step{Request: in.Request.ID, At: in.Now, Match: &going, Due: in.dues(m, in.Position)}
	switch {
	case d.Kind == "expire" && m.State == Sandbox:
		return in.close(Deleted, body(eventDelete), words{})
	case d.Kind == "expire" && m.State == Open:
		return in.close(Cancelled, body(eventExpire), above(say("expired", in.number())))
	case m.State != Going, d.Kind == "expire", d.Kind == "silent" && m.Seq != d.Seq: // pointless
	case d.Kind == "remind":
		if !in.Left {
			next.Posts = in.remind(d)
		}
	case in.Away || in.Left: // nobody could have moved: see Back and Servers
		next.Due = slices.DeleteFunc(next.Due, func(o Due) bool { return o.Kind == d.Kind })
		next.Due = append(next.Due, Due{m.ID, d.Kind, in.Now.Add(awayWait), m.Seq})
	case d.Kind == "flag":
		if s, fell := in.flag(); fell {
			return s
		}
	case d.Kind == "silent":
		for _, who := range m.left(in.Position) {
			next.Posts = append(next.Posts, OutboxPost{ID: fmt.Sprintf("%s-%d-silent", m.ID, m.Seq), Game: m.ID, Where: m.Where, Kind: Notice, Seq: m.Seq,
				Notify: []PersonID{who}, Texts: []text.Message{say("silent", in.number(), text.Called(string(who)), named(m.ToMove))}})
		}
	}
	return next
}

// remind returns the reminders that are due: one for all who read them in the channel, and
// one for those who get it directly.
func (in *Input) remind(d Due) (posts []OutboxPost) {
	m := in.Match
	r := in.Position.Reading(in.Now)
	n := 0
	for _, at := range in.reminders(m, in.Position, r) {
		if !at.After(in.Now) {
			n++
		}
	}
	var everybody, alone []PersonID
	for _, p := range in.listening(m, in.Position) {
		switch mine := in.remindersOf(p, m, in.Position, r); {
		case !slices.ContainsFunc(mine, d.At.Equal), in.told(p, d): // theirs come at other times
		case in.Prefs[p].Remind == "direct":
			alone = append(alone, p)
		default:
			everybody = append(everybody, p)
		}
	}
	post := func(kind string, who []PersonID) {
		if len(who) > 0 {
			posts = append(posts, OutboxPost{ID: fmt.Sprintf("%s-%d-%s-%d", m.ID, m.Seq, kind, d.At.UnixMilli()), Game: m.ID, Where: m.Where,
				Kind: Status, Seq: m.Seq, Notify: who, Private: kind == "direct", Again: n > 1})
		}
	}
	post("remind", everybody)
	post("direct", alone)
	return posts
}

// A Waiting is a game that waits for a person.
type Waiting struct {
	Match    Match
	Position *Position
}

// since returns when the game began to wait. Time credited after an outage does not
// count as a beginning.
func (w Waiting) since() time.Time {
	for i, e := range slices.Backward(w.Position.Events) {
		if !e.credits() {
			return w.Position.happened(i)
		}
	}
	return w.Match.Changed
}

// together is the time after a reminder in which the other games that it listed get no
// reminder of their own, so that a person with many games gets one for all.
const together = 30 * time.Minute

// told reports whether the reminder of another game has just listed this one. It follows
// from the times of the reminders of all games that wait for the person.
func (in *Input) told(who PersonID, d Due) bool {
	type ping struct {
		due, at, since time.Time // when it is due, when it is made, and since when its game waits
		game           GameID
	}
	var pings []ping
	for _, w := range append([]Waiting{{in.Match, in.Position}}, in.Others[who]...) {
		for _, at := range in.remindersOf(who, w.Match, w.Position, w.Position.Reading(in.Now)) {
			if !at.After(in.Now) {
				pings = append(pings, ping{at, in.made(at), w.since(), w.Match.ID})
			}
		}
	}
	slices.SortFunc(pings, func(a, b ping) int {
		return cmp.Or(a.at.Compare(b.at), a.due.Compare(b.due), strings.Compare(string(a.game), string(b.game)))
	})
	var last time.Time
	for _, p := range pings {
		told := !last.IsZero() && p.at.Sub(last) < together && !p.since.After(last)
		if p.game == d.Game && p.due.Equal(d.At) {
			return told
		}
		if !told {
			last = p.at
		}
	}
	return false
}

// made returns when a reminder that is due at a time is sent: if the bot is away then,
// when it is back.
func (in *Input) made(due time.Time) time.Time {
	for _, s := range in.Offline {
		if !due.Before(s.From) && due.Before(s.To) {
			return s.To
		}
	}
	return due
}

// flag ends the match if the flag of the player to move has fallen, and reports
// whether it has.
func (in *Input) flag() (Step, bool) {
	r := in.Position.Reading(in.Now)
	if r.Flagged == rules.None {
		return Step{}, false
	}
	over := []text.Message{say("over.flag", in.number(), in.Match.Player(r.Flagged.Opponent()))}
	return in.step(words{below: over}, body(eventFlag, r.Flagged.Letter())), true
}

// late ends the match instead of carrying out the request, if the flag had fallen
// before the request was made.
func (in *Input) late() (Step, bool) {
	if in.Match.State != Going || in.Match.Clock.Kind == clock.None || in.Match.Clock.Claim {
		return Step{}, false
	}
	s, fell := in.flag()
	if fell {
		s.Answer = Reply{Texts: []text.Message{say("too.late", in.number())}, Private: true, Refused: true}
	}
	return s, fell
}

// claim ends the game by time, if the flag of the opponent has fallen.
func claim(in *Input) Step {
	if in.Match.Clock.Kind == clock.None {
		return in.Refuse(say("claim.noclock", in.number()))
	}
	r := in.Position.Reading(in.Now)
	if r.Flagged == rules.None || in.Match.Seat(r.Flagged.Opponent()) != in.By {
		return in.Refuse(say("claim.nothing", in.number()))
	}
	s, _ := in.flag()
	return s
}

// WentBack returns the step that announces in a match that an old copy of the database
// was restored, with the match's present state. If the match has no events since the bot
// noticed the restore, it lost none, and the step announces nothing.
func WentBack(in *Input, copied, found time.Time) Step {
	m := in.Match
	if !slices.ContainsFunc(in.Position.Events, func(e Event) bool { return !e.At.Before(found) && !e.credits() }) {
		return Step{Request: in.Request.ID, At: in.Now}
	}
	return Step{Request: in.Request.ID, At: in.Now, Match: &m, Due: in.dues(m, in.Position), Posts: []OutboxPost{{
		ID: fmt.Sprintf("%s-%d-restored-%d", m.ID, m.Seq, copied.UnixMilli()), Game: m.ID, Where: m.Where, Kind: Notice, Seq: m.Seq,
		Texts: []text.Message{say("restored", clock.InstantText(copied, in.Now), in.number(), strconv.Itoa(in.Position.Game.Turns()))},
	}}}
}

// ShowAgain returns the step that shows a match in the new place of its room: the board, or
// that the match waits for somebody to join.
func ShowAgain(in *Input, place string) Step {
	m := in.Match
	p := OutboxPost{ID: fmt.Sprintf("%s-%d-in-%s", m.ID, m.Seq, place), Game: m.ID, Where: m.Where, Kind: Show, Seq: m.Seq}
	switch m.State {
	case Going:
	case Open:
		p.Kind, p.Texts = Notice, []text.Message{in.as(m.Opener).opened(), in.seatOpen()}
	default:
		return Step{Request: in.Request.ID, At: in.Now}
	}
	return Step{Request: in.Request.ID, At: in.Now, Match: &m, Due: in.dues(m, in.Position), Posts: []OutboxPost{p}}
}

// Credit credits the clocks with time in which the bot was away. It announces only long
// outages. If the clocks began later, it changes nothing.
func Credit(in *Input, from, to time.Time) Step {
	if !in.Position.clock.Began().Before(to) {
		return Step{Request: in.Request.ID, At: in.Now}
	}
	return in.credit(body(eventCredit, from.UnixMilli(), to.UnixMilli()), say("credit", in.number(), clock.InstantText(from, in.Now), clock.InstantText(to, in.Now)), to.Sub(from) > announced)
}

// Ahead reports whether the log has a time later than t that still counts.
func (p *Position) Ahead(t time.Time) bool {
	for _, e := range slices.Backward(p.Events) {
		if e.At.After(t) {
			return true
		}
		if e.Body == setRight {
			break
		}
	}
	return false
}

// happened returns when an event of the log happened: as it says, but no later than the
// clock was set right after it.
func (p *Position) happened(i int) time.Time {
	at := p.Events[i].At
	for _, e := range p.Events[i:] {
		if e.Body == setRight && e.At.Before(at) {
			at = e.At
		}
	}
	return at
}

// SetRight ends the effect of a clock that was ahead: what the log holds of a later time
// happened now.
func SetRight(in *Input) Step {
	return in.credit(setRight, say("clock.right", in.number()), in.Match.State == Going && in.Match.Clock.Kind != clock.None)
}

// credit returns the step that changes the clocks by an event, and may announce that.
func (in *Input) credit(what Body, why text.Message, announce bool) Step {
	w := words{quiet: true}
	if announce {
		w.above = []text.Message{why}
	}
	s := in.step(w, what)
	for i := range s.Posts { // the event before has the ids without it
		s.Posts[i].ID += fmt.Sprintf("-credit-%d", s.Match.Seq)
	}
	if d := s.Match.Deadline; !d.IsZero() && len(s.Posts) > 0 {
		last := &s.Posts[len(s.Posts)-1]
		last.Texts = append(last.Texts, say("deadline.now", clock.InstantText(d, in.Now)))
	}
	return s
}
