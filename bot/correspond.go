package bot

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

// Games that live for weeks: deadlines, reminders, second thoughts, and what
// one player asks the other.

const (
	challengeLives = 7 * 24 * time.Hour  // an open game waits so long for somebody to join
	sandboxLives   = 14 * 24 * time.Hour // a sandbox in which nobody has moved
	freeUndo       = 60 * time.Second    // one's own last turn may be taken back so long without asking, unless the room says otherwise
	flagGrace      = 90 * time.Second    // a turn made in time may be so long on its way
	awayWait       = 5 * time.Minute     // between looks at a flag that may not fall
	announced      = 2 * time.Minute     // an outage of longer is announced in each game that is credited
)

// slow are the reminders of games without a clock, and of players who have not
// accepted a count: so long after the last thing that happened.
var (
	slowTurns  = []time.Duration{3 * 24 * time.Hour, 10 * 24 * time.Hour}
	slowCounts = []time.Duration{24 * time.Hour, 4 * 24 * time.Hour, 10 * 24 * time.Hour}
)

// dues lists what is due for a match that stands so: each in its time, if nothing
// happens before.
func (in *input) dues(m Match, p *position) []Due {
	switch m.State {
	case Open:
		return []Due{{m.ID, "expire", m.Opened.Add(challengeLives), m.Seq}}
	case Sandbox:
		return []Due{{m.ID, "expire", in.now.Add(sandboxLives), m.Seq}}
	case Going:
	default:
		return nil
	}
	var ds []Due
	r := p.reading(in.now)
	if !r.Deadline.IsZero() && !r.Paused && !m.Clock.Claim {
		ds = append(ds, Due{m.ID, "flag", r.Deadline.Add(flagGrace), m.Seq})
	}
	for _, at := range in.reminders(m, p, r, m.Changed) {
		if at.After(in.now) {
			ds = append(ds, Due{m.ID, "remind", at, m.Seq})
		}
	}
	return ds
}

