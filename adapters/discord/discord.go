package discord

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// Name is the platform's name.
const Name = "discord"

// Config says whose bot it is and how interactions come. Only Token is needed.
type Config struct {
	Token       secret.Text // without "Bot "
	Application string      // id of the application; empty: as the token says
	PublicKey   string      // of the application, in hexadecimal; for Listen
	Guild       string      // register the commands in this server alone; empty: everywhere
	API         string      // empty: Discord's
	Listen      string      // address for interactions over HTTP; empty: they come through the gateway
	Version     string      // of the program

	MessageContent bool // read what people type in threads of games: the application has the intent for it; not with Listen

	Shards int // of the whole bot; 0: as many as Discord recommends

	// Hold, if the bot has several processes, serves a unit whenever this process holds it; see
	// [bot.Bot]. One with other Shards waits until the others are gone. Nil: the process is alone.
	Hold func(ctx context.Context, unit string, serve func(context.Context, *units.Held) error) error
	// Turn takes the next of the turns of all processes; see [gateway.Config]. Nil: the process
	// is alone.
	Turn func(ctx context.Context, name string, every time.Duration) (wait time.Duration, err error)
	// Processes returns how many processes share what Discord takes from the bot; nil: one.
	Processes func() int

	Person, Channel int // requests a minute that a person, and a channel, may make; 0: 60, 120

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
	awayAfter   = 15 * time.Second        // Discord counts as away when the gateway is gone
	patience    = 300 * time.Millisecond  // for a bucket; then the bot waits, and others are not held up
	askWorkers  = 32
	showWorkers = 32
	drainFor    = 6 * time.Second
	remembered  = 20_000 // channels, threads, people
	seenMost    = 10_000 // interactions
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
	self string // the bot's own id as a user
	log  *slog.Logger
	rest client

	rooms        *cache[room]       // by channel
	roles        *cache[string]     // by server: the role that Discord has made for the bot
	threads      *cache[bool]       // by message: whether there is a thread under it
	dms          *cache[string]     // channel of direct messages, by person
	dmsClosed    *cache[time.Time]  // by person: when Discord refused a direct message
	hints        *cache[struct{}]   // hints that were given
	warned       *cache[time.Time]  // until when a person gets no second warning of writing too much, or of an error
	cleared      *cache[struct{}]   // messages that have no controls any more
	sheets       *cache[time.Time]  // by message of an event: when it was edited last
	apart        sync.Mutex         // guards turns as a whole
	turns        *cache[time.Time]  // by game of an event: when it may begin a thread, see turnOf
	keys         *cache[key]        // by message: the interaction by which it can be changed
	parents      *cache[string]     // by thread: its channel
	personLimit  *intake.Limit      // requests of each person
	channelLimit *intake.Limit      // requests in each channel
	barred       *cache[refusal]    // what was refused, see refused.go
	slow         *cache[time.Time]  // by channel: until when pictures follow their words
	members      *cache[membership] // by person and room

	// Run sets these before anything comes. Deliver, which may be called before it, uses none.
	service  bot.Service
	drainCtx context.Context // ends a while after the context of Run
	runCtx   context.Context // the context of Run
	requests *intake.Queue   // requests, by channel
	answers  *intake.Queue   // answers on their way, each game's one after the other

	isConnected chan struct{}                     // closed when interactions can come
	connected   func()                            // called when they can
	commandIDs  atomic.Pointer[map[string]string] // of those at the top, by name, as they are registered; nil until it is known

	twin      twinWatch
	seen      *cache[struct{}]  // ids of interactions and messages: some come twice
	originals [64]chan struct{} // turns to change first answers, by token; each holds a value while somebody does
	following chan struct{}     // holds a value for each answer whose picture follows

	gateway atomic.Pointer[gateway.Gateway] // nil before Run, and where interactions come over HTTP
	shards  atomic.Int64                    // of the whole bot; 0: not known
	known   intake.Mark                     // that number became known
	leads   atomic.Bool                     // over HTTP: this process does what one does for all
	up      intake.State                    // there: Discord can be reached
	event   intake.Mark                     // an interaction or a message came
	probed  intake.Mark                     // Discord answered a probe

	reporting    chan struct{} // holds a value while somebody checks whether Discord can be reached, and reports it
	reportedAway bool          // guarded by reporting: the service may hold that it cannot
}

var (
	_ bot.Adapter    = (*Adapter)(nil)
	_ bot.Membership = (*Adapter)(nil)
	_ bot.Host       = (*Adapter)(nil)
	_ bot.Sharded    = (*Adapter)(nil)
	_ bot.Watched    = (*Adapter)(nil)
)

