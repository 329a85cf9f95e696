package backoff

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestAfter(t *testing.T) {
	const s = time.Second
	for failures, want := range map[int]time.Duration{-1: 0, 0: 0, 1: s, 2: 2 * s, 3: 4 * s, 4: 8 * s, 5: 10 * s, 6: 10 * s, math.MaxInt: 10 * s} {
		if got := After(failures, s, 10*s); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
	if got := After(3, s, s/2); got != s/2 {
		t.Errorf("%v is longer than the longest", got)
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := Sleep(t.Context(), time.Hour); err != nil || time.Since(start) != time.Hour {
			t.Error(time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := Sleep(ctx, time.Hour); err != context.DeadlineExceeded || time.Since(start) != time.Hour+time.Minute {
			t.Error(time.Since(start), err)
		}
	})
}
