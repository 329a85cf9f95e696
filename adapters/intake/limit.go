package intake

import (
	"sync"
	"time"
)

// A Verdict is what a Limit says.
type Verdict int

// The verdicts.
const (
	Fine    Verdict = iota
	TooMuch         // and it is to be said so
	Ignored         // and it was said often enough
)

// A Limit lets so much pass at once under a key, and so much a second after
// that. It may be used from any number of goroutines.
type Limit struct {
	atOnce, perSecond, told float64

	mu    sync.Mutex
	used  map[string]level
	swept time.Time
}

// A level falls with time.
type level struct {
	high float64
	at   time.Time
}

func newLimit(atOnce, perSecond, told float64) *Limit {
	return &Limit{atOnce: atOnce, perSecond: perSecond, told: told, used: map[string]level{}}
}

// PerMinute makes a limit of n a minute, of which atOnce may come at once, if they are
// as many. Of what is too much, told times it is to be said so before the rest is
// ignored.
func PerMinute(n, atOnce int, told float64) *Limit {
	return newLimit(float64(min(atOnce, n)), float64(n)/60, told)
}

func (l *Limit) fallen(v level, now time.Time) float64 {
	return max(0, v.high-now.Sub(v.at).Seconds()*l.perSecond)
}

// Take counts one more under a key.
func (l *Limit) Take(key string, now time.Time) Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) > time.Minute {
		l.swept = now
		for k, v := range l.used {
			if l.fallen(v, now) == 0 {
				delete(l.used, k)
			}
		}
	}
	high := l.fallen(l.used[key], now) + 1
	l.used[key] = level{min(high, l.atOnce+l.told+1), now} // who goes on and on waits no longer than others
	switch {
	case high <= l.atOnce:
		return Fine
	case high <= l.atOnce+l.told:
		return TooMuch
	}
	return Ignored
}
