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

	"github.com/bwmarrin/discordgo"
	"golang.org/x/time/rate"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// The events that are handled, besides changes. That of an interaction needs no intent.
const (
	InteractionCreate = "INTERACTION_CREATE"
	MessageCreate     = "MESSAGE_CREATE"
)

// changes are the events after which the bot may be permitted what it was refused.
var changes = map[string]bool{
	"GUILD_CREATE": true, "GUILD_ROLE_CREATE": true, "GUILD_ROLE_UPDATE": true, "GUILD_ROLE_DELETE": true, "GUILD_MEMBER_UPDATE": true,
	"CHANNEL_CREATE": true, "CHANNEL_UPDATE": true, "THREAD_CREATE": true, "THREAD_UPDATE": true,
}

// Intents of changes in servers, and of messages. Without MessageContent, Discord leaves
// out the content of messages in servers that do not mention the bot. MessageContent is
// privileged: unless it is switched on for the application, Discord closes the connection
// with 4014.
const (
	Guilds         = 1 << 0
	GuildMessages  = 1 << 9
	DirectMessages = 1 << 12
	MessageContent = 1 << 15
)

// Config holds the settings and callbacks of a [Gateway].
type Config struct {
	Token  secret.Text // without "Bot "
	Bot    func(context.Context) (*discordgo.GatewayBotResponse, error)
	Shards int // of the whole bot; 0: as many as Discord recommends
	First  int // the first that this process runs
	Count  int // how many it runs; 0: all from First

	Intents int // of messages and changes; 0: none come

	// Message reads a message and returns at once: what is to be done about it, which the
	// gateway calls in turn with Handle; nil: nothing. It may be called concurrently. A
	// nil Message reads none.
	Message func(message json.RawMessage) func()

	// Changed receives changes in servers and channels, and returns at once. It may be
	// called concurrently, and may be nil.
	Changed func(event string, data json.RawMessage)

	Handle    func(interaction json.RawMessage) // called for one interaction of a shard after the other
	Connected func(resumed bool)                // a shard is connected, before any later interaction of it is handled; may be nil

	Dial func(ctx context.Context, network, addr string) (net.Conn, error) // nil is TCP
	Log  *slog.Logger                                                      // nil logs nothing
}

// How long things take.
const (
	startTime    = 30 * time.Second // until a connection is ready
	resumeTime   = 50 * time.Second // in which Discord must answer one of up to three Resumes; then the shard identifies: it is deaf for a minute at most
	graceTime    = 5 * time.Second  // beyond a beat's interval for its acknowledgement
	paceTime     = time.Second      // between two connections of a shard
	backoffTime  = time.Second      // after the first failure, doubled for each further one
	longestTime  = 12 * time.Second // backoff, give or take a quarter
	identifyTime = 5 * time.Second  // between two of a max_concurrency group
	invalidTime  = 4 * time.Second  // after a session was refused, at most; Discord asks for one to five seconds
)

// mostEvents is how many interactions of a shard wait for Handle before the shard
// stops reading.
const mostEvents = 1024

// A Status is the state of a shard.
type Status struct {
	Shard     int
	Connected bool
	Since     time.Time // connected, or not
	Heartbeat time.Time // when Discord last acknowledged one; zero: never
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
	case cfg.Shards < 0 || cfg.First < 0 || cfg.Count < 0 || cfg.Shards > 0 && cfg.First+cfg.Count > cfg.Shards:
		return nil, fmt.Errorf("shards %d to %d are not within %d shards", cfg.First, cfg.First+cfg.Count-1, cfg.Shards)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Gateway{cfg: cfg, log: cfg.Log, start: newIdentifyLimiter(cfg.Bot, cfg.Log)}, nil
}

// Run connects the shards and keeps them connected until ctx is done, and until the
// interactions that they have received are handled. An error is a [*Fatal].
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
	g.mu.Lock()
	for id := g.cfg.First; id < last; id++ {
		g.shards = append(g.shards, &shard{g: g, id: id, total: total, base: info.URL, since: began, log: g.log.With("shard", id),
			events: make(chan func(), mostEvents), starts: rate.NewLimiter(rate.Every(time.Hour/perHour), perHour)})
	}
	g.mu.Unlock()
	var group sync.WaitGroup
	for _, s := range g.shards { // Status lists all of them by now
		group.Go(func() {
			if err := s.run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if fatal, ok := errors.AsType[*Fatal](context.Cause(ctx)); ok {
		return fatal
	}
	return nil
}

// first asks Discord for the gateway until it answers; nil if ctx ends before.
func (g *Gateway) first(ctx context.Context) (*discordgo.GatewayBotResponse, error) {
	for failures := 1; ctx.Err() == nil; failures++ {
		began := time.Now()
		info, err := g.start.info(ctx)
		if err == nil {
			return info, nil
		}
		if fatal := fatalOf(err); fatal != nil {
			return nil, fatal
		}
		g.log.Warn("Discord unreachable, will retry", "error", err)
		backoff.Sleep(ctx, until(failures, began, err))
	}
	return nil, nil
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

// event returns what is to be done about an event; nil: nothing.
func (g *Gateway) event(p packet) func() {
	switch {
	case p.Type == InteractionCreate:
		return func() { g.cfg.Handle(p.Data) }
	case p.Type == MessageCreate && g.cfg.Message != nil:
		return g.cfg.Message(p.Data)
	case changes[p.Type] && g.cfg.Changed != nil:
		g.cfg.Changed(p.Type, p.Data)
	}
	return nil
}

// until returns how long to wait after so many failures in a row, the last of which began
// then: from then on, longer each time and not the same for all shards. Where Discord asks
// for a wait, that begins now.
func until(failures int, began time.Time, err error) time.Duration {
	d := backoff.After(failures, backoffTime, longestTime)
	d = d*3/4 + rand.N(d/2+1)
	d = max(0, d-time.Since(began))
	if limited, ok := errors.AsType[*rest.RateLimited](err); ok {
		d = max(d, limited.Wait)
	}
	return d
}

// fatalOf returns the reason to stop for an error of REST, nil if there is none.
func fatalOf(err error) *Fatal {
	if e, ok := errors.AsType[*rest.Error](err); ok && e.Status == http.StatusUnauthorized {
		return fatal(4004)
	}
	return nil
}
