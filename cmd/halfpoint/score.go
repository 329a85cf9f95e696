package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

type scoreCmd struct {
	Files []string `arg:"" name:"file" help:"SGF files or folders with SGF files; - reads standard input. Several records are printed as a table."`
	countOptions
	strictness
	Rules   string `help:"Count under this ruleset instead of the record's." placeholder:"ID"`
	Move    *int   `help:"Stop after move N of the record." placeholder:"N"`
	Explain bool   `help:"Explain each line of the count, and count in every other way too."`
	Theory  bool   `help:"Explain, and add the theorem behind the ruleset with its algebra, and Ikeda's Table 1 under territory-1."`
	Reasons bool   `help:"After a table, say how many records could be read, and for what reasons others could not."`
}

var errMove = usageError{errors.New("--move must be 0 or more")}

// Run prints ledger, count and result of a record, or a table of several.
func (s *scoreCmd) Run(e *env) error {
	if s.Move != nil && *s.Move < 0 {
		return errMove
	}
	if s.Reasons && s.JSON {
		return usageError{errors.New("--reasons follow a table, and --json prints none")}
	}
	if len(s.Files) == 1 && !isFolder(s.Files[0]) && !s.Reasons {
		return s.one(e, s.Files[0])
	}
	if (s.Explain || s.Theory) && !s.JSON {
		return usageError{errors.New("--explain and --theory need a single record, or --json")}
	}
	return s.table(e)
}

// score counts a record. With the error that a record stops early it counts what there is.
func (s *scoreCmd) score(e *env, path string) (*rules.Game, rules.Report, error) {
	fail := func(err error) (*rules.Game, rules.Report, error) { return nil, rules.Report{}, err }
	rec, r, err := e.record(path, s.Rules, s.Strict)
	if err != nil {
		return fail(err)
	}
	c, err := s.count(rec)
	if err != nil {
		return fail(err)
	}
	c.Rules = r
	switch {
	case s.Move != nil:
		if n := rec.Moves(); *s.Move > n {
			e.note(path, fmt.Sprintf("--move %d: the record has only %d %s", *s.Move, n, plural(n, "move")))
		}
		c.Stop, c.Move = true, rec.UpTo(*s.Move)
		rec = rec.Cut(c.Move)
	case !s.Strict && !s.named():
		rec = e.settled(path, rec)
	case s.named():
		rec = rec.Unmarked()
	}
	g, assumed, err := rec.Count(c)
	if forbidden, ok := errors.AsType[*rules.Illegal](err); ok && !s.Strict {
		rec = rec.Before(forbidden)
		c.Stop, c.Move = true, len(rec.Turns)
		g, assumed, err = rec.Count(c)
	}
	if err != nil {
		return fail(usageError{fmt.Errorf("%s: %w", path, err)})
	}
	report := g.Report()
	if assumed {
		report.Assumed = sgf.Assumed
	}
	if s.JSON && (s.Explain || s.Theory) {
		report.Explain = g.Reasons()
	}
	report.Game = about(rec)
	flaws(&report, rec)
	s.tell(&report, rec, g)
	if s.Komi == "" && s.Move == nil {
		report.Recorded = rec.Against(g)
	}
	return g, report, stopped(path, rec)
}

// about returns what a record says of its game.
func about(rec *sgf.Record) *rules.ReportGame {
	i := rec.Info
	g := &rules.ReportGame{
		Black: i.Black, BlackRank: i.BlackRank, White: i.White, WhiteRank: i.WhiteRank,
		Event: cmp.Or(i.Event, i.Name), Round: i.Round, Place: i.Place, Date: i.Date,
		Handicap: rec.Setup.Handicap, Moves: rec.Moves(),
	}
	if rec.HasSize {
		g.Size = &[2]int{rec.Setup.W, rec.Setup.H}
	}
	if rec.HasKomi {
		g.Komi = &rec.Setup.Komi
	}
	return g
}

