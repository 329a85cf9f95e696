package intake

import (
	"sync"
	"time"
)

// A Verdict is the decision of a Limit.
type Verdict int

// The verdicts.
const (
	Fine    Verdict = iota
	TooMuch         // and the person should be told
	Ignored         // and the person was told often enough
)

// A Limit lets a number of requests with the same key pass at once, and after that a
// number in each second. Its methods may be called concurrently.
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

// PerMinute returns a limit of n requests a minute, of which at most atOnce may come at
// once. The first told requests beyond it are TooMuch, the others Ignored.
func PerMinute(n, atOnce int, told float64) *Limit {
	return newLimit(float64(min(atOnce, n)), float64(n)/60, told)
}

func (l *Limit) fallen(v level, now time.Time) float64 {
	return max(0, v.high-now.Sub(v.at).Seconds()*l.perSecond)
}

// Take counts one more request with a key.
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
	l.used[key] = level{min(high, l.atOnce+l.told+1), now} // so that persistent people need not wait longer than others
	switch {
	case high <= l.atOnce:
		return Fine
	case high <= l.atOnce+l.told:
		return TooMuch
	}
	return Ignored
}
