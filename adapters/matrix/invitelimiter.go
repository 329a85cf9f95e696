package matrix

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"maunium.net/go/mautrix/id"
)

// How often the bot joins: into the rooms of one who invites it, and into all.
const (
	joinsEachAtOnce = 5
	joinsEachEvery  = 30 * time.Second
	joinsAtOnce     = 10
	joinsEvery      = 6 * time.Second
)

// inviteLimiter makes invitations wait in the order in which they came: first for
// those of the same inviter, so that one inviter with many cannot keep others waiting,
// then for all. Its methods may be called concurrently.
type inviteLimiter struct {
	mu   sync.Mutex
	all  *rate.Limiter
	each map[id.UserID]*inviter
	asks map[id.EventID]*ask
}

// An inviter is somebody who invites the bot.
type inviter struct {
	*rate.Limiter
	told bool // that invitations wait
}

// An ask is an invitation that waits.
type ask struct {
	at    time.Time // of its next step
	ready bool      // that step is joining
}

// wait returns how long an invitation still has to wait.
func (g *inviteLimiter) wait(e id.EventID, by id.UserID, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all, g.each, g.asks = rate.NewLimiter(rate.Every(joinsEvery), joinsAtOnce), map[id.UserID]*inviter{}, map[id.EventID]*ask{}
	}
	a := g.asks[e]
	if a == nil {
		l := g.each[by]
		if l == nil {
			for k, l := range g.each { // forget people without a recent invitation
				if l.TokensAt(now) >= joinsEachAtOnce {
					delete(g.each, k)
				}
			}
			l = &inviter{Limiter: rate.NewLimiter(rate.Every(joinsEachEvery), joinsEachAtOnce)}
			g.each[by] = l
		}
		l.told = l.told && l.TokensAt(now) < joinsEachAtOnce
		a = &ask{at: now.Add(l.ReserveN(now, 1).DelayFrom(now))}
		g.asks[e] = a
	}
	if !a.ready && !now.Before(a.at) {
		a.at, a.ready = now.Add(g.all.ReserveN(now, 1).DelayFrom(now)), true
	}
	return a.at.Sub(now)
}

// tells reports whether an inviter should get the message that invitations wait: once
// until they have invited the bot nowhere for a while.
func (g *inviteLimiter) tells(by id.UserID, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.each[by]
	if l == nil || l.told || l.TokensAt(now) >= 0 { // they wait for those of others
		return false
	}
	l.told = true
	return true
}

// tried ends the waiting of an invitation; another try waits anew.
func (g *inviteLimiter) tried(e id.EventID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.asks, e)
}

// forget ends the waiting of all invitations.
func (g *inviteLimiter) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.asks)
}
