package sgf

import (
	"errors"
	"fmt"
	"slices"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A Count asks how a record counts.
type Count struct {
	Rules       *rules.Ruleset // nil: the record's own
	Komi        *rules.Points  // nil: the record's, 0 if it has none
	DefaultKomi bool           // the ruleset's komi instead
	Dead        []rules.Point  // a stone of each dead chain; nil: as the record says, empty: none is dead
	Seki        []rules.Point  // a stone of each chain in seki; nil: as the record says
	Stop        bool           // stop after Move turns; Dead and Seki are ignored
	Move        int
	Also        []*rules.Ruleset // for Compare: custom rulesets beside the catalogue
}

// Count plays the record under its own ruleset as it is written, under another
// as [Record.Under] does. If Dead or Seki are given both players accept them;
// on a record of the ruleset itself whose play has not stopped that first adds
// the ruleset's closing. It reports whether dead stones were lifted although
// the ruleset knows no agreement.
func (rec *Record) Count(c Count) (g *rules.Game, assumed bool, err error) {
	own, _, err := rec.Ruleset()
	if err != nil && c.Rules == nil {
		return nil, false, err
	}
	r := c.Rules
	if r == nil {
		r = own
	}
	komi := rec.komi(c, r)
	if c.Stop {
		part := rec.Cut(c.Move)
		if !sameRules(r, own) {
			part = part.plain()
		}
		g, err = part.Play(r, komi)
		return g, false, err
	}
	dead, seki := c.Dead, c.Seki
	if dead == nil {
		dead = rec.Dead()
	}
	if seki == nil && rec.Ending.Accepted {
		seki = rec.Ending.Seki
	}
	for _, p := range dead {
		if slices.Contains(seki, p) {
			return nil, false, fmt.Errorf("%v cannot be both dead and in seki", p)
		}
	}
	if !sameRules(r, own) {
		g, err = rec.Under(r, komi, dead, seki)
		return g, len(dead) > 0 && !r.Has(rules.AcceptScore), err
	}
	if c.Dead == nil && c.Seki == nil {
		g, err = rec.Play(r, komi)
		return g, false, err
	}
	if len(r.Count) == 0 {
		return nil, false, fmt.Errorf("%s: %w", r.Name, rules.ErrNoCount)
	}
	if why, ok := likeliest([]reason{
		{r.Has(rules.AcceptSuggestion), ": dead stones are named by the first pass, not afterwards"},
		{!r.Has(rules.AcceptScore), ": what stands at the end is alive, no dead stones can be named"},
		{c.Seki != nil && !r.Has(rules.MarkSeki), " knows no marks for seki"},
	}); ok {
		return nil, false, errors.New(r.Name + why)
	}
	open := *rec
	open.Ending = Ending{Resumed: rec.Ending.Resumed}
	if g, err = open.Play(r, komi); err != nil {
		return g, false, err
	}
	g, err = closed(g, dead, seki)
	return g, false, err
}

// closed brings a game to its end: if it settles by accepting, if it is being
// played by the ruleset's closing. One that is over stays as it is, unless stones are dead in
// a game that [allAlive] speaks of.
func closed(g *rules.Game, dead, seki []rules.Point) (*rules.Game, error) {
	if len(dead) > 0 && allAlive(g) {
		g = g.Before()
	}
	if err := stand(g, dead, seki); err != nil && g.Phase() != rules.Over {
		return nil, err
	}
	switch g.Phase() {
	case rules.Settling:
		return g.Settled(dead, seki)
	case rules.Playing:
		return rules.Close(g.Rules(), g.Setup(), g.Log(), dead, seki)
	}
	return g, nil
}

// allAlive reports whether a game is over because play was resumed and stopped again, so that
// its ruleset counts all stones as alive.
func allAlive(g *rules.Game) bool {
	return g.Phase() == rules.Over && g.Rules().Has(rules.AcceptScore) && g.Log()[len(g.Log())-1].Kind < rules.Draw && g.Before() != nil
}

// plain returns the record with a pass for every turn that is a turn only in some
// rulesets.
func (rec *Record) plain() *Record {
	out := *rec
	out.Turns = nil
	for _, t := range rec.Turns {
		switch t.Kind {
		case rules.Button, rules.Delay, rules.AcceptSuggestion, rules.Pass:
			t.Kind, t.Dead = rules.Pass, nil
		case rules.Draw:
			continue
		}
		out.Turns = append(out.Turns, t)
	}
	return &out
}

// stand refuses points on which no stone stands.
func stand(g *rules.Game, lists ...[]rules.Point) error {
	b := g.Board()
	for _, ps := range lists {
		for _, p := range ps {
			if b.At(p) == rules.None {
				return fmt.Errorf("no stone stands on %v", p)
			}
		}
	}
	return nil
}

// A Row is a game counted under one ruleset of a comparison: the game, or why
// it cannot be counted.
type Row struct {
	Rules   *rules.Ruleset
	Komi    rules.Points
	Game    *rules.Game
	Assumed bool         // dead stones were lifted although the ruleset knows no agreement
	Moved   []rules.Line // what players hold by passes, buttons and the like, and adjustments
	Flip    Flip
	Own     bool // the record's own ruleset
	Err     error

	above  *Row // the last counted row before it
	turns  []Turn
	played int // how many of the first turns of Game are the record's
}

// Assumed is what a row says of dead stones that its ruleset would not have
// lifted.
const Assumed = "dead stones lifted by agreement"

// Compare counts the record under every ruleset of the catalogue, in order,
// then under those of c.Also and under its own if it is another: under its own
// as it is written, and brought to its end if it is not there yet. c.Rules and
// c.Stop are ignored.
func (rec *Record) Compare(c Count) []Row {
	own, _, _ := rec.Ruleset()
	var rows []Row
	all := slices.Clone(rules.Catalogue)
	for i, r := range all {
		if own != nil && r.Name == own.Name {
			all[i] = own // it may be an earlier version
		}
	}
	for _, r := range append(slices.Clip(c.Also), own) {
		if r != nil && !slices.ContainsFunc(all, func(x *rules.Ruleset) bool { return sameRules(x, r) }) {
			all = append(all, r)
		}
	}
	for _, r := range all {
		row := Row{Rules: r, Komi: rec.komi(c, r), Own: sameRules(r, own), turns: rec.Turns}
		ask := c
		ask.Rules, ask.Stop = r, false
		switch {
		case len(r.Count) == 0:
			row.Err = rules.ErrNoCount
		case row.Own:
			row.Game, row.Assumed, row.Err = rec.ownRow(ask, row.Komi)
		default:
			row.Game, row.Assumed, row.Err = rec.Count(ask)
		}
		if row.Err == nil {
			row.played = rec.played(row.Game)
		}
		rows = append(rows, row)
	}
	judge(rows)
	return rows
}

// sameRules reports whether two rulesets are one: a custom ruleset is another value
// each time it is read.
func sameRules(a, b *rules.Ruleset) bool { return a != nil && b != nil && a.ID() == b.ID() }

// ownRow counts the record under its own ruleset for a comparison.
func (rec *Record) ownRow(c Count, komi rules.Points) (*rules.Game, bool, error) {
	r := c.Rules
	if !r.Has(rules.AcceptScore) {
		if len(c.Dead) > 0 {
			g, err := rec.Under(r, komi, c.Dead, nil)
			return g, true, err
		}
		c.Dead = nil
	}
	if !r.Has(rules.MarkSeki) {
		c.Seki = nil
	}
	g, _, err := rec.Count(c)
	if errors.Is(err, rules.ErrNoSuchTurn) {
		g, err = rec.Under(r, komi, rec.Dead(), c.Seki)
	}
	if err != nil {
		return nil, false, err
	}
	g, err = closed(g, nil, nil)
	return g, false, err
}

func (rec *Record) komi(c Count, r *rules.Ruleset) rules.Points {
	switch {
	case c.DefaultKomi:
		return r.Komi
	case c.Komi != nil:
		return *c.Komi
	}
	return rec.Setup.Komi
}

// Report returns the row for programs.
func (row Row) Report(s rules.Setup) rules.Report {
	if row.Err != nil {
		s.Komi = row.Komi
		return rules.Uncounted(row.Rules, s, row.Err.Error())
	}
	report := row.Game.Report()
	report.Entries = nil
	if row.Assumed {
		report.Assumed = Assumed
	}
	report.Moved, report.Why, report.Flip = rules.ReportLines(row.Moved), row.Why(), string(row.Flip)
	return report
}

// Of returns the record of a game, as if it had been written and read.
func Of(g *rules.Game) *Record {
	rec := &Record{RU: g.Rules().Stored(), Setup: g.Setup(), HasKomi: true}
	resumed := false
	for _, t := range g.Log() {
		switch {
		case t.Kind.IsTurn():
			rec.Turns = append(rec.Turns, Turn{Turn: t, Resumed: resumed})
			resumed = false
		case t.Kind == rules.Resume:
			resumed = true
		}
	}
	rec.Ending.Resumed = resumed
	if g.Phase() == rules.Over && g.Rules().Has(rules.AcceptScore) && g.HasAgreed(rules.Black) && g.HasAgreed(rules.White) {
		rec.Ending = Ending{Dead: g.Dead(), Seki: g.Seki(), Accepted: true}
	}
	rec.Ending.NoResult = g.Result() == "Void"
	return rec
}

// Area returns Black's area less White's in whole points, of which the theorems under the rows
// of a comparison speak. It reports false for records of which they do not: set up with anything
// but handicap stones, or begun by the wrong player.
func (rec *Record) Area(rows []Row) (a int, ok bool) {
	s := rec.Setup
	if len(s.White) > 0 || len(s.Black) != s.Handicap || s.First != rules.None && (s.First == rules.White) != (s.Handicap > 0) {
		return 0, false
	}
	for _, row := range rows {
		if row.Err == nil && row.Rules.Theorem != "" {
			b := row.Game.Counted()
			return b.Area(), true
		}
	}
	return a, ok
}

// Follows reports whether the margin of the row is what its ruleset's theorem
// says. It is not where a clause of the theorem is not met: in territory-1,
// when the first pass was not one of the two of the preliminary end.
func (row Row) Follows() bool {
	if row.Err != nil {
		return false
	}
	b, s := row.Game.Counted(), row.Game.Setup()
	d, ok := row.Rules.Difference(b.Area(), row.Game.W())
	return ok && row.Game.Score().Margin() == d-s.Komi-rules.Points(max(s.Handicap-1, 0))*rules.One
}
