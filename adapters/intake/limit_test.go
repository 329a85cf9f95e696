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
