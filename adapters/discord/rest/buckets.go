package rest

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Buckets are what Discord's headers say of how often a route may be asked.
// Routes that name the same bucket share it, for the same top-level resource.
// A bucket that is full again is forgotten.
type buckets struct {
	mu    sync.Mutex
	name  map[string]string // method and route → Discord's name of the bucket
	live  map[string]*bucket
	swept time.Time
}

// sweepTime is how often full buckets are looked for.
const sweepTime = 10 * time.Second

// A bucket holds so many requests until it is filled again. Until its first
// answer nothing is known of it, and one request finds out.
type bucket struct {
	all       *buckets
	route     string // method and route
	major     string
	known     bool
	unlimited bool // it has no headers
	limit     int
	remaining int
	reset     time.Time
	under     int           // requests under way
	changed   chan struct{} // closed when something has changed
}

func newBuckets() *buckets {
	return &buckets{name: map[string]string{}, live: map[string]*bucket{}}
}

// take takes a place in the bucket of q. It waits for others that find out how
// large the bucket is; an empty one is RateLimited.
func (a *buckets) take(ctx context.Context, q call) (*bucket, error) {
	if q.single {
		return nil, nil
	}
	route := q.method + " " + q.route
	for {
		a.mu.Lock()
		now := time.Now()
		a.sweep(now)
		b := a.get(route, q.major)
		if b.known && !now.Before(b.reset) {
			b.remaining = b.limit
		}
		switch {
		case b.unlimited, !b.known && b.under == 0, b.known && b.remaining > b.under:
			b.under++
			a.mu.Unlock()
			return b, nil
		case b.known && b.remaining == 0:
			wait := b.reset.Sub(now)
			a.mu.Unlock()
			return nil, &RateLimited{What: q.what, Wait: wait, Scope: ScopeUser}
		}
		changed := b.changed
		a.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, &NotSent{What: q.what, Cause: ctx.Err()}
		}
	}
}

// get finds the bucket of a route, or makes one.
func (a *buckets) get(route, major string) *bucket {
	name := a.name[route]
	if name == "" {
		name = route
	}
	key := name + " " + major
	b := a.live[key]
	if b == nil {
		b = &bucket{all: a, route: route, major: major, changed: make(chan struct{})}
		a.live[key] = b
	}
	return b
}

// sweep forgets buckets that are full.
func (a *buckets) sweep(now time.Time) {
	if now.Sub(a.swept) < sweepTime {
		return
	}
	a.swept = now
	left := map[string]*bucket{} // a map does not give back what it once needed
	for key, b := range a.live {
		if b.under > 0 || now.Before(b.reset) {
			left[key] = b
		}
	}
	a.live = left
}

// giveBack is for a request that has no answer.
func (b *bucket) giveBack() {
	if b == nil {
		return
	}
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.left()
}

func (b *bucket) left() {
	b.under--
	close(b.changed)
	b.changed = make(chan struct{})
}

// learn is for a request that has one.
func (b *bucket) learn(h http.Header, status int, now time.Time) {
	if b == nil {
		return
	}
	a := b.all
	a.mu.Lock()
	defer a.mu.Unlock()
	b.left()
	scope := h.Get("X-RateLimit-Scope")
	if status == http.StatusTooManyRequests && (h.Get("X-RateLimit-Global") != "" || scope == ScopeGlobal) {
		return // says nothing of this bucket
	}
	if name := h.Get("X-RateLimit-Bucket"); name != "" && a.name[b.route] != name {
		a.name[b.route] = name
		b.known, b.unlimited, b.limit, b.remaining, b.reset = false, false, 0, 0, time.Time{}
		b = a.get(b.route, b.major)
	}
	limit, err := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	after := seconds(h.Get("X-RateLimit-Reset-After"))
	if status == http.StatusTooManyRequests {
		remaining, err2 = 0, nil
		after = max(after, seconds(h.Get("Retry-After")))
		if err != nil {
			limit, err = max(b.limit, 1), nil
		}
	}
	if err != nil || err2 != nil {
		b.unlimited = !b.known
		return
	}
	reset := now.Add(after)
	if b.known && reset.Sub(b.reset).Abs() < time.Second/2 {
		remaining = min(remaining, b.remaining) // answers may overtake one another
	}
	b.known, b.unlimited = true, false
	b.limit, b.remaining, b.reset = max(limit, 1), max(remaining, 0), reset
}