// one prints ledger, count and result of a record.
func (s *scoreCmd) one(e *env, path string) error {
	g, report, early := s.score(e, path)
	if g == nil {
		return early
	}
	if s.JSON {
		return cmp.Or(writeJSON(e.out, report), early)
	}
	var b bytes.Buffer
	printScore(&b, g, report)
	if s.Explain || s.Theory {
		printReasons(&b, g, s.Theory)
	}
	_, err := e.out.Write(b.Bytes())
	return cmp.Or(err, early)
}

// table prints a line for each record, and how many games each player won; as JSON an
// object for each. See [env.each].
func (s *scoreCmd) table(e *env) error {
	if s.Rules != "" { // one mistake, not one for each record
		if _, err := e.findRuleset(s.Rules); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "record\truleset\tmoves\tBlack\tWhite\tresult\tthe record says\t")
	won := map[string]int{}
	repaired, told, agree, fit := 0, 0, 0, 0
	var why tally
	done, failed := e.each(s.Files, "scored", s.JSON, func(e *env, path string) (func(out *bytes.Buffer) error, error) {
		g, report, early := s.score(e, path)
		why.add(g != nil, path, early, report.Repairs)
		if g == nil {
			return nil, early
		}
		return func(out *bytes.Buffer) error {
			if s.JSON {
				return writeJSON(out, struct {
					File string `json:"file"`
					rules.Report
				}{path, report})
			}
			black, white, result, winner := outcome(g, report.Recorded)
			if early != nil {
				black, white, result, winner = "", "", "stopped", "stopped early"
			}
			won[winner]++
			if len(report.Repairs) > 0 {
				repaired++
			}
			switch r := report.Recorded; {
			case r == nil:
			case r.Fits:
				told++
				fit++
			case r.Agrees != nil:
				if told++; *r.Agrees {
					agree++
				}
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t\n", path, g.Rules().Name, report.Game.Moves, black, white, result, report.Recorded.Words())
			return nil
		}, early
	})
	if s.JSON {
		return failed
	}
	if done > 0 {
		t.Flush()
		fmt.Fprintf(&b, "\n%d %s: Black won %d, White won %d", done, plural(done, "record"), won["black"], won["white"])
		for _, other := range []string{"drawn", "void", "unfinished", "stopped early"} {
			if won[other] > 0 {
				fmt.Fprintf(&b, ", %d %s", won[other], other)
			}
		}
		fmt.Fprintln(&b)
		if told > 0 {
			fmt.Fprintf(&b, "%d of %d recorded %s as counted", agree, told, plural(told, "result"))
			if fit > 0 {
				fmt.Fprintf(&b, ", %d can be counted so", fit)
			}
			fmt.Fprintln(&b)
		}
		if repaired > 0 {
			fmt.Fprintf(&b, "%d %s read with repairs\n", repaired, plural(repaired, "record"))
		}
	}
	if s.Reasons {
		why.print(&b)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(e.out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return failed
}

// each does something for each record of some files and folders, several at a time, and
// prints what the functions that it returns write, in order and one after another. It
// reports those for which it fails, as JSON also among the others, and continues. The exit
// status of its error is then the highest that one of them alone would have had; done
// counts the others. Did names what was done: "scored". A [stoppedError] is no failure,
// but has its status.
func (e *env) each(paths []string, did string, asJSON bool, do func(e *env, path string) (print func(out *bytes.Buffer) error, err error)) (done int, _ error) {
	failed, partly, status := 0, 0, 0
	files, bad := records(paths)
	show := func(path string, print func(*bytes.Buffer) error, err error) error {
		var b bytes.Buffer
		early := errors.As(err, new(stoppedError))
		switch {
		case err == nil || early:
			done++
			if err := print(&b); err != nil {
				return err
			}
		case asJSON:
			if err := writeJSON(&b, struct {
				File  string `json:"file"`
				Error string `json:"error"`
			}{path, strings.TrimPrefix(err.Error(), path+": ")}); err != nil {
				return err
			}
		}
		if early {
			partly++
		} else if err != nil {
			failed++
		}
		if err != nil {
			status = max(status, report(e.errout, err))
		}
		_, err = e.out.Write(b.Bytes())
		return err
	}
	type result struct {
		notes bytes.Buffer
		print func(*bytes.Buffer) error
		err   error
	}
	var mu sync.Mutex // of e.errout
	custom := func() ([]*rules.Ruleset, error) {
		mu.Lock()
		defer mu.Unlock()
		return e.custom()
	}
	results := make(chan chan *result, 64) // so many may wait for one before them that takes long
	free := make(chan bool, runtime.GOMAXPROCS(0))
	go func() {
		defer close(results)
		for _, path := range files {
			one := make(chan *result, 1)
			results <- one
			free <- true
			go func() {
				defer func() { <-free }()
				r := &result{}
				r.print, r.err = do(&env{cli: e.cli, in: e.in, errout: &r.notes, custom: custom}, path)
				one <- r
			}()
		}
	}()
	i := 0
	var broken error
	for one := range results {
		r := <-one
		if broken != nil {
			continue
		}
		path := files[i]
		i++
		mu.Lock()
		e.progress("%s record %d of %d", bar(i, len(files)), i, len(files))
		if r.notes.Len() > 0 {
			e.errout.Write(r.notes.Bytes())
		}
		broken = show(path, r.print, r.err)
		mu.Unlock()
	}
	if broken != nil {
		return done, broken
	}
	for _, p := range bad {
		if err := show(p.path, nil, p.err); err != nil {
			return done, err
		}
	}
	var err error
	were := map[bool]string{true: "was", false: "were"}[partly == 1]
	switch {
	case failed == 0 && partly == 0:
		return done, nil
	case failed == 0:
		err = fmt.Errorf("%d of %d %s %s read only in part", partly, done, plural(done, "record"), were)
	default:
		err = fmt.Errorf("%d of %d %s could not be %s", failed, done+failed, plural(done+failed, "record"), did)
		if partly > 0 {
			err = fmt.Errorf("%w, %d %s read only in part", err, partly, were)
		}
	}
	if status == 2 {
		return done, usageError{err}
	}
	return done, err
}

// An unread is a path that holds no record, and why.
type unread struct {
	path string
	err  error
}

// records returns the paths with the SGF files of the folders among them, in the
// order of their names.
func records(paths []string) (files []string, bad []unread) {
	for _, path := range paths {
		if !isFolder(path) {
			files = append(files, path)
			continue
		}
		before := len(files) + len(bad)
		// The separator has a link to a folder followed.
		filepath.WalkDir(path+string(filepath.Separator), func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				bad = append(bad, unread{name, plain(name, err)})
			case !entry.IsDir() && strings.EqualFold(filepath.Ext(name), ".sgf"):
				files = append(files, name)
			}
			return nil
		})
		if len(files)+len(bad) == before {
			bad = append(bad, unread{path, fmt.Errorf("%s: no .sgf files in this folder", path)})
		}
	}
	return files, bad
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// outcome returns the last cells of a game's row, and who won: black, white, drawn,
// void or unfinished. Of a game that is not counted the record may know it, and there are
// no points.
func outcome(g *rules.Game, recorded *rules.Recorded) (black, white, result, winner string) {
	result = g.Result()
	switch {
	case g.Phase() != rules.Over && recorded != nil && recorded.Winner != "":
		return "", "", recorded.Result, recorded.Winner
	case g.Phase() != rules.Over && recorded != nil && strings.EqualFold(recorded.Result, "void"):
		return "", "", "Void", "void"
	case g.Phase() == rules.Settling:
		return "", "", "not agreed", "unfinished"
	case result == "":
		return "", "", "unfinished", "unfinished"
	case result == "Void":
		return "", "", result, "void"
	}
	winner = map[byte]string{'B': "black", 'W': "white"}[result[0]]
	if sc := g.Score(); sc != nil && !strings.HasSuffix(result, "+R") {
		black, white = sc.Black.String(), sc.White.String()
	}
	return black, white, result, cmp.Or(winner, "drawn")
}

// plural returns a noun for n things.
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
