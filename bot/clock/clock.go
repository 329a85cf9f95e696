// Package clock has the time controls of correspondence games and reads their
// clocks.
//
// A clock is not a thing that ticks. It is read off a game's log, like the board:
//
//	c, err := clock.Parse("fischer 7d+1d max 14d weekends Europe/Paris")
//	r := c.Read([]clock.Event{
//		{Kind: clock.Start, Seq: 1, At: began, ToPlay: rules.Black},
//		{Kind: clock.Turn, Seq: 2, At: played, By: rules.Black, ToPlay: rules.White},
//	}, now)
//	fmt.Println(text.English.Say(r.White.Text(c)), r.Deadline)
//
// [Control.Read] says what each player has left and the instant at which the flag
// falls if nothing else happens. The same log read at any time gives the same
// deadline, so it can be stored, shown and waited for; nothing runs for a game in
// between. [Clocks] takes events one by one, for a game that is kept in memory.
// [Reminders] says when to remind the player to move.
//
// All amounts of time are exact, in nanoseconds; a day is 24 hours that count.
// Time that does not count (weekends, nights, pauses by agreement, credits) moves the
// deadline and costs nobody anything, and both players may play meanwhile. At the
// very instant of the deadline the flag has fallen; before, it has not.
//
// The package never asks the time: the caller hands in every instant. Its functions
// may be called from any goroutine.
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

// A Kind is a way to give time.
type Kind string

// The kinds. Everywhere "turn" is what a ruleset calls a turn, passes too.
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
	// period gives the period back in full; a period that passes without a turn is
	// lost, and the next begins. The flag falls at the end of the last.
	// (Japanese byo-yomi, as Sensei's Library has it: senseis.xmp.net/?ByoYomi)
	ByoYomi Kind = "byoyomi"
	// Canadian: Main, then Stones turns within Period. When they are made, the
	// next such period begins at once and what was left of the last is gone. A turn
	// in which Main ends is the first of a period.
	// (senseis.xmp.net/?CanadianOvertime)
	Canadian Kind = "canadian"
)

// A Control is how much time the players of a game have. The zero value
// gives them all the time in the world. Its written form, which is also its
// JSON, is what [Parse] reads. Fields that its Kind does not name are
// zero; all durations are whole minutes.
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
	// Zone is the IANA name of the zone whose wall clock says when it is a weekend
	// or night; empty is UTC. A name that this machine does not know is read as UTC
	// too, but not accepted by Check.
	Zone string

	// Vacation is how many days of 24 hours each player may overrun in a year of
	// the game, that is from its start or an anniversary of it (UTC). It is spent by
	// itself when all other time is gone, and only as much of it as is needed; time
	// that does not count does not count as vacation. A new year fills it up again.
	Vacation int

	// Claim: when a flag falls the game goes on until the opponent claims it, and a
	// late turn takes the flag up again. Otherwise a fallen flag loses.
	Claim bool
}

// An EventKind says what happened.
type EventKind uint8

// The kinds of events of the clocks of a game.
const (
	// Start: both have their time, and that of ToPlay begins to run.
	Start EventKind = iota + 1
	// Turn: By has made a turn, and now the time of ToPlay runs, who may be
	// the same player (who places handicap stones, say). None: play has stopped.
	// Only the player whose time runs makes turns; others change nothing.
	Turn
	// Stop: nobody's time runs, because the game is being settled or over.
	// The time that the player to move has used stays used. A flag that had fallen stays so.
	Stop
	// Resume: play goes on with a new turn of ToPlay. A fallen flag is taken
	// up again.
	Resume
	// Pause and Unpause: by agreement, time between them does not count.
	// They have nothing to do with turns: undoing does not touch them.
	Pause
	Unpause
	// Credit: time between From and To does not count, because the bot or its
	// platform could not be reached. It may be said at any time, and holds for what
	// was before too: turns become cheaper, a flag may never have fallen. When it is
	// said does not matter: a turn that arrives after may have been made before.
	Credit
	// Undo: what was played after event Back is taken back, and both have what
	// they had then, in particular what a turn taken back had added is gone. If the
	// undo was Agreed, the turn that is to be made again has its full time, from
	// now. Otherwise (who replaces their own last turn) the clock goes on from where
	// it stood when the turn was made: else whoever places and undoes would never
	// run out of time. The opponent gets back the time used meanwhile.
	Undo
)

// An Event is what a game's log tells its clocks. Several may have the Seq
// of the same event of the log.
type Event struct {
	Kind     EventKind
	Seq      int
	At       time.Time
	By       rules.Color // Turn
	ToPlay   rules.Color // Start, Turn, Resumed
	From, To time.Time   // Credit
	Back     int         // Undo: the event after which both stand again
	Agreed   bool        // Undo
}

