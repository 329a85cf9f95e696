package rest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A gate lets requests through in the order of their priority, so many in any
// second. Nobody waits at it for longer than they have patience.
type gate struct {
	mu       sync.Mutex
	all, low window
	patience time.Duration
	closed   time.Time
	waiting  []*waiter // ordinary ones first, each kind in the order of coming
	timer    *time.Timer
}

type waiter struct {
	low  bool
	done chan error
}

func newGate(perSecond, lowPerSecond int, patience time.Duration) *gate {
	return &gate{all: newWindow(perSecond), low: newWindow(lowPerSecond), patience: patience}
}

// pass waits for its turn.
func (g *gate) pass(ctx context.Context, low bool) error {
	g.mu.Lock()
	now := time.Now()
	if wait := g.closed.Sub(now); wait > 0 {
		g.mu.Unlock()
		return &RateLimited{Wait: wait, Scope: ScopeGlobal}
	}
	place := len(g.waiting)
	if !low {
		place = slices.IndexFunc(g.waiting, func(w *waiter) bool { return w.low })
		if place < 0 {
			place = len(g.waiting)
		}
	}
	if place == 0 && g.next(low, now) <= 0 {
		g.take(low, now)
		g.mu.Unlock()
		return nil
	}
	rate := len(g.all.times)
	if low {
		rate = len(g.low.times)
	}
	if wait := time.Duration(place+1) * time.Second / time.Duration(rate); wait > max(g.patience, 0) {
		g.mu.Unlock()
		return &RateLimited{Wait: wait, Scope: ScopeOwn}
	}
	w := &waiter{low: low, done: make(chan error, 1)}
	g.waiting = slices.Insert(g.waiting, place, w)
	g.arm(now)
	g.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return ctx.Err()
}

// close lets nobody through for a while and sends away those who wait.
func (g *gate) close(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t := time.Now().Add(d); t.After(g.closed) {
		g.closed = t
	}
	for _, w := range g.waiting {
		w.done <- &RateLimited{Wait: d, Scope: ScopeGlobal}
	}
	g.waiting = nil
}

// next is the time until a request of this kind may pass.
func (g *gate) next(low bool, now time.Time) time.Duration {
	d := g.all.next(now)
	if low {
		d = max(d, g.low.next(now))
	}
	return d
}

func (g *gate) take(low bool, now time.Time) {
	g.all.take(now)
	if low {
		g.low.take(now)
	}
}

// open lets through whom it can, and sets the timer for the next.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = nil
	now := time.Now()
	for len(g.waiting) > 0 && g.next(g.waiting[0].low, now) <= 0 {
		w := g.waiting[0]
		g.waiting = g.waiting[1:]
		g.take(w.low, now)
		w.done <- nil
	}
	g.arm(now)
}

func (g *gate) arm(now time.Time) {
	if len(g.waiting) > 0 {
		if g.timer != nil {
			g.timer.Stop()
		}
		g.timer = time.AfterFunc(max(g.next(g.waiting[0].low, now), time.Millisecond), g.open)
	}
}

// span is the second in which a window counts, with a little for the way there.
const span = time.Second + 50*time.Millisecond

// A window counts what passed in the last second.
type window struct {
	times []time.Time // a ring; at is the oldest
	at    int
}

func newWindow(n int) window { return window{times: make([]time.Time, max(n, 1))} }

func (w *window) next(now time.Time) time.Duration { return w.times[w.at].Add(span).Sub(now) }

func (w *window) take(now time.Time) {
	w.times[w.at] = now
	w.at = (w.at + 1) % len(w.times)
}

// until is a time before which something is not done.
type until struct {
	mu sync.Mutex
	t  time.Time
}

func (u *until) set(t time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if t.After(u.t) {
		u.t = t
	}
}

func (u *until) left(now time.Time) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.t.Sub(now)
}

// refusals is how long nothing is asked because the token is not accepted: longer
// each time. A single refusal may be a slip of Discord's.
type refusals struct {
	until
	n int // one after another
}

// learn notes whether the token was refused.
func (r *refusals) learn(refused bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !refused:
		r.n, r.t = 0, time.Time{}
	case !r.t.After(now): // otherwise asked before it was known
		r.t = now.Add(min(refusedMin<<min(r.n, 16), refusedMax))
		r.n++
	}
}
