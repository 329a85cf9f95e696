package outbox

import (
	"errors"
	"sync"
	"time"
)

const (
	// narrowFor is how long an account sends one post at a time after it was held.
	narrowFor = time.Minute
	// patience is how long low-priority messages wait until they leave a single token for
	// posts instead of half of the burst.
	patience = 45 * time.Second
)

// An Account tracks how much a platform may be sent. The zero value has no limit. Its
// methods may be called concurrently.
type Account struct {
	mu               sync.Mutex
	perSecond, burst float64 // burst 0: no limit is known
	spent            float64 // tokens, as of at; more than burst if posts did not care
	at               time.Time
	until            time.Time // when something may be sent again
	narrowUntil      time.Time // one post at a time
}

// NewAccount returns an account of a platform that takes so many messages a second in the
// long run, and so many at once.
func NewAccount(perSecond float64, burst int) *Account {
	return &Account{perSecond: perSecond, burst: float64(burst)}
}

// Spend takes n tokens for messages that are being sent. If n is negative it gives them back,
// for messages that were not sent after all.
func (a *Account) Spend(now time.Time, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	a.spent = min(max(0, a.spent+float64(n)), 2*a.burst)
}

// unsent reports whether a platform has sent nothing that counts against its limit before
// it returned an error.
func unsent(err error) bool {
	var wait RetryAfter
	var no Forbidden
	return errors.Is(err, ErrStale) || errors.As(err, &wait) && !wait.Account || errors.As(err, &no) && no.Unasked
}

func (a *Account) refill(now time.Time) {
	switch d := now.Sub(a.at); {
	case d > 0:
		a.spent, a.at = max(0, a.spent-d.Seconds()*a.perSecond), now
	case d < -time.Minute: // the clock was ahead
		a.until, a.narrowUntil, a.at = a.until.Add(d), a.narrowUntil.Add(d), now
	}
}

// Wait returns how long n low-priority messages must wait that have waited for a while
// already; 0: not at all. At first they leave half of the burst for posts, then ever less,
// and one token in the end. If they need more than the burst they wait for all of it.
func (a *Account) Wait(now time.Time, n int, waited time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	wait := max(0, a.until.Sub(now))
	if a.burst == 0 {
		return wait
	}
	half, left := a.burst/2, a.burst-a.spent
	slope := max(0, half-1) / patience.Seconds()
	for _, to := range []struct{ reserve, perSecond float64 }{
		{min(1, half), a.perSecond},
		{half - slope*max(0, waited.Seconds()), a.perSecond + slope},
	} {
		if missing := min(to.reserve+float64(n), a.burst) - left; missing > 0 {
			wait = max(wait, time.Duration(missing/to.perSecond*float64(time.Second))+time.Millisecond)
		}
	}
	return wait
}

// HeldSince reports whether the platform has asked to wait since a time.
func (a *Account) HeldSince(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.narrowUntil.Add(-narrowFor).After(t)
}

// hold stops all sending for a while, because the platform asks for that.
func (a *Account) hold(now time.Time, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	if until := now.Add(wait); until.After(a.until) {
		a.until, a.narrowUntil = until, until.Add(narrowFor)
	}
	a.spent = max(a.spent, a.burst)
}

// held returns until when nothing may be sent; zero if something may be sent now.
func (a *Account) held(now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	if now.Before(a.until) {
		return a.until
	}
	return time.Time{}
}

// atOnce returns how many messages may be sent at once, of most: for a while after a hold it
// is one.
func (a *Account) atOnce(now time.Time, most int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Before(a.narrowUntil) {
		return 1
	}
	return most
}

// accounts are those of the platforms, by name.
type accounts struct{ sync.Map }

func (as *accounts) of(platform string) *Account {
	a, known := as.Load(platform)
	if !known {
		a, _ = as.LoadOrStore(platform, &Account{})
	}
	return a.(*Account)
}
