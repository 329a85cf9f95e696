package matrix

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A pace is how much the homeserver may be sent: it counts each event that the bot sends to
// all rooms together. The outbox counts calls of Deliver, of which some send several events.
type pace struct {
	mu      sync.Mutex
	tokens  *rate.Limiter
	limited time.Time // when the homeserver last said that it was too much
	until   time.Time // and before when it takes nothing
}

// sent takes note of an event that was sent, and of how long the homeserver asks to
// wait; 0: it took it.
func (p *pace) sent(now time.Time, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens.AllowN(now, 1)
	if wait > 0 {
		p.tokens.AllowN(now, int(p.tokens.TokensAt(now))) // it has none left
		p.limited = now
		if until := now.Add(wait); until.After(p.until) {
			p.until = until
		}
	}
}

// wait returns for how long nothing is to be sent.
func (p *pace) wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.until.Sub(now))
}

// background returns how long n low-priority messages must wait, so that half of what the
// homeserver takes at once is left after them. If they are more than the other half, they
// wait until it takes as much as it ever does. 0: they may be sent now.
func (p *pace) background(now time.Time, n int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	burst := float64(p.tokens.Burst())
	missing := min(burst/2+float64(n), burst) - p.tokens.TokensAt(now)
	return max(0, p.until.Sub(now), time.Duration(missing/float64(p.tokens.Limit())*float64(time.Second)))
}

// limitedSince reports whether the homeserver has said since a time that it was too
// much.
func (p *pace) limitedSince(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limited.After(t)
}
