package discord

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/lanes"
	"github.com/halfpoint-go/halfpoint/bot"
)

// Name is the platform's name.
const Name = "discord"

// Config says whose bot it is and how interactions come. Only Token is needed.
type Config struct {
	Token       bot.Secret // without "Bot "
	Application string     // id of the application; empty: as the token says
	PublicKey   string     // of the application, in hexadecimal; for Listen
	Guild       string     // register the commands in this server alone; empty: everywhere
	API         string     // empty: Discord's
	Listen      string     // address for interactions over HTTP; empty: they come through the gateway
	Version     string     // of the program

	Shards, First, Count int // see [gateway.Config]

	Person, Channel int // requests a minute that a person, and a channel, may make; 0: 60, 120

	DB *sql.DB // where what is put off is written down, in a table of its own; nil: nowhere

	Log *slog.Logger // nil logs nothing

	Dial func(ctx context.Context, network, address string) (net.Conn, error) // opens connections to Discord; nil: TCP
	Bind func(address string) (net.Listener, error)                           // opens Listen; nil: TCP

	Ready func(address string) // called when interactions can come: with the address of Listen, or empty; may be nil
}

// Permissions are what the bot needs in a server, and no more.
const Permissions = rest.ViewChannel | rest.SendMessages | rest.SendMessagesInThreads | rest.CreatePublicThreads |
	rest.AttachFiles | rest.ReadMessageHistory

// Invite is the link by which the bot is brought into a server.
func Invite(application string) string {
	return fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&scope=bot+applications.commands&permissions=%d", application, uint64(Permissions))
}

// How much runs and waits.
const (
	answerAfter = 1500 * time.Millisecond // an interaction is deferred
	owedAfter   = 5 * time.Second         // somebody who waits behind a deferral for a post is told that it will come
	awayAfter   = 15 * time.Second        // Discord counts as away when the gateway is gone
	patience    = 300 * time.Millisecond  // for a bucket; then the bot waits, and others are not held up
	askWorkers  = 32
	tidyWorkers = 4
	tidyWaiting = 2000
	httpWorkers = 128
	drainFor    = 6 * time.Second
	remembered  = 20_000 // channels, threads, people
)

// How much a person, and a channel, may ask: so many at once, and then so many
// a minute.
const (
	personAtOnce, personPerMinute   = 10, 60
	channelAtOnce, channelPerMinute = 40, 120
)

// An Adapter connects the bot to Discord. It is a [bot.Adapter].
type Adapter struct {
	cfg  Config
	log  *slog.Logger
	rest *rest.Client
	low  *rest.Client

	rooms   *memory[room]      // by channel
	threads *memory[bool]      // by message: whether there is a thread under it
	dms     *memory[string]    // channel of direct messages, by person
	closed  *memory[time.Time] // when people were found to take none
	hinted  *memory[bool]      // what was said once
	sent    *memory[time.Time] // when posts were first tried
	refused *memory[time.Time] // openings that could not be edited, and until when they are left alone
	people  *lanes.Limit       // of what each may ask
	crowds  *lanes.Limit       // of what is asked in each channel
	barred  *memory[refusal]   // by channel: why nothing may be sent there
	newest  *memory[int]       // the event of the newest board, by channel and game
	slow    *memory[time.Time] // by channel: until when pictures follow their words

	mu       sync.Mutex
	desk     bot.Desk
	known    []bot.Command
	ctx      context.Context // of asking; ends a while after Run was told to stop
	asks     *lanes.Lanes    // what is asked, by channel
	work     *lanes.Lanes    // what can wait
	pictures *lanes.Lanes    // those that follow their words
	waiting  map[string]*waiting
	swept    time.Time
	kept     *deferrals // nil: they are not written down

	roots roots

	out     atomic.Bool   // the desk may hold that Discord cannot be reached
	telling chan struct{} // holds a value while somebody tells the desk that it can, or cannot, from the look on
}

var _ bot.Adapter = (*Adapter)(nil)

