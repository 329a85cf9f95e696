package intake

import (
	"testing"
	"time"
)

func TestLimit(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		told float64
		want []Verdict
	}{
		{2, []Verdict{Fine, Fine, Fine, TooMuch, TooMuch, Ignored, Ignored}},
		{1, []Verdict{Fine, Fine, Fine, TooMuch, Ignored, Ignored, Ignored}},
	} {
		l := newLimit(3, 1, c.told)
		for k, want := range c.want {
			if got := l.Take("x", now); got != want {
				t.Errorf("told %v: the %d. is %v", c.told, k+1, got)
			}
		}
		if l.Take("y", now) != Fine {
			t.Error("another is not heard")
		}
		if got := l.Take("x", now.Add(4*time.Second)); got != Fine {
			t.Errorf("after a while: %v", got)
		}
		l.Take("z", now.Add(time.Hour))
		if len(l.used) != 1 {
			t.Errorf("%d are remembered", len(l.used))
		}
	}
}

// What is spent comes back with time. A refusal counts nothing, says how long to wait, and
// after that time the same is allowed.
func TestSpend(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	l := New(10, 60)
	for _, c := range []struct {
		after time.Duration
		n     float64
		wait  time.Duration
	}{
		{0, 4, 0},
		{0, 6, 0},
		{0, 1, time.Second},
		{0, 3, 3 * time.Second},
		{3 * time.Second, 3, 0},
		{0, -3, 0}, // taken back
		{0, 3, 0},
		{time.Second, 25, 9 * time.Second}, // more than ever is allowed has to wait until all is there
		{9 * time.Second, 25, 0},           // counts as 20
		{15 * time.Second, 10, 5 * time.Second},
		{5 * time.Second, 1e18, 0},
		{0, 1, 11 * time.Second},
	} {
		now = now.Add(c.after)
		if got := l.Spend("x", c.n, now); got != c.wait {
			t.Errorf("%v more after %v: wait %v, not %v", c.n, c.after, got, c.wait)
		}
	}
	if l.Spend("y", 10, now) != 0 || (*Limit)(nil).Spend("x", 1000, now) != 0 {
		t.Error("another key, or no limit, has to wait")
	}
	if l.Spend("y", -10, now); len(l.used) != 1 {
		t.Errorf("%d are remembered", len(l.used))
	}
}
