//go:build !unix

package main

import (
	"context"
	"log/slog"
)

// refuseSignal does nothing: here is no such signal.
func refuseSignal(context.Context, *slog.Logger) {}