// New makes an adapter. It asks Discord nothing yet.
func New(cfg Config) (*Adapter, error) {
	token := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(cfg.Token.Reveal()), "Bot "))
	id, err := CheckToken(token)
	if err != nil {
		return nil, err
	}
	cfg.Token = bot.NewSecret(token)
	if cfg.Application == "" {
		cfg.Application = id
	}
	if cfg.Listen != "" && cfg.PublicKey == "" {
		return nil, errors.New("discord.public_key: needed to take interactions over HTTP (discord.listen)")
	}
	if cfg.Bind == nil {
		cfg.Bind = func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	log := cfg.Log.With("adapter", Name)
	client, err := rest.New(rest.Config{API: cfg.API, Token: cfg.Token, Application: cfg.Application, Version: cfg.Version, Patience: patience, Dial: cfg.Dial, Log: log})
	if err != nil {
		return nil, err
	}
	return &Adapter{
		cfg: cfg, log: log, rest: client, low: client.Low(),
		rooms: newMemory[room](remembered), threads: newMemory[bool](remembered), dms: newMemory[string](remembered),
		closed: newMemory[time.Time](remembered), hinted: newMemory[bool](remembered), sent: newMemory[time.Time](remembered), refused: newMemory[time.Time](remembered),
		people:  lanes.PerMinute(cmp.Or(cfg.Person, personPerMinute), personAtOnce, personAtOnce-1),
		crowds:  lanes.PerMinute(cmp.Or(cfg.Channel, channelPerMinute), channelAtOnce, channelAtOnce-1),
		waiting: map[string]*waiting{}, telling: make(chan struct{}, 1), barred: newMemory[refusal](remembered), newest: newMemory[int](remembered), slow: newMemory[time.Time](remembered),
		roots: roots{m: map[string]*root{}, direct: true},
	}, nil
}

// CheckToken says what is wrong with the shape of a token, and gives the id of
// the bot that it is for.
func CheckToken(token string) (application string, err error) {
	if token == "" {
		return "", errors.New("discord.token: is missing")
	}
	parts := strings.Split(token, ".")
	id, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(parts[0], "="))
	if len(parts) != 3 || err != nil || strings.Trim(string(id), "0123456789") != "" || len(id) == 0 {
		return "", errors.New("discord.token: is not the shape of a bot's token; take it from the page “Bot” of the application, not the client secret")
	}
	return string(id), nil
}

// Name is "discord".
func (a *Adapter) Name() string { return Name }

func (a *Adapter) theDesk() bot.Desk {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.desk
}

func (a *Adapter) commands() []bot.Command {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known
}

