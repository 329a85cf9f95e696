//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// backups writes a copy of the database beside it whenever the process gets
// SIGUSR1, until ctx is done. Games go on meanwhile.
func backups(ctx context.Context, st *store.Store, database string, log *slog.Logger) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		defer signal.Stop(asked)
		for {
			select {
			case <-ctx.Done():
				return
			case <-asked:
			}
			path := database + "." + time.Now().UTC().Format("20060102T150405Z") + ".backup"
			if err := st.Backup(ctx, path); err != nil {
				log.Error("backup failed", "error", err)
				continue
			}
			log.Info("backup written", "file", path)
		}
	}()
}
