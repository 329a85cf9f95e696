package discord

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// monday is when bubbles begin: Discord's ids reach back to 2015.
var monday = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// bubble runs a test in virtual time, with Discord in memory. Time stands still
// while anybody works, and passes at once while everybody waits.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	inBubble(t, test)
}

func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(monday))
		test(t)
	})
}

// inClub runs a test in virtual time in a club in which the bot runs.
func inClub(t *testing.T, test func(t *testing.T, c *club)) {
	t.Helper()
	inPreparedClub(t, func(*club) {}, test)
}

// inClubForDays is inClub with interactions over HTTP: a gateway would have to be told
// every minute of so many that the bot is there.
func inClubForDays(t *testing.T, test func(t *testing.T, c *club)) {
	t.Helper()
	inPreparedClub(t, (*club).overHTTP, test)
}

// inClubBothWays is inClub with interactions through the gateway, and over HTTP.
func inClubBothWays(t *testing.T, test func(t *testing.T, c *club)) {
	t.Helper()
	t.Run("gateway", func(t *testing.T) { inClub(t, test) })
	t.Run("HTTP", func(t *testing.T) { inClubForDays(t, test) })
}

func inPreparedClub(t *testing.T, prepare func(*club), test func(t *testing.T, c *club)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		prepare(c)
		c.start()
		test(t, c)
		c.stop()
		c.check()
	})
}

// eachInClub runs a test of each case in a club of its own.
func eachInClub[T any](t *testing.T, cases map[string]T, test func(t *testing.T, c *club, x T)) {
	t.Helper()
	for name, x := range cases {
		t.Run(name, func(t *testing.T) { inClub(t, func(t *testing.T, c *club) { test(t, c, x) }) })
	}
}

// overHTTP has the interactions come over HTTP, from the next start on.
func (c *club) overHTTP() { c.cfg.Listen, c.cfg.PublicKey = "localhost:8080", c.d.PublicKey() }

// again ends the bot and starts it anew, as another process.
func (c *club) again() {
	c.Helper()
	c.stop()
	c.start()
}

// A club is a server with a room and two members, and the bot in it.
type club struct {
	*testing.T
	d     *discordtest.Server
	guild *discordtest.Guild
	room  *discordtest.Channel
	alice *discordtest.Person
	bob   *discordtest.Person

	store    bot.Store
	recorder *recorder // of the bot that was started last
	cfg      Config
	a        *Adapter
	log      logged
	stop     func()
	units    *units.Keeper // nil: the bot is one process alone
	waits    bool          // for units: start does not wait until it is ready

	rand     io.Reader       // see bot.Config; may be nil
	address  string          // of the pages of games; empty: there are none
	notices  int             // that were delivered by a test
	network  *memnet.Network // in a bubble
	settling chan bool       // holds a value while somebody waits until all is settled
}

var logging = slog.HandlerOptions{Level: slog.LevelDebug}

// logged keeps what is logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if os.Getenv("HALFPOINT_SHOW") != "" {
		os.Stderr.Write(p)
	}
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newClub makes a club in a bubble, in which the bot does not run yet.
func newClub(t *testing.T, o discordtest.Options) *club {
	t.Helper()
	o.Network = &memnet.Network{}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	c := makeClub(t, o)
	c.network, c.settling = o.Network, make(chan bool, 1)
	c.cfg.Dial, c.cfg.Bind = o.Network.DialContext, o.Network.Listen
	return c
}

// newRealClub makes one outside of bubbles, for programs that were not written
// here and for measurements.
func newRealClub(t *testing.T, o discordtest.Options) *club {
	t.Helper()
	if o.Patience == 0 {
		o.Patience = tier.Patience(t)
	}
	return makeClub(t, o)
}

func makeClub(t *testing.T, o discordtest.Options) *club {
	t.Helper()
	if o.Limits == nil {
		o.Limits = discordtest.NoLimits()
	}
	d := discordtest.New(t, o)
	guild := d.Guild("Go club")
	c := &club{T: t, d: d, guild: guild, room: guild.Channel("games"), alice: guild.Member("Alice"), bob: guild.Member("Bob")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the bot's log:\n%s", c.log.String())
		}
	})
	c.store = makeStore(t)
	c.cfg = Config{Token: secret.New(d.Token()), API: d.API()}
	return c
}

