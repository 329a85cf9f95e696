package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// perHour is how often a shard may identify in an hour.
const perHour = 20

// An identifyLimiter decides when shards may identify.
type identifyLimiter struct {
	ask func(context.Context) (*rest.GatewayBot, error)
	log *slog.Logger

	asking chan struct{} // holds a value while Discord is asked: shards that start together ask once
	mu     sync.Mutex
	last   rest.GatewayBot // Discord's last answer, less the starts used since
	at     time.Time       // when
	groups map[int]*group
}

// A group of shards identifies one after another.
type group struct {
	turn chan struct{} // holds one value while a shard has its turn
	next time.Time     // earliest time; guarded by turn
}

func newIdentifyLimiter(ask func(context.Context) (*rest.GatewayBot, error), log *slog.Logger) *identifyLimiter {
	return &identifyLimiter{ask: ask, log: log, asking: make(chan struct{}, 1), groups: map[int]*group{}}
}

// info asks Discord for the gateway's address and the remaining session starts,
// unless it has just answered.
func (s *identifyLimiter) info(ctx context.Context) (*rest.GatewayBot, error) {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	last, at := s.last, s.at
	s.mu.Unlock()
	if !at.IsZero() && time.Since(at) < identifyTime {
		return &last, nil
	}
	info, err := s.ask(ctx)
	if fatalOf(err) != nil && !at.IsZero() {
		// The token was good before; the gateway itself will say whether it still is.
		s.log.Warn("Discord rejected the token that it accepted before, will use the known gateway", "error", err)
		return &last, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := rest.CheckURL(info.URL, "wss", "ws"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.at = *info, time.Now()
	return info, nil
}

func (s *identifyLimiter) group(shard int) *group {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := shard % max(s.last.Limit.Concurrency, 1)
	if s.groups[id] == nil {
		s.groups[id] = &group{turn: make(chan struct{}, 1)}
	}
	return s.groups[id]
}

// acquire waits until the shard may connect in order to identify, and returns the
// gateway's address. used are the times when the shard identified. Unless there is
// an error, the caller must call done when the shard has identified or given up.
func (s *identifyLimiter) acquire(ctx context.Context, shard int, used []time.Time) (info *rest.GatewayBot, done func(identified bool), err error) {
	for {
		if n := len(used); n >= perHour {
			if wait := time.Until(used[n-perHour].Add(time.Hour)); wait > 0 {
				s.log.Error("too many session starts in an hour, will wait", "shard", shard, "wait", wait)
				if err := sleep(ctx, wait); err != nil {
					return nil, nil, err
				}
			}
		}
		g := s.group(shard)
		select {
		case g.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		done := func(identified bool) {
			if identified {
				g.next = time.Now().Add(identifyTime)
				s.mu.Lock()
				s.last.Limit.Remaining--
				s.mu.Unlock()
			}
			<-g.turn
		}
		err := sleep(ctx, time.Until(g.next))
		if err == nil {
			info, err = s.info(ctx)
		}
		if err != nil {
			done(false)
			return nil, nil, err
		}
		l := info.Limit
		if l.Total == 0 || l.Remaining > l.Total/2 {
			return info, done, nil
		}
		done(false)
		s.log.Error("half of today's session starts used, will wait so that Discord does not reset the token",
			"remaining", l.Remaining, "of", l.Total, "until", time.Now().Add(l.Reset()).UTC())
		if err := sleep(ctx, min(max(l.Reset(), time.Second), 10*time.Minute)); err != nil {
			return nil, nil, err
		}
	}
}
