package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

type backupCmd struct {
	Target string `arg:"" help:"New file to write, or a folder, in which the backup gets a dated name." placeholder:"FILE"`
	Keep   int    `help:"In a folder, keep only the newest N backups." placeholder:"N"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// A summary is what commands print of a new file, as JSON or in words.
type summary struct {
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes"`
	Games   int     `json:"games"`
	Last    string  `json:"last"`    // the time of the last event of a game; empty: there is none
	Version int64   `json:"version"` // of the tables; of an export, of its form
	Seconds float64 `json:"seconds"`
}

func summaryOf(s store.Summary, begun time.Time) summary {
	last := ""
	if !s.Last.IsZero() {
		last = s.Last.UTC().Format(time.RFC3339)
	}
	return summary{s.File, s.Bytes, s.Games, last, s.Version, since(begun)}
}

func (s summary) String() string {
	text := fmt.Sprintf("%s: %s, %d %s", s.File, megabytes(s.Bytes), s.Games, plural(s.Games, "game"))
	if last, err := time.Parse(time.RFC3339, s.Last); err == nil {
		text += ", last change on " + last.Format("2 January 2006 at 15:04:05 UTC")
	}
	return text + ".\n"
}

// A replacement is what commands print of a new database.
type replacement struct {
	summary
	Kept string `json:"kept"` // the old one; empty: there was none
	did  string
}

func (r replacement) String() string {
	text := r.did + " " + r.summary.String()
	switch _, err := os.Stat(r.Kept); {
	case r.Kept == "":
	case err != nil: // somebody deleted it
		text += "The log of a database that is no longer there is now " + r.Kept + "-wal.\n"
	default:
		text += "The old database is now " + r.Kept + ".\n"
	}
	return text
}

// done prints what a command has done.
func (e *env) done(asJSON bool, what fmt.Stringer) error {
	if asJSON {
		return writeJSON(e.out, what)
	}
	_, err := fmt.Fprint(e.out, what)
	return err
}

// since returns the seconds since a time, in steps of a millisecond.
func since(begun time.Time) float64 { return float64(time.Since(begun).Milliseconds()) / 1000 }

// Run copies the database, whether the bot is running or not.
func (c *backupCmd) Run(e *env) error {
	if c.Keep < 0 {
		return usageError{errors.New("--keep must be a positive number")}
	}
	database, err := e.existingDatabase()
	if err != nil {
		return err
	}
	if err := onlyFiles(database, "pg_dump"); err != nil {
		return err
	}
	if c.Keep > 0 && !isFolder(c.Target) {
		return usageError{fmt.Errorf("--keep is for a folder, and %s is none", c.Target)}
	}
	ctx, stop := interrupted()
	defer stop()
	lowerPriority()
	begun := time.Now()
	made, err := store.Backup(ctx, database, c.Target, begun, e.working)
	if err != nil {
		return unusable(err)
	}
	out := backedUp{summaryOf(made, begun), []string{}, []string{}}
	if c.Keep > 0 {
		removed, ahead, err := store.RemoveBackups(database, made.File, c.Keep)
		if err != nil {
			return fmt.Errorf("%s is complete, but older backups could not be removed: %w", made.File, err)
		}
		out.Removed, out.Ahead = append(out.Removed, removed...), append(out.Ahead, ahead...)
	}
	return e.done(c.JSON, out)
}

// backedUp is what backup prints.
type backedUp struct {
	summary
	Removed []string `json:"removed"` // older backups
	Ahead   []string `json:"ahead"`   // backups that seem to be of the future
}

func (b backedUp) String() string {
	text := b.summary.String()
	for _, name := range b.Removed {
		text += "Removed " + name + ".\n"
	}
	for _, name := range b.Ahead {
		text += name + " seems to be from the future; it is kept and does not count.\n"
	}
	return text
}

// unusable gives errors about the content of a file the status of bad content.
func unusable(err error) error {
	if errors.Is(err, store.ErrUnreadable) || errors.Is(err, store.ErrNewer) {
		return usageError{err}
	}
	return err
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
