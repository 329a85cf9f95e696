package intake

import (
	"sync/atomic"
	"time"
)

// A Mark is the time at which something last happened. The zero value says that it never
// has. Its methods may be called concurrently.
type Mark struct{ at atomic.Pointer[time.Time] }

// Set notes that it has happened at a time.
func (m *Mark) Set(at time.Time) { m.at.Store(&at) }

// At returns when it last happened; zero: never.
func (m *Mark) At() time.Time {
	if at := m.at.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// A State is whether something is so, and since when. The zero value says that it is not and
// never was. Its methods may be called concurrently.
type State struct{ now atomic.Pointer[state] }

type state struct {
	is    bool
	since time.Time
}

// Set notes that it is so, or is not, from a time on.
func (s *State) Set(is bool, from time.Time) {
	for {
		was := s.now.Load()
		if was != nil && was.is == is || was == nil && !is || s.now.CompareAndSwap(was, &state{is, from}) {
			return
		}
	}
}

// Is reports whether it is so, and since when; zero: it never was.
func (s *State) Is() (is bool, since time.Time) {
	if now := s.now.Load(); now != nil {
		return now.is, now.since
	}
	return false, time.Time{}
}
