// Package clock implements the time controls and clocks of correspondence games.
//
// A clock does not tick. Its state follows from a game's log, like the board:
//
//	c, err := clock.Parse("fischer 7d+1d max 14d weekends Europe/Paris")
//	r := c.Read([]clock.Event{
//		{Kind: clock.Start, Seq: 1, At: began, ToPlay: rules.Black},
//		{Kind: clock.Turn, Seq: 2, At: played, By: rules.Black, ToPlay: rules.White},
//	}, now)
//	fmt.Println(text.English.Say(r.White.Text(c)), r.Deadline)
//
// [Control.Read] returns the time that each player has left, and the deadline: when the
// flag falls if nothing else happens. The same log leads to the same deadline, whenever
// it is read, so the deadline can be stored and shown, and nothing needs to run for a
// game in between. [Clocks] takes events one by one, for a game that is in memory.
// [Reminders] returns when to remind the player to move.
//
// All amounts of time are exact, in nanoseconds; a day is 24 hours that count.
// Time that does not count (weekends, nights, pauses by agreement, credits) moves the
// deadline and costs nobody anything, and both players may play meanwhile. The flag falls
// exactly at the deadline.
//
// The package never reads a clock: the caller passes every instant. Its functions may be
// called concurrently.
package clock

import (
	"slices"
	"sort"
	"time"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Limits of a Control.
const (
	minTime     = time.Minute
	maxTime     = 366 * 24 * time.Hour // main time, time per turn, increment, cap
	maxPeriod   = 60 * 24 * time.Hour
	maxPeriods  = 50
	maxStones   = 100
	maxVacation = 60      // days a year: less than a year has of time that counts
	maxNight    = 16 * 60 // minutes

	day = 24 * time.Hour
)

// A Kind is a kind of time control.
type Kind string

// The kinds. A "turn" is what the ruleset calls a turn, passes included.
const (
	// None: nobody's flag ever falls.
	None Kind = ""
	// PerTurn: Main for every turn. Unused time is lost.
	PerTurn Kind = "turn"
	// Fischer: a bank of Main to begin with; every turn adds Increment to it,
	// after it is made, but never above Cap.
	Fischer Kind = "fischer"
	// Absolute: Main for the whole game.
	Absolute Kind = "absolute"
	// ByoYomi: Main, then Periods of length Period each. A turn made within a
	// period restores the period in full; a period that passes without a turn is
	// lost, and the next begins. The flag falls at the end of the last.
	// (Japanese byo-yomi, as Sensei's Library has it: senseis.xmp.net/?ByoYomi)
	ByoYomi Kind = "byoyomi"
	// Canadian: Main, then Stones turns within Period. When they are made, the
	// next such period begins at once and what was left of the last is gone. A turn
	// in which Main ends is the first of a period.
	// (senseis.xmp.net/?CanadianOvertime)
	Canadian Kind = "canadian"
)

// A Control is the time control of a game. The zero value has no limit. [Parse] reads
// its written form, which is also its JSON. Fields that its Kind does not use are zero;
// all durations are whole minutes.
type Control struct {
	Kind      Kind
	Main      time.Duration
	Increment time.Duration
	Cap       time.Duration
	Periods   int
	Period    time.Duration
	Stones    int

	// Weekends off: Saturdays and Sundays do not count.
	Weekends bool
	// Night hours do not count either.
	Night Hours
	// Zone is the IANA name of the zone for weekends and nights; empty is UTC. A name
	// that this machine does not know is read as UTC, too, but Check does not accept it.
	Zone string

	// Vacation is the number of days of 24 hours that each player may overrun in a year
	// of the game, which begins at its start or an anniversary of that (UTC). It is used
	// automatically when all other time is gone, and only as much as is needed; time
	// that does not count does not use it. It is renewed every year.
	Vacation int

	// Claim: when a flag falls the game continues until the opponent claims it, and a
	// late turn raises the flag again. Otherwise a player loses when their flag falls.
	Claim bool
}

// An EventKind is a kind of event.
type EventKind uint8

// The kinds of events of the clocks of a game.
const (
	// Start: both have their time, and that of ToPlay begins to run.
	Start EventKind = iota + 1
	// Turn: By has made a turn, and now the time of ToPlay runs, who may be the same
	// player, for example while placing handicap stones. None: play has stopped. Turns
	// of a player whose time does not run change nothing.
	Turn
	// Stop: nobody's time runs, because the game is being settled or over.
	// The time that the player to move has used stays used. A flag that had fallen stays so.
	Stop
	// Resume: play continues with a new turn of ToPlay. A fallen flag is raised again.
	Resume
	// Pause and Unpause: by agreement, time between them does not count.
	// They have nothing to do with turns: undoing does not touch them.
	Pause
	Unpause
	// Credit: time between From and To does not count, because the bot or its
	// platform could not be reached. It may come at any time after, and changes the past:
	// turns take less time, and a flag may not have fallen. Its position in the log does
	// not matter, because a turn that arrives later may have been made before.
	Credit
	// Right: the clock that timed the events before was ahead, and is right again.
	// They happened no later than this event, and what they credit ended no later.
	Right
	// Undo: what was played after event Back is taken back, and both players have the
	// time they had then; in particular, time that a turn had added is gone. If the undo
	// was Agreed, the turn to be made again has its full time, from now. Otherwise a
	// player replaces their own last turn, and the clock continues from its state when that
	// turn was made: otherwise a player could gain time by undoing. The opponent gets back
	// the time used meanwhile.
	Undo
)

// An Event is an event of a game's log, as its clocks see it. Several may have the Seq
// of the same event of the log.
type Event struct {
	Kind     EventKind
	Seq      int
	At       time.Time
	By       rules.Color // Turn
	ToPlay   rules.Color // Start, Turn, Resumed
	From, To time.Time   // Credit
	Back     int         // Undo: the event to which both players return
	Agreed   bool        // Undo
}

// A Reading is the state of a game's clocks at a time.
type Reading struct {
	At           time.Time // when they were read
	Black, White Left
	ToPlay       rules.Color // whose turn it is; None while play has not begun or has stopped
	Began        time.Time   // the turn
	Paused       bool        // by agreement: there is no deadline
	// Due is when the player to move begins to use vacation. Without any, it is the
	// deadline.
	Due time.Time
	// Deadline is when the flag falls if nothing else happens, or when it fell.
	// Zero: never.
	Deadline time.Time
	Flagged  rules.Color // whose flag has fallen; None: nobody's

	line     timeline
	unpaused time.Time // when the last pause by agreement ended; zero: there was none
}

// Left returns what a player has left.
func (r Reading) Left(c rules.Color) Left {
	if c == rules.White {
		return r.White
	}
	return r.Black
}

// Left is what a player has left.
type Left struct {
	Main     time.Duration // of this turn, bank or main time
	Periods  int           // of byo-yomi, with the one that runs
	Period   time.Duration // of the period that runs or will be the first
	Stones   int           // still to be played in that Canadian period
	Turn     time.Duration // all the time for this turn, without vacation
	Vacation time.Duration
}

// A bank is the time that a player has when their turn begins.
type bank struct {
	main     time.Duration
	periods  int           // of byo-yomi
	period   time.Duration // of the Canadian period
	stones   int
	vacation time.Duration
	year     int // the year of the game for which vacation was added last
}

// A state is the state of the clocks after an event.
type state struct {
	banks   [2]bank
	toPlay  rules.Color
	began   time.Time     // the turn
	since   time.Time     // time since then has not been charged
	used    time.Duration // time of this turn that counted before since
	flagged rules.Color
	due     time.Time // when flagged: see Reading
	fell    time.Time
}

func (s *state) bank(c rules.Color) *bank { return &s.banks[c-rules.Black] }

// A stateAt is the state of the clocks at an event.
type stateAt struct {
	seq int
	state
}

// Clocks are the clocks of a game after its events so far. They are a value: add
// further events to a copy.
type Clocks struct {
	control Control
	line    timeline
	closed  []span // while paused: what does not count besides this pause
	start   time.Time
	last    time.Time // when the last thing happened; the zero time: nothing has
	paused  time.Time // since when, by agreement; zero: not paused
	resumed time.Time // when the last pause ended; zero: there was none
	state
	past *past // nil: an undo cannot be added
}

// A past is what an undo needs.
type past struct {
	history []stateAt // after each event
	turns   []stateAt // when each turn was made that has not been taken back, before it was charged
}

// Read reads the clocks of a game. The events are in the order of the log. An event with
// an earlier time than the one before is treated as having the same time: no player
// gains time when a clock is set back. Likewise for a now before the last event.
func (c Control) Read(events []Event, now time.Time) Reading {
	return c.Run(events).Read(now)
}

// Run returns the clocks after all events of a game.
func (c Control) Run(events []Event) Clocks {
	events, latest := slices.Clone(events), never
	for i := range slices.Backward(events) {
		e := &events[i]
		e.At, e.From, e.To = earlier(e.At, latest), earlier(e.From, latest), earlier(e.To, latest)
		if e.Kind == Right {
			latest = e.At
		}
	}
	var credits []span // they hold for what was before them, too
	for _, e := range events {
		if e.Kind == Credit {
			credits = union(credits, e.span())
		}
	}
	zone, _ := Zone(c.Zone)
	w := Clocks{control: c, line: timeline{calendar: calendar{c.Weekends, c.Night, zone}, off: credits}}
	w.past = &past{history: make([]stateAt, 0, len(events))}
	for _, e := range events {
		w.happen(e)
	}
	w.past = nil
	return w
}

// Add adds an event. If the event changes the past (an undo, a clock set right, or a credit for
// time with events in it), Add does nothing and reports false, and the caller must [Control.Run]
// all events again.
func (w *Clocks) Add(e Event) bool {
	if e.Kind == Undo || e.Kind == Right || e.Kind == Credit && e.span().from.Before(w.last) {
		return false
	}
	if e.Kind == Credit {
		w.line.off = union(w.line.off, e.span())
		if !w.paused.IsZero() {
			w.closed = union(w.closed, e.span())
		}
	}
	w.happen(e)
	return true
}

// span returns the time that a credit is for.
func (e Event) span() span { return span{instant(e.From), instant(e.To)} }

// happen adds an event. The timeline has the time of a credit already. During a pause,
// nothing after its beginning counts.
func (w *Clocks) happen(e Event) {
	if e.Kind != Credit { // it may be added long after
		w.last = later(w.last, instant(e.At))
	}
	switch {
	case e.Kind == Pause && w.paused.IsZero():
		w.paused, w.closed = w.last, w.line.off
		w.line.off = union(w.closed, span{w.paused, never})
	case e.Kind == Unpause && !w.paused.IsZero():
		w.line.off = union(w.closed, span{w.paused, w.last})
		w.paused, w.closed, w.resumed = time.Time{}, nil, w.last
	}
	w.flag(w.last)
	w.apply(e, w.last)
	if w.past != nil {
		w.past.history = append(w.past.history, stateAt{e.Seq, w.state})
	}
}

// Read reads the clocks. A now before the last event is treated as the event's time.
func (w Clocks) Read(now time.Time) Reading {
	now = later(w.last, instant(now))
	w.flag(now)
	return w.reading(now)
}

// Began returns when the clocks began; zero: they have not.
func (w Clocks) Began() time.Time { return w.start }

// apply changes the clocks by an event.
func (w *Clocks) apply(e Event, at time.Time) {
	switch e.Kind {
	case Start:
		if w.start.IsZero() {
			w.start = at
			for i := range w.banks {
				w.banks[i] = w.control.full()
			}
		}
		w.begin(e.ToPlay, at)
	case Turn:
		if w.toPlay == rules.None || e.By != w.toPlay || w.flagged != rules.None && !w.control.Claim {
			return
		}
		w.charge(at)
		if w.past != nil {
			w.past.turns = append(w.past.turns, stateAt{e.Seq, w.state})
		}
		w.pay(true)
		w.begin(e.ToPlay, at)
	case Stop:
		w.charge(at)
		w.pay(false)
		w.toPlay = rules.None
	case Resume:
		w.charge(at)
		w.pay(false)
		w.begin(e.ToPlay, at)
	case Undo:
		w.undo(e, at)
	}
}

// full returns the time with which a player begins.
func (c Control) full() bank {
	return bank{main: c.Main, periods: c.Periods, period: c.Period, stones: c.Stones, vacation: time.Duration(c.Vacation) * day}
}

// begin begins a turn.
func (w *Clocks) begin(c rules.Color, at time.Time) {
	w.toPlay, w.began, w.since, w.used, w.flagged = c, at, at, 0, rules.None
}

// own returns all the time of a bank for one turn, without vacation.
func (w *Clocks) own(b *bank) time.Duration {
	switch w.control.Kind {
	case ByoYomi:
		return b.main + time.Duration(b.periods)*w.control.Period
	case Canadian:
		return b.main + b.period
	}
	return b.main
}

// running reports whether the time of the player to move can end.
func (w *Clocks) running() bool {
	return w.toPlay != rules.None && w.flagged == rules.None && w.control.Kind != None && !w.start.IsZero()
}

// ends returns when the time of the player to move ends, without vacation.
func (w *Clocks) ends() time.Time {
	return w.line.after(w.since, w.own(w.bank(w.toPlay))-w.used)
}

// ended returns when the time of the player to move ended, without vacation, if it has.
func (w *Clocks) ended(now time.Time) (due time.Time, ended bool) {
	// Never more time counts than passes, which usually answers the question.
	if !w.running() || now.Sub(w.since) < w.own(w.bank(w.toPlay))-w.used {
		return never, false
	}
	due = w.ends()
	return due, !due.After(now)
}

// flag drops the flag of the player to move, if their time has run out by now.
func (w *Clocks) flag(now time.Time) {
	due, ended := w.ended(now)
	if !ended {
		return
	}
	if _, gone, all := w.spend(*w.bank(w.toPlay), due, now); all {
		w.charge(gone)
		w.flagged, w.due, w.fell = w.toPlay, due, gone
	}
}

// charge charges the player to move for the time up to now, within their turn.
func (w *Clocks) charge(now time.Time) {
	if !w.running() {
		return
	}
	if due, ended := w.ended(now); ended {
		b := w.bank(w.toPlay)
		*b, _, _ = w.spend(*b, due, now)
	}
	w.used += w.line.counted(w.since, now)
	w.since = now
}

// spend uses a player's vacation between from, when their other time ended, and to. It
// reports whether and when the vacation ran out.
func (w *Clocks) spend(b bank, from, to time.Time) (rest bank, gone time.Time, all bool) {
	for {
		w.renew(&b, from)
		year := w.anniversary(b.year + 1)
		gone = w.line.after(from, b.vacation)
		if gone.Before(year) && !gone.After(to) {
			b.vacation = 0
			return b, gone, true
		}
		stop := earlier(year, to)
		b.vacation -= w.line.counted(from, stop)
		if from = stop; from.Before(year) || !from.Before(never) {
			return b, never, false
		}
	}
}

// anniversary returns when the year n of the game begins, counted from 0.
func (w *Clocks) anniversary(n int) time.Time {
	return earlier(w.start.AddDate(n, 0, 0), never)
}

// renew renews the vacation if a new year of the game has begun.
func (w *Clocks) renew(b *bank, now time.Time) {
	year := now.Year() - w.start.Year()
	if w.anniversary(year).After(now) {
		year--
	}
	if year > b.year {
		b.year = year
		b.vacation = max(b.vacation, time.Duration(w.control.Vacation)*day)
	}
}

// pay subtracts the time used in this turn from the bank of the player to move. A player
// who has used more than there was (on vacation, or after the flag under Claim) has
// nothing left, except the last period of byo-yomi. A turn that is made then adds its
// increment as usual.
func (w *Clocks) pay(made bool) {
	if w.toPlay == rules.None {
		return
	}
	c, b := w.control, w.bank(w.toPlay)
	over := max(w.used-b.main, 0) // of main time
	if c.Kind != PerTurn {
		b.main = max(b.main-w.used, 0)
	}
	switch c.Kind {
	case Fischer:
		if made {
			b.main = min(b.main+c.Increment, c.Cap)
		}
	case ByoYomi:
		b.periods = max(b.periods-int(over/max(c.Period, 1)), 1)
	case Canadian:
		b.period = max(b.period-over, 0)
		if made && b.main == 0 {
			if b.stones--; b.stones == 0 {
				b.stones, b.period = c.Stones, c.Period
			}
		}
	}
}

// undo returns the clocks to an earlier state.
func (w *Clocks) undo(e Event, at time.Time) {
	var then state
	for i := range then.banks {
		then.banks[i] = w.control.full()
	}
	history := w.past.history
	if i := sort.Search(len(history), func(i int) bool { return history[i].seq > e.Back }); i > 0 {
		then = history[i-1].state
	}
	if e.Agreed {
		then.used = 0
	}
	turns := w.past.turns
	for n := len(turns); n > 0 && turns[n-1].seq > e.Back; n-- {
		if !e.Agreed {
			then = turns[n-1].state
		}
		turns = turns[:n-1]
	}
	w.past.turns = turns
	then.began, then.since = at, at
	w.state = then
}

// reading reads the clocks, after dropping the flag if the time has run out. It changes
// them, so the caller passes a copy.
func (w *Clocks) reading(now time.Time) Reading {
	paused := !w.paused.IsZero()
	r := Reading{At: now, ToPlay: w.toPlay, Paused: paused, Flagged: w.flagged, line: w.line, unpaused: w.resumed}
	if w.toPlay != rules.None {
		r.Began = w.began
	}
	switch {
	case w.flagged != rules.None:
		r.Due, r.Deadline = w.due, w.fell
	case w.running() && !paused:
		due := w.ends()
		if _, gone, all := w.spend(*w.bank(w.toPlay), due, never); all && gone.Before(never) {
			r.Due, r.Deadline = due, gone
		}
	}
	if w.start.IsZero() {
		full := w.control.full()
		w.banks = [2]bank{full, full}
	}
	w.charge(now)
	r.Black, r.White = w.left(rules.Black, now), w.left(rules.White, now)
	return r
}

// left returns what a player has left.
func (w *Clocks) left(c rules.Color, now time.Time) Left {
	if w.flagged == c {
		return Left{}
	}
	b := *w.bank(c)
	if !w.start.IsZero() {
		w.renew(&b, now)
	}
	var used time.Duration
	if c == w.toPlay {
		used = w.used
	}
	l := Left{
		Main: max(b.main-used, 0), Periods: b.periods, Stones: b.stones,
		Turn: max(w.own(&b)-used, 0), Vacation: b.vacation,
	}
	over := max(used-b.main, 0)
	switch {
	case w.control.Kind == Canadian:
		l.Period = max(b.period-over, 0)
	case w.control.Kind == ByoYomi && l.Turn > 0 && w.control.Period > 0:
		l.Periods -= int(over / w.control.Period)
		l.Period = w.control.Period - over%w.control.Period
	case w.control.Kind == ByoYomi:
		l.Periods = 0
	}
	return l
}

// When the player to move is reminded of the turn.
var remindAt = []time.Duration{50, 25} // percent of the time for the turn that is left then

const (
	remindLast  = time.Hour        // and when this much is left
	remindApart = 30 * time.Minute // but never twice within this, nor so soon after the turn began or a pause ended

	// beforeQuiet is how long before quiet hours somebody is reminded who would
	// otherwise have to be reminded in them.
	beforeQuiet = 15 * time.Minute
)

// Reminders returns when to remind the player to move, in order: when half of the time is
// left, a quarter, and an hour. Fractions are of time that counts, so there are no
// reminders on a weekend that does not count. If there is vacation, the reminders before
// it are followed by those of its beginning and its end. During a pause by agreement
// there are none.
//
// A reminder within the player's quiet hours, in their zone, comes at the end of those;
// if the deadline has passed by then, shortly before they begin; and if that is before
// the turn, not at all. Of reminders close to each other only the last remains, which is
// the most urgent. All are before the deadline.
//
// They depend on the turn and its deadline, not on when they are computed. Those before
// r.At are in the past: the caller decides whether to send one late.
func Reminders(r Reading, quiet Hours, zone *time.Location) []time.Time {
	if r.Deadline.IsZero() || r.Flagged != rules.None || r.Paused {
		return nil
	}
	var all []time.Time
	nights := calendar{night: quiet, zone: zone}
	add := func(at, end time.Time) {
		if from, to, ok := nights.pause(at); ok {
			if at = to; !at.Before(end) {
				at = from.Add(-beforeQuiet)
			}
		}
		if at.Before(r.Began.Add(remindApart)) {
			return
		}
		if at.Before(r.unpaused) || !at.Before(r.unpaused.Add(remindApart)) { // they were called when the pause ended
			all = append(all, at)
		}
	}
	stage := func(from, to time.Time) {
		total := r.line.counted(from, to)
		for _, percent := range remindAt {
			add(r.line.after(from, total-total/100*percent), to)
		}
		if remindLast < total {
			add(r.line.after(from, total-remindLast), to)
		}
	}
	stage(r.Began, r.Due)
	if r.Due.Before(r.Deadline) {
		add(r.Due, r.Deadline)
		stage(r.Due, r.Deadline)
	}
	slices.SortFunc(all, time.Time.Compare)
	var kept []time.Time
	for _, at := range slices.Backward(all) {
		if n := len(kept); n == 0 || kept[n-1].Sub(at) >= remindApart {
			kept = append(kept, at)
		}
	}
	slices.Reverse(kept)
	return kept
}
