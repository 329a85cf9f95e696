package sgf

import (
	"errors"
	"fmt"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A Count asks how a record counts.
type Count struct {
	Rules       *rules.Ruleset // nil: the record's own
	Komi        *rules.Points  // nil: the record's, 0 if it has none
	DefaultKomi bool           // the ruleset's komi instead
	Dead        []rules.Point  // a stone of each dead chain
	Seki        []rules.Point  // a stone of each chain in seki
	Accept      bool           // both accept Dead and Seki, which may be empty
	Stop        bool           // stop after Move turns; Dead, Seki and Accept are ignored
	Move        int
}

// ErrNoAgreement is the error of naming dead stones in a ruleset that plays
// out.
var ErrNoAgreement = errors.New("what stands at the end is alive, no dead stones can be named")

// Count plays the record under its own ruleset as it is written, under another
// as [Record.Under] does, and settles it if asked. On a record of the ruleset
// itself whose play has not stopped, settling first adds the ruleset's closing.
// It reports whether dead stones were lifted although the ruleset knows no
// agreement.
func (rec *Record) Count(c Count) (g *rules.Game, assumed bool, err error) {
	own, _, err := rec.Ruleset()
	if err != nil && c.Rules == nil {
		return nil, false, err
	}
	r := c.Rules
	if r == nil {
		r = own
	}
	komi := rec.Setup.Komi
	switch {
	case c.DefaultKomi:
		komi = r.Komi
	case c.Komi != nil:
		komi = *c.Komi
	}
	if c.Stop {
		g, err = rec.Cut(c.Move).Play(r, komi)
		return g, false, err
	}
	if len(c.Seki) > 0 && !r.Has(rules.MarkSeki) && r == own {
		return nil, false, fmt.Errorf("%s knows no marks for seki", r.Name)
	}
	if r != own {
		dead := c.Dead
		if !c.Accept {
			dead = rec.Dead()
		}
		g, err = rec.Under(r, komi, dead, c.Seki)
		return g, len(dead) > 0 && !r.Has(rules.Agree), err
	}
	if !c.Accept {
		g, err = rec.Play(r, komi)
		return g, false, err
	}
	if !r.Has(rules.Agree) {
		return nil, false, fmt.Errorf("%s: %w", r.Name, ErrNoAgreement)
	}
	open := *rec
	open.Ending = Ending{}
	if g, err = open.Play(r, komi); err != nil {
		return g, false, err
	}
	if err := stand(g, c.Dead, c.Seki); err != nil {
		return nil, false, err
	}
	switch g.Phase() {
	case rules.Settling:
		g, err = g.Settled(c.Dead, c.Seki)
	case rules.Playing:
		g, err = rules.Close(r, g.Setup(), g.Log(), c.Dead, c.Seki)
	}
	return g, false, err
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
	Game    *rules.Game
	Assumed bool // dead stones were lifted although the ruleset knows no agreement
	Err     error
}

// Assumed is what a row says of dead stones that its ruleset would not have
// lifted.
const Assumed = "dead stones lifted by agreement"

// Compare counts the record under every ruleset of the catalogue, in order.
// c.Rules and c.Stop are ignored.
func (rec *Record) Compare(c Count) []Row {
	own, _, _ := rec.Ruleset()
	var rows []Row
	for _, r := range rules.Catalogue {
		row := Row{Rules: r}
		c.Rules, c.Stop = r, false
		ask := c
		if r == own && ask.Accept && !r.Has(rules.Agree) {
			// The record's own book plays out: as it is written, if nobody names
			// dead stones, otherwise like any other.
			if len(c.Dead) > 0 {
				row.Game, row.Err = rec.Under(r, rec.komi(c, r), c.Dead, c.Seki)
				row.Assumed = true
				rows = append(rows, row)
				continue
			}
			ask.Accept = false
		}
		if r == own {
			ask.Seki = nil
			if r.Has(rules.MarkSeki) {
				ask.Seki = c.Seki
			}
		}
		row.Game, row.Assumed, row.Err = rec.Count(ask)
		if row.Err == nil && row.Game.Score() == nil {
			row.Err = rules.ErrNoCount
		}
		rows = append(rows, row)
	}
	return rows
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

// Report gives the row for programs.
func (row Row) Report(s rules.Setup) rules.Report {
	if row.Err != nil {
		return rules.Uncounted(row.Rules, s, row.Err.Error())
	}
	report := row.Game.Report()
	report.Entries = nil
	if row.Assumed {
		report.Assumed = Assumed
	}
	return report
}

// Of gives the record of a game, as if it had been written and read.
func Of(g *rules.Game) *Record {
	rec := &Record{RU: g.Rules().ID(), Setup: g.Setup(), HasKomi: true}
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
	if g.Phase() == rules.Over && g.Rules().Has(rules.Agree) && g.HasAgreed(rules.Black) && g.HasAgreed(rules.White) {
		rec.Ending = Ending{Dead: g.Dead(), Seki: g.Seki(), Accepted: true}
	}
	rec.Ending.NoResult = g.Result() == "Void"
	return rec
}
