// Package intake limits the work that people can cause in an adapter. A [Queue] runs
// requests on a limited number of goroutines, in order where order matters; a [Limit]
// limits how often a person may ask.
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

// A Queue runs work: pieces with the same key one after another in their order, others
// concurrently.
//
//	q := intake.NewQueue(16, nil)
//	q.Go("thread 4711", func() { … })
//	q.Close()
//
// Keys take turns: however much work waits under one key, the first piece of another
// waits for no more than one piece of each. The methods may be called concurrently.
type Queue struct {
	panicked func(any)

	mu      sync.Mutex
	wake    *sync.Cond
	keys    map[string]*line
	ready   []*line // those with work that no worker runs
	waiting int
	closed  bool
	group   sync.WaitGroup
}

// A line is the work of one key.
type line struct {
	key  string
	work []func()
}

// NewQueue starts a number of workers. A panic ends only one piece of work; panicked,
// which may be nil, is called with its value.
func NewQueue(workers int, panicked func(value any)) *Queue {
	q := &Queue{panicked: panicked, keys: map[string]*line{}}
	q.wake = sync.NewCond(&q.mu)
	for range workers {
		q.group.Go(q.run)
	}
	return q
}

// Go queues work after earlier work with the same key. It does not block.
func (q *Queue) Go(key string, work func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.add(key, work)
}

// Once queues work as [Queue.Go] does, unless some waits under the key that has not begun.
func (q *Queue) Once(key string, work func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := q.keys[key]; at != nil && len(at.work) > 0 {
		return nil
	}
	return q.add(key, work)
}

// add queues work. The caller holds q.mu.
func (q *Queue) add(key string, work func()) error {
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

// Waiting returns the number of pieces that wait or run.
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

// try does a piece of work; a panic ends only that piece.
func (q *Queue) try(work func()) {
	defer func() {
		if v := recover(); v != nil && q.panicked != nil {
			q.panicked(v)
		}
	}()
	work()
}

// Close stops accepting work and returns when all accepted work is done.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.wake.Broadcast()
	q.mu.Unlock()
	q.group.Wait()
}
