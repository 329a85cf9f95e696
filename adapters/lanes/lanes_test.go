package lanes

import (
	"context"
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
	l := New(Config{Workers: 8, Total: 100})
	var mu sync.Mutex
	done := map[string][]int{}
	var beside [keys]int32
	for i := range each {
		for k := range keys {
			key := fmt.Sprint(k)
			err := l.Go(t.Context(), key, func() {
				if atomic.AddInt32(&beside[k], 1) != 1 {
					t.Error("two pieces of one key at the same time")
				}
				mu.Lock()
				done[key] = append(done[key], i)
				mu.Unlock()
				atomic.AddInt32(&beside[k], -1)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Close()
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
	if len(done) != keys || len(l.lanes) != 0 || l.Waiting() != 0 {
		t.Errorf("%d keys; %d lanes and %d places stay", len(done), len(l.lanes), l.Waiting())
	}
}

// What fails, fails alone.
func TestPanic(t *testing.T) {
	var told []any
	l := New(Config{Workers: 1, Panic: func(v any) { told = append(told, v) }})
	n := 0
	for i := range 10 {
		l.Go(t.Context(), "k", func() { //nolint:errcheck // counted
			if i%2 == 0 {
				panic(i)
			}
			n++
		})
	}
	l.Close()
	if n != 5 || fmt.Sprint(told) != "[0 2 4 6 8]" {
		t.Errorf("%d done, told of %v", n, told)
	}
}

// However much waits under one key, others have their turn.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Workers: 1})
		for range 1000 {
			l.Go(t.Context(), "loud", func() { time.Sleep(time.Second) }) //nolint:errcheck // not full
		}
		began := time.Now()
		var quiet time.Duration
		l.Go(t.Context(), "quiet", func() { quiet = time.Since(began) }) //nolint:errcheck // not full
		l.Close()
		if quiet > 2*time.Second {
			t.Errorf("waited %v", quiet)
		}
	})
}

func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Workers: 1, Total: 10, PerKey: 3})
		hold := make(chan struct{})
		refused := 0
		for range 8 {
			if err := l.Go(t.Context(), "a", func() { <-hold }); errors.Is(err, ErrFull) {
				refused++
			}
			synctest.Wait()
		}
		if refused != 4 { // one runs and three wait
			t.Errorf("%d refused", refused)
		}
		for i := range 6 {
			if err := l.Go(t.Context(), fmt.Sprint(i), func() {}); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Go(ctx, "b", func() {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("no place: %v", err)
		}
		if err := l.Try("b", func() {}); !errors.Is(err, ErrFull) {
			t.Errorf("no place: %v", err)
		}
		waiting := make(chan error)
		go func() { waiting <- l.Go(t.Context(), "c", func() {}) }()
		synctest.Wait()
		close(hold)
		if err := <-waiting; err != nil {
			t.Errorf("when there was a place: %v", err)
		}
		tried := false
		if err := l.Try("a", func() { tried = true }); err != nil {
			t.Errorf("when there are places: %v", err)
		}
		l.Close()
		if !tried {
			t.Error("taken and not done")
		}
		if err := l.Go(t.Context(), "d", func() {}); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if err := l.Try("d", func() {}); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}
