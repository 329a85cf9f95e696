package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// existingDatabase returns the path of the database, or an error if there is none, so
// that no empty one is made.
func (e *env) existingDatabase() (string, error) {
	s, err := e.settings()
	if err != nil {
		return "", err
	}
	if store.IsPostgres(s.Database) { // nobody makes one by naming it
		return s.Database, nil
	}
	if _, err := os.Stat(s.Database); err != nil {
		return "", plain(s.Database, err)
	}
	return s.Database, nil
}

// onlyFiles returns an error for a database that is no file, and says which program of
// PostgreSQL does the same.
func onlyFiles(database, instead string) error {
	if !store.IsPostgres(database) {
		return nil
	}
	return usageError{fmt.Errorf("%s is on PostgreSQL, and this command is for SQLite files; use %s, or halfpoint export and import", store.Redacted(database), instead)}
}

type exportCmd struct {
	Target string `arg:"" optional:"" help:"New file to write; without it, or for -, standard output." placeholder:"FILE"`
	Out    string `short:"o" hidden:"" help:"The same, as earlier releases have it." placeholder:"FILE"`
	JSON   bool   `name:"json" help:"Print JSON about the new file."`
}

// Run writes the whole database as lines of JSON, whether the bot is running or not.
func (c *exportCmd) Run(e *env) (err error) {
	target := c.Target
	if target == "" {
		target = c.Out
	} else if c.Out != "" {
		return usageError{errors.New("name one file to write")}
	}
	toOutput := target == "" || target == "-"
	if toOutput && c.JSON {
		return usageError{errors.New("--json is about a new file; name one to write")}
	}
	database, err := e.existingDatabase()
	if err != nil {
		return err
	}
	ctx, stop := interrupted()
	defer stop()
	lowerPriority()
	begun := time.Now()
	if toOutput {
		context.AfterFunc(ctx, stop) // the reader of the output may block us: a second signal ends the program
		_, err := store.Export(ctx, database, e.out, e.working)
		return unusable(err)
	}
	made, err := store.ExportTo(ctx, database, target, e.working)
	if err != nil {
		return unusable(err)
	}
	return e.done(c.JSON, summaryOf(made, begun))
}

type importCmd struct {
	File string `arg:"" help:"Export to read; - reads standard input."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help says what is checked.
func (importCmd) Help() string {
	return "Every game is played again from its events, and its proofs are checked. A damaged game is imported, too, since Halfpoint refuses turns in that one alone. The exit status is 0 if all is done and nothing is damaged, 1 if something is, or if there is no new database, and 2 if the export is wrong."
}

// An importedFile is what import prints of a new database.
type importedFile struct {
	replacement
	Damage []damageRow `json:"damage"`
	found  []store.Damage
}

func (i importedFile) String() string {
	var b strings.Builder
	b.WriteString(i.replacement.String())
	printDamage(&b, i.found)
	return b.String()
}

// Run makes a new database from an export.
func (c *importCmd) Run(e *env) error {
	s, err := e.settings()
	if err != nil {
		return err
	}
	in, size := e.in, int64(0)
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return plain(c.File, err)
		}
		defer f.Close()
		info, err := f.Stat()
		switch {
		case err != nil:
			return plain(c.File, err)
		case info.IsDir():
			return fmt.Errorf("%s: is a directory", c.File)
		}
		in, size = f, info.Size()
	}
	ctx, stop := interrupted()
	defer stop()
	// Whoever writes to standard input may block us: then an interrupt need not wait.
	from, to := io.Pipe()
	go func() {
		_, err := io.Copy(to, &counted{Reader: in, e: e, what: "importing", size: size})
		if err != nil {
			err = plain(c.File, err)
		}
		to.CloseWithError(err)
	}()
	defer context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })()
	begun := time.Now()
	made, kept, err := store.Import(ctx, s.Database, from, begun, e.working)
	if bad := (*store.BadExport)(nil); errors.As(err, &bad) {
		return usageError{fmt.Errorf("%s: %w", c.File, err)}
	}
	if err != nil {
		return err
	}
	out := importedFile{replacement{summaryOf(made, begun), kept, "Imported"}, damageRows(made.Damage), made.Damage}
	return cmp.Or(e.done(c.JSON, out), damaged(store.Redacted(s.Database), made.Damage))
}
