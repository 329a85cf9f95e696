package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

type checkCmd struct {
	Database string `arg:"" optional:"" help:"Database or backup to check, instead of that of the configuration." placeholder:"DATABASE"`
	Against  string `help:"Also compare every game with the one in this backup: who computes proofs again is found only so." placeholder:"BACKUP"`
	JSON     bool   `name:"json" help:"Print JSON."`
}

// Help says what is checked.
func (checkCmd) Help() string {
	return "Every game is played again from its events, and its proofs are checked. The exit status is 0 if nothing is damaged, 1 if something is, and 2 if the database could not be checked. Nothing is changed."
}

// A damageError means that something in a database that was checked or imported is damaged.
type damageError struct {
	file string
	n    int
}

func (e damageError) Error() string {
	return fmt.Sprintf("%s is damaged in %d %s", e.file, e.n, plural(e.n, "place"))
}

// Run checks a database, whether the bot is running or not.
func (c *checkCmd) Run(e *env) error {
	database := c.Database
	if database == "" {
		var err error
		if database, err = e.existingDatabase(); err != nil {
			return usageError{err}
		}
	}
	ctx, stop := interrupted()
	defer stop()
	lowerPriority()
	begun := time.Now()
	r, err := store.Check(ctx, database, c.Against, begun, e.working, matrix.Leftovers...)
	if err != nil {
		return usageError{err}
	}
	database = store.Redacted(database)
	if c.JSON {
		err = writeJSON(e.out, checkJSON(database, r, begun))
	} else {
		err = printCheck(e.out, database, r)
	}
	return cmp.Or(err, damaged(database, r.Damage))
}

// damaged returns the error for damage in a file.
func damaged(file string, damage []store.Damage) error {
	if len(damage) == 0 {
		return nil
	}
	return damageError{file, len(damage)}
}

// mostShown is how many damages of a kind are printed for people.
const mostShown = 50

