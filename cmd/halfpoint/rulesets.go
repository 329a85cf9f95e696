package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/rules"
)

type rulesCmd struct {
	ID   string `arg:"" optional:"" help:"Ruleset to print."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// a book is a ruleset as JSON.
type book struct {
	Rules   string       `json:"rules"`
	Version int          `json:"version"`
	Title   string       `json:"title"`
	Aim     string       `json:"aim"`  // how one wins
	Pass    string       `json:"pass"` // what a pass costs
	Source  string       `json:"source"`
	Note    string       `json:"note,omitempty"`
	Komi    rules.Points `json:"komi"`
	Theorem string       `json:"theorem,omitempty"`
	Settles bool         `json:"settles"`
	Turns   []string     `json:"turns"`
	Book    string       `json:"book"`
	Choices []choice     `json:"choices,omitempty"`
}

// a choice is something that the sources of a ruleset leave open.
type choice struct {
	Open   string `json:"open"`
	Chosen string `json:"chosen"`
}

func bookOf(r *rules.Ruleset) book {
	b := book{r.Name, r.Version, r.Title, r.Aim, r.PassCost, r.Source, r.Note, r.Komi, r.Theorem, r.Has(rules.AcceptScore), nil, r.Book(), nil}
	for _, c := range r.Choices {
		b.Choices = append(b.Choices, choice(c))
	}
	for _, k := range rules.TurnKinds() {
		if k.IsTurn() && r.Has(k) {
			b.Turns = append(b.Turns, k.String())
		}
	}
	return b
}

// Run lists the catalogue or recites one ruleset.
func (c *rulesCmd) Run(e *env) error {
	if c.ID != "" {
		r, err := e.findRuleset(c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(e.out, bookOf(r))
		}
		var b bytes.Buffer
		if note := rules.About(c.ID); note != "" {
			b.WriteString(note + "\n")
		}
		b.WriteString(r.Aim + "\n" + r.PassCost + "\n\n" + r.Book() + "\nWhat the sources leave open\n")
		for _, c := range r.Choices {
			b.WriteString("  - " + c.Open + " " + c.Chosen + "\n")
		}
		_, err = e.out.Write(b.Bytes())
		return err
	}
	own, err := e.custom()
	if err != nil {
		return err
	}
	all := slices.Concat(rules.Catalogue, own)
	if c.JSON {
		books := []book{}
		for _, r := range all {
			books = append(books, bookOf(r))
		}
		return writeJSON(e.out, books)
	}
	t := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.ID(), r.Title, r.Aim)
	}
	return t.Flush()
}

type perftCmd struct {
	File   string `arg:"" optional:"" help:"Count from the end of this record instead of an empty board."`
	Rules  string `help:"Ruleset of the empty board or of the record." placeholder:"ID" required:""`
	Size   string `help:"Columns and rows." placeholder:"WxH" default:"9x9"`
	Depth  int    `help:"Length of the longest sequence, in turns." required:""`
	Divide bool   `help:"Also count the longest sequences by their first turn."`
}

// Run counts sequences of turns.
func (c *perftCmd) Run(e *env) error {
	r, err := e.findRuleset(c.Rules)
	if err != nil {
		return err
	}
	if c.Depth < 0 || c.Depth > rules.MaxTurns {
		return usageError{fmt.Errorf("--depth must be between 0 and %d", rules.MaxTurns)}
	}
	g, err := c.game(e, r)
	if err != nil {
		return err
	}
	if c.Divide && c.Depth > 0 && g.Phase() == rules.Playing {
		for _, t := range rules.PerftTurns(g) {
			n := uint64(1)
			if next, err := g.Play(t); err == nil && c.Depth > 1 {
				n = rules.Perft(next, c.Depth-1)[c.Depth-2]
			}
			if _, err := fmt.Fprintf(e.out, "%v: %d\n", t, n); err != nil {
				return err
			}
		}
	}
	for depth := 1; depth <= c.Depth; depth++ { // all together take little longer than the last alone
		if _, err := fmt.Fprintf(e.out, "%d %d\n", depth, rules.Perft(g, depth)[depth-1]); err != nil {
			return err
		}
	}
	return nil
}

// game returns the game from which on sequences are counted.
func (c *perftCmd) game(e *env, r *rules.Ruleset) (*rules.Game, error) {
	var s rules.Setup
	if n, err := fmt.Sscanf(strings.ToLower(c.Size)+" ", "%dx%d ", &s.W, &s.H); n != 2 || err != nil {
		return nil, usageError{errors.New("--size must be columns and rows, such as 9x9")}
	}
	g, err := rules.New(r, s)
	if c.File != "" {
		rec, e := e.readRecord(c.File)
		if e != nil {
			return nil, e
		}
		if g, err = rec.Play(r, rec.Setup.Komi); err != nil {
			err = fmt.Errorf("%s: %w", c.File, err)
		}
	}
	if err != nil {
		return nil, usageError{err}
	}
	return g, nil
}

// customRulesets reads the rulesets that the configuration adds.
func (e *env) customRulesets(s bot.Settings) ([]*rules.Ruleset, error) {
	own, err := bot.ReadRulesets(s.Rulesets)
	var bad *bot.BadSetting
	var file *fs.PathError
	if !errors.As(err, &file) || errors.As(err, &bad) {
		return own, err
	}
	err = plain(file.Path, err)
	if errors.Is(err, fs.ErrNotExist) && !slices.Contains(e.cli.Ruleset, file.Path) {
		err = s.Mistake(fmt.Errorf("rulesets: %w", err))
	}
	return own, err
}
