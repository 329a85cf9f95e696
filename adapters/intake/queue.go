// Package intake bounds what people can have an adapter do: a [Queue] runs what they
// ask for, on a bounded number of goroutines and in order where order counts; a
// [Limit] bounds how often somebody may ask at all.
package intake

import (
	"errors"
	"sync"
)

// How much may wait in a queue, altogether and under one key.
const (
	mostWaiting = 16384
	mostPerKey  = 1024
)

// Errors of [Queue.Go].
var (
	ErrFull   = errors.New("queue is full")
	ErrClosed = errors.New("queue is closed")
)

// A Queue runs work: pieces with the same key one after another in the order in
// which they came, others beside each other.
//
//	q := intake.NewQueue(16, nil)
//	q.Go("thread 4711", func() { … })
//	q.Close()
//
// Keys take turns: however much waits under one, the first piece of another has to
// wait for no more than one piece of each. The methods may be called concurrently.
type Queue struct {
	panicked func(any)

	mu      sync.Mutex
	wake    *sync.Cond
	keys    map[string]*line
	ready   []*line // those with work that no worker has
	waiting int
	closed  bool
	group   sync.WaitGroup
}

// A line is the work of one key.
type line struct {
	key  string
	work []func()
}

// NewQueue starts so many workers. A panic ends one piece of work alone; panicked is
// told the value, and may be nil.
func NewQueue(workers int, panicked func(value any)) *Queue {
	q := &Queue{panicked: panicked, keys: map[string]*line{}}
	q.wake = sync.NewCond(&q.mu)
	for range workers {
		q.group.Go(q.run)
	}
	return q
}

// Go has work done after what came before under the same key. It does not block.
func (q *Queue) Go(key string, work func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.keys[key]
	switch {
	case q.closed:
		return ErrClosed
	case q.waiting == mostWaiting, at != nil && len(at.work) == mostPerKey:
		return ErrFull
	case at == nil:
		at = &line{key: key}
		q.keys[key] = at
		q.ready = append(q.ready, at)
		q.wake.Signal()
	}
	at.work = append(at.work, work)
	q.waiting++
	return nil
}

// Waiting is how many pieces wait or run.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting
}

// run is a worker.
func (q *Queue) run() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.ready) == 0 {
			if q.closed {
				return
			}
			q.wake.Wait()
		}
		at := q.ready[0]
		q.ready = q.ready[1:]
		work := at.work[0]
		at.work = at.work[1:]
		q.mu.Unlock()
		q.try(work)
		q.mu.Lock()
		q.waiting--
		if len(at.work) == 0 {
			delete(q.keys, at.key)
		} else {
			q.ready = append(q.ready, at)
			q.wake.Signal()
		}
	}
}

// try does the work; a panic ends that piece alone.
func (q *Queue) try(work func()) {
	defer func() {
		if v := recover(); v != nil && q.panicked != nil {
			q.panicked(v)
		}
	}()
	work()
}

// Close takes no more work and returns when all that was taken is done.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.wake.Broadcast()
	q.mu.Unlock()
	q.group.Wait()
}
