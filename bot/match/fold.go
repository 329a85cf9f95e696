package match

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/clock"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Line is a line of a game's log that has not been taken back, and the event
// that wrote it.
type Line struct {
	Seq  int
	Turn rules.Turn
}

// A Position is a match folded from its events: the game, and everything beside it,
// such as open questions. Everything shown and decided follows from it. It is
// immutable, and nobody may change what its fields refer to: Next makes another one.
// It may be read concurrently.
type Position struct {
	Events  []Event     // that it was folded from
	begun   *rules.Game // before the first turn
	Game    *rules.Game
	Lines   []Line // that survive
	clock   clock.Clocks
	paused  bool
	Stones  []rules.Point // handicap stones that Black has placed, where they are placed freely
	Placing int           // how many of them are still to be placed
	Remarks []Remark
	Branch  int    // the event that began a branch, on which nothing counts; 0: the game itself
	Asked   *Ask   // what one player has asked the other, until a turn is made
	Result  string // how it ended, if not by the ruleset: "W+T", "0"; else empty
	Why     rules.Saying
	dead    []rules.Point // by a moderator's decision
	Deleted bool
	Paged   time.Time // when both players agreed that the match has a page; zero: they have not
	sandbox bool
	At      time.Time // of the last event
	backing *backing
}

// Paused reports whether the clocks are stopped.
func (p *Position) Paused() bool { return p.paused }

// A Remark is a comment on a turn, made after the game.
type Remark struct {
	Turn int // 0: before the first
	By   PersonID
	Text string
}

// An Ask is what one player asks the other.
type Ask struct {
	What string // "undo", "draw", "pause", "delete", "rematch" or "page"
	By   rules.Color
	back int // undo: the event after which the game would go on
	Seq  int // of the event that asked
}

// A backing is the memory behind the events and lines of a position and its successors,
// with room to append. The first successor of the last position uses that room; any
// other copies.
type backing struct {
	used   atomic.Int64 // events in use; -1 while a position is being made
	events []Event
	lines  []Line
}

// Over reports whether the match is over, by the ruleset or otherwise.
func (p *Position) Over() bool { return p.Result != "" || p.Deleted || p.Game.Phase() == rules.Over }

// Opened reports whether the match was opened, for somebody to join.
func (p *Position) Opened() bool { return p.Events[0].Body.Kind == eventOpen }

// Begins reports whether the match begins with the last event. p may be nil.
func (p *Position) Begins() bool {
	return p != nil && len(p.Events) > 0 && p.Events[len(p.Events)-1].Body.Kind == eventBegin
}

// Seq is the number of the last event.
func (p *Position) Seq() int { return len(p.Events) }

// A folding is the state of a fold, which events change.
type folding struct {
	Position
	match Match // for its rules and setup; the players do not matter
	// A fold from the first event plays its turns on a builder, and remembers its state
	// after each event, for events that go back. Other folds have neither.
	build *rules.Builder
	after []survivors
	// played is how many lines have been played.
	played int
	ticks  []clock.Event // for the clocks, all of a fold from the first event
}

// survivors counts what remains of the earlier events after an event.
type survivors struct {
	lines  []Line
	stones []rules.Point
}

// Errors of folding.
var (
	// errUnreadable means that the body of an event has no meaning, or none at this
	// point of the log.
	errUnreadable = errors.New("invalid event body")
	// errGoesBack means that the effect of an event depends on earlier states of the
	// match, so that the whole log must be folded.
	errGoesBack = errors.New("event changes earlier events")
)

// Fold folds a match from its first event. Its error means that the log cannot
// be read.
func Fold(m Match, events []Event) (*Position, error) {
	r, err := rules.Find(m.Rules)
	if err != nil {
		return nil, err
	}
	f := &folding{match: m, after: make([]survivors, 1, len(events)+1)}
	f.backing = &backing{}
	f.Events = make([]Event, 0, len(events))
	if f.begun, f.Placing, err = m.begin(r, nil); err != nil {
		return nil, err
	}
	f.build = f.begun.Build()
	return f.take(events)
}

