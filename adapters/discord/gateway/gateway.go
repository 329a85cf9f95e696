package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
	"github.com/halfpoint-go/halfpoint/bot"
)

// InteractionCreate is the name of the event of an interaction, which needs no
// intent.
const InteractionCreate = "INTERACTION_CREATE"

// Config holds the settings and callbacks of a [Gateway].
type Config struct {
	Token  bot.Secret // without "Bot "
	Bot    func(context.Context) (*rest.GatewayBot, error)
	Shards int // of the whole bot; 0: as many as Discord recommends
	First  int // the first that this process runs
	Count  int // how many it runs; 0: all from First

	Lanes  *lanes.Lanes                       // on which Handle is called
	Handle func(ctx context.Context, e Event) // its context ends with Run
	Ready  func(r Ready)                      // a shard is connected; may be nil
	Lost   func(shard, shards int)            // a shard is not connected any more; may be nil
	Outage func(o Outage)                     // a shard is connected again, before any later event is handled; may be nil

	Dial func(ctx context.Context, network, addr string) (net.Conn, error) // nil is TCP
	Log  *slog.Logger                                                      // nil logs nothing
}

// How long things take.
const (
	startTime    = 30 * time.Second // until a connection is ready
	resumeTime   = time.Minute      // in which Discord must answer one of up to three Resumes; then the shard identifies
	graceTime    = 5 * time.Second  // beyond a beat's interval for its acknowledgement
	paceTime     = time.Second      // between two connections of a shard
	backoffTime  = time.Second      // after the first failure, doubled for each further one
	longestTime  = time.Minute      // backoff
	identifyTime = 5 * time.Second  // between two of a max_concurrency group
	invalidTime  = 5 * time.Second  // after a session was refused, at most
)

// An Event is a dispatch from Discord, undecoded.
type Event struct {
	Shard int
	Type  string
	Seq   int64
	Data  json.RawMessage
}

// Ready describes a shard that has just connected.
type Ready struct {
	Shard, Shards int
	Resumed       bool // the previous session continues
}

// An Outage is a time in which a shard was not connected: people could not reach
// the bot. The first one begins when Run does, without Lost.
type Outage struct {
	Shard, Shards int
	From, To      time.Time
	Resumed       bool
}

// A Status is the state of a shard.
type Status struct {
	Shard      int
	Connected  bool
	Since      time.Time // connected, or not
	Identifies int       // since Run began
	Resumes    int
}

// A Gateway is a set of shards.
type Gateway struct {
	cfg   Config
	log   *slog.Logger
	start *identifyLimiter

	mu     sync.Mutex
	shards []*shard
}

// New checks the configuration.
func New(cfg Config) (*Gateway, error) {
	switch {
	case cfg.Token.IsZero():
		return nil, errors.New("discord.token is missing")
	case cfg.Bot == nil || cfg.Lanes == nil || cfg.Handle == nil:
		return nil, errors.New("gateway: Bot, Lanes and Handle are needed")
	case cfg.Shards < 0 || cfg.First < 0 || cfg.Count < 0 || cfg.Shards > 0 && cfg.First+cfg.Count > cfg.Shards:
		return nil, fmt.Errorf("the shards %d to %d are not among %d", cfg.First, cfg.First+cfg.Count-1, cfg.Shards)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Gateway{cfg: cfg, log: cfg.Log, start: newIdentifyLimiter(cfg.Bot, cfg.Log)}, nil
}

// Run connects the shards and keeps them connected until ctx is done. An error
// is a [*Fatal].
func (g *Gateway) Run(ctx context.Context) error {
	began := time.Now()
	info, err := g.first(ctx)
	if err != nil || info == nil {
		return err
	}
	total := g.cfg.Shards
	if total == 0 {
		total = max(info.Shards, 1)
	}
	last := total
	if g.cfg.Count > 0 {
		last = g.cfg.First + g.cfg.Count
	}
	if g.cfg.First >= total || last > total {
		return &Fatal{Reason: fmt.Sprintf("Discord recommends %d shards and this process is to run %d to %d", total, g.cfg.First, last-1),
			Advice: "Say how many shards the bot has in all: discord.shards."}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for id := g.cfg.First; id < last; id++ {
		s := &shard{g: g, id: id, total: total, base: info.URL, alive: began, since: began, ctx: ctx, log: g.log.With("shard", id)}
		g.mu.Lock()
		g.shards = append(g.shards, s)
		g.mu.Unlock()
	}
	for _, s := range g.shards { // Status lists all of them by now
		group.Go(func() {
			if err := s.run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	var fatal *Fatal
	if errors.As(context.Cause(ctx), &fatal) {
		return fatal
	}
	return nil
}

// first asks Discord for the gateway until it answers.
func (g *Gateway) first(ctx context.Context) (*rest.GatewayBot, error) {
	for failures := 1; ; failures++ {
		info, err := g.start.info(ctx)
		if err == nil {
			return info, nil
		}
		if fatal := fatalOf(err); fatal != nil {
			return nil, fatal
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		g.log.Warn("Discord unreachable, will retry", "error", err)
		if sleep(ctx, backoff(failures, err)) != nil {
			return nil, nil
		}
	}
}

// Status returns the state of each shard. It may be called concurrently.
func (g *Gateway) Status() []Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []Status
	for _, s := range g.shards {
		list = append(list, s.status())
	}
	return list
}

// backoff is how long to wait after so many failures: longer each time, or as
// long as Discord asks, and not the same for all.
func backoff(failures int, err error) time.Duration {
	d := min(backoffTime<<min(failures-1, 16), longestTime)
	d = d*3/4 + rand.N(d/2+1)
	var limited *rest.RateLimited
	if errors.As(err, &limited) {
		d = max(d, limited.Wait)
	}
	return d
}

// fatalOf returns the reason to stop for an error of REST, nil if there is none.
func fatalOf(err error) *Fatal {
	var e *rest.Error
	if errors.As(err, &e) && e.Status == http.StatusUnauthorized {
		return fatal(4004)
	}
	return nil
}

// sleep waits unless ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
