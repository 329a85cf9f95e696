package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// A shard is kept connected by one connection after another.
type shard struct {
	g         *Gateway
	id, total int
	base      string // where the gateway is
	log       *slog.Logger
	events    chan func()   // handle what was received
	starts    *rate.Limiter // of Identify

	session    string // Discord's; empty: none to resume
	resumeURL  string
	unanswered int       // Resumes in a row that Discord did not answer
	resuming   time.Time // when the connection of the first of them was opened

	seq atomic.Int64 // of the last event received

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
func (s *shard) handle(event func()) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("event handling panicked", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	event()
}

// run connects until ctx is done or there is no point.
func (s *shard) run(ctx context.Context) error {
	var handling sync.WaitGroup
	handling.Go(func() {
		for e := range s.events {
			s.handle(e)
		}
	})
	defer handling.Wait()
	defer close(s.events)
	failures := 0
	var wait time.Duration
	for backoff.Sleep(ctx, wait) == nil {
		began, seq := time.Now(), s.seq.Load()
		end := s.connect(ctx, failures)
		s.down()
		if ctx.Err() != nil {
			return nil
		}
		if f := fatal(end.code); f != nil {
			s.log.Error("gateway connection closed by Discord, will not reconnect", "code", end.code, "error", f)
			return f
		}
		received := end.ready || s.seq.Load() > seq
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
	identified, address := func() {}, s.resumeURL
	if s.session == "" {
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
		address = s.base // it may be that address alone that is out of order
	}
	within := min(startTime, s.resumeLeft())
	socket, err := dial(ctx, address, s.g.cfg.Dial, within)
	if err != nil {
		return ending{err: err}
	}
	c := &connection{s: s, socket: socket, session: s.session, identified: identified, beat: make(chan struct{}, 1)}
	return c.run(ctx, within)
}

// begin begins the session that READY tells of.
func (s *shard) begin(ready json.RawMessage) {
	var r struct {
		Session string `json:"session_id"`
		URL     string `json:"resume_gateway_url"`
	}
	if err := json.Unmarshal(ready, &r); err != nil {
		s.log.Warn("READY only partly readable, will use the rest")
	}
	s.session, s.resumeURL = r.Session, r.URL
	if s.resumeURL == "" {
		s.resumeURL = s.base
	}
	s.seq.Store(0)
}

// forget drops the session: the next connection identifies.
func (s *shard) forget() {
	s.session, s.resumeURL, s.unanswered = "", "", 0
	s.seq.Store(0)
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
