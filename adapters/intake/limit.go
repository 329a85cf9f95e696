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
	TooMuch         // and the person should get a warning
	Ignored         // and the person had enough warnings
)

// A Limit lets a number of requests with the same key pass at once, and after that a
// number in each second. Its methods may be called concurrently.
type Limit struct {
	atOnce, perSecond, told float64

	mu      sync.Mutex
	used    map[string]level
	swept   time.Time
	refused uint64
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

// New returns a limit of atOnce requests at the same time, and of perMinute later on, for
// [Limit.Spend].
func New(atOnce, perMinute float64) *Limit { return newLimit(atOnce, perMinute/60, 0) }

func (l *Limit) fallen(v level, now time.Time) float64 {
	return max(0, v.high-now.Sub(v.at).Seconds()*l.perSecond)
}

// Take counts one more request with a key.
func (l *Limit) Take(key string, now time.Time) Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	high := l.fallen(l.used[key], now) + 1
	l.used[key] = level{min(high, l.atOnce+l.told+1), now} // so that persistent people need not wait longer than others
	if high <= l.atOnce {
		return Fine
	}
	l.refused++
	if high <= l.atOnce+l.told {
		return TooMuch
	}
	return Ignored
}

// Spend counts n more requests with a key, or as many units of something, if the limit
// allows them all, and returns 0. Otherwise it counts nothing and returns after how long
// they would be allowed. More than twice the limit at once counts as that: it bounds the
// wait. Spending -n takes n back. A limit that is nil allows everything.
func (l *Limit) Spend(key string, n float64, now time.Time) (wait time.Duration) {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	before := l.fallen(l.used[key], now)
	high := max(0, before+n)
	switch {
	case high == 0:
		delete(l.used, key)
	case n < 0, high <= l.atOnce, before == 0: // what is more than the limit at once has to wait until all is free
		l.used[key] = level{min(high, 2*l.atOnce), now}
	default:
		l.refused++
		return time.Duration(min(high-l.atOnce, before) / l.perSecond * float64(time.Second))
	}
	return 0
}

// Refused returns how often the limit has refused something. A limit that is nil never has.
func (l *Limit) Refused() uint64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// sweep forgets the keys that have fallen to 0, once a minute. The caller holds l.mu.
func (l *Limit) sweep(now time.Time) {
	if now.Sub(l.swept) <= time.Minute {
		return
	}
	l.swept = now
	for k, v := range l.used {
		if l.fallen(v, now) == 0 {
			delete(l.used, k)
		}
	}
}
