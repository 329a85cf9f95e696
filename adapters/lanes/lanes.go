// Package lanes runs work on a bounded number of goroutines: pieces of work
// with the same key one after another in the order in which they came, others
// beside each other.
//
//	l := lanes.New(lanes.Config{Workers: 16})
//	l.Go(ctx, "thread 4711", func() { … })
//	l.Close()
//
// Keys take turns: however much waits under one key, the first piece of another
// has to wait for no more than one piece of each. A [Limit] bounds how often
// somebody may ask at all.
package lanes

import (
	"context"
	"errors"
	"sync"
)

// Config bounds what runs and what waits. Zero fields have the values named.
type Config struct {
	Workers int             // goroutines, 16
	Total   int             // pieces waiting at most, 16384; then Go blocks
	PerKey  int             // pieces waiting under one key, 1024; then Go gives ErrFull
	Panic   func(value any) // told what a piece of work panicked with; may be nil
}

// Errors of Go and Try.
var (
	ErrFull   = errors.New("too much waits")
	ErrClosed = errors.New("closed")
)

// Lanes is a set of workers. Its methods may be called from any goroutine.
type Lanes struct {
	cfg  Config
	room chan struct{} // a place for each piece that waits or runs
	done chan struct{}

	mu     sync.Mutex
	wake   *sync.Cond
	lanes  map[string]*lane
	ready  []*lane // those with work that no worker has
	closed bool
	group  sync.WaitGroup
}

type lane struct {
	key  string
	work []func()
}

// New starts the workers.
func New(cfg Config) *Lanes {
	if cfg.Workers <= 0 {
		cfg.Workers = 16
	}
	if cfg.Total <= 0 {
		cfg.Total = 16384
	}
	if cfg.PerKey <= 0 {
		cfg.PerKey = 1024
	}
	l := &Lanes{cfg: cfg, room: make(chan struct{}, cfg.Total), done: make(chan struct{}), lanes: map[string]*lane{}}
	l.wake = sync.NewCond(&l.mu)
	for range cfg.Workers {
		l.group.Go(l.run)
	}
	return l
}

// Go has work done after what came before under the same key. It blocks while
// too much waits altogether.
func (l *Lanes) Go(ctx context.Context, key string, work func()) error {
	select {
	case l.room <- struct{}{}:
	case <-l.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.put(key, work)
}

// Try is Go that never blocks: while too much waits altogether it gives ErrFull.
func (l *Lanes) Try(key string, work func()) error {
	select {
	case l.room <- struct{}{}:
	default:
		return ErrFull
	}
	return l.put(key, work)
}

// put places work for which there is room.
func (l *Lanes) put(key string, work func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.lanes[key]
	switch {
	case l.closed:
		<-l.room
		return ErrClosed
	case at == nil:
		at = &lane{key: key}
		l.lanes[key] = at
		l.ready = append(l.ready, at)
		l.wake.Signal()
	case len(at.work) >= l.cfg.PerKey:
		<-l.room
		return ErrFull
	}
	at.work = append(at.work, work)
	return nil
}

// Waiting is how many pieces wait or run.
func (l *Lanes) Waiting() int { return len(l.room) }

// run is a worker.
func (l *Lanes) run() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.ready) == 0 {
			if l.closed {
				return
			}
			l.wake.Wait()
		}
		at := l.ready[0]
		l.ready = l.ready[1:]
		work := at.work[0]
		at.work = at.work[1:]
		l.mu.Unlock()
		l.try(work)
		<-l.room
		l.mu.Lock()
		if len(at.work) == 0 {
			delete(l.lanes, at.key)
		} else {
			l.ready = append(l.ready, at)
			l.wake.Signal()
		}
	}
}

// try does the work; a panic ends that piece alone.
func (l *Lanes) try(work func()) {
	defer func() {
		if v := recover(); v != nil && l.cfg.Panic != nil {
			l.cfg.Panic(v)
		}
	}()
	work()
}

// Close takes no more work and returns when all that was taken is done.
func (l *Lanes) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
	}
	l.wake.Broadcast()
	l.mu.Unlock()
	l.group.Wait()
}
