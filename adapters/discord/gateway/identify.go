package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// perHour is how often a shard may identify at once, and then in an hour. In a day
// one shard so uses half of the thousand session starts that Discord gives a bot.
const perHour = 20

// An identifyLimiter decides when shards may identify.
type identifyLimiter struct {
	ask   func(context.Context) (*discordgo.GatewayBotResponse, error)
	turn  func(ctx context.Context, name string, every time.Duration) (time.Duration, error) // see Config; may be nil
	log   *slog.Logger
	known chan answer // holds Discord's last answer, unless a shard is asking

	mu     sync.Mutex
	groups map[int]chan time.Time // by max_concurrency group: hold when the next shard may identify, unless one has its turn
}

// An answer is where the gateway is and how many session starts are left.
type answer struct {
	info *discordgo.GatewayBotResponse
	at   time.Time
}

func newIdentifyLimiter(ask func(context.Context) (*discordgo.GatewayBotResponse, error),
	turn func(context.Context, string, time.Duration) (time.Duration, error), log *slog.Logger) *identifyLimiter {
	l := &identifyLimiter{ask: ask, turn: turn, log: log, known: make(chan answer, 1), groups: map[int]chan time.Time{}}
	l.known <- answer{}
	return l
}

// info asks Discord for the gateway's address and the remaining session starts,
// unless it has just answered.
func (l *identifyLimiter) info(ctx context.Context) (*discordgo.GatewayBotResponse, error) {
	var last answer
	select {
	case last = <-l.known:
		defer func() { l.known <- last }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if last.info != nil && time.Since(last.at) < identifyTime {
		return last.info, nil
	}
	info, err := l.ask(ctx)
	if last.info != nil && fatalOf(err) != nil {
		// The token was good before; the gateway itself will say whether it still is.
		l.log.Warn("Discord rejected the token that it accepted before, will use the known gateway", "error", err)
		return last.info, nil
	}
	if err != nil {
		return nil, err
	}
	if _, err := rest.CheckURL(info.URL, "wss", "ws"); err != nil {
		return nil, err
	}
	last = answer{info, time.Now()}
	return info, nil
}

func (l *identifyLimiter) group(id int) chan time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.groups[id] == nil {
		l.groups[id] = make(chan time.Time, 1)
		l.groups[id] <- time.Time{}
	}
	return l.groups[id]
}

// acquire waits until a shard may connect in order to identify, and returns the
// gateway's address. Unless there is an error, the caller must call done when the
// shard has identified or given up.
func (l *identifyLimiter) acquire(ctx context.Context, shard int) (address string, done func(identified bool), err error) {
	for {
		info, err := l.info(ctx)
		if err != nil {
			return "", nil, err
		}
		id := shard % max(info.SessionStartLimit.MaxConcurrency, 1)
		group := l.group(id)
		var next time.Time
		select {
		case next = <-group:
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
		done := func(identified bool) {
			if identified {
				next = time.Now().Add(identifyTime)
			}
			group <- next
		}
		if err = backoff.Sleep(ctx, time.Until(next)); err == nil && l.turn != nil {
			var wait time.Duration
			if wait, err = l.turn(ctx, fmt.Sprint("discord identify ", id), turnTime); err == nil {
				err = backoff.Sleep(ctx, wait)
			}
		}
		if err == nil {
			info, err = l.info(ctx)
		}
		if err != nil {
			done(false)
			return "", nil, err
		}
		left := info.SessionStartLimit
		if left.Total == 0 || left.Remaining > left.Total/2 {
			return info.URL, done, nil
		}
		done(false)
		reset := time.Duration(left.ResetAfter) * time.Millisecond
		l.log.Error("half of today's session starts used, will wait so that Discord does not reset the token",
			"remaining", left.Remaining, "of", left.Total, "until", time.Now().Add(reset).UTC())
		if err := backoff.Sleep(ctx, min(max(reset, time.Second), 10*time.Minute)); err != nil {
			return "", nil, err
		}
	}
}
