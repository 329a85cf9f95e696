package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

type compareCmd struct {
	Files []string `arg:"" name:"file" help:"SGF files, and folders of them; - reads standard input."`
	countOptions
	strictness
	compareFlags
}

// Run prints or draws the same game under every ruleset, for each record.
func (s *compareCmd) Run(e *env) error {
	if len(s.Files) == 1 && !isFolder(s.Files[0]) {
		rec, rows, err := s.rows(e, s.Files[0])
		switch {
		case err != nil:
		case s.JSON:
			err = writeJSON(e.out, s.reports(rec, rows))
		default:
			err = s.show(e, rec, rows)
		}
		if err == nil {
			err = stopped(s.Files[0], rec)
		}
		return err
	}
	if s.Out != "" {
		return usageError{errors.New("-o draws one record: name one file")}
	}
	between := ""
	_, err := e.each(s.Files, "compared", s.JSON, func(e *env, path string) (func(out *bytes.Buffer) error, error) {
		rec, rows, err := s.rows(e, path)
		if err != nil {
			return nil, err
		}
		return func(out *bytes.Buffer) error {
			if s.JSON {
				return writeJSON(out, struct {
					File string         `json:"file"`
					Rows []rules.Report `json:"rulesets"`
				}{path, s.reports(rec, rows)})
			}
			fmt.Fprintf(out, "%s# %s\n\n", between, path)
			between = "\n"
			s.print(out, rec, rows)
			return nil
		}, stopped(path, rec)
	})
	return err
}

// rows counts a record under every ruleset.
func (s *compareCmd) rows(e *env, path string) (*sgf.Record, []sgf.Row, error) {
	rec, r, err := e.record(path, "", s.Strict)
	if err != nil {
		return nil, nil, err
	}
	c, err := s.count(rec)
	if err != nil {
		return nil, nil, err
	}
	if c.Also, err = e.custom(); err != nil {
		return nil, nil, err
	}
	switch {
	case s.named():
		rec = rec.Unmarked()
	case !s.Strict:
		rec = e.settled(path, rec)
	}
	rows := rec.Compare(c)
	if slices.ContainsFunc(rows, func(row sgf.Row) bool { return row.Err == nil }) {
		return rec, rows, nil
	}
	// No ruleset allows the whole game: what stands before is compared, as score counts it.
	_, err = rec.Play(r, rec.Setup.Komi)
	forbidden, ok := errors.AsType[*rules.Illegal](err)
	switch {
	case !ok:
		return rec, rows, nil
	case s.Strict:
		return nil, nil, usageError{fmt.Errorf("%s: %w", path, err)}
	}
	rec = rec.Before(forbidden)
	return rec, rec.Compare(c), nil
}

func (s *compareCmd) reports(rec *sgf.Record, rows []sgf.Row) []rules.Report {
	reports := []rules.Report{}
	for _, row := range rows {
		report := row.Report(rec.Setup)
		flaws(&report, rec)
		if row.Err == nil {
			s.tell(&report, rec, row.Game)
		}
		reports = append(reports, report)
	}
	return reports
}

// compareFlags say how a comparison is shown.
type compareFlags struct {
	All    bool   `help:"Show every ruleset, also those with the same result."`
	Theory bool   `help:"Add the theorems, and how each count differs from the one above it."`
	Out    string `short:"o" help:"Write the table as a picture, OUT.png, or as a description, OUT.txt; - writes the picture to standard output." placeholder:"OUT"`
	Theme  string `help:"One of ${themes}." default:"wood"`
	Size   string `help:"small, medium or large." default:"medium" enum:"small,medium,large"`
	Panel  string `help:"dark or light; the default depends on the theme."`
}

// chart makes a chart of the rows of a comparison.
func (f *compareFlags) chart(rec *sgf.Record, rows []sgf.Row, name func(*rules.Ruleset) string) render.Chart {
	chart := bot.Comparison(text.English, rows, f.All, name)
	if i := rec.Info; i.Black != "" && i.White != "" {
		chart.Black, chart.White = i.Black, i.White
	}
	return chart
}

// print prints the rows of a comparison.
func (f *compareFlags) print(b *bytes.Buffer, rec *sgf.Record, rows []sgf.Row) {
	fmt.Fprintln(b, f.chart(rec, rows, bot.Names).Letters())
	if f.Theory {
		fmt.Fprintln(b)
		printTheory(b, rec, rows)
	}
}

// show prints or draws the rows of a comparison.
func (f *compareFlags) show(e *env, rec *sgf.Record, rows []sgf.Row) error {
	var b bytes.Buffer
	if f.Out == "" {
		f.print(&b, rec, rows)
		_, err := e.out.Write(b.Bytes())
		return err
	}
	chart := f.chart(rec, rows, bot.Titles)
	ext := strings.ToLower(filepath.Ext(f.Out))
	if f.Out == "-" {
		ext = ".png"
	}
	switch ext {
	case ".png":
		if err := chart.Draw(&b, render.Options{Theme: f.Theme, Size: f.Size, Panel: f.Panel}); err != nil {
			return usageError{err}
		}
	case ".txt":
		fmt.Fprintln(&b, chart.Text())
	default:
		return usageError{fmt.Errorf("%s: unknown file type; use .png for a picture, .txt for a text", f.Out)}
	}
	return e.write(f.Out, b.Bytes())
}

// printTheory prints what the theorems say of the rows of a comparison, and what
// makes each count another than the one above.
func printTheory(b *bytes.Buffer, rec *sgf.Record, rows []sgf.Row) {
	var table bytes.Buffer
	a, spoken := rec.Area(rows)
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ruleset\tbefore komi\tBlack\tWhite\tresult\tfrom passes and buttons\t")
	for _, row := range rows {
		theorem := ""
		if spoken && row.Follows() {
			if theorem = row.Rules.Theorem; strings.Contains(theorem, "w") {
				theorem += fmt.Sprintf(" (w = %d)", row.Game.W())
			}
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
	fmt.Fprint(b, "\nWhy each count differs from the one above\n")
	t = tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if why := row.Why(); why != "" {
			fmt.Fprintf(t, "  %s\t%s\n", row.Rules.Name, why)
		}
	}
	t.Flush()
	if spoken {
		fmt.Fprint(b, "\n"+reading(a)+"\n")
	}
}
