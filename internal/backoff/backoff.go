// Package backoff waits before something that failed is tried again.
package backoff

import (
	"context"
	"time"
)

// After returns how long to wait after so many failures in a row: not at all after none,
// first after one, twice as long after each further one, but never longer than most.
func After(failures int, first, most time.Duration) time.Duration {
	if failures <= 0 {
		return 0
	}
	wait := first
	for n := 1; n < failures && wait < most; n++ {
		wait *= 2
	}
	return min(wait, most)
}

// Sleep waits for d. If ctx ends first, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