// Next returns the position after more events; p does not change. The cost of an event
// does not depend on the number of earlier ones, unless it goes back.
func (p *Position) Next(m Match, events ...Event) (*Position, error) {
	f := &folding{Position: *p, match: m, played: len(p.Lines)}
	shared := p.backing.used.CompareAndSwap(int64(len(p.Events)), -1)
	if shared {
		f.Events, f.Lines = p.backing.events[:len(p.Events)], p.backing.lines[:len(p.Lines)]
	} else {
		f.backing = &backing{}
	}
	after, err := f.take(events)
	if err != nil && shared {
		p.backing.used.Store(int64(len(p.Events)))
	}
	if errors.Is(err, errGoesBack) {
		return Fold(m, slices.Concat(p.Events, events))
	}
	return after, err
}

// take folds events, and ends the fold.
func (f *folding) take(events []Event) (*Position, error) {
	for _, e := range events {
		err := errUnreadable
		if do := kinds[e.Body.Kind]; do != nil {
			f.At = e.At
			err = do(f, e, e.Body.Args)
		}
		if errors.Is(err, errUnreadable) {
			err = fmt.Errorf("invalid body %q", e.Body.String())
		}
		if err != nil {
			return nil, &Damage{e.Seq, err}
		}
		f.Events = append(f.Events, e)
		if f.after != nil {
			f.after = append(f.after, survivors{f.Lines, f.Stones})
		}
	}
	if seq, err := f.play(); err != nil {
		return nil, &Damage{seq, err}
	}
	if f.build != nil {
		f.Game = f.build.Game()
		f.clock = f.match.Clock.Run(f.ticks)
	}
	p := f.Position
	p.backing.events, p.backing.lines = p.Events, p.Lines
	p.backing.used.Store(int64(len(p.Events)))
	p.Events, p.Lines = slices.Clip(p.Events), slices.Clip(p.Lines)
	return &p, nil
}

// play plays the lines that have not been played yet. With an error it returns the event
// of the line that cannot be played.
func (f *folding) play() (seq int, err error) {
	for ; f.played < len(f.Lines); f.played++ {
		l := f.Lines[f.played]
		if f.build != nil {
			err = f.build.Play(l.Turn)
		} else {
			f.Game, err = f.Game.Play(l.Turn)
		}
		if err != nil {
			return l.Seq, err
		}
	}
	return 0, nil
}

// turn adds a line: a turn, or a step of the settlement after play.
func (f *folding) turn(e Event, t rules.Turn) error {
	f.Lines = append(f.Lines, Line{e.Seq, t})
	if f.match.Clock.Kind == clock.None {
		return nil
	}
	// The clocks need the phase of the game after the line.
	if _, err := f.play(); err != nil {
		return err
	}
	var phase rules.Phase
	var toPlay rules.Color
	if f.build != nil {
		phase, toPlay = f.build.Phase(), f.build.ToPlay()
	} else {
		phase, toPlay = f.Game.Phase(), f.Game.ToPlay()
	}
	return f.tick(e, clockTurn(t, phase, toPlay))
}

// back returns to the state of the match after event s, under r.
func (f *folding) back(s int, r *rules.Ruleset) error {
	if f.after == nil {
		return errGoesBack
	}
	was := f.after[s]
	f.Lines, f.Stones = slices.Clip(was.lines), was.stones
	return f.restart(r)
}

// withdraw removes the acceptances of the count that play has stopped at, if any. The
// lines must not have been played since they were restored.
func (f *folding) withdraw() {
	since := len(f.Lines)
	for since > 0 && !f.Lines[since-1].Turn.Kind.IsTurn() {
		since--
	}
	f.Lines = slices.Concat(f.Lines[:since], slices.DeleteFunc(slices.Clone(f.Lines[since:]), func(l Line) bool {
		return l.Turn.Kind == rules.AcceptScore
	}))
}

// restart begins the game under r with the handicap stones that Black has placed.
func (f *folding) restart(r *rules.Ruleset) (err error) {
	if f.begun, f.Placing, err = f.match.begin(r, f.Stones); err != nil {
		return err
	}
	f.played = 0
	if f.build != nil {
		f.build = f.begun.Build()
	} else {
		f.Game = f.begun
	}
	return nil
}