// reminders gives when the player to move is to be reminded. Without a
// deadline that is some days after the last thing that happened.
func (in *input) reminders(m Match, p *position, r clock.Reading, changed time.Time) []time.Time {
	var out []time.Time
	for _, who := range in.listening(m, p) {
		out = append(out, in.remindersOf(who, p, r, changed)...)
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// remindersOf gives when one of them is to be reminded.
func (in *input) remindersOf(who Person, p *position, r clock.Reading, changed time.Time) []time.Time {
	if r.Paused {
		return nil
	}
	prefs := in.prefs[who]
	var out []time.Time
	if !r.Deadline.IsZero() && p.game.Phase() == rules.Playing {
		when := clock.DefaultReminding
		when.Quiet, when.Zone = prefs.Quiet, prefs.Zone
		for _, reminder := range clock.Reminders(r, when) {
			out = append(out, reminder.At)
		}
		return out
	}
	after := slowTurns
	if p.game.Phase() == rules.Settling {
		after = slowCounts
	}
	zone, _ := clock.Zone(prefs.Zone)
	for _, d := range after {
		at := changed.Add(d)
		if end, within := prefs.Quiet.Until(at, zone); within {
			at = end
		}
		out = append(out, at)
	}
	return out
}

// listening gives those for whom the match waits and who want to be reminded.
func (in *input) listening(m Match, p *position) (who []Person) {
	waits := []Person{m.ToMove}
	if g := p.game; g.Phase() == rules.Settling && !g.HasAgreed(rules.Black) && !g.HasAgreed(rules.White) && m.Black != m.White {
		waits = []Person{m.Black, m.White}
	}
	for _, w := range waits {
		if w != "" && in.prefs[w].Remind != "none" {
			who = append(who, w)
		}
	}
	return who
}

// reminded reports whether the turn that ends with the position after has been
// reminded of, so that the reminder is to be taken away.
func (in *input) reminded(after *position) bool {
	before := in.pos
	if before == nil || in.match.State != Going || before.over() {
		return false
	}
	r := before.reading(in.match.Changed)
	if r.Flagged != rules.None && !r.Deadline.IsZero() { // an outage was credited after the flag fell, and nobody claimed
		r = before.reading(r.Deadline.Add(-time.Millisecond))
	}
	if now := after.reading(in.now); in.match.Clock.Kind != clock.None && !after.over() &&
		before.game.Phase() == rules.Playing && after.game.Phase() == rules.Playing && now.Began.Equal(r.Began) && now.ToPlay == r.ToPlay {
		return false
	}
	for _, at := range in.reminders(in.match, before, r, in.match.Changed) {
		if !at.After(in.now) {
			return true
		}
	}
	return false
}

// decideDue decides what is due now. What has become pointless gives a step
// that only says what is due next.
func decideDue(in *input, d Due) Step {
	m := in.match
	going := m
	next := Step{Request: in.request.ID, At: in.now, Match: &going, Due: in.dues(m, in.pos)}
	switch {
	case d.Kind == "expire" && m.State == Sandbox:
		m.State = Deleted
		return in.with(m.Standing).step([]string{"delete"}, nil, nil)
	case d.Kind == "expire" && m.State == Open:
		m.State = Cancelled
		return in.with(m.Standing).step([]string{"expire"}, []Text{say("expired", in.number())}, nil)
	case d.Kind == "flag" && m.State == Going && (in.away || in.left):
		// Nobody could have moved: see Back and Servers.
		next.Due = slices.DeleteFunc(next.Due, func(d Due) bool { return d.Kind == "flag" })
		next.Due = append(next.Due, Due{m.ID, "flag", in.now.Add(awayWait), m.Seq})
	case d.Kind == "flag" && m.State == Going:
		if s, fell := in.flag(); fell {
			return s
		}
	case d.Kind == "remind" && m.State == Going && !in.left && len(in.listening(m, in.pos)) > 0 && !in.told(d):
		r := in.pos.reading(in.now)
		n := 0
		for _, at := range in.reminders(m, in.pos, r, m.Changed) {
			if !at.After(in.now) {
				n++
			}
		}
		id := fmt.Sprintf("%s-%d-remind-%d", m.ID, m.Seq, d.At.UnixMilli())
		if n > 1 {
			id += againMark
		}
		var everybody, alone []Person
		for _, p := range in.listening(m, in.pos) {
			switch mine := in.remindersOf(p, in.pos, r, m.Changed); {
			case !slices.ContainsFunc(mine, d.At.Equal): // theirs come at other times
			case in.prefs[p].Remind == "direct":
				alone = append(alone, p)
			default:
				everybody = append(everybody, p)
			}
		}
		if len(everybody) > 0 {
			next.Posts = append(next.Posts, Owed{ID: id, Game: m.ID, Where: m.Where, Kind: Status, Seq: m.Seq, Notify: everybody})
		}
		if len(alone) > 0 {
			next.Posts = append(next.Posts, Owed{ID: strings.Replace(id, "-remind", "-direct", 1), Game: m.ID, Where: m.Where,
				Kind: Status, Seq: m.Seq, Notify: alone, Private: true})
		}
	}
	return next
}

// A waits is a game that waits for somebody.
type waits struct {
	match Match
	pos   *position
}

// together is how soon after a reminder another game that it spoke of is not
// spoken of again: who has many games is told of all at once.
const together = 30 * time.Minute

// told reports whether the person has just been told that this game waits, by a
// reminder of another. It follows from when the reminders of all that wait for
// them are due.
func (in *input) told(d Due) bool {
	type ping struct {
		at, since time.Time // when it is due, and since when its game waits
		game      GameID
	}
	var pings []ping
	for _, w := range append([]waits{{in.match, in.pos}}, in.others...) {
		r := w.pos.reading(in.now)
		for _, at := range in.reminders(w.match, w.pos, r, w.match.Changed) {
			if !at.After(in.now) {
				pings = append(pings, ping{at, w.match.Changed, w.match.ID})
			}
		}
	}
	slices.SortFunc(pings, func(a, b ping) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(string(a.game), string(b.game)))
	})
	var last time.Time
	for _, p := range pings {
		told := !last.IsZero() && p.at.Sub(last) < together && !p.since.After(last)
		if p.game == d.Game && p.at.Equal(d.At) {
			return told
		}
		if !told {
			last = p.at
		}
	}
	return false
}

