package outbox

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// Decorations wait no longer because the bot believed a clock that was ahead.
func TestAccountAfterAClockWasAhead(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	a := NewAccount(0.2, 10)
	a.Spend(now.AddDate(1, 0, 0), 10)
	if a.Wait(now, 1, 0) == 0 {
		t.Error("what was spent is forgotten")
	}
	if wait := a.Wait(now.Add(time.Minute), 1, 0); wait > 0 {
		t.Errorf("a minute later they wait for %v", wait)
	}
}

// What was not sent costs nothing, so that a room which refuses posts does not hold up
// the decorations of others.
func TestUnsentCostsNothing(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err   error
		waits bool
	}{
		{nil, true},
		{Forbidden{Permission: "write"}, true},
		{RetryAfter{Wait: time.Minute, Account: true}, true},
		{errors.New("connection reset"), true},
		{Forbidden{Permission: "write", Unasked: true}, false},
		{fmt.Errorf("in a thread: %w", RetryAfter{Wait: time.Minute}), false},
		{ErrStale, false},
	} {
		a := NewAccount(0.2, 10)
		for range 10 {
			a.Spend(now, 1)
			if unsent(c.err) {
				a.Spend(now, -1)
			}
		}
		if waits := a.Wait(now, 1, 0) > 0; waits != c.waits {
			t.Errorf("after ten times %v decorations wait: %v", c.err, waits)
		}
	}
}
