//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// refuseSignal answers SIGUSR1, with which earlier releases made a backup, until ctx is
// done: otherwise the signal would end the program.
func refuseSignal(ctx context.Context, log *slog.Logger) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		defer signal.Stop(asked)
		for {
			select {
			case <-ctx.Done():
				return
			case <-asked:
				log.Error("no backup: the signal SIGUSR1 makes none any more; run halfpoint backup FILE")
			}
		}
	}()
}
