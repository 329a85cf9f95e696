package matrixtest

import (
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// patience is how long a test waits for what should come in virtual time.
const patience = 2 * time.Minute

// patienceOf returns how long a test waits for what should come from the homeserver. It only
// bounds how long a broken test takes.
func (s *Server) patienceOf(t testing.TB) time.Duration {
	if s.Virtual() {
		return patience
	}
	return tier.Patience(t)
}

// A watched is a mutex that wakes those who wait for a change of what it guards.
type watched struct {
	sync.Mutex
	changed chan struct{} // closed and replaced at each change
}

// news returns a channel that is closed at the next change. The caller holds the mutex.
func (w *watched) news() <-chan struct{} {
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.changed
}

// tell says that there is a change. The caller holds the mutex.
func (w *watched) tell() {
	if w.changed != nil {
		close(w.changed)
	}
	w.changed = nil
}

// await waits until something is so, and reports false if it is not within patience. The
// caller does not hold the mutex, nor does await while it asks.
func (w *watched) await(patience time.Duration, so func() bool) bool {
	late := time.After(patience)
	for {
		w.Lock()
		changed := w.news()
		w.Unlock()
		if so() {
			return true
		}
		select {
		case <-changed:
		case <-late:
			return false
		}
	}
}
