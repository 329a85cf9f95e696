package discord

import (
	"sync"
	"time"
)

// How much a person, and a channel, may ask: so many at once, and then so many
// a second.
const (
	personAtOnce, personPerSecond   = 10, 1
	channelAtOnce, channelPerSecond = 40, 2
)

// What a limit says.
type verdict int

const (
	fine    verdict = iota
	tooMuch         // it is to be said so
	ignored         // it was said often enough
)

// A limit lets so many pass at once under a key, and so many a second after
// them. It may be used from any number of goroutines.
type limit struct {
	atOnce, perSecond float64

	mu    sync.Mutex
	used  map[string]level
	swept time.Time
}

// A level falls with time.
type level struct {
	high float64
	at   time.Time
}

func newLimit(atOnce, perSecond float64) *limit {
	return &limit{atOnce: atOnce, perSecond: perSecond, used: map[string]level{}}
}

func (l *limit) fallen(v level, now time.Time) float64 {
	return max(0, v.high-now.Sub(v.at).Seconds()*l.perSecond)
}

// take counts one more under a key.
func (l *limit) take(key string, now time.Time) verdict {
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
	l.used[key] = level{min(high, 2*l.atOnce), now} // who goes on and on has to wait no longer
	switch {
	case high <= l.atOnce:
		return fine
	case high <= 2*l.atOnce-1:
		return tooMuch
	}
	return ignored
}