// A Reading is what the clocks of a game show.
type Reading struct {
	At           time.Time // when they were read
	Black, White Left
	ToPlay       rules.Color // whose turn it is; None while play has not begun or has stopped
	Began        time.Time   // the turn
	Paused       bool        // by agreement: there is no deadline
	// Due is when the own time of the player to move ends. From then on vacation is
	// spent; without any, it is the deadline.
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
	Turn     time.Duration // all the time that there is for this turn, but for vacation
	Vacation time.Duration
}

// A bank is what a player has when their turn begins.
type bank struct {
	main     time.Duration
	periods  int           // of byo-yomi
	period   time.Duration // of the Canadian period
	stones   int
	vacation time.Duration
	year     int // of the game up to which vacation was given
}

// A state is how the clocks stand after an event.
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

// A stateAt is how the clocks stood at an event.
type stateAt struct {
	seq int
	state
}

// Clocks are how the clocks of a game stand after what has happened so far.
// They are a value: what happens next is added to a copy.
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

// A past is what an undo needs to know.
type past struct {
	history []stateAt // after each event
	turns   []stateAt // when each turn was made that has not been taken back, before it was charged
}

// Read reads the clocks of a game. The events are in the order of the log. An
// event that claims to be earlier than the one before it is taken to have
// happened at the same time, so a clock that was set back gives nobody time;
// neither does a now that is before the last event.
func (c Control) Read(events []Event, now time.Time) Reading {
	return c.Run(events).Read(now)
}

// Run returns how the clocks stand after all events of a game.
func (c Control) Run(events []Event) Clocks {
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

// Add makes one more event happen. It reports false, and nothing has happened,
// if the event changes what was before: an undo, or a credit for time in which
// other things happened. Then the caller must [Control.Run] all events again.
func (w *Clocks) Add(e Event) bool {
	if e.Kind == Undo || e.Kind == Credit && e.span().from.Before(w.last) {
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

// happen makes an event happen. The timeline has the time of a credit already.
// While a pause lasts, nothing after its beginning counts.
func (w *Clocks) happen(e Event) {
	if e.Kind != Credit { // it may be said long after
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

// Read reads the clocks. A now before the last event is taken to be its time.
func (w Clocks) Read(now time.Time) Reading {
	now = later(w.last, instant(now))
	w.flag(now)
	return w.reading(now)
}

// Began returns when the clocks began; zero: they have not.
func (w Clocks) Began() time.Time { return w.start }

// apply makes an event happen.
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

// full is what a player begins with.
func (c Control) full() bank {
	return bank{main: c.Main, periods: c.Periods, period: c.Period, stones: c.Stones, vacation: time.Duration(c.Vacation) * day}
}

// begin begins a turn.
func (w *Clocks) begin(c rules.Color, at time.Time) {
	w.toPlay, w.began, w.since, w.used, w.flagged = c, at, at, 0, rules.None
}

// own returns all the time that a bank has for one turn, but for vacation.
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

// ends returns when the own time of the player to move ends.
func (w *Clocks) ends() time.Time {
	return w.line.after(w.since, w.own(w.bank(w.toPlay))-w.used)
}

// ended returns when the own time of the player to move ended, if it has by now.
func (w *Clocks) ended(now time.Time) (due time.Time, ended bool) {
	// Less time counts than passes: mostly that is answer enough.
	if !w.running() || now.Sub(w.since) < w.own(w.bank(w.toPlay))-w.used {
		return never, false
	}
	due = w.ends()
	return due, !due.After(now)
}

// flag lets the flag of the player to move fall, if it has fallen by now.
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

// spend spends vacation from the end of somebody's own time until to, and
// reports whether and when it was all gone by then.
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

// renew fills vacation up if a new year of the game has begun.
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

// pay takes the time used in this turn out of the bank of the player to move.
// A player who has used more than there was (on vacation, or after the flag under
// Claim) has nothing left, but the last period of byo-yomi stays. A turn that is made
// then gets what a turn gets.
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

// undo puts the clocks back.
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

// reading reads the clocks, the flag having fallen if it has by now. It spoils
// them.
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

// Reminders returns when the player to move is to be reminded of the turn, in
// order: when half of the time is left, a quarter, and an hour. Fractions are of time
// that counts, so nobody is reminded on a weekend that does not. First it is reminded
// of the own time, then, if there is vacation, of its beginning and of its end. A pause
// by agreement has none.
//
// A reminder within the player's quiet hours, in their zone, comes at the end of
// those; if the deadline has passed by then, it comes shortly before they begin; and
// if that is before the turn, not at all. Of reminders too near to each other the last
// is given, which is the most urgent. All are before the deadline.
//
// They depend on the turn and its deadline, not on when they are computed. Those
// before r.At are past: whether to send one late is for the caller to say.
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
