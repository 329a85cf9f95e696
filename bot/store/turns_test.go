package store

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// There is one turn in each span, whoever asks, and those of another name are others.
func TestTurns(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		const n, every = 10, time.Minute
		var mu sync.Mutex
		var waits []time.Duration
		var group sync.WaitGroup
		began := time.Now()
		for range n {
			group.Go(func() {
				wait, err := s.Turn(t.Context(), "a", every)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				waits = append(waits, wait)
			})
		}
		group.Wait()
		took := time.Since(began)
		slices.Sort(waits)
		for i, wait := range waits {
			if late := time.Duration(i)*every - wait; late < 0 || late > took+time.Second {
				t.Errorf("turn %d is after %v", i, wait)
			}
		}
		if wait, err := s.Turn(t.Context(), "b", every); err != nil || wait != 0 {
			t.Errorf("another waits %v, %v", wait, err)
		}
		// What the clock of the database was set back from does not stop everybody for days.
		ahead := time.Now().Add(48 * time.Hour)
		must(t, s.SetBookmark(context.Background(), turnMark+"a", strconv.FormatInt(ahead.UnixMilli(), 10)))
		if wait, err := s.Turn(t.Context(), "a", every); err != nil || wait != 0 {
			t.Errorf("after the clock was set back: %v, %v", wait, err)
		}
	})
}
