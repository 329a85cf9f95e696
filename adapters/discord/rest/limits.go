package rest

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// Limits of Discord for a bot, besides buckets.
const (
	mostPerSecond = 50
	second        = time.Second + 50*time.Millisecond // with a little for the way there
	mostInvalid   = 500                               // a twentieth of what gets an address banned
	invalidSpan   = 10 * time.Minute                  // in which they are counted
)

// Pauses after responses that name none.
const (
	bannedTime = time.Minute
	refusedMin = time.Second // after the first refusal of the token, then twice as long each time
	refusedMax = 5 * time.Minute
)

// limits is what the client knows of how much it may ask, buckets aside. Its methods
// may be called concurrently.
type limits struct {
	processes func() int // see Config; may be nil

	mu      sync.Mutex
	passed  window // requests with the token
	invalid window // requests that Discord counted as invalid

	// Times before which no request is sent: after a ban by Cloudflare, after a limit of
	// Discord's for interaction routes or for all others, and after a refused token.
	banned, interactions, global, token time.Time

	refused int // times in a row that the token was not accepted
}

func newLimits(processes func() int) *limits {
	return &limits{processes: processes, passed: newWindow(mostPerSecond, second), invalid: newWindow(mostInvalid, invalidSpan)}
}

// pass waits until a request may be sent, no longer than patience.
func (l *limits) pass(ctx context.Context, q call, patience time.Duration) error {
	wait, err := l.take(q, patience)
	if err == nil && wait > 0 {
		if err := backoff.Sleep(ctx, wait); err != nil {
			return &NotSent{What: q.what, Cause: err}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.paused(q) // meanwhile, perhaps
	}
	return err
}

// take takes the next place for a request in a second, and returns when that comes.
func (l *limits) take(q call, patience time.Duration) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.paused(q); err != nil || q.open {
		return 0, err
	}
	share := mostPerSecond
	if l.processes != nil {
		share = max(1, mostPerSecond/max(1, l.processes()))
	}
	wait := time.Until(l.passed.free(share))
	if wait > patience {
		return 0, &RateLimited{What: q.what, Wait: wait, Scope: ScopeOwn}
	}
	l.passed.add(time.Now().Add(max(wait, 0)))
	return wait, nil
}

// paused says when a request may not be sent at all for now.
func (l *limits) paused(q call) error {
	pauses := []struct {
		until time.Time
		scope string
	}{{l.banned, ScopeCloudflare}, {l.invalid.free(mostInvalid), ScopeOwn}, {l.global, ScopeGlobal}, {l.token, ScopeToken}}
	if q.open { // people wait for these, and one server must not silence the others
		pauses = append(pauses[:1], pauses[2])
		pauses[1].until = l.interactions
	}
	for _, p := range pauses {
		if wait := time.Until(p.until); wait > 0 {
			return &RateLimited{What: q.what, Wait: wait, Scope: p.scope}
		}
	}
	return nil
}

// pause has nothing asked for a while: by Cloudflare's word nothing at all, by a
// global limit of Discord's nothing of the kind of q.
func (l *limits) pause(q call, scope string, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := &l.global
	switch {
	case scope == ScopeCloudflare:
		until = &l.banned
	case q.open:
		until = &l.interactions
	}
	if t := time.Now().Add(d); t.After(*until) {
		*until = t
	}
}

// learn counts a response. After one that refuses the token, the client pauses all
// requests with that token, longer each time: a single refusal may be a mistake of
// Discord's.
func (l *limits) learn(q call, resp *http.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	refused := resp.StatusCode == http.StatusUnauthorized
	limited := resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("X-RateLimit-Scope") != ScopeShared
	if refused || limited || resp.StatusCode == http.StatusForbidden {
		l.invalid.add(now)
	}
	switch {
	case q.open:
	case !refused:
		l.refused, l.token = 0, time.Time{}
	case !l.token.After(now): // otherwise asked before it was known
		l.refused++
		l.token = now.Add(backoff.After(l.refused, refusedMin, refusedMax))
	}
}

// A window holds the times of the last requests, in order, of which there may be so
// many in a span of time. (A bucket of tokens would let twice as many through in its
// first span.)
type window struct {
	span  time.Duration
	times []time.Time // a ring; at is the oldest
	at    int
}

func newWindow(n int, span time.Duration) window {
	return window{times: make([]time.Time, n), span: span}
}

// free is when there may be one more, if only n, which is no more than the window holds, may be
// in the span.
func (w *window) free(n int) time.Time {
	return w.times[(w.at+len(w.times)-n)%len(w.times)].Add(w.span)
}

func (w *window) add(t time.Time) {
	w.times[w.at] = t
	w.at = (w.at + 1) % len(w.times)
}
