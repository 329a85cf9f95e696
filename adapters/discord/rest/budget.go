package rest

import (
	"net/http"
	"sync"
	"time"
)

// invalidSpan is the time in which Discord counts invalid requests.
const invalidSpan = 10 * time.Minute

// A budget is the number of invalid requests that may be made in that time.
// Those under way count as invalid until they are known not to be.
type budget struct {
	mu    sync.Mutex
	max   int
	under int
	times []time.Time
}

// begin returns 0, or the time until which not to ask.
func (b *budget) begin(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.times) > 0 && now.Sub(b.times[0]) >= invalidSpan {
		b.times = b.times[1:]
	}
	switch {
	case len(b.times) >= b.max:
		return b.times[0].Add(invalidSpan).Sub(now)
	case len(b.times)+b.under >= b.max:
		return time.Second
	}
	b.under++
	return 0
}

// end says what became of it.
func (b *budget) end(now time.Time, invalid bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under--
	if invalid {
		b.times = append(b.times, now)
	}
}

// isInvalid reports whether Discord counts a request as invalid.
func isInvalid(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true
	case http.StatusTooManyRequests:
		return resp.Header.Get("X-RateLimit-Scope") != ScopeShared
	}
	return false
}