// tick passes an event to the clocks, unless it has no kind.
func (f *folding) tick(e Event, t clock.Event) error {
	if t.Kind == 0 {
		return nil
	}
	t.Seq, t.At = e.Seq, e.At
	switch {
	case f.build != nil:
		f.ticks = append(f.ticks, t)
	case !f.clock.Add(t):
		return errGoesBack
	}
	return nil
}

// clockTurn returns the clocks' event for a line of the log, given the phase and the
// player to move after it.
func clockTurn(t rules.Turn, after rules.Phase, toPlay rules.Color) clock.Event {
	switch {
	case t.Kind == rules.Resume:
		return clock.Event{Kind: clock.Resume, ToPlay: toPlay}
	case t.Kind == rules.Resign || after == rules.Over && !t.Kind.IsTurn():
		return clock.Event{Kind: clock.Stop}
	case !t.Kind.IsTurn():
		return clock.Event{}
	case after != rules.Playing:
		return clock.Event{Kind: clock.Turn, By: t.By}
	}
	return clock.Event{Kind: clock.Turn, By: t.By, ToPlay: toPlay}
}

// begin returns the game before the first turn, with these handicap stones, and how
// many Black still has to place.
func (m Match) begin(r *rules.Ruleset, stones []rules.Point) (_ *rules.Game, placing int, err error) {
	s := m.Setup
	if m.free() {
		s.Black = stones
		if placing = s.Handicap - len(stones); placing > 0 {
			s.Handicap = 0
		}
	}
	g, err := rules.New(r, s)
	return g, placing, err
}

// free reports whether Black places the handicap stones where they like, one
// after another, before White's first turn.
func (m Match) free() bool { return m.Setup.Handicap > 0 && len(m.Setup.Black) == 0 }

// Reading returns what the clocks of the match show.
func (p *Position) Reading(now time.Time) clock.Reading { return p.clock.Read(now) }

// standing returns the Standing of the match, with the players of m.
func (p *Position) standing(m Match, now time.Time) Standing {
	s := m.Standing
	s.ToMove, s.Result, s.Deadline = "", "", time.Time{}
	switch result := cmp.Or(p.Result, p.Game.Result()); {
	case p.Deleted:
		s.State = Deleted
		return s
	case s.State == Open, s.State == Cancelled, s.State == Deleted, p.sandbox:
		return s
	case result != "":
		s.State, s.Result = Ended, result
		return s
	}
	next := p.Game.ToPlay()
	if p.Game.Phase() == rules.Settling && p.Game.HasAgreed(next) {
		next = next.Opponent()
	}
	s.ToMove = s.Seat(next)
	if r := p.Reading(now); !r.Paused {
		s.Deadline = r.Deadline
	}
	return s
}

// WaitsFor returns the people who have to act: the player to move, or all who have not
// accepted the count yet.
func (s Standing) WaitsFor(p *Position) []PersonID {
	switch g := p.Game; {
	case s.ToMove == "":
		return nil
	case g.Phase() == rules.Settling && !g.HasAgreed(rules.Black) && !g.HasAgreed(rules.White) && s.Black != s.White:
		return []PersonID{s.Black, s.White}
	}
	return []PersonID{s.ToMove}
}

// plays reports whether a person has a seat.
func (s Standing) plays(p PersonID) bool { return s.Black == p || s.White == p }

// openSeat returns the seat that somebody may take.
func (s Standing) openSeat() rules.Color {
	if s.Black == "" {
		return rules.Black
	}
	return rules.White
}

// sit assigns a seat to a person.
func (s *Standing) sit(c rules.Color, p PersonID) {
	if c == rules.White {
		s.White = p
	} else {
		s.Black = p
	}
}

// Seat returns who plays a colour; empty while the seat is open.
func (s Standing) Seat(c rules.Color) PersonID {
	if c == rules.White {
		return s.White
	}
	return s.Black
}
