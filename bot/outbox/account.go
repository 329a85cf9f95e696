package outbox

import "time"

// narrowFor is how long an account that was held sends one post at a time.
const narrowFor = time.Minute

// An account is what is known of how much a platform takes from the bot. The zero
// value takes any amount. It is not safe for concurrent use; a queue guards those
// that it holds.
type account struct {
	perSecond, burst float64 // burst 0: no limit is known
	spent            float64 // tokens, as of at; more than burst if posts did not care
	at               time.Time
	held             time.Time // nothing is sent before
	narrow           time.Time // one post at a time until
}

// limit says how many messages a second the platform takes for good, and how many
// at once.
func (a *account) limit(perSecond float64, burst int) {
	a.perSecond, a.burst = perSecond, float64(burst)
}

// spend takes a token for something that is being sent.
func (a *account) spend(now time.Time) {
	a.refill(now)
	a.spent = min(a.spent+1, 2*a.burst)
}

func (a *account) refill(now time.Time) {
	if d := now.Sub(a.at); d > 0 {
		a.spent, a.at = max(0, a.spent-d.Seconds()*a.perSecond), now
	}
}

// spare returns for how long no decoration may be sent; 0: one may be now.
func (a *account) spare(now time.Time) time.Duration {
	wait := max(0, a.held.Sub(now))
	a.refill(now)
	if over := a.spent + 1 - a.burst/2; a.burst > 0 && over > 0 {
		wait = max(wait, time.Duration(over/a.perSecond*float64(time.Second))+time.Millisecond)
	}
	return wait
}

// hold has nothing sent for a while: the platform has said so.
func (a *account) hold(now time.Time, wait time.Duration) {
	if until := now.Add(wait); until.After(a.held) {
		a.held, a.narrow = until, until.Add(narrowFor)
	}
	a.refill(now)
	a.spent = max(a.spent, a.burst)
}
