package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
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

	// Turn, if the bot has several processes, takes the next of their common turns of that
	// name, of which there is one in each span of time, and returns how long it is until then.
	// Nil: the process is alone.
	Turn func(ctx context.Context, name string, every time.Duration) (wait time.Duration, err error)

	Intents int // of messages and changes; 0: none come

	// Message reads a message and returns at once: what is to be done about it, which the
	// gateway calls in turn with Handle; nil: nothing. It may be called concurrently. A
	// nil Message reads none.
	Message func(message json.RawMessage) func(done func())

	// Changed receives changes in servers and channels, and returns at once. It may be
	// called concurrently, and may be nil.
	Changed func(event string, data json.RawMessage)

	// Handle is called for one interaction of a shard after the other, and returns soon. Once
	// done is called, Discord need not send the interaction again; done may be called
	// concurrently, and more than once.
	Handle    func(interaction json.RawMessage, done func())
	Connected func(resumed bool) // a shard is connected, before any later interaction of it is handled; may be nil

	Dial func(ctx context.Context, network, addr string) (net.Conn, error) // nil is TCP
	Log  *slog.Logger                                                      // nil logs nothing
}

// A Session is what another process needs to go on where this one was. The zero Session
// begins with Identify.
type Session struct {
	ID  string `json:"session_id"`
	URL string `json:"resume_gateway_url"`
	Seq int64  `json:"seq"` // all events up to it are done
}

// How long things take.
const (
	startTime    = 30 * time.Second           // until a connection is ready
	resumeTime   = 50 * time.Second           // in which Discord must answer one of up to three Resumes; then the shard identifies: it is deaf for a minute at most
	graceTime    = 5 * time.Second            // beyond a beat's interval for its acknowledgement
	paceTime     = time.Second                // between two connections of a shard
	backoffTime  = time.Second                // after the first failure, doubled for each further one
	longestTime  = 12 * time.Second           // backoff, give or take a quarter
	identifyTime = 5 * time.Second            // between two of a max_concurrency group
	turnTime     = identifyTime + time.Second // between those of several processes, which take a moment to connect
	invalidTime  = 4 * time.Second            // after a session was refused, at most; Discord asks for one to five seconds
	keepTime     = 5 * time.Second            // between two times that a session is kept
	doneTime     = 6 * time.Second            // for what was received to be done, before the session is passed on
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

// A Gateway is what the shards of a process share. Its methods may be called concurrently.
type Gateway struct {
	cfg   Config
	log   *slog.Logger
	start *identifyLimiter

	mu     sync.Mutex
	shards []*shard // that are served
}

// New checks the configuration.
func New(cfg Config) (*Gateway, error) {
	switch {
	case cfg.Token.IsZero():
		return nil, errors.New("discord.token is missing")
	case cfg.Shards < 0:
		return nil, errors.New("discord.shards is negative")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Gateway{cfg: cfg, log: cfg.Log, start: newIdentifyLimiter(cfg.Bot, cfg.Turn, cfg.Log)}, nil
}

// Shards returns the number of shards of the whole bot. If Config.Shards does not say it,
// Shards asks Discord until it answers; 0: ctx is done before. An error is a [*Fatal].
func (g *Gateway) Shards(ctx context.Context) (int, error) {
	if g.cfg.Shards > 0 {
		return g.cfg.Shards, nil
	}
	info, err := g.first(ctx)
	if err != nil || info == nil {
		return 0, err
	}
	return max(info.Shards, 1), nil
}

// Serve connects a shard and keeps it connected until ctx is done, and until the events that
// it has received are handled. It begins with the session that another process had.
//
// keep stores the session for the process that serves the shard next: when it begins, every
// few seconds if it has got on, and at the end, before which Serve waits a while until what was
// received is done. If keep is nil, the session ends with Serve.
//
// An error is a [*Fatal]. No shard is served twice at a time.
func (g *Gateway) Serve(ctx context.Context, id, total int, from Session, keep func(Session)) error {
	s := newShard(g, id, total)
	s.keep = keep
	s.at.enter(from)
	g.mu.Lock()
	g.shards = append(g.shards, s)
	slices.SortFunc(g.shards, func(a, b *shard) int { return a.id - b.id })
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.shards = slices.DeleteFunc(g.shards, func(other *shard) bool { return other == s })
	}()
	return s.serve(ctx)
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

// Status returns the state of each shard that is served, in order.
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
func (g *Gateway) event(p packet) func(done func()) {
	switch {
	case p.Type == InteractionCreate:
		return func(done func()) { g.cfg.Handle(p.Data, done) }
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
