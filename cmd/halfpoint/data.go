package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// existingDatabase returns the path of the database, or an error if there is none, so
// that no empty one is made.
func (e *env) existingDatabase() (string, error) {
	s, err := e.settings()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(s.Database); err != nil {
		return "", plain(s.Database, err)
	}
	return s.Database, nil
}

type exportCmd struct {
	Out string `short:"o" help:"New file to write; - writes to standard output." placeholder:"FILE" default:"-"`
}

// Run writes the whole database as lines of JSON.
func (c *exportCmd) Run(e *env) (err error) {
	database, err := e.existingDatabase()
	if err != nil {
		return err
	}
	ctx, stop := interrupted()
	defer stop()
	context.AfterFunc(ctx, stop) // the reader of the output may block us: a second signal ends the program
	st, err := store.Open(ctx, database)
	if err != nil {
		return err
	}
	defer st.Close()
	if c.Out == "-" {
		return st.Export(ctx, &counted{Writer: e.out, e: e, what: "exported"})
	}
	// Never overwrite a file, which may be an older export or the database. The export
	// contains people's names, so only its owner may read it.
	f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return plain(c.Out, err)
	}
	err = st.Export(ctx, &counted{Writer: f, e: e, what: "exported"})
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(c.Out)
		return plain(c.Out, err)
	}
	return nil
}

type importCmd struct {
	File string `arg:"" help:"Export to read; - reads standard input."`
}

// Run fills a new database with an export.
func (c *importCmd) Run(e *env) error {
	s, err := e.settings()
	if err != nil {
		return err
	}
	var in io.Reader = e.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return plain(c.File, err)
		}
		defer f.Close()
		in = f
	}
	// A signal ends the program at once; then nothing is imported.
	ctx := context.Background()
	st, err := store.Open(ctx, s.Database)
	if err != nil {
		return err
	}
	defer st.Close()
	err = st.Import(ctx, &counted{Reader: in, e: e, what: "imported"})
	var bad *store.BadExport
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad):
		return usageError{fmt.Errorf("%s: %w", c.File, err)}
	case errors.Is(err, store.ErrNotEmpty):
		return fmt.Errorf("%s: %w; import into a new one", s.Database, store.ErrNotEmpty)
	}
	return plain(c.File, err)
}
