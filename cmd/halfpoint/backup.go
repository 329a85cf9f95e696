package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

type backupCmd struct {
	Target string `arg:"" help:"New file to write, or a folder, in which the backup gets a dated name." placeholder:"FILE"`
	Keep   int    `help:"In a folder, keep only the newest N backups." placeholder:"N"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// A summary is what commands print of a database file as JSON.
type summary struct {
	File    string  `json:"file"`
	Bytes   int64   `json:"bytes"`
	Games   int     `json:"games"`
	Version int64   `json:"version"` // of the tables
	Seconds float64 `json:"seconds"`
}

func summaryOf(s store.Summary, begun time.Time) summary {
	return summary{s.File, s.Bytes, s.Games, s.Version, since(begun)}
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
	out := struct {
		summary
		Removed []string `json:"removed"` // older backups
		Ahead   []string `json:"ahead"`   // backups that seem to be of the future
	}{summaryOf(made, begun), []string{}, []string{}}
	if c.Keep > 0 {
		removed, ahead, err := store.RemoveBackups(database, made.File, c.Keep)
		if err != nil {
			return fmt.Errorf("%s is complete, but older backups could not be removed: %w", made.File, err)
		}
		out.Removed, out.Ahead = append(out.Removed, removed...), append(out.Ahead, ahead...)
	}
	if c.JSON {
		return writeJSON(e.out, out)
	}
	fmt.Fprintf(e.out, "%s: %s, %d %s.\n", made.File, megabytes(made.Bytes), made.Games, plural(made.Games, "game"))
	for _, name := range out.Removed {
		fmt.Fprintf(e.out, "Removed %s.\n", name)
	}
	for _, name := range out.Ahead {
		fmt.Fprintf(e.out, "%s seems to be from the future; it is kept and does not count.\n", name)
	}
	return nil
}

// unusable gives errors about the content of a file the status of bad content.
func unusable(err error) error {
	if errors.Is(err, store.ErrUnreadable) || errors.Is(err, store.ErrNewer) {
		return usageError{err}
	}
	return err
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