// againMark ends the id of a reminder that takes the place of an earlier one of
// the same turn.
const againMark = "-again"

// flag ends the match if the flag of the player to move has fallen, and reports
// whether it has.
func (in *input) flag() (Step, bool) {
	r := in.pos.reading(in.now)
	if r.Flagged == rules.None {
		return Step{}, false
	}
	over := "W+T"
	if r.Flagged == rules.White {
		over = "B+T"
	}
	return in.step([]string{"flag " + r.Flagged.Letter()}, nil, []Text{say("over.time", in.number(), text.Color(r.Flagged.Opponent()), over, text.Color(r.Flagged))}), true
}

// late ends the match instead of doing what was asked, if the flag had fallen
// before the request was made.
func (in *input) late() (Step, bool) {
	if in.match.State != Going || in.match.Clock.Kind == clock.None || in.match.Clock.Claim {
		return Step{}, false
	}
	s, fell := in.flag()
	if fell {
		s.Answer = Reply{Texts: []Text{say("too.late", in.number())}, Private: true}
	}
	return s, fell
}

func claim(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	r := in.pos.reading(in.now)
	black, white := in.colors()
	if r.Flagged == rules.None || r.Flagged == rules.Black && !white || r.Flagged == rules.White && !black {
		return in.refuse(say("claim.nothing", in.number()))
	}
	s, _ := in.flag()
	return s
}

// credit adds time that does not count, because the bot was away. If that was
// short it says nothing about it.
func (in *input) credit(from, to time.Time) Step {
	body := fmt.Sprintf("credit %d %d", from.UnixMilli(), to.UnixMilli())
	s := in.step([]string{body}, []Text{say("credit", in.number(), clock.InstantText(from, in.now), clock.InstantText(to, in.now))}, nil)
	s.Posts = slices.DeleteFunc(s.Posts, func(o Owed) bool { return o.Kind == Show || o.Kind == Notice && to.Sub(from) <= announced })
	if d := s.Match.Deadline; !d.IsZero() && len(s.Posts) > 0 {
		last := &s.Posts[len(s.Posts)-1]
		last.Texts = append(last.Texts, say("deadline.now", clock.InstantText(d, in.now)))
	}
	return s
}

// undo takes back the person's own last turn: freely for a minute and before it
// is answered, later by asking the opponent.
func undo(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	nothing := in.refuse(say("undo.nothing", in.number()))
	if len(in.pos.lines) == 0 && len(in.pos.stones) > 0 {
		return in.undoStone()
	}
	if len(in.pos.lines) == 0 {
		return nothing
	}
	last := in.pos.lines[len(in.pos.lines)-1]
	mine := func(l line) bool { return l.turn.Kind.IsTurn() && in.match.seat(l.turn.By) == in.by }
	alone := in.match.Black == in.match.White
	if mine(last) && last.seq > in.pos.branch && (alone || in.soon(last.seq)) {
		return in.step([]string{"undo " + strconv.Itoa(last.seq-1)}, []Text{say("undone", named(in.by), text.Turn(last.turn))}, nil)
	}
	if in.pos.game.Phase() != rules.Playing {
		return in.refuse(say("undo.settling", in.number()))
	}
	for i := len(in.pos.lines) - 1; i >= 0; i-- {
		if l := in.pos.lines[i]; mine(l) && l.seq > in.pos.branch {
			return in.ask("undo "+strconv.Itoa(l.seq-1), say("asks.undo", named(in.by), in.number(), text.Turn(l.turn)))
		}
	}
	return nothing
}

