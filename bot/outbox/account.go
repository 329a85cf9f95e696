package outbox

import (
	"errors"
	"sync"
	"time"
)

// narrowFor is how long an account sends one post at a time after it was held.
const narrowFor = time.Minute

// An account tracks the rate limit of a platform. The zero value has no limit. Its
// methods may be called concurrently.
type account struct {
	mu               sync.Mutex
	perSecond, burst float64 // burst 0: no limit is known
	spent            float64 // tokens, as of at; more than burst if posts did not care
	at               time.Time
	until            time.Time // when something may be sent again
	narrowUntil      time.Time // one post at a time
}

// limit sets how many messages a second the platform takes in the long run, and how
// many at once.
func (a *account) limit(perSecond float64, burst int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.perSecond, a.burst = perSecond, float64(burst)
}

// spend takes a token for something that is being sent.
func (a *account) spend(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	a.spent = min(a.spent+1, 2*a.burst)
}

// refund gives a token back, for something that was not sent after all.
func (a *account) refund(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	a.spent = max(0, a.spent-1)
}

// unsent reports whether a platform has sent nothing that counts against its limit before
// it returned an error.
func unsent(err error) bool {
	var wait RetryAfter
	var no Forbidden
	return errors.Is(err, ErrStale) || errors.As(err, &wait) && !wait.Account || errors.As(err, &no) && no.Unasked
}

func (a *account) refill(now time.Time) {
	switch d := now.Sub(a.at); {
	case d > 0:
		a.spent, a.at = max(0, a.spent-d.Seconds()*a.perSecond), now
	case d < -time.Minute: // the clock was ahead
		a.until, a.narrowUntil, a.at = a.until.Add(d), a.narrowUntil.Add(d), now
	}
}

// decorationWait returns how long the next decoration must wait; 0: not at all.
func (a *account) decorationWait(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	wait := max(0, a.until.Sub(now))
	if over := a.spent + 1 - a.burst/2; a.burst > 0 && over > 0 {
		wait = max(wait, time.Duration(over/a.perSecond*float64(time.Second))+time.Millisecond)
	}
	return wait
}

// hold stops all sending for a while, because the platform asks for that.
func (a *account) hold(now time.Time, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	if until := now.Add(wait); until.After(a.until) {
		a.until, a.narrowUntil = until, until.Add(narrowFor)
	}
	a.spent = max(a.spent, a.burst)
}

// held returns until when nothing may be sent; zero if something may be sent now.
func (a *account) held(now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refill(now)
	if now.Before(a.until) {
		return a.until
	}
	return time.Time{}
}

// narrow reports whether posts must be sent one at a time.
func (a *account) narrow(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.Before(a.narrowUntil)
}

// accounts are those of the platforms, by name.
type accounts struct{ sync.Map }

func (as *accounts) of(platform string) *account {
	a, known := as.Load(platform)
	if !known {
		a, _ = as.LoadOrStore(platform, &account{})
	}
	return a.(*account)
}