// makeStore makes an empty database.
func makeStore(t *testing.T) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// start starts the bot. Its recorder is c.recorder, and c.stop stops it.
func (c *club) start() {
	c.Helper()
	if c.a != nil {
		c.passes(6 * time.Second) // Discord lets nobody identify twice within five
	}
	c.recorder = &recorder{}
	b := bot.New(c.store, bot.Config{Log: slog.New(slog.NewTextHandler(&c.log, &logging)), Units: c.units,
		Rand: c.rand, PublicURL: c.address, Pages: map[string]match.Pages{Name: match.LinkPages}})
	if c.units != nil {
		c.cfg.Hold, c.cfg.Processes = b.Hold, c.units.Processes
	}
	c.a, c.stop = c.runs(c.cfg, func(ctx context.Context, a *Adapter) error { return b.Run(ctx, between{a, c.recorder}) })
}

// alone starts an adapter that asks a service, and to which nothing is delivered. What
// it does after kill reaches nobody.
func (c *club) alone(service bot.Service) (stop, kill func()) {
	c.Helper()
	return c.killable(func(ctx context.Context, a *Adapter) error { return a.Run(ctx, service) })
}

// killable is alone with a bot, which delivers.
func (c *club) killable(run func(context.Context, *Adapter) error) (stop, kill func()) {
	c.Helper()
	p := &plug{dial: c.network.DialContext}
	cfg := c.cfg
	cfg.Dial = p.DialContext
	_, stop = c.runs(cfg, run)
	return stop, p.pull
}

// runs makes an adapter and has it run until stop is called.
func (c *club) runs(cfg Config, run func(context.Context, *Adapter) error) (a *Adapter, stop func()) {
	c.Helper()
	cfg.Log = slog.New(slog.NewTextHandler(&c.log, &logging))
	ready := make(chan string, 100)
	cfg.Ready = func(address string) { ready <- address }
	a, err := New(cfg)
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go pprof.Do(ctx, pprof.Labels("club", c.Name()), func(ctx context.Context) { done <- run(ctx, a) })
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.Errorf("the bot stopped: %v", err)
		}
	})
	c.Cleanup(stop)
	if c.waits {
		return a, stop
	}
	select {
	case address := <-ready:
		if address != "" {
			if err := c.d.SetEndpoint("http://" + address); err != nil {
				c.Fatal(err)
			}
		}
	case <-time.After(c.patience()):
		c.Fatalf("the bot is not ready\n%s", c.log.String())
	}
	if !c.d.WaitCommands(1) {
		c.Fatalf("no commands were registered\n%s", c.log.String())
	}
	return a, stop
}

// patience is how long a test waits for what should come.
func (c *club) patience() time.Duration {
	if c.network != nil {
		return time.Minute
	}
	return tier.Patience(c.T)
}

// A plug connects a program with the network until it is pulled.
type plug struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu     sync.Mutex
	conns  []net.Conn
	pulled bool
}

func (p *plug) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := p.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pulled {
		conn.Close()
		return nil, errors.New("the plug was pulled")
	}
	p.conns = append(p.conns, conn)
	return conn, nil
}

func (p *plug) pull() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pulled = true
	for _, conn := range p.conns {
		conn.Close()
	}
}

// A recorder sits between an adapter and its service. It notes what it is asked and
// told. Tests may change the other fields while nobody asks.
type recorder struct {
	bot.Service
	gate    chan bool                     // requests wait for a value from it; nil: they do not
	answers func(bot.Request) outbox.Post // instead of the service; may be nil
	muses   time.Duration                 // before it suggests anything
	full    bool                          // it stores no decorations
	broken  bool                          // requests fail
	posts   func(outbox.Post)             // told of each post before it is shown; may be nil

	shown func(outbox.Post, outbox.Receipt) // told of each before that is stored; may be nil

	mu    sync.Mutex
	asked []bot.Request
	told  []string // "back", "away" and the commands, without repetitions
}

func (d *recorder) note(told string) {
	if n := len(d.told); n == 0 || d.told[n-1] != told {
		d.told = append(d.told, told)
	}
}

func (d *recorder) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	d.mu.Lock()
	d.asked = append(d.asked, r)
	d.note(r.Command)
	d.mu.Unlock()
	if d.gate != nil {
		<-d.gate
	}
	if d.answers != nil {
		p := d.answers(r)
		p.Kind, p.Asker, p.Reply = match.Answer, r.Who, r.Reply
		return bot.Answer{Posts: []outbox.Post{p}}, nil
	}
	if d.broken {
		return bot.Answer{}, errors.New("the disk is full")
	}
	answer, err := d.Service.Ask(ctx, r)
	for _, p := range answer.Posts {
		if d.posts != nil {
			d.posts(p)
		}
	}
	return answer, err
}

