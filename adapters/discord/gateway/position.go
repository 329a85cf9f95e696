package gateway

import (
	"context"
	"sync"
)

// A position is how far a shard has come in its session. Its methods may be called
// concurrently.
type position struct {
	mu      sync.Mutex
	session Session        // Seq is that of the last event received
	undone  map[int64]bool // events of this session that are received and not done
	open    int            // events of all sessions that are not done
	idle    chan struct{}  // closed when none is; nil: nobody waits for that
}

// enter begins a session, or goes on with one; the zero Session is none.
func (p *position) enter(s Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.undone = s, map[int64]bool{}
}

// received returns the session as it is resumed.
func (p *position) received() Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session
}

// seq returns the number of the last event received; 0: there is none.
func (p *position) seq() int64 { return p.received().Seq }

// receive notes that all events up to a number are received.
func (p *position) receive(seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session.Seq = max(p.session.Seq, seq)
}

// begin notes that there is something to do about an event, which is not received yet, until
// done is called.
func (p *position) begin(seq int64) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.undone
	of[seq] = true
	p.open++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(of, seq)
		if p.open--; p.open == 0 && p.idle != nil {
			close(p.idle)
			p.idle = nil
		}
	})
}

// done returns the session for another process, which goes on before the first event that is
// not done.
func (p *position) done() Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.session
	for seq := range p.undone {
		s.Seq = min(s.Seq, seq-1)
	}
	return s
}

// wait waits until all events are done, or ctx is.
func (p *position) wait(ctx context.Context) {
	p.mu.Lock()
	if p.open == 0 {
		p.mu.Unlock()
		return
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
