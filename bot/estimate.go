package bot

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules"
)

// An estimator ensures that estimates of the score do not slow turns down. They are
// made while a post is worded or a question answered, after the turn is stored and
// never under a lock: one at a time, and none while many requests come in.
type estimator struct {
	calm    *rate.Limiter // of requests; those beyond its rate pause estimates
	crowded atomic.Int64  // until when, in milliseconds of Unix time
	slot    chan struct{} // held while an estimate is made
}

// Limits of estimates. One takes up to 60 milliseconds of a processor; the benchmarks
// of turns make 600 requests a second, a busy server one.
const (
	calmRequests = 10                     // a second
	calmBurst    = 20                     // requests at once
	crowdStays   = time.Second            // after the last request that was too many
	estimateWait = 100 * time.Millisecond // for the one before it
	estimateSeed = 1                      // any will do; the same seed makes the same estimate of the same position
)

func newEstimator() *estimator {
	return &estimator{calm: rate.NewLimiter(calmRequests, calmBurst), slot: make(chan struct{}, 1)}
}

// asked counts a request.
func (e *estimator) asked(now time.Time) {
	if !e.calm.AllowN(now, 1) {
		e.crowded.Store(now.Add(crowdStays).UnixMilli())
	}
}

// hold takes the slot, or reports false if other work should have the processor. The
// caller releases the slot by reading from it.
func (e *estimator) hold(ctx context.Context, now time.Time) bool {
	if now.UnixMilli() < e.crowded.Load() {
		return false
	}
	select {
	case e.slot <- struct{}{}:
		return true
	default:
	}
	patience := time.NewTimer(estimateWait)
	defer patience.Stop()
	select {
	case e.slot <- struct{}{}:
		return true
	case <-patience.C:
	case <-ctx.Done():
	}
	return false
}

// An about is an estimated margin, or none: the zero value.
type about struct {
	margin rules.Points
	some   bool
}

// estimate returns by how much Black is ahead of White in a game in play, if
// playouts can tell, the game has hints, and the bot has a moment to spare.
func (b *Bot) estimate(ctx context.Context, m match.Match, p *match.Position) about {
	if m.NoHints || p.Placing > 0 || p.Over() || !p.Game.Estimable() {
		return about{}
	}
	if a, known := b.cache.estimated(m.ID, p); known {
		return a
	}
	if !b.estimator.hold(ctx, b.now()) {
		return about{}
	}
	defer func() { <-b.estimator.slot }()
	a, known := b.cache.estimated(m.ID, p) // by the goroutine that had the slot
	if known {
		return a
	}
	if e, ok := p.Game.Estimate(estimateSeed); ok && e.Clear {
		a = about{e.Margin, true}
	}
	b.cache.keepEstimate(m.ID, p, a)
	return a
}
