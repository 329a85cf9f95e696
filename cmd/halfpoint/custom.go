package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// readRulesets reads the custom rulesets of the configuration and of --ruleset, for
// commands that need nothing else of the configuration. A configuration that was not
// named may be readable for a service alone, or be that of another program: then it adds
// nothing.
func (e *env) readRulesets() ([]*rules.Ruleset, error) {
	s, err := e.settings()
	var own []*rules.Ruleset
	if err == nil {
		own, err = e.customRulesets(s)
	}
	if err == nil || e.cli.Config != "" {
		return own, err
	}
	own, flagErr := e.customRulesets(bot.Settings{Rulesets: e.cli.Ruleset})
	if flagErr == nil && !errors.Is(err, fs.ErrPermission) {
		fmt.Fprintln(e.errout, "halfpoint: the configuration has mistakes, so its custom rulesets are not available; halfpoint config check lists them")
	}
	return own, flagErr
}

// findRuleset finds a ruleset that was named on the command line. It reads the
// configuration only for names that are not in the catalogue.
func (e *env) findRuleset(id string) (*rules.Ruleset, error) {
	r, err := rules.Find(id)
	if err == nil {
		return r, nil
	}
	own, readErr := e.custom()
	if readErr != nil {
		return nil, readErr
	}
	r, err = rules.FindAmong(own, id)
	_, unclear := errors.AsType[*rules.Unclear](err)
	switch {
	case err == nil:
		return r, nil
	case unclear:
		return nil, usageError{err}
	}
	return nil, usageError{fmt.Errorf("%w; halfpoint rules lists them", err)}
}

// A strictness is whether records with a flaw are refused.
type strictness struct {
	Strict bool `help:"Refuse a record with anything that has to be guessed, or that cannot be read to its end."`
}

// record reads a record and finds the ruleset of a flag, or else the record's own, and
// tells how it read the record: what it had to guess is in its Repairs, and why it could
// not read on in Stopped. A record may name a custom ruleset without holding its text.
func (e *env) record(path, id string, strict bool) (*sgf.Record, *rules.Ruleset, error) {
	rec, err := e.readRecord(path)
	if err != nil {
		return nil, nil, err
	}
	if err := e.completeRecord(rec); err != nil {
		return nil, nil, err
	}
	if id == "" && !strict {
		rec = rec.Fitted()
	}
	own, note, err := rec.Ruleset()
	r := own
	if id != "" {
		note = rules.About(id)
		if r, err = e.findRuleset(id); err != nil {
			return nil, nil, err
		}
		if own != nil && r.Name == own.Name && !r.IsCustom() && !strings.Contains(id, "@") {
			r = own // the version under which it was played
		}
		if !rec.NamesRules() && r.Has(rules.AcceptScore) { // under others no dead stones can be named
			rec.RU = r.Stored()
			own, _, err = rec.Ruleset()
		}
	}
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("%s: %w", path, err)}
	}
	e.note(path, note)
	if rec.More {
		e.note(path, "the file has more than one game: the first is read")
	}
	if own == nil {
		own = r
	}
	rec = rec.Mended(own)
	for _, flaw := range rec.Repairs {
		if strict {
			return nil, nil, usageError{fmt.Errorf("%s: %v, and --strict accepts no guess", path, flaw)}
		}
		e.note(path, flaw.String())
	}
	if strict && rec.Stopped != nil {
		return nil, nil, usageError{fmt.Errorf("%s: %w", path, rec.Stopped)}
	}
	return rec, r, nil
}

// settled brings a record to its end that leaves out how it ended, and tells how.
func (e *env) settled(path string, rec *sgf.Record) *sgf.Record {
	own, _, err := rec.Ruleset()
	if err != nil {
		return rec
	}
	out := rec.Settled(own)
	for _, r := range out.Repairs[len(rec.Repairs):] {
		e.note(path, r.String())
	}
	return out
}

// A stoppedError is why a record could not be read to its end. What could be read has
// been printed.
type stoppedError struct{ error }

func (e stoppedError) Unwrap() error { return e.error }

// stopped returns why a record could not be read to its end, nil if it was.
func stopped(path string, rec *sgf.Record) error {
	if rec.Stopped == nil {
		return nil
	}
	return stoppedError{usageError{fmt.Errorf("%s: %w", path, rec.Stopped)}}
}

// flaws puts into a report how its record was read.
func flaws(report *rules.Report, rec *sgf.Record) {
	for _, r := range rec.Repairs {
		report.Repairs = append(report.Repairs, r.String())
	}
	if rec.Stopped != nil {
		report.Stopped = rec.Stopped.Error()
	}
}

// completeRecord puts the whole text of a custom ruleset into a record that only names it.
// A name that people know means what it means to them.
func (e *env) completeRecord(rec *sgf.Record) error {
	if rules.Known(rec.RU) {
		return nil
	}
	if _, note, err := rec.Ruleset(); err == nil && note == "" || rec.RU == "" {
		return nil
	}
	own, err := e.custom()
	if r := named(own, rec.RU); r != nil {
		rec.RU = r.Stored()
	}
	return err
}

// named returns the custom ruleset with a name, "three-passes" or "custom/three-passes",
// or an id; nil if there is none.
func named(own []*rules.Ruleset, name string) *rules.Ruleset {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, r := range own {
		if name == r.ID() || "custom/"+strings.TrimPrefix(name, "custom/") == r.Name {
			return r
		}
	}
	return nil
}
