//go:build !unix

package main

import (
	"context"
	"log/slog"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// backups needs a signal that this system does not have: stop the program and
// use halfpoint export.
func backups(context.Context, *store.Store, string, *slog.Logger) {}