// New makes an adapter. It asks Discord nothing yet.
func New(cfg Config) (*Adapter, error) {
	token := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(cfg.Token.Reveal()), "Bot "))
	id, err := CheckToken(token)
	if err != nil {
		return nil, err
	}
	cfg.Token = secret.New(token)
	if cfg.Application == "" {
		cfg.Application = id
	}
	if cfg.Listen != "" && cfg.PublicKey == "" {
		return nil, errors.New("discord.public_key: missing; discord.listen needs it to receive interactions over HTTP")
	}
	if cfg.Bind == nil {
		cfg.Bind = func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	log := cfg.Log.With("adapter", Name)
	api, err := rest.New(rest.Config{API: cfg.API, Token: cfg.Token, Application: cfg.Application, Version: cfg.Version, Patience: patience, Processes: cfg.Processes, Dial: cfg.Dial, Log: log})
	if err != nil {
		return nil, err
	}
	a := &Adapter{
		cfg: cfg, self: id, log: log,
		rooms: newCache[room](remembered), roles: newCache[string](remembered), threads: newCache[bool](remembered), dms: newCache[string](remembered),
		dmsClosed: newCache[time.Time](remembered), hints: newCache[struct{}](remembered), warned: newCache[time.Time](remembered), cleared: newCache[struct{}](remembered), keys: newCache[key](remembered), sheets: newCache[time.Time](remembered), turns: newCache[time.Time](remembered), parents: newCache[string](remembered),
		personLimit:  intake.PerMinute(cmp.Or(cfg.Person, personPerMinute), personAtOnce, personAtOnce-1),
		channelLimit: intake.PerMinute(cmp.Or(cfg.Channel, channelPerMinute), channelAtOnce, channelAtOnce-1),
		reporting:    make(chan struct{}, 1), following: make(chan struct{}, followMost), seen: newCache[struct{}](seenMost), barred: newCache[refusal](remembered), slow: newCache[time.Time](remembered),
		members: newCache[membership](remembered),
	}
	for i := range a.originals {
		a.originals[i] = make(chan struct{}, 1)
	}
	a.rest = client{api, a}
	return a, nil
}

// CheckToken says what is wrong with the shape of a token, and gives the id of
// the bot that it is for.
func CheckToken(token string) (application string, err error) {
	if token == "" {
		return "", errors.New("discord.token: missing")
	}
	parts := strings.Split(token, ".")
	id, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(parts[0], "="))
	if len(parts) != 3 || err != nil || strings.Trim(string(id), "0123456789") != "" || len(id) == 0 {
		return "", errors.New("discord.token: not a bot's token; copy it from the page “Bot” of the application, not the client secret")
	}
	return string(id), nil
}

// Name is "discord".
func (a *Adapter) Name() string { return Name }

// Run registers the commands, takes interactions and asks service until ctx is
// done. An error means that there is no point in going on: a token that is not
// accepted, an address that is in use.
func (a *Adapter) Run(ctx context.Context, service bot.Service) error {
	drain, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	panicked := func(v any) { a.log.Error("panic", "value", v, "stack", string(debug.Stack())) }
	run, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a.service, a.drainCtx, a.runCtx = service, drain, run
	a.requests = intake.NewQueue(askWorkers, panicked)
	a.answers = intake.NewQueue(showWorkers, panicked)
	a.reportedAway = true

	a.isConnected = make(chan struct{})
	a.connected = sync.OnceFunc(func() { close(a.isConnected) })
	// Requests that were taken are answered.
	defer context.AfterFunc(run, func() { time.AfterFunc(drainFor, cancel) })()
	var err error
	if a.cfg.Listen != "" {
		err = a.serve(run, stop)
	} else {
		err = a.connect(run, stop)
	}
	stop(nil)
	a.requests.Close()
	a.answers.Close()
	cancel()
	a.rest.Close()
	if err == nil && ctx.Err() == nil {
		err = context.Cause(run)
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

// registered registers the commands, again and again until it is done. A token
// that is not accepted ends Run.
func (a *Adapter) registered(ctx context.Context, stop context.CancelCauseFunc) {
	for failures := 1; ; failures++ {
		err := a.register(ctx, bot.Commands())
		if err == nil && a.cfg.Guild != "" {
			err = a.removeGlobalCommands(ctx)
		}
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case status(err) == http.StatusUnauthorized:
			stop(errors.New("discord.token: rejected by Discord; reset it on the page “Bot” of the application"))
			return
		case status(err) == http.StatusForbidden && a.cfg.Guild != "":
			stop(fmt.Errorf("discord.guild: the bot is not in that server; invite it with %s", Invite(a.cfg.Application)))
			return
		}
		a.log.Warn("commands not registered, will retry", "error", err)
		backoff.Sleep(ctx, atLeast(backoff.After(failures, time.Second, time.Minute), err))
	}
}

// greet logs that people can play now, and where. It asks Discord only if somebody
// reads that.
func (a *Adapter) greet(ctx context.Context) {
	if !a.log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	app, err := a.rest.App(ctx)
	if err != nil {
		a.log.Info("connected to Discord", "error", err)
		return
	}
	a.log.Info("connected to Discord", "bot", app.Name, "servers", app.Servers, "commands", len(project(bot.Commands(), a.cfg.Guild != "")))
}

// serve takes interactions over HTTP.
func (a *Adapter) serve(ctx context.Context, stop context.CancelCauseFunc) error {
	endpoint, err := interaction.NewEndpoint(interaction.EndpointConfig{
		PublicKey: a.cfg.PublicKey, Client: a.rest.Client, Log: a.log,
		Handle: func(in interaction.Interaction, respond interaction.Responder) {
			if x := a.receive(in, respond, func() {}); x != nil {
				<-x.begun // the response is held open meanwhile
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
	a.reporting <- struct{}{}
	a.back(ctx)
	<-a.reporting
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { a.probe(ctx) })
	group.Go(func() {
		err := a.hold(ctx, Name, func(ctx context.Context, _ *units.Held) error {
			a.leads.Store(true)
			defer a.leads.Store(false)
			a.reporting <- struct{}{}
			a.reportedAway = true // the process before this one may have said so
			if up, _ := a.up.Is(); up {
				a.back(ctx)
			}
			<-a.reporting
			a.lead(ctx, stop)
			<-ctx.Done()
			return nil
		})
		if err != nil {
			stop(err)
		}
	})
	if !a.alone() {
		group.Go(func() { a.learnCommands(ctx) })
	}
	a.connected()
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
