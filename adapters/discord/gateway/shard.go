package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// A shard is kept connected by one connection after another.
type shard struct {
	g         *Gateway
	id, total int
	base      string // where the gateway is; empty: not known yet
	log       *slog.Logger
	events    chan func()   // handle what was received
	keep      func(Session) // for the next process; nil: the session ends with this one
	begun     chan struct{} // holds a value when a session has begun that is not kept yet
	starts    *rate.Limiter // of Identify

	at         position
	unanswered int       // Resumes in a row that Discord did not answer
	resuming   time.Time // when the connection of the first of them was opened

	mu        sync.Mutex
	connected bool
	since     time.Time
	heartbeat time.Time // when one was acknowledged last
}

// maxResumes is how many Resumes in a row may stay unanswered. Discord sometimes
// never answers them (https://github.com/discord/discord-api-docs/issues/1619);
// identifying helps.
const maxResumes = 3

// handle handles an event. A panic costs that one alone.
func (s *shard) handle(event func(done func()), done func()) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("event handling panicked", "panic", v, "stack", string(debug.Stack()))
			done()
		}
	}()
	event(done)
}

func newShard(g *Gateway, id, total int) *shard {
	return &shard{g: g, id: id, total: total, since: time.Now(), log: g.log.With("shard", id),
		events: make(chan func(), mostEvents), begun: make(chan struct{}, 1), starts: rate.NewLimiter(rate.Every(time.Hour/perHour), perHour)}
}

// serve is the shard's time in this process.
func (s *shard) serve(ctx context.Context) error {
	if s.keep == nil {
		return s.run(ctx)
	}
	keeping, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	from := s.at.done()
	group.Go(func() { s.keeps(keeping, from) })
	err := s.run(ctx)
	stop()
	group.Wait()
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), doneTime)
	defer cancel()
	s.at.wait(late)
	s.keep(s.at.done())
	return err
}

// keeps keeps the session as it gets on from the one that is kept, until ctx is done.
func (s *shard) keeps(ctx context.Context, kept Session) {
	tick := time.NewTicker(keepTime)
	defer tick.Stop()
	for {
		select {
		case <-s.begun:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if now := s.at.done(); now != kept {
			s.keep(now)
			kept = now
		}
	}
}

// run connects until ctx is done or there is no point.
func (s *shard) run(ctx context.Context) error {
	var handling sync.WaitGroup
	handling.Go(func() {
		for e := range s.events {
			e()
		}
	})
	defer handling.Wait()
	defer close(s.events)
	failures := 0
	var wait time.Duration
	for backoff.Sleep(ctx, wait) == nil {
		began, seq := time.Now(), s.at.seq()
		end := s.connect(ctx, failures)
		s.down()
		if ctx.Err() != nil {
			return nil
		}
		f := fatal(end.code)
		if f == nil {
			f = fatalOf(end.err) // of a token that was never good
		}
		if f != nil {
			s.log.Error("gateway connection closed by Discord, will not reconnect", "code", end.code, "error", f)
			return f
		}
		received := end.ready || s.at.seq() > seq
		forgotten := end.again || end.code == closeSeq || end.code == closeTime || end.code == closeNoLogin
		// That Discord does not resume the session is how a longer outage ends: it is there.
		there := received || forgotten && end.resumed
		switch {
		case there:
			failures, s.unanswered = 0, 0
		case end.resumed:
			if s.unanswered == 0 {
				s.resuming = began
			}
			s.unanswered++
		}
		if forgotten {
			s.forget()
		}
		wait = max(end.wait, time.Until(began.Add(paceTime)))
		if there {
			s.log.Info("gateway connection closed, will reconnect", "code", end.code, "error", end.err, "wait", wait)
		} else {
			failures++
			wait = max(wait, min(until(failures, began, end.err), s.resumeLeft()))
			s.log.Warn("gateway connection failed, will retry", "code", end.code, "error", end.err, "wait", wait)
		}
	}
	return nil
}

// resumeLeft returns how long the session may still be resumed.
func (s *shard) resumeLeft() time.Duration {
	switch {
	case s.unanswered == 0:
		return math.MaxInt64
	case s.unanswered >= maxResumes:
		return 0
	}
	return max(0, time.Until(s.resuming.Add(resumeTime)))
}

// connect is one connection, from its beginning to its end.
func (s *shard) connect(ctx context.Context, failures int) ending {
	if s.resumeLeft() == 0 {
		s.log.Warn("Discord did not answer Resume, will identify", "resumes", s.unanswered)
		s.forget()
	}
	identified, session := func() {}, s.at.received()
	address := session.URL
	if session.ID == "" {
		if wait := time.Duration((1 - s.starts.Tokens()) * float64(time.Hour/perHour)); wait > 0 {
			s.log.Error("too many session starts in an hour, will wait", "wait", wait)
			if err := backoff.Sleep(ctx, wait+time.Millisecond); err != nil {
				return ending{err: err}
			}
		}
		base, done, err := s.g.start.acquire(ctx, s.id)
		if err != nil {
			return ending{err: err}
		}
		s.base, address = base, base
		once := sync.Once{}
		identified = func() { once.Do(func() { done(true) }) }
		defer once.Do(func() { done(false) })
	} else if failures%2 == 1 {
		// It may be the other address alone that is out of order.
		if s.base == "" { // another process began the session
			if info, err := s.g.start.info(ctx); err == nil {
				s.base = info.URL
			}
		}
		address = cmp.Or(s.base, address)
	}
	within := min(startTime, s.resumeLeft())
	socket, err := dial(ctx, address, s.g.cfg.Dial, within)
	if err != nil {
		return ending{err: err}
	}
	c := &connection{s: s, socket: socket, address: address, session: session, identified: identified, beat: make(chan struct{}, 1)}
	return c.run(ctx, within)
}

// begin begins the session that READY tells of, at an address if READY names none.
func (s *shard) begin(ready json.RawMessage, address string) {
	var session Session
	if err := json.Unmarshal(ready, &session); err != nil {
		s.log.Warn("READY only partly readable, will use the rest")
	}
	session.URL, session.Seq = cmp.Or(session.URL, address), 0
	s.at.enter(session)
}

// forget drops the session: the next connection identifies.
func (s *shard) forget() {
	s.unanswered = 0
	s.at.enter(Session{})
}

// down records that the shard is disconnected.
func (s *shard) down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connected {
		s.connected, s.since = false, time.Now()
	}
}

// up records that the shard is connected, and reports it.
func (s *shard) up(resumed bool) {
	s.mu.Lock()
	away := time.Since(s.since)
	s.connected, s.since = true, time.Now()
	s.mu.Unlock()
	s.log.Info("gateway connected", "resumed", resumed, "outage", away.Round(time.Millisecond))
	if s.g.cfg.Connected != nil {
		s.g.cfg.Connected(resumed)
	}
}

// acknowledged records that Discord has acknowledged a heartbeat.
func (s *shard) acknowledged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heartbeat = time.Now()
}

func (s *shard) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Shard: s.id, Connected: s.connected, Since: s.since, Heartbeat: s.heartbeat}
}