// Run registers the commands, takes interactions and asks desk until ctx is
// done. An error means that there is no point in going on: a token that is not
// accepted, an address that is in use.
func (a *Adapter) Run(ctx context.Context, desk bot.Desk) error {
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	kept, left, err := openDeferrals(ctx, a.cfg.DB, time.Now(), func(err error) {
		a.log.Error("a deferral was not written down", "error", err)
	})
	if err != nil {
		return fmt.Errorf("discord: what was put off cannot be read: %w", err)
	}
	defer kept.close()
	panicked := func(v any) { a.log.Error("panic", "value", v, "stack", string(debug.Stack())) }
	a.mu.Lock()
	a.desk, a.known, a.ctx = desk, desk.Commands(), asking
	a.out.Store(true)
	a.asks = lanes.New(lanes.Config{Workers: askWorkers, Panic: panicked})
	a.work = lanes.New(lanes.Config{Workers: tidyWorkers, Total: tidyWaiting, Panic: panicked})
	a.kept, a.pictures = kept, followers(panicked)
	asks, work, pictures := a.asks, a.work, a.pictures
	a.mu.Unlock()

	a.roots.mu.Lock()
	a.roots.direct = false
	a.roots.mu.Unlock()

	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	group.Go(func() { a.registered(running, stop) })
	group.Go(func() { a.servers(running) })
	group.Go(func() { a.keepStanding(running) })
	group.Go(func() { a.interrupted(running, left) })
	if a.cfg.Listen != "" {
		err = a.serve(running)
	} else {
		err = a.connect(running)
	}
	stop(nil)
	group.Wait()

	// What was asked is answered, then what can wait is left.
	defer time.AfterFunc(drainFor, cancel).Stop()
	asks.Close()
	a.settled()
	a.leave(asking)
	a.lastEdits(asking)
	cancel()
	work.Close()
	pictures.Close()
	a.mu.Lock()
	a.asks, a.work, a.pictures, a.kept = nil, nil, nil, nil
	clear(a.waiting)
	a.mu.Unlock()
	a.rest.Close()
	if err == nil && ctx.Err() == nil {
		err = context.Cause(running)
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// settled waits until everybody who asked has a first answer, which comes by
// itself.
func (a *Adapter) settled() {
	for {
		a.mu.Lock()
		left := 0
		for _, w := range a.waiting {
			w.mu.Lock()
			if w.stage == open || w.stage == answering || w.stage == deferring {
				left++
			}
			w.mu.Unlock()
		}
		ctx := a.ctx
		a.mu.Unlock()
		if left == 0 || ctx.Err() != nil {
			return
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// leave tells those who still wait behind a deferral for what a post shows that
// it will come.
func (a *Adapter) leave(ctx context.Context) {
	a.mu.Lock()
	all := slices.Collect(maps.Values(a.waiting))
	a.mu.Unlock()
	for _, w := range all {
		w.mu.Lock()
		owed := w.accepted && w.stage == deferred
		w.mu.Unlock()
		if owed && ctx.Err() == nil {
			a.promise(ctx, w)
		}
	}
}

// registered registers the commands, again and again until it is done. A token
// that is not accepted ends Run.
func (a *Adapter) registered(ctx context.Context, stop context.CancelCauseFunc) {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		err := a.register(ctx, a.commands())
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case status(err) == http.StatusUnauthorized:
			stop(errors.New("discord.token: is not accepted; reset it on the page “Bot” of the application"))
			return
		case status(err) == http.StatusForbidden && a.cfg.Guild != "":
			stop(fmt.Errorf("discord.guild: the bot is not in that server; bring it there with %s", Invite(a.cfg.Application)))
			return
		}
		a.log.Warn("the commands are not registered yet", "error", err)
		var limited *rest.RateLimited
		if errors.As(err, &limited) {
			wait = max(wait, limited.Wait)
		}
		pause(ctx, wait)
	}
}

// connect takes interactions through the gateway.
func (a *Adapter) connect(ctx context.Context) error {
	doors := lanes.New(lanes.Config{Workers: 4})
	defer doors.Close()
	var g *gateway.Gateway
	g, err := gateway.New(gateway.Config{
		Token: a.cfg.Token, Bot: a.rest.GatewayBot, Shards: a.cfg.Shards, First: a.cfg.First, Count: a.cfg.Count,
		Lanes: doors,
		Handle: func(_ context.Context, e gateway.Event) {
			if e.Type != gateway.InteractionCreate {
				return
			}
			in, err := interaction.Parse(e.Data)
			if in.Token == "" {
				a.log.Warn("an interaction cannot be read", "error", err)
				return
			}
			a.receive(in, interaction.Direct(a.rest, in))
		},
		Outage: func(gateway.Outage) { // before anything is asked that comes after it
			a.telling <- struct{}{}
			defer func() { <-a.telling }()
			if whole(g.Status()) {
				a.back(ctx)
			}
		},
		Ready: func(gateway.Ready) {
			if a.cfg.Ready != nil {
				a.cfg.Ready("")
			}
		},
		Dial: a.cfg.Dial, Log: a.log,
	})
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	watching, stop := context.WithCancel(ctx)
	defer group.Wait()
	defer stop()
	group.Go(func() { a.watch(watching, g) })
	return g.Run(ctx)
}

// serve takes interactions over HTTP.
func (a *Adapter) serve(ctx context.Context) error {
	doors := lanes.New(lanes.Config{Workers: httpWorkers})
	defer doors.Close()
	endpoint, err := interaction.NewEndpoint(interaction.EndpointConfig{
		PublicKey: a.cfg.PublicKey, Client: a.rest, Lanes: doors, Log: a.log,
		Key: func(in interaction.Interaction) string { return in.ID },
		Handle: func(_ context.Context, in interaction.Interaction, respond interaction.Responder) {
			if w := a.receive(in, respond); w != nil {
				w.first() // the response is held open meanwhile
			}
		},
	})
	if err != nil {
		return err
	}
	defer endpoint.Close()
	listener, err := a.cfg.Bind(a.cfg.Listen)
	if err != nil {
		return fmt.Errorf("discord.listen: %w", err)
	}
	server := &http.Server{Handler: endpoint, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	a.telling <- struct{}{}
	a.back(ctx)
	<-a.telling
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { a.probe(ctx) })
	if a.cfg.Ready != nil {
		a.cfg.Ready(listener.Addr().String())
	}
	select {
	case err = <-failed:
		return fmt.Errorf("discord.listen: %w", err)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	if server.Shutdown(late) != nil {
		server.Close()
	}
	<-failed
	return nil
}
