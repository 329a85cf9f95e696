package rest

import (
	"context"
	"math"
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

// A bucket holds a number of requests until Discord fills it again. Its size is unknown
// before its first response; until then it lets one request through.
type bucket struct {
	all       *buckets
	route     string // method and route
	major     string
	known     bool
	limit     int // [math.MaxInt]: it has no headers
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
		case !b.known && b.under == 0, b.known && b.remaining > b.under:
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

// done ends a request, and learns from its answer; nil if it has none. A nil bucket
// learns nothing.
func (b *bucket) done(resp *http.Response) {
	if b == nil {
		return
	}
	a := b.all
	a.mu.Lock()
	defer a.mu.Unlock()
	b.under--
	close(b.changed)
	b.changed = make(chan struct{})
	if resp == nil {
		return
	}
	h, limited := resp.Header, resp.StatusCode == http.StatusTooManyRequests
	if limited && (h.Get("X-RateLimit-Global") != "" || h.Get("X-RateLimit-Scope") == ScopeGlobal) {
		return // says nothing of this bucket
	}
	if name := h.Get("X-RateLimit-Bucket"); name != "" && a.name[b.route] != name {
		a.name[b.route] = name
		b.known = false
		b = a.get(b.route, b.major)
	}
	limit, err := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	remaining, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	after := seconds(h.Get("X-RateLimit-Reset-After"))
	switch {
	case limited:
		limit, remaining = max(limit, 1), 0
		after = max(after, seconds(h.Get("Retry-After")))
	case err != nil || err2 != nil:
		if b.known {
			return
		}
		limit, remaining = math.MaxInt, math.MaxInt
	}
	reset := time.Now().Add(after)
	if b.known && reset.Sub(b.reset).Abs() < time.Second/2 {
		remaining = min(remaining, b.remaining) // answers may overtake one another
	}
	b.known = true
	b.limit, b.remaining, b.reset = max(limit, 1), max(remaining, 0), reset
}
