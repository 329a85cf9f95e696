package gateway

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// handshakeTime is how long connecting may take at most, of startTime.
const handshakeTime = 10 * time.Second

// A shard is kept connected by one connection after another.
type shard struct {
	g         *Gateway
	id, total int
	base      string // where the gateway is
	log       *slog.Logger
	used      []time.Time     // when it identified, in the last hour or so
	ctx       context.Context // of Run, for handlers

	unanswered int       // Resumes in a row that Discord did not answer
	resuming   time.Time // when the connection of the first of them was opened

	seq atomic.Int64 // of the last event received

	mu                  sync.Mutex
	session             string // Discord's; empty: none to resume
	resumeURL           string
	connected           bool
	since               time.Time
	alive               time.Time // when Discord was last heard
	identifies, resumes int
}

// An ending is how a connection ended.
type ending struct {
	code  int   // by which Discord closed it; 0 if it did not
	err   error // otherwise
	ready bool  // it had been
	again bool  // the session cannot be resumed
	wait  time.Duration

	resumed bool // op 6 was sent
}

// maxResumes is how many Resumes in a row may stay unanswered. Discord sometimes
// never answers them (https://github.com/discord/discord-api-docs/issues/1619);
// identifying helps.
const maxResumes = 3

// run connects until ctx is done or there is no point.
func (s *shard) run(ctx context.Context) error {
	failures := 0
	var last time.Time
	for ctx.Err() == nil {
		if wait := paceTime - time.Since(last); !last.IsZero() && wait > 0 {
			if sleep(ctx, wait) != nil {
				return nil
			}
		}
		last = time.Now()
		seq := s.seq.Load()
		end := s.connect(ctx, failures)
		s.down(ctx.Err() == nil)
		if ctx.Err() != nil {
			return nil
		}
		if f := fatal(end.code); f != nil {
			s.log.Error("gateway connection closed by Discord, will not reconnect", "code", end.code, "error", f)
			return f
		}
		if f := fatalOf(end.err); f != nil {
			return f
		}
		received := end.ready || s.seq.Load() > seq
		switch {
		case received:
			failures, s.unanswered = 0, 0
		case end.resumed:
			s.resumeFailed(last)
		}
		if end.again || end.code == closeSeq || end.code == closeTime || end.code == 4003 {
			s.forget()
		}
		wait := end.wait
		if received {
			s.log.Info("gateway connection closed, will reconnect", "code", end.code, "error", end.err)
		} else {
			failures++
			wait = max(min(backoff(failures, end.err), s.resumeLeft()), end.wait)
			s.log.Warn("gateway connection failed, will retry", "code", end.code, "error", end.err, "wait", wait)
		}
		if sleep(ctx, wait) != nil {
			return nil
		}
	}
	return nil
}

// resumeFailed counts a Resume that Discord did not answer, on a connection that
// was opened at began.
func (s *shard) resumeFailed(began time.Time) {
	if s.unanswered == 0 {
		s.resuming = began
	}
	s.unanswered++
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
	s.mu.Lock()
	session, address := s.session, s.resumeURL
	s.mu.Unlock()
	identified := func(bool) {}
	if session == "" {
		info, done, err := s.g.start.acquire(ctx, s.id, s.used)
		if err != nil {
			return ending{err: err}
		}
		once := sync.Once{}
		identified = func(yes bool) { once.Do(func() { done(yes) }) }
		defer identified(false)
		s.base, address = info.URL, info.URL
	} else if failures%2 == 1 {
		address = s.base // it may be that address alone that is out of order
	}
	within := min(startTime, s.resumeLeft())
	conn, err := dial(ctx, address, s.g.cfg.Dial, within)
	if err != nil {
		return ending{err: err}
	}
	return newConnection(s, conn, session, identified, within).run(ctx)
}

// dial opens a connection to a gateway's address, over TCP if how is nil.
func dial(ctx context.Context, address string, how func(ctx context.Context, network, addr string) (net.Conn, error), within time.Duration) (*websocket.Conn, error) {
	u, err := rest.CheckURL(address, "wss", "ws")
	if err != nil {
		return nil, err
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.RawQuery = "v=10&encoding=json"
	d := websocket.Dialer{NetDialContext: how, HandshakeTimeout: min(within, handshakeTime)}
	if d.NetDialContext == nil {
		d.Proxy = http.ProxyFromEnvironment
	}
	conn, resp, err := d.DialContext(ctx, u.String(), nil)
	if resp != nil {
		resp.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(readLimit)
	return conn, nil
}

// forget drops the session: the next connection identifies.
func (s *shard) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session, s.resumeURL = "", ""
	s.unanswered = 0
	s.seq.Store(0)
}

// down records that the shard is disconnected, and calls Config.Lost if report
// is set.
func (s *shard) down(report bool) {
	s.mu.Lock()
	was := s.connected
	if was {
		s.connected, s.since = false, time.Now()
	}
	s.mu.Unlock()
	if was && report && s.g.cfg.Lost != nil {
		s.g.cfg.Lost(s.id, s.total)
	}
}

// up records that the shard is connected, and reports the outage before it.
func (s *shard) up(resumed bool) {
	s.mu.Lock()
	now := time.Now()
	o := Outage{Shard: s.id, Shards: s.total, From: s.alive, To: now, Resumed: resumed}
	s.connected, s.since, s.alive = true, now, now
	if resumed {
		s.resumes++
	}
	s.mu.Unlock()
	s.log.Info("gateway connected", "resumed", resumed, "outage", o.To.Sub(o.From).Round(time.Millisecond))
	if s.g.cfg.Outage != nil {
		s.g.cfg.Outage(o)
	}
}

// ready reports that Discord has sent everything that the shard had missed.
func (s *shard) ready(r Ready) {
	if s.g.cfg.Ready != nil {
		s.g.cfg.Ready(r)
	}
}

// heard records a sign of life from Discord.
func (s *shard) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connected {
		s.alive = time.Now()
	}
}

func (s *shard) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Status{Shard: s.id, Connected: s.connected, Since: s.since, Identifies: s.identifies, Resumes: s.resumes}
}

// refused is the ending after op 9. Discord asks to wait for one to five
// seconds before another session is begun.
func (s *shard) refused(resumable bool) ending {
	return ending{err: errors.New("the session was refused"), again: !resumable, wait: invalidTime/5 + rand.N(invalidTime*4/5+1)}
}
