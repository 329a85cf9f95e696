package matrixtest

import (
	"sync"
	"time"
)

// patience is how long a test waits for what should come. It only bounds how long a
// broken test takes.
const patience = 2 * time.Minute

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

// await waits until something is so, and reports false if it never is. The caller does
// not hold the mutex, nor does await while it asks.
func (w *watched) await(so func() bool) bool {
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
