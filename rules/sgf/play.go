package sgf

import (
	"errors"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Play plays the record as it is written under r, with a komi in half points
// ([Record.Setup] has the record's own).
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
	for i, t := range rec.Turns {
		next, err := step(g, t, i < last)
		if next == g && t.By == rec.Turns[i-1].By { // left out, but not in turn
			err = &rules.Illegal{Turn: t.Turn, Because: rules.Saying{Text: rules.ErrNotYourTurn.Error()}, Err: rules.ErrNotYourTurn}
		}
		if err != nil {
			return g, numbered(err, rec.before+i+1)
		}
		g = next
	}
	return g.Replay(rec.Ending.log())
}

// Under plays the record under a ruleset that it was not played by and brings
// it to that ruleset's end, whether or not it is legal under its own. It keeps
// the placements and every pass before the last placement, where a button or a
// delay counts as a pass; it drops the turns after the last placement, and a
// button that a resumption took back; and it adds the ruleset's closing from
// the player then to move. The stones in dead are lifted as prisoners whatever
// the ruleset, those in seki are marked where that matters. Where passes stop
// play and the record goes on, a ruleset that settles resumes.
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
	atOnce := true
	for i := 0; i < len(turns); i++ {
		if atOnce && g.Phase() == rules.Playing && turns[i].Kind == rules.Place {
			log := placements(turns[i:])
			if next, err := g.Replay(log); err != nil {
				atOnce = false // turn by turn, to see what is wrong
			} else if len(log) > 0 {
				g, i = next, i+len(log)-1
				continue
			}
		}
		t := turns[i]
		if t.Kind == rules.Resign || t.Kind == rules.Draw || rec.takenBack(i) {
			continue
		}
		plain := Turn{Turn: rules.Turn{Kind: rules.Pass, By: t.By}}
		if t.Kind == rules.Place {
			plain.Kind, plain.At = rules.Place, t.At
		}
		next, err := step(g, plain, true)
		if err != nil {
			return nil, numbered(err, rec.before+i+1)
		}
		g = next
	}
	if err := stand(g, dead, seki); err != nil {
		return nil, err
	}
	return rules.Close(r, g.Setup(), g.Log(), dead, seki)
}

// placements returns the placements with which turns begin: nothing is read into
// them, and one copy of the game does for all.
func placements(turns []Turn) []rules.Turn {
	var log []rules.Turn
	for _, t := range turns {
		if t.Kind != rules.Place {
			break
		}
		log = append(log, t.Turn)
	}
	return log
}

func (rec *Record) start(r *rules.Ruleset, komi rules.Points) (*rules.Game, error) {
	s := rec.Setup
	s.Komi = komi
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

// takenBack reports whether turn i took the last button of two and a
// resumption undid that, so that the same player moved again.
func (rec *Record) takenBack(i int) bool {
	if rec.Turns[i].Kind != rules.Button || i+1 >= len(rec.Turns) {
		return false
	}
	next := rec.Turns[i+1]
	return next.Resumed && next.By == rec.Turns[i].By
}

// step plays a turn of a record on g; goesOn says that a placement follows it.
func step(g *rules.Game, t Turn, goesOn bool) (*rules.Game, error) {
	resumed := t.Resumed
	if !resumed && g.Phase() != rules.Playing {
		switch {
		case saysNothing(g, t, goesOn):
			return g, nil
		case t.Kind == rules.Place || t.Kind == rules.Pass:
			resumed = g.Phase() == rules.Settling
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

// log returns what was said after the last turn, as if Black marked.
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
