package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

type restoreCmd struct {
	Backup string `arg:"" help:"Backup to restore."`
}

// Run puts a backup in the place of the database, and says where that is kept.
func (c *restoreCmd) Run(e *env) error {
	s, err := e.settings()
	if err != nil {
		return err
	}
	ctx, stop := interrupted()
	defer stop()
	kept, err := store.Restore(ctx, s.Database, c.Backup, time.Now())
	if errors.Is(err, store.ErrUnreadable) || errors.Is(err, store.ErrNewer) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.out, "Restored %s.\n", s.Database)
	if kept != "" {
		fmt.Fprintf(e.out, "The old database is now %s.\n", kept)
	}
	return nil
}
