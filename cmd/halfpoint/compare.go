package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// compareFlags say how a comparison is shown.
type compareFlags struct {
	All    bool   `help:"Show every ruleset, also those that come to the same."`
	Theory bool   `help:"Add what the theorems say, and what each count has that the one above it has not."`
	Out    string `short:"o" help:"Draw it: OUT.png, or OUT.txt for its description." placeholder:"OUT"`
	Theme  string `help:"One of ${themes}." default:"wood"`
	Size   string `help:"small, medium or large." default:"medium" enum:"small,medium,large"`
	Panel  string `help:"dark or light; by default the one that goes with the theme."`
}

// show prints or draws the rows of a comparison.
func (f *compareFlags) show(e *env, rec *sgf.Record, rows []sgf.Row) error {
	name := bot.Titles
	if f.Out == "" {
		name = bot.Names
	}
	chart := bot.Comparison(text.English, rows, f.All, name)
	if i := rec.Info; i.Black != "" && i.White != "" {
		chart.Black, chart.White = i.Black, i.White
	}
	var b bytes.Buffer
	if f.Out == "" {
		fmt.Fprintln(&b, chart.Letters())
		if f.Theory {
			fmt.Fprintln(&b)
			printTheory(&b, rec, rows)
		}
		_, err := e.out.Write(b.Bytes())
		return err
	}
	switch strings.ToLower(filepath.Ext(f.Out)) {
	case ".png":
		if err := chart.Draw(&b, render.Options{Theme: f.Theme, Size: f.Size, Panel: f.Panel}); err != nil {
			return usageError{err}
		}
	case ".txt":
		fmt.Fprintln(&b, chart.Text())
	default:
		return usageError{fmt.Errorf("%s: a picture ends in .png, a text in .txt", f.Out)}
	}
	if err := os.WriteFile(f.Out, b.Bytes(), 0o644); err != nil {
		return plain(f.Out, err)
	}
	return nil
}

// printTheory prints what the theorems say of the rows of a comparison, and what
// makes each count another than the one above.
func printTheory(b *bytes.Buffer, rec *sgf.Record, rows []sgf.Row) {
	var table bytes.Buffer
	a, pass, button, spoken := rec.Reading(rows)
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ruleset\tbefore komi\tBlack\tWhite\tresult\tmoved\t")
	for _, row := range rows {
		theorem := ""
		if spoken && row.Follows() {
			theorem = row.Rules.Theorem
		}
		if row.Err != nil {
			fmt.Fprintf(t, "%s\t\t\t\t-\t\t%v\n", row.Rules.Name, row.Err)
			continue
		}
		sc := row.Game.Score()
		fmt.Fprintf(t, "%s\t%s\t%v\t%v\t%s\t%s\t%s\n", row.Rules.Name, theorem, sc.Black, sc.White, lead(sc.Margin()), movedTo(row.Moved), remarks(row))
	}
	t.Flush()
	for line := range strings.Lines(table.String()) {
		fmt.Fprintln(b, strings.TrimRight(line, " \n"))
	}
	fmt.Fprint(b, "\nWhy each count is not the one above\n")
	t = tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if why := row.Why(); why != "" {
			fmt.Fprintf(t, "  %s\t%s\n", row.Rules.Name, why)
		}
	}
	t.Flush()
	if spoken {
		fmt.Fprint(b, "\n"+reading(a, pass, button)+"\n")
	}
}