// soon reports whether what an event did may be taken back without asking.
func (in *input) soon(seq int) bool {
	free := freeUndo
	if in.room.Undo != 0 {
		free = time.Duration(in.room.Undo) * time.Second
	}
	return in.now.Sub(in.events()[seq-1].At) <= free
}

// ask puts a question to the opponent. It holds until it is answered or a turn
// is made.
func (in *input) ask(what string, question Text) Step {
	if a := in.pos.asked; a != nil {
		if in.match.seat(a.by) == in.by {
			return in.refuse(say("asked.already", in.number()))
		}
		return in.refuse(say("answer.first", in.number(), text.Color(a.by)))
	}
	by := in.color()
	if black, white := in.colors(); !black || !white {
		by = rules.Black
		if white {
			by = rules.White
		}
	}
	s := in.step([]string{"ask " + by.Letter() + " " + what}, []Text{question, say("asked.how")}, nil)
	in.notify(&s, in.match.seat(by.Opponent()))
	return s
}

// notify makes the notices of a step call on somebody, and leaves its board
// out: nothing on it has changed.
func (in *input) notify(s *Step, p Person) {
	s.Posts = slices.DeleteFunc(s.Posts, func(o Owed) bool { return o.Kind == Show })
	for i := range s.Posts {
		if s.Posts[i].Kind == Notice && p != in.by {
			s.Posts[i].Notify = []Person{p}
		}
	}
}

// yes answers what the opponent has asked.
func (in *input) yes() (Step, bool) {
	a := in.pos.asked
	if a == nil || a.what == "delete" || in.pos.game.Phase() != rules.Playing { // to that /delete is the answer
		return Step{}, false
	}
	if in.match.seat(a.by) == in.by && in.match.seat(a.by.Opponent()) != in.by {
		return in.refuse(say("asked.already", in.number())), true
	}
	switch a.what {
	case "undo":
		return in.step([]string{"undo " + strconv.Itoa(a.back) + " agreed"}, []Text{say("agreed.undo", named(in.by))}, nil), true
	case "draw":
		return in.step([]string{"drawn"}, nil, []Text{say("over", in.number(), say("draw"), "0", say("agreed.draw"))}), true
	}
	return in.pause(), true
}

// decline refuses a challenge, or what the opponent has asked; what one has
// asked oneself it takes back.
func decline(in *input) Step {
	m := in.match
	if m.State == Open {
		if m.Invited != in.by {
			return in.refuse(say("decline.nothing", in.number()))
		}
		m.State = Cancelled
		s := in.with(m.Standing).step([]string{"decline"}, []Text{say("declined", named(in.by), in.number())}, nil)
		in.notify(&s, m.Opener)
		return s
	}
	if s, blocked := in.blocked(); blocked {
		return s
	}
	a := in.pos.asked
	if a == nil {
		return in.refuse(say("decline.nothing", in.number()))
	}
	text, other := say("denied", named(in.by), in.number()), m.seat(a.by)
	if other == in.by {
		text, other = say("withdrawn", named(in.by), in.number()), m.seat(a.by.Opponent())
	}
	s := in.step([]string{"deny"}, []Text{text}, nil)
	in.notify(&s, other)
	return s
}

// draw declares the draw of Ultimate Go, and offers one elsewhere.
func draw(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	if in.pos.game.Rules().Has(rules.Draw) {
		return turn(in)
	}
	if in.pos.game.Phase() != rules.Playing {
		return in.refuse(say("stopped", in.number()))
	}
	if a := in.pos.asked; a != nil && a.what == "draw" && in.match.seat(a.by) != in.by {
		s, _ := in.yes()
		return s
	}
	return in.ask("draw", say("asks.draw", named(in.by), in.number()))
}