func (d *recorder) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes []outbox.Owes, err error) error {
	if d.shown != nil && err == nil {
		d.shown(p, r)
	}
	return d.Service.Settle(ctx, p, r, owes, err)
}

func (d *recorder) Suggest(ctx context.Context, r bot.Request, option, prefix string) []bot.Choice {
	time.Sleep(d.muses)
	return d.Service.Suggest(ctx, r, option, prefix)
}

func (d *recorder) Owe(ctx context.Context, where match.Room, owes ...outbox.Owes) error {
	if d.full {
		return errors.New("the disk is full")
	}
	return d.Service.Owe(ctx, where, owes...)
}

func (d *recorder) Report(ctx context.Context, r bot.Report) error {
	d.mu.Lock()
	switch r.(type) {
	case bot.Away:
		d.note("away")
	case bot.Back:
		d.note("back")
	}
	d.mu.Unlock()
	return d.Service.Report(ctx, r)
}

// take returns what was asked since it was called last.
func (d *recorder) take() []bot.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.asked
	d.asked, d.told = nil, nil
	return out
}

// heard counts what was asked since the last take, by the name of who asked.
func (d *recorder) heard() map[string]int {
	n := map[string]int{}
	for _, r := range d.take() {
		n[r.Who.Name]++
	}
	return n
}

// between puts a recorder between an adapter and its service.
type between struct {
	*Adapter
	recorder *recorder
}

func (b between) Run(ctx context.Context, service bot.Service) error {
	b.recorder.Service = service
	return b.Adapter.Run(ctx, b.recorder)
}

func (b between) Deliver(ctx context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if b.recorder.posts != nil {
		b.recorder.posts(p)
	}
	r, owes, err := b.Adapter.Deliver(ctx, p)
	if err == nil && b.recorder.shown != nil {
		b.recorder.shown(p, r)
	}
	return r, owes, err
}

// deferred waits until somebody sees that the bot thinks, and then lets it.
func (c *club) deferred(i *discordtest.Interaction) *discordtest.Interaction {
	c.Helper()
	return c.deferredBy(rest.ResponseDefer, i)
}

// deferredBy is deferred by a type of answer: a press shows nothing.
func (c *club) deferredBy(want int, i *discordtest.Interaction) *discordtest.Interaction {
	c.Helper()
	if kind, took := i.First(); kind != want || took != answerAfter {
		c.Errorf("first answered by %d after %v", kind, took)
	}
	c.recorder.gate <- true
	c.settle()
	return i
}

// goroutines is how many the bot has: those of the double, and of other tests,
// are not its own.
func (c *club) goroutines() int {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		c.Fatal(err)
	}
	n, same := 0, 0
	for line := range strings.Lines(profile.String()) {
		if count, _, ok := strings.Cut(line, " @ "); ok {
			same, _ = strconv.Atoi(count)
		} else if strings.HasPrefix(line, "# labels: ") && strings.Contains(line, strconv.Quote(c.Name())) {
			n += same
		}
	}
	return n
}

// mostGoroutines watches how many goroutines the bot has until it is asked.
func (c *club) mostGoroutines() (most func() int) {
	stop, done := make(chan bool), make(chan int)
	go func() {
		most := c.goroutines()
		for {
			select {
			case <-stop:
				done <- most
				return
			case <-time.After(50 * time.Millisecond):
				most = max(most, c.goroutines())
			}
		}
	}()
	return func() int {
		close(stop)
		return <-done
	}
}

// passes lets time pass, and waits until all that happens then is done.
func (c *club) passes(d time.Duration) {
	time.Sleep(d)
	c.settle()
}

// settle waits until nothing more happens now. Outside of bubbles nobody can tell.
func (c *club) settle() {
	if c.network != nil {
		c.settling <- true // one at a time
		synctest.Wait()
		<-c.settling
	}
}

// kept are the messages that one person alone still sees in a channel, once what can be
// deleted is: over HTTP that may take a second try.
func (c *club) kept(who *discordtest.Person, in *discordtest.Channel) (list []*discordtest.Message) {
	c.passes(time.Minute)
	for _, m := range who.Sees(in) {
		if m.To != "" {
			list = append(list, m)
		}
	}
	return list
}

// ok is the answer to an interaction, which must have been let through, once all
// that comes of it now has come.
func (c *club) ok(i *discordtest.Interaction) *discordtest.Message {
	c.Helper()
	if err := i.Refused(); err != nil {
		c.Fatalf("Discord's client refuses: %v", err)
	}
	m := i.Answer()
	if m == nil {
		c.Fatalf("no answer\n%s\n%s", c.d.Transcript(), c.log.String())
	}
	c.settle()
	return m
}