// printCheck says for people what a check has found, and what to do about it.
func printCheck(w io.Writer, file string, r store.Report) error {
	var b strings.Builder
	contests := "tournaments and leagues"
	if r.Contests == 1 {
		contests = "tournament or league"
	}
	fmt.Fprintf(&b, "%s: %d %s with %d %s, %d %s.\n", file, r.Games, plural(r.Games, "game"), r.Events, plural(r.Events, "event"), r.Contests, contests)
	if r.Old > 0 {
		fmt.Fprintf(&b, "%d of the games began under an earlier version: their proofs cover the turns, not players, times and komi.\n", r.Old)
	}
	if r.Compared > 0 {
		fmt.Fprintf(&b, "Compared with %d %s of the backup.\n", r.Compared, plural(r.Compared, "game"))
	}
	printDamage(&b, r.Damage)
	if len(r.Damage) == 0 {
		fmt.Fprintln(&b, "Nothing is damaged.")
	}
	if len(r.Jobs) > 0 {
		fmt.Fprint(&b, "\nStill to be deleted, which Halfpoint does by itself while it runs:\n")
		late := 0
		for _, j := range r.Jobs {
			fmt.Fprintf(&b, "  %s\n", jobLine(j))
			late += j.Late
		}
		if late > 0 {
			fmt.Fprintln(&b, "What is late should have been deleted by now: unless Halfpoint was off, its log says why.")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printDamage says for people what is damaged, and what to do about it.
func printDamage(b *strings.Builder, damage []store.Damage) {
	var damaged, games, rows []string
	for _, d := range damage {
		switch {
		case d.Table != "":
			rows = append(rows, fmt.Sprintf("%d %s of the table %s: %s.", d.Rows, plural(d.Rows, "row"), d.Table, d.Why))
		case d.Game == "":
			damaged = append(damaged, sentence(d.Why))
		default:
			games = append(games, gameDamage(d))
		}
	}
	for _, section := range []struct {
		title string
		lines []string
		todo  string
	}{
		{"The file is damaged:", damaged, "Stop Halfpoint, and restore the newest backup in which check finds nothing."},
		{"These games are damaged, by somebody who edited them or by the disk:", games,
			"Halfpoint refuses turns in such a game and tells its players so; all others go on. To have the games back, restore a backup in which check does not find them: halfpoint check BACKUP."},
		{"These rows are left over:", rows, "Nobody sees them, and Halfpoint does not need them. They come from a change by hand, or from a fault of Halfpoint: please report it if nobody has changed anything by hand."},
	} {
		if len(section.lines) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", section.title)
		for _, line := range section.lines[:min(len(section.lines), mostShown)] {
			fmt.Fprintf(b, "  %s\n", line)
		}
		if n := len(section.lines) - mostShown; n > 0 {
			fmt.Fprintf(b, "  And %d more; --json lists all.\n", n)
		}
		fmt.Fprintln(b, section.todo)
	}
}

// gameDamage says what is wrong with a game, or with a league or tournament.
func gameDamage(d store.Damage) string {
	what, line := "Game", "event"
	if d.OfContest() {
		what, line = "Event", "line"
	}
	said := fmt.Sprintf("%s %d in %s", what, d.Number, joined("/", d.Where.Platform, d.Where.Channel))
	if d.Where.Platform == "" {
		said = what
	}
	said += fmt.Sprintf(" (%s)", d.Game)
	if d.Seq > 0 {
		said += fmt.Sprintf(", %s %d", line, d.Seq)
	}
	return said + ": " + sentence(d.Why)
}

// sentence ends a text with a full stop.
func sentence(text string) string { return strings.TrimSuffix(text, ".") + "." }

// jobLine says what is still to be deleted.
func jobLine(j store.Job) string {
	switch {
	case j.Person != "":
		return fmt.Sprintf("person %s, who asked to be forgotten: %d %s left", j.Person, j.Rows, plural(j.Rows, "row"))
	case j.Server != "":
		return fmt.Sprintf("server %s, which the bot has left, with %d %s: from %s on", j.Server, j.Rows, plural(j.Rows, "game"), j.Due.Format("2 January 2006 15:04 MST"))
	}
	line := fmt.Sprintf("%d %s of the table %s that need not be kept any longer", j.Rows, plural(j.Rows, "row"), j.Table)
	if j.Late > 0 {
		line += fmt.Sprintf(", %d of them late", j.Late)
	}
	return line
}

// damageRow is what check and import print as JSON of something that is damaged.
type damageRow struct {
	Game     string `json:"game,omitempty"`
	Contest  string `json:"contest,omitempty"`
	Platform string `json:"platform,omitempty"`
	Channel  string `json:"channel,omitempty"`
	Number   int    `json:"number,omitempty"`
	Event    int    `json:"event,omitempty"` // of the game, or line of the log
	Table    string `json:"table,omitempty"`
	Rows     int    `json:"rows,omitempty"`
	Why      string `json:"why"`
}

func damageRows(damage []store.Damage) []damageRow {
	rows := []damageRow{}
	for _, d := range damage {
		row := damageRow{Game: string(d.Game), Platform: d.Where.Platform, Channel: d.Where.Channel, Number: d.Number, Event: d.Seq, Table: d.Table, Rows: d.Rows, Why: d.Why}
		if d.OfContest() {
			row.Game, row.Contest = "", row.Game
		}
		rows = append(rows, row)
	}
	return rows
}

// checkJSON returns what check prints as JSON.
func checkJSON(file string, r store.Report, begun time.Time) any {
	type job struct {
		Table  string `json:"table,omitempty"`
		Person string `json:"person,omitempty"`
		Server string `json:"server,omitempty"`
		Rows   int    `json:"rows"`
		Late   int    `json:"late"`
		Due    string `json:"due,omitempty"`
	}
	out := struct {
		File     string      `json:"file"`
		Games    int         `json:"games"`
		Old      int         `json:"old"`
		Events   int         `json:"events"`
		Contests int         `json:"contests"`
		Compared int         `json:"compared"` // games of the backup
		Damage   []damageRow `json:"damage"`
		Deleting []job       `json:"deleting"`
		Seconds  float64     `json:"seconds"`
	}{file, r.Games, r.Old, r.Events, r.Contests, r.Compared, damageRows(r.Damage), []job{}, since(begun)}
	for _, j := range r.Jobs {
		row := job{Table: j.Table, Person: string(j.Person), Server: j.Server, Rows: j.Rows, Late: j.Late}
		if !j.Due.IsZero() {
			row.Due = j.Due.Format(time.RFC3339)
		}
		out.Deleting = append(out.Deleting, row)
	}
	return out
}
