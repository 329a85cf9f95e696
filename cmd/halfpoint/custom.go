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

// recordRuleset finds the ruleset of a flag, or else that of the record, and tells how
// it read the record. A record may name a custom ruleset without holding its text.
func (e *env) recordRuleset(id, path string, rec *sgf.Record) (*rules.Ruleset, error) {
	if err := e.completeRecord(rec); err != nil {
		return nil, err
	}
	if id != "" {
		r, err := e.findRuleset(id)
		if err == nil {
			e.note(path, rules.About(id))
		}
		return r, err
	}
	r, note, err := rec.Ruleset()
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", path, err)}
	}
	e.note(path, note)
	return r, nil
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
