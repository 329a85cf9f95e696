package main

import (
	"time"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

type restoreCmd struct {
	Backup string `arg:"" help:"Backup to restore."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Run puts a backup in the place of the database, and says where that is kept.
func (c *restoreCmd) Run(e *env) error {
	s, err := e.settings()
	if err != nil {
		return err
	}
	if err := onlyFiles(s.Database, "pg_restore"); err != nil {
		return err
	}
	ctx, stop := interrupted()
	defer stop()
	begun := time.Now()
	restored, kept, err := store.Restore(ctx, s.Database, c.Backup, begun, e.working)
	if err != nil {
		return unusable(err)
	}
	return e.done(c.JSON, replacement{summaryOf(restored, begun), kept, "Restored"})
}
