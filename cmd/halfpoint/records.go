package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// countOptions say how records are counted.
type countOptions struct {
	Dead string `help:"One stone of each dead chain, or none if no stone is dead." placeholder:"A1,B2|none"`
	Seki string `help:"One stone of each chain in seki, where the ruleset needs it." placeholder:"A1,B2"`
	Komi string `help:"Use this komi, in points, or default for the ruleset's. Without this flag: the record's." placeholder:"X|default"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// named reports whether the flags say which stones are dead.
func (f *countOptions) named() bool { return f.Dead != "" || f.Seki != "" }

// tell puts into a report by what the dead stones of its count were chosen, and in what the record's
// rules differ from its ruleset.
func (f *countOptions) tell(report *rules.Report, rec *sgf.Record, g *rules.Game) {
	if g.Phase() == rules.Over && (g.Rules().Has(rules.AcceptScore) || report.Assumed != "") {
		if report.DeadBy = rec.DeadBy(); f.named() {
			report.DeadBy = sgf.ByOption
		}
	}
	for _, d := range rec.Differences(g) {
		report.Differs = append(report.Differs, d.String())
	}
}

func (f *countOptions) count(rec *sgf.Record) (sgf.Count, error) {
	var c sgf.Count
	var err error
	if c.Dead, err = points("--dead", f.Dead, rec.Setup); err != nil {
		return c, err
	}
	if c.Seki, err = points("--seki", f.Seki, rec.Setup); err != nil {
		return c, err
	}
	switch f.Komi {
	case "":
	case "default":
		c.DefaultKomi = true
	default:
		k, err := rules.ParsePoints(f.Komi)
		if err != nil {
			return c, usageError{fmt.Errorf("komi: %w", err)}
		}
		c.Komi = &k
	}
	return c, nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// printScore prints a game for people.
func printScore(b *bytes.Buffer, g *rules.Game, report rules.Report) {
	printGame(b, g, report)
	for _, row := range report.Board {
		fmt.Fprintf(b, "  %s\n", strings.Join(strings.Split(row, ""), " "))
	}
	if len(g.Entries()) > 0 {
		fmt.Fprint(b, "\nLedger\n")
		t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		for _, en := range g.Entries() {
			fmt.Fprintf(t, "  %d\t%v\t%+d\t%s\t%s\n", en.Move, en.Player, en.N, en.Thing.Noun(en.N), en.Why)
		}
		t.Flush()
	}
	printCount(b, g)
	for _, fact := range g.Says() {
		fmt.Fprintf(b, "  %s\n", fact)
	}
	switch g.Phase() {
	case rules.Over:
		fmt.Fprintf(b, "\nResult %s: %s\n", g.Result(), g.Decided())
		if m, ok := g.AreaAgrees(); ok {
			fmt.Fprintf(b, "The area count agrees: %s\n", lead(m))
		}
	case rules.Playing:
		fmt.Fprintf(b, "\n%v to play\n", g.ToPlay())
	case rules.Settling:
		fmt.Fprint(b, "\nPlay has stopped: name the dead stones with --dead A1,B2, or use --dead none\n")
	}
	for _, d := range report.Differs {
		fmt.Fprintf(b, "Not exactly: %s\n", d)
	}
	if report.Recorded != nil {
		fmt.Fprintf(b, "The record says %s\n", report.Recorded.Words())
	}
}

// printGame prints who played a game, where, when and how.
func printGame(b *bytes.Buffer, g *rules.Game, report rules.Report) {
	r, s := g.Rules(), g.Setup()
	about := report.Game
	if about.Black != "" || about.White != "" {
		fmt.Fprintf(b, "Black %s, White %s\n", player(about.Black, about.BlackRank), player(about.White, about.WhiteRank))
	}
	if when := joined(", ", about.Event, about.Round, about.Place, about.Date); when != "" {
		fmt.Fprintln(b, when)
	}
	const none = " (the record names none)"
	fmt.Fprintf(b, "%s (%s), %d×%d", r.Title, r.ID(), s.W, s.H)
	if about.Size == nil {
		fmt.Fprint(b, none)
	}
	fmt.Fprintf(b, ", komi %v", s.Komi)
	if about.Komi == nil && s.Komi == 0 {
		fmt.Fprint(b, none)
	}
	if s.Handicap > 0 {
		fmt.Fprintf(b, ", %d handicap stones", s.Handicap)
	}
	fmt.Fprintf(b, ", %d %s\n", about.Moves, plural(about.Moves, "move"))
	if report.Assumed != "" {
		fmt.Fprintln(b, report.Assumed)
	}
}

// printCount prints the count of a game; of one that is not counted, what the players hold.
func printCount(b *bytes.Buffer, g *rules.Game) {
	sc := g.Score()
	if sc != nil {
		fmt.Fprintf(b, "\nCount%s\n", map[rules.Phase]string{rules.Playing: " if the game ended now (dead stones stay on the board)",
			rules.Settling: " if both accept"}[g.Phase()])
		t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		for _, l := range sc.Lines {
			fmt.Fprintf(t, "  %v\t%s\tat %v\t= %v\n", l.Player, l.Thing.Words(l.N), l.Each, l.Points())
		}
		t.Flush()
		fmt.Fprintf(b, "  Black %v, White %v: %s\n", sc.Black, sc.White, lead(sc.Margin()))
	}
	for _, en := range g.IfAgreed() {
		fmt.Fprintf(b, "  if both accept: %v %+d %s, %s\n", en.Player, en.N, en.Thing.Noun(en.N), en.Why)
	}
	if sc != nil {
		return
	}
	for _, c := range []rules.Color{rules.Black, rules.White} {
		fmt.Fprintf(b, "\n%v holds %s and %s", c,
			rules.Prisoner.Words(g.Holds(c, rules.Prisoner)), rules.UltimateStone.Words(g.Holds(c, rules.UltimateStone)))
		if g.Phase() == rules.Playing {
			fmt.Fprintf(b, ", and could place a stone on %d points", g.Placements(c))
		}
		fmt.Fprintln(b)
	}
}

// player returns a player with the rank.
func player(name, rank string) string { return joined(" ", cmp.Or(name, "unnamed"), rank) }

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), sep)
}

// printReasons prints the reasons for each line of the count, and with theory what the
// theorem says of it.
func printReasons(b *bytes.Buffer, g *rules.Game, theory bool) {
	if g.Score() == nil {
		fmt.Fprintf(b, "\nThis ruleset counts nothing, so there is nothing to explain\n")
		return
	}
	fmt.Fprintf(b, "\nWhy, by %s\n", g.Rules().Source)
	var player rules.Color
	for _, e := range rules.Explain(g) {
		if e.Player != player {
			player = e.Player
			fmt.Fprintf(b, "  %v\n", player)
		}
		if e.Thing == rules.Komi {
			fmt.Fprintf(b, "    komi %v: %s\n", e.Points(), e.Rule)
			continue
		}
		fmt.Fprintf(b, "    %s at %v = %v: %s\n", e.Thing.Words(e.N), e.Each, e.Points(), e.Rule)
		for _, r := range e.Reasons() {
			fmt.Fprintf(b, "      %s\n", r.Words())
		}
	}
	if views := g.Views(); views != nil {
		fmt.Fprint(b, "\nEvery way of counting\n")
		for _, v := range views {
			fmt.Fprintf(b, "  %v: Black %v, White %v: %s\n", v.Way, v.Black, v.White, lead(v.Margin()))
			if v.Way != rules.ByTerritory {
				for _, c := range []rules.Color{rules.Black, rules.White} {
					if sum := sumOf(v, c); sum != "" {
						fmt.Fprintf(b, "    %v: %s\n", c, sum)
					}
				}
			}
		}
	}
	if !theory {
		return
	}
	if r, err := rules.Read(g); err == nil {
		fmt.Fprintf(b, "\nThe theorem: %s\n", r.Words())
	} else {
		fmt.Fprintf(b, "\n%s\n", text.Capital(err.Error()))
	}
	if t, ok := g.IkedaTable(); ok {
		printIkeda(b, t)
	}
}

// printIkeda prints Ikeda's Table 1 of a game.
func printIkeda(b *bytes.Buffer, t rules.IkedaTable) {
	x, y := t.Black, t.White
	fmt.Fprint(b, "\nIkeda's Table 1, without komi          Black White\n")
	for _, row := range []struct {
		name         string
		black, white any
	}{
		{"Moves before the preliminary end  M", x.M, y.M},
		{"Stones on the board then          L", x.L, y.L},
		{"Stones played after it            T", x.T, y.T},
		{"Stones passed after it            P", x.P, y.P},
		{"Stones on the board at the end    Q", x.Q, y.Q},
		{"Territory at the end              S", x.S, y.S},
		{"Prisoners lost  M + T - Q + P", x.Prisoners(), y.Prisoners()},
	} {
		fmt.Fprintf(b, "  %-36s %5v %5v\n", row.name, row.black, row.white)
	}
	for _, way := range []struct {
		name  string
		score func() (rules.Points, rules.Points)
	}{{"Territory I: S less prisoners lost", t.TerritoryI}, {"Area III: Q + S, less half of M1 - M2", t.AreaIII}} {
		black, white := way.score()
		fmt.Fprintf(b, "  %-36s %5v %5v  %s\n", way.name, black, white, lead(black-white))
	}
}

// sumOf returns the lines of a view for one player: "28 points of territory, less
// 2 prisoners filled in".
func sumOf(v rules.View, c rules.Color) string {
	var parts []string
	for _, l := range v.Lines {
		switch {
		case l.Player != c:
		case l.N < 0 && l.Thing < rules.Stone:
			parts = append(parts, fmt.Sprintf("less %s filled in at %v", l.Thing.Words(-l.N), l.Each))
		case l.Thing == rules.Adjustment && v.Way == rules.ByArea:
			parts = append(parts, fmt.Sprintf("%v less spent on stones, passes and buttons than %v", l.Points(), c.Opponent()))
		case l.Thing == rules.Komi || l.Thing == rules.Handicap:
			parts = append(parts, fmt.Sprintf("%s %v", l.Thing.Noun(1), l.Points()))
		default:
			parts = append(parts, l.Thing.Words(l.N))
		}
	}
	return strings.Join(parts, ", ")
}

func lead(m rules.Points) string {
	switch {
	case m > 0:
		return fmt.Sprintf("Black +%v", m)
	case m < 0:
		return fmt.Sprintf("White +%v", -m)
	}
	return "even"
}

// movedTo lists what the players hold from passes and buttons.
func movedTo(ls []rules.Line) string {
	var parts []string
	for _, c := range []rules.Color{rules.Black, rules.White} {
		var has []string
		for _, l := range ls {
			switch {
			case l.Player != c:
			case l.Thing == rules.Adjustment:
				has = append(has, l.Points().String())
			default:
				has = append(has, l.Thing.Words(l.N))
			}
		}
		if has != nil {
			parts = append(parts, c.Letter()+" "+strings.Join(has, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// remarks notes a change of the winner, and assumptions of the count.
func remarks(row sgf.Row) string {
	var parts []string
	if row.Flip != sgf.NoFlip {
		winner := "nobody"
		if d := row.Game.Score().Margin(); d != 0 {
			winner = map[bool]rules.Color{true: rules.Black, false: rules.White}[d > 0].String()
		}
		parts = append(parts, map[sgf.Flip]string{sgf.WholeFlip: "FLIP: ", sgf.HalfFlip: "half a flip: "}[row.Flip]+winner+" wins")
	}
	if row.Assumed {
		parts = append(parts, sgf.Assumed)
	}
	return strings.Join(parts, "; ")
}

// reading explains why the rows differ: one number under many rulesets.
func reading(a int) string {
	return fmt.Sprintf("The column “before komi” is each ruleset's margin as a formula. Here A = %d.\n"+
		"A is Black's area less White's on the final board, without the dead stones; w is 1 if White made the first pass\n"+
		"of the game (or took the first button, where there is one to take), else 0. The margin also includes the komi, and\n"+
		"N−1 points for N handicap stones.", a)
}

type renderCmd struct {
	File string `arg:"" help:"SGF file; - reads standard input."`
	strictness
	Out         string `short:"o" required:"" help:"File to write: OUT.png, OUT.gif or OUT.txt; - writes a PNG, or with a range of --move a GIF, to standard output." placeholder:"OUT"`
	Rules       string `help:"Play the record under this ruleset instead of its own." placeholder:"ID"`
	Move        string `help:"Stop after move N of the record. In an animation, show moves N-M, or N- for all from N." placeholder:"N"`
	Theme       string `help:"One of ${themes}." default:"wood"`
	Size        string `help:"small, medium or large." default:"medium" enum:"small,medium,large"`
	Panel       string `help:"dark or light; the default depends on the theme."`
	Coordinates string `help:"letters, numbers, kanji or none." default:"letters"`
	Layout      string `help:"landscape: the panel to the right of the board; portrait: below it." default:"landscape" enum:"landscape,portrait"`
	Count       bool   `help:"Count an unfinished game as if it ended now; dead stones stay on the board."`
	Delay       int    `help:"Milliseconds per turn of an animation." default:"800" placeholder:"MS"`
}

// Of an animation, the last picture is held for so many milliseconds.
const holdLast = 4000

var errRange = usageError{errors.New("--move must be a turn, such as 24, or for an animation a range, such as 1-24 or 1-")}

// turnsFrom reads "24", "1-24" and "1-". Of a single number it is the last turn;
// the last is -1 if all are meant.
func turnsFrom(s string) (first, last int, ranged bool, err error) {
	if s == "" {
		return 0, -1, false, nil
	}
	a, b, ranged := strings.Cut(s, "-")
	if first, err = strconv.Atoi(a); err != nil || first < 0 {
		return 0, 0, false, errRange
	}
	if !ranged {
		return 0, first, false, nil
	}
	if last = -1; b != "" {
		if last, err = strconv.Atoi(b); err != nil || last < first {
			return 0, 0, false, errRange
		}
	}
	return first, last, true, nil
}

// Run draws a record.
func (s *renderCmd) Run(e *env) error {
	rec, r, err := e.record(s.File, s.Rules, s.Strict)
	if err != nil {
		return err
	}
	ext := strings.ToLower(filepath.Ext(s.Out))
	first, last, ranged, err := turnsFrom(s.Move)
	if s.Out == "-" {
		ext = map[bool]string{false: ".png", true: ".gif"}[ranged]
	}
	if err == nil && ranged && ext != ".gif" {
		err = errRange
	}
	if err != nil {
		return err
	}
	if n := rec.Moves(); max(first, last) > n {
		e.note(s.File, fmt.Sprintf("--move %s: the record has only %d %s", s.Move, n, plural(n, "move")))
	}
	first = rec.UpTo(first)
	if last >= 0 {
		rec = rec.Cut(rec.UpTo(last))
	}
	g, err := rec.Play(r, rec.Setup.Komi)
	if forbidden, ok := errors.AsType[*rules.Illegal](err); ok && !s.Strict {
		rec = rec.Before(forbidden)
		g, err = rec.Play(r, rec.Setup.Komi)
	}
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", s.File, err)}
	}
	var b bytes.Buffer
	if err := s.draw(e, &b, g, render.Names{Black: rec.Info.Black, White: rec.Info.White}, ext, first); err != nil {
		return usageError{err}
	}
	if err := e.write(s.Out, b.Bytes()); err != nil {
		return err
	}
	return stopped(s.File, rec)
}

// draw draws a game in the format of a file's extension: an animation from turn first on.
func (s *renderCmd) draw(e *env, b *bytes.Buffer, g *rules.Game, names render.Names, ext string, first int) error {
	scene := render.Of(g, names)
	if s.Count {
		scene = render.EndedNow(g, names)
	}
	look := render.Options{Theme: s.Theme, Size: s.Size, Panel: s.Panel, Coordinates: s.Coordinates, Layout: s.Layout}
	switch ext {
	case ".png":
		return render.PNG(b, scene, look)
	case ".gif":
		return render.GIF(b, e.watched(render.Scenes(g, names, first, g.Turns()), g.Turns()-first+1), look, s.Delay, holdLast)
	case ".txt":
		_, err := fmt.Fprintln(b, render.Text(scene))
		return err
	}
	return fmt.Errorf("%s: unknown file type; use .png for a picture, .gif for an animation, .txt for a text", s.Out)
}

// write writes a file, "-" to standard output.
func (e *env) write(path string, data []byte) error {
	if path == "-" {
		_, err := e.out.Write(data)
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return plain(path, err)
	}
	return nil
}

// watched tells how many pictures of an animation have been drawn.
func (e *env) watched(scenes iter.Seq[render.Scene], all int) iter.Seq[render.Scene] {
	return func(yield func(render.Scene) bool) {
		n := 0
		for s := range scenes {
			n++
			e.progress("drawing picture %d of %d", n, all)
			if !yield(s) {
				return
			}
		}
	}
}