// pauseClocks asks to stop the clocks, or lets them run again.
func pauseClocks(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	switch a := in.pos.asked; {
	case in.match.Clock.Kind == clock.None:
		return in.refuse(say("pause.noclock", in.number()))
	case in.pos.paused:
		return in.step([]string{"unpause"}, []Text{say("unpaused", named(in.by), in.number())}, nil)
	case in.match.Black == in.match.White, a != nil && a.what == "pause" && in.match.seat(a.by) != in.by:
		return in.pause()
	}
	return in.ask("pause", say("asks.pause", named(in.by), in.number()))
}

func (in *input) pause() Step {
	return in.step([]string{"pause"}, []Text{say("paused", in.number())}, nil)
}

// dispute goes on playing on a branch, to find out who is right about the dead.
func dispute(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	if !in.pos.game.Rules().Has(rules.Agree) {
		return in.refuse(noAgreement(in.pos.game.Rules()))
	}
	if in.pos.game.Phase() != rules.Settling {
		return in.refuse(say("playing", in.number()))
	}
	s := in.step([]string{"branch " + in.color().Letter()}, []Text{say("branch.begins", named(in.by), in.number())}, nil)
	other := in.match.seat(in.color().Opponent())
	for i := range s.Posts {
		if s.Posts[i].Kind == Notice && other != in.by && (s.Match == nil || s.Match.ToMove != other) {
			s.Posts[i].Notify = []Person{other} // who is to move is called by the board
		}
	}
	return s
}

// goBack leaves the branch.
func goBack(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	if in.pos.branch == 0 {
		return in.refuse(say("branch.none", in.number()))
	}
	return in.step([]string{"return"}, []Text{say("branch.left", named(in.by), in.number())}, nil)
}

// rematch opens the same game again with colours changed.
func rematch(in *input) Step {
	old := in.match
	if old.State != Ended {
		return in.refuse(say("rematch.when", in.number()))
	}
	if old.Black != in.by && old.White != in.by {
		return in.refuse(say("onlooker", in.number(), named(old.Black), named(old.White)))
	}
	if s, closed := in.closed(); closed {
		return s
	}
	r, err := rules.Find(old.Rules)
	if err != nil {
		return in.refuse(wrong(err))
	}
	g, _, err := old.begin(r, nil)
	if err != nil {
		return in.refuse(wrong(err))
	}
	m := Match{ID: in.newID, Rules: old.Rules, Setup: old.Setup, Clock: old.Clock, Rated: old.Rated, Opener: in.by, Where: in.request.Where,
		Opened: in.now, Standing: Standing{State: Open}}
	m.Black, m.White = old.White, old.Black
	local := in.seats[0] != "" && slices.Contains(in.seats[:], old.Black) && slices.Contains(in.seats[:], old.White)
	if !local && m.Black != m.White {
		if m.Black == in.by {
			m.Invited, m.White = m.White, ""
		} else {
			m.Invited, m.Black = m.Black, ""
		}
	}
	return in.opening(m).openOrBegin(g)
}

// openOrBegin begins the match if both seats are taken, and else opens it.
func (in *input) openOrBegin(g *rules.Game) Step {
	m := in.match
	var replaces []GameID
	if m.Black == "" || m.White == "" {
		replaces = in.replaced()
	}
	if s, many := in.tooMany(); many && len(replaces) == 0 {
		return s
	}
	var s Step
	if m.Black != "" && m.White != "" {
		m.State = Going
		s = in.with(m.Standing).step([]string{"join B " + string(m.Black), "join W " + string(m.White), "begin"}, in.started(g), nil)
	} else {
		free := rules.White
		if m.Black == "" {
			free = rules.Black
		}
		s = in.step([]string{"open"}, []Text{in.opened(), in.seatOpen(free)}, nil)
		if m.Invited != "" {
			for i := range s.Posts {
				s.Posts[i].Notify = []Person{m.Invited}
			}
		}
	}
	s.New, s.Replaces = true, replaces
	return s
}
