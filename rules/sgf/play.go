package sgf

import (
	"errors"
	"slices"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Play plays the record as it is written under r, with a komi in half points
// ([Record.Setup] has the record's own), and under the record's own ruleset with what makes up for the
// points that only the record's rules give; see [Record.Differences].
//
// The reader interprets a record after play has stopped by its private properties;
// otherwise a placement means that play was
// resumed directly after the stop, which a ruleset that plays out does not
// know; and a pass after which nobody places another stone says nothing new
// and is left out. White's pass after the pass of Black that stopped play, in
// aga and button-equivalence, is such a pass: it is handed over when the count
// is agreed.
//
// If a turn is illegal Play returns the game before it and a *rules.Illegal with
// the number that the turn has in the record. A setup that cannot be gives no
// game.
func (rec *Record) Play(r *rules.Ruleset, komi rules.Points) (*rules.Game, error) {
	g, err := rec.start(r, komi)
	if err != nil {
		return nil, err
	}
	last := rec.lastPlacement()
	for i := range rec.Turns {
		next, err := rec.step(g, i, last)
		if err != nil {
			return g, numbered(err, rec.number(i))
		}
		g = next
	}
	return g.Replay(rec.Ending.log())
}

// Mended returns the record with the repairs that let it be played under r, its own
// ruleset: where a player moves twice the other one passes in between. What it says of the end is dropped if
// it contradicts the ruleset. A turn that is illegal even so stays, with all that follow;
// see Before. A pass that Play leaves out, and a turn that it reads as resuming play, are
// repairs, too.
func (rec *Record) Mended(r *rules.Ruleset) *Record {
	out := *rec.mended(r)
	out.Repairs = folded(out.Repairs)
	return &out
}

func (rec *Record) mended(r *rules.Ruleset) *Record {
	g, err := rec.start(r, rec.Setup.Komi)
	if err != nil {
		return rec // no turn can help
	}
	out := *rec
	out.Turns, out.Repairs = nil, slices.Clone(rec.Repairs)
	last := rec.lastPlacement()
	for i, t := range rec.Turns {
		next, err := rec.step(g, i, last)
		if errors.Is(err, rules.ErrNotYourTurn) {
			pass := Turn{Turn: rules.Turn{Kind: rules.Pass, By: g.ToPlay()}, Assumed: true}
			if between, e := g.Play(pass.Turn); e == nil {
				if after, e := step(between, t, i < last); e == nil || between.Phase() == rules.Playing {
					out.Turns = append(out.Turns, pass)
					out.repair(rec.number(i), says("{0} moves twice: a pass of {1} is assumed", t.By, g.ToPlay()))
					next, err = after, e
				}
			}
		}
		out.Turns = append(out.Turns, t)
		if err != nil {
			out.Turns = append(out.Turns, rec.Turns[i+1:]...)
			return &out
		}
		if stopped := g.Phase() != rules.Playing && !t.Resumed; stopped && next == g && !owed(g, t) {
			out.repair(rec.number(i), says("a pass after play has ended is left out"))
		} else if stopped && next.Phase() == rules.Playing {
			out.repair(rec.number(i), says("play goes on after passes have stopped it: it is read as resumed"))
		}
		g = next
	}
	out.mendEnding(g)
	return &out
}

// repair adds a repair of a move.
func (rec *Record) repair(move int, what rules.Saying) {
	rec.Repairs = append(rec.Repairs, Repair{move, what})
}

// mendEnding settles a game after its last turn by what the record says of the end: by dead stones that are taken off
// the board, or by marks of territory. It drops what contradicts the ruleset.
func (rec *Record) mendEnding(g *rules.Game) {
	n := len(rec.Turns) - 1
	move := rec.number(n)
	assume := func(end *rules.Game, none, one rules.Saying) {
		if last, _ := g.LastTurn(); last.Kind == rules.Pass {
			none = one
		}
		rec.repair(move, none)
		for _, t := range assumed(g, end) {
			rec.Turns = append(rec.Turns, t)
			g, _ = g.Play(t.Turn)
		}
	}
	playing := func() bool { return g.Phase() == rules.Playing && !rec.ours }
	if playing() && len(rec.Ending.Dead) > 0 {
		if end, err := closed(g, nil, nil); err == nil {
			assume(end, says("the record ends without passes: they are assumed, because stones are taken off the board"),
				says("the record ends with one pass: the other is assumed, because stones are taken off the board"))
		}
	}
	if _, err := g.Replay(rec.Ending.log()); err != nil {
		why := any(err)
		if !g.Rules().Has(rules.AcceptScore) {
			why = says("{0} knows no agreement on dead stones", g.Rules().Name)
		}
		rec.Ending = Ending{}
		rec.repair(move, says("what the record says of the end is dropped: {0}", why))
		return
	}
	counted := rec.ours || !rec.uncounted()
	unsettled := g.Phase() == rules.Settling || playing() && g.Rules().Has(rules.AcceptScore) && rec.Stopped == nil
	if !rec.Ending.empty() || !counted || !unsettled {
		return
	}
	e, marked := rec.marked(g)
	end, err := closed(g, e.Dead, nil)
	if !marked || err != nil {
		return
	}
	if playing() {
		assume(end, says("the record ends without passes: they are assumed, because territory is marked"),
			says("the record ends with one pass: the other is assumed, because territory is marked"))
	}
	rec.Ending = e
	rec.repair(move, says("the marks of territory settle the count: {0}", e.words()))
	rec.marksOff, rec.marksKomi = rec.otherwise(end)
}

// owed reports whether a turn is the pass of White that a ruleset demands after Black's has
// stopped play.
func owed(g *rules.Game, t Turn) bool {
	return t.By == rules.White && slices.Contains(g.Says(), rules.WhiteStillOwesAPass.Name)
}

// assumed returns the turns that bring a game to its end, as a record that lacks them has them.
func assumed(g, end *rules.Game) (ts []Turn) {
	for _, t := range end.Log()[len(g.Log()):] {
		if t.Kind.IsTurn() {
			ts = append(ts, Turn{Turn: t, Assumed: true})
		}
	}
	return ts
}

// marked returns what the marks of territory say of the end of a game: a stone within
// the territory of the other player is dead, and so is one that has no liberty outside it,
// because some programs mark empty points alone. It reports whether the marks say how the game
// ended: they make stones dead, or are on half of the territory; and without passes both that
// and the board is no more open than at the end of a game.
func (rec *Record) marked(g *rules.Game) (e Ending, marked bool) {
	if rec.territory == nil {
		return e, false
	}
	b := g.Board()
	filled := [3]rules.Board{rules.Black: b, rules.White: b} // with a player's marks as stones
	for _, p := range b.Points() {
		if c := rec.territory.At(p); b.At(p) == rules.None {
			filled[c].Put(p, c)
		}
	}
	for _, p := range b.Points() {
		c := b.At(p)
		if other := c.Opponent(); c != rules.None && (rec.territory.At(p) == other || filled[other].Liberties(p) == 0) {
			e.Dead = append(e.Dead, p)
		}
	}
	e.Accepted = true
	b = lifted(b, e.Dead)
	on := 0
	for _, p := range b.Points() {
		if b.At(p) == rules.None && rec.territory.At(p) != rules.None {
			on++
		}
	}
	black, white := b.Territory()
	covered := 2*on >= black+white
	if g.Phase() == rules.Playing {
		return e, covered && !open(b)
	}
	return e, covered || len(e.Dead) > 0
}

func (e Ending) words() rules.Saying {
	if len(e.Dead) == 0 {
		return says("no stone is dead")
	}
	return says("dead stones at {0}", rules.Names(e.Dead))
}

// Before returns the record up to a turn that a ruleset forbids, without a pass that Mended has
// assumed for that turn, and stopped by it.
func (rec *Record) Before(forbidden *rules.Illegal) *Record {
	i := 0
	for i < len(rec.Turns) && rec.number(i) < forbidden.Move {
		i++
	}
	for i > 0 && rec.Turns[i-1].Assumed { // for the sake of that turn
		i--
	}
	out := rec.Cut(i)
	out.Stopped = forbidden
	if read, _ := rec.known(); forbidden.Breaks(rules.HasLiberty) && read.says[suicide] == "1" {
		out.Stopped = says("{0}, which the record's own rules allow", forbidden.Says())
	}
	return out
}

// empty reports whether the record says nothing after the last turn.
func (e Ending) empty() bool {
	return len(e.Dead) == 0 && len(e.Seki) == 0 && !e.Accepted && !e.Resumed && !e.NoResult
}

// Under plays the record under a ruleset that it was not played by and brings
// it to that ruleset's end, whether or not it is legal under its own. It keeps
// the placements and every pass before the last placement, where a button or a
// delay counts as a pass; it drops the turns after the last placement, and a
// button that a resumption took back; and it adds the ruleset's closing from
// the player then to move. The stones in dead are lifted as prisoners whatever
// the ruleset, those in seki are marked where that matters. Where passes stop
// play and more turns follow, a ruleset that settles resumes.
//
// The error is a *rules.Illegal, with the number that the turn has in the
// record, if the ruleset forbids a turn or stopped play before it, and
// rules.ErrNoCount if it counts nothing.
func (rec *Record) Under(r *rules.Ruleset, komi rules.Points, dead, seki []rules.Point) (*rules.Game, error) {
	if len(r.Count) == 0 {
		return nil, rules.ErrNoCount
	}
	g, err := rec.start(r, komi)
	if err != nil {
		return nil, err
	}
	turns := rec.Turns[:rec.lastPlacement()+1]
	for i, t := range turns {
		if t.Kind == rules.Resign || t.Kind == rules.Draw || rec.takenBack(i) {
			continue
		}
		plain := Turn{Turn: rules.Turn{Kind: rules.Pass, By: t.By}}
		if t.Kind == rules.Place {
			plain.Kind, plain.At = rules.Place, t.At
		}
		next, err := step(g, plain, true)
		if err != nil {
			return nil, numbered(err, rec.number(i))
		}
		g = next
	}
	if err := stand(g, dead, seki); err != nil {
		return nil, err
	}
	return rules.Close(g.Rules(), g.Setup(), g.Log(), dead, seki)
}

func (rec *Record) start(r *rules.Ruleset, komi rules.Points) (*rules.Game, error) {
	s := rec.Setup
	s.Komi = komi + rec.madeUp(r)
	return rules.New(r, s)
}

// lastPlacement returns the index of the last placement, -1 if there is none.
func (rec *Record) lastPlacement() int {
	i := len(rec.Turns) - 1
	for i >= 0 && rec.Turns[i].Kind != rules.Place {
		i--
	}
	return i
}

// takenBack reports whether turn i, which is not the last, took the last button of two and
// a resumption undid that, so that the same player moved again.
func (rec *Record) takenBack(i int) bool {
	if rec.Turns[i].Kind != rules.Button {
		return false
	}
	next := rec.Turns[i+1]
	return next.Resumed && next.By == rec.Turns[i].By
}

// step plays turn i of the record on g; last is its last placement.
func (rec *Record) step(g *rules.Game, i, last int) (*rules.Game, error) {
	t := rec.Turns[i]
	next, err := step(g, t, i < last)
	if next == g && err == nil && t.By == rec.Turns[i-1].By { // left out, but not in turn
		err = &rules.Illegal{Turn: t.Turn, Because: rules.Saying{Text: rules.ErrNotYourTurn.Error()}, Err: rules.ErrNotYourTurn}
	}
	return next, err
}

// step plays a turn of a record on g; goesOn says that a placement follows it.
func step(g *rules.Game, t Turn, goesOn bool) (*rules.Game, error) {
	resumed := t.Resumed
	if !resumed && g.Phase() != rules.Playing {
		switch {
		case saysNothing(g, t, goesOn):
			return g, nil
		case t.Kind == rules.Place || t.Kind == rules.Pass:
			if resumed = g.Phase() == rules.Settling; resumed && g.Rules() != g.Rules().Undisputed() {
				var err error // nothing tells of a dispute
				if g, err = rules.Replay(g.Rules().Undisputed(), g.Setup(), g.Log()); err != nil {
					return nil, err
				}
			}
		}
	}
	if resumed {
		var err error
		if g, err = g.Play(rules.Turn{Kind: rules.Resume, By: t.By}); err != nil {
			return nil, err
		}
	}
	return g.Play(t.Turn)
}

// saysNothing reports whether t is a pass after passes have stopped play for
// good: no placement follows, or the ruleset cannot resume.
func saysNothing(g *rules.Game, t Turn, goesOn bool) bool {
	last, _ := g.LastTurn()
	ended := last.Kind == rules.Resign || last.Kind == rules.Draw
	return t.Kind == rules.Pass && len(t.Dead) == 0 && !ended && (!goesOn || g.Phase() == rules.Over)
}

// log returns the marks and the agreement after the last turn as turns, as if Black had marked.
func (e Ending) log() []rules.Turn {
	var log []rules.Turn
	say := func(k rules.Kind, by rules.Color, ps []rules.Point) {
		log = append(log, rules.Turn{Kind: k, By: by, Dead: ps})
	}
	if e.Resumed {
		say(rules.Resume, rules.Black, nil)
	}
	if len(e.Dead) > 0 {
		say(rules.MarkDead, rules.Black, e.Dead)
	}
	if len(e.Seki) > 0 {
		say(rules.MarkSeki, rules.Black, e.Seki)
	}
	for _, c := range []rules.Color{rules.Black, rules.White} {
		if e.Accepted {
			say(rules.AcceptScore, c, nil)
		}
		if e.NoResult {
			say(rules.NoResult, c, nil)
		}
	}
	return log
}

// numbered returns err with the number that the turn has in the record.
func numbered(err error, move int) error {
	var illegal *rules.Illegal
	if !errors.As(err, &illegal) {
		return err
	}
	out := *illegal
	out.Move = move
	return &out
}
