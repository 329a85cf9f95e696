package intake

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Work of one key is done in order and never beside itself.
func TestOrder(t *testing.T) {
	const keys, each = 20, 500
	q := NewQueue(8, nil)
	var mu sync.Mutex
	done := map[string][]int{}
	var beside [keys]atomic.Int32
	for i := range each {
		for k := range keys {
			key := fmt.Sprint(k)
			err := q.Go(key, func() {
				if beside[k].Add(1) != 1 {
					t.Error("two pieces of one key at the same time")
				}
				mu.Lock()
				done[key] = append(done[key], i)
				mu.Unlock()
				beside[k].Add(-1)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	q.Close()
	for key, list := range done {
		if len(list) != each {
			t.Errorf("key %s: %d of %d", key, len(list), each)
		}
		for i, n := range list {
			if n != i {
				t.Fatalf("key %s: %d came as number %d", key, n, i)
			}
		}
	}
	if len(done) != keys || len(q.keys) != 0 || q.Waiting() != 0 {
		t.Errorf("%d keys; %d lines and %d pieces stay", len(done), len(q.keys), q.Waiting())
	}
}

// Of work that is queued once, one piece waits while another runs.
func TestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(2, nil)
		held, times := make(chan struct{}), 0
		for range 3 {
			synctest.Wait() // the first piece runs
			if err := q.Once("x", func() { <-held; times++ }); err != nil {
				t.Fatal(err)
			}
		}
		close(held)
		q.Close()
		if times != 2 {
			t.Errorf("ran %d times", times)
		}
		if err := q.Once("x", nil); err != ErrClosed {
			t.Error(err)
		}
	})
}

// A failing job does not affect others.
func TestPanic(t *testing.T) {
	var told []any
	q := NewQueue(1, func(v any) { told = append(told, v) })
	n := 0
	for i := range 10 {
		q.Go("k", func() { //nolint:errcheck // counted
			if i%2 == 0 {
				panic(i)
			}
			n++
		})
	}
	q.Close()
	if n != 5 || fmt.Sprint(told) != "[0 2 4 6 8]" {
		t.Errorf("%d done, told of %v", n, told)
	}
}

// However much waits under one key, others have their turn.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, nil)
		for range 1000 {
			q.Go("loud", func() { time.Sleep(time.Second) }) //nolint:errcheck // not full
		}
		began := time.Now()
		var quiet time.Duration
		q.Go("quiet", func() { quiet = time.Since(began) }) //nolint:errcheck // not full
		q.Close()
		if quiet > 2*time.Second {
			t.Errorf("waited %v", quiet)
		}
	})
}

// A full queue refuses jobs until there is room again.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, nil)
		hold := make(chan struct{})
		done := 0
		work := func() { <-hold; done++ }
		q.Go("a", work) //nolint:errcheck // counted
		synctest.Wait() // it runs
		for range mostPerKey {
			if err := q.Go("a", work); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Go("a", work); !errors.Is(err, ErrFull) {
			t.Errorf("too much of one key: %v", err)
		}
		for i := q.Waiting(); i < mostWaiting; i++ {
			if err := q.Go(fmt.Sprint(i), work); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Go("b", work); !errors.Is(err, ErrFull) {
			t.Errorf("too much altogether: %v", err)
		}
		close(hold)
		synctest.Wait()
		if err := q.Go("a", work); err != nil {
			t.Errorf("when there is room: %v", err)
		}
		q.Close()
		if done != mostWaiting+1 {
			t.Errorf("%d done", done)
		}
		if err := q.Go("c", work); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}
