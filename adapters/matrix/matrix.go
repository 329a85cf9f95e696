package matrix

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/intake"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/retry"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/lru"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// Name is the platform's name.
const Name = "matrix"

// Unlimited is more messages a second, and at once, than the bot ever sends.
const Unlimited = 1000

// Config says whose bot it is.
type Config struct {
	Homeserver   string           // URL or name of the server
	User         string           // "@halfpoint:example.org", or the part before the colon
	Password     secret.Text      // or Token; without both the owner logs the bot in in the browser, where the homeserver has that
	Token        secret.Text      // without a password a lost device cannot be replaced
	RecoveryKey  secret.Text      // of the account's cross-signing; empty: made if there is none
	RecoveryFile string           // where the bot keeps recovery keys that it makes; empty: nowhere
	LoginFile    string           // where Check keeps its login for the bot; empty: nowhere
	Allow        []string         // who may invite: users, servers or rooms; empty: everybody
	Profile      Profile          // of the account
	DB           *dbutil.Database // for the device, its keys and what waits

	Person int // requests a minute that a person may make; 0: 60
	Room   int // that all may make in a room; 0: any number

	Edit   time.Duration                                                        // between two edits of a game's root; 0: 1 minute
	Rate   float64                                                              // messages a second that the homeserver surely takes for good; 0: 0.2, as Synapse does by default
	Burst  int                                                                  // and at once; 0: 10. Both may be Unlimited
	Settle time.Duration                                                        // see [device.Config]
	Slow   time.Duration                                                        // after which the words of a board go without its picture, which follows; 0: 4 s
	Now    func() time.Time                                                     // nil: time.Now
	Dial   func(ctx context.Context, network, address string) (net.Conn, error) // opens connections to the homeserver; nil: TCP
	Log    *slog.Logger                                                         // nil logs nothing

	Ready func(user string) // called when what people write reaches the bot; may be nil

	// Hold calls serve whenever this process is to use the account, for as long as nobody else
	// does; see [units.Keeper.Hold], which it is where several processes have one database. Nil:
	// the process is alone. Lease then returns for which term the process has the account, and
	// whether it still has it. DB must guard changes with it.
	Hold  func(ctx context.Context, unit string, serve func(context.Context, *units.Held) error) error
	Lease func() (holder string, term int64, ok bool) // nil without Hold
}

// How much runs and waits.
const (
	awayAfter   = 15 * time.Second // without an answer the homeserver counts as away
	toldAfter   = 30 * time.Second // a room gets the message that something could not be read
	editAfter   = time.Minute
	slowAfter   = 4 * time.Second
	askWorkers  = 16
	drainFor    = 6 * time.Second
	keepFor     = 30 * 24 * time.Hour // what became of an event
	keepNothing = time.Hour           // that nothing did
	keepMark    = 90 * 24 * time.Hour
	longPoll    = 30 * time.Second
	sendFor     = 20 * time.Second // one request
	uploadFor   = time.Minute
	filesKept   = 64   // of answers
	boardsKnown = 2048 // lines whose newest board is remembered

	// Synapse's default limits for an account.
	sendRate  = 0.2
	sendBurst = 10
)

// How much a person, and a room, may ask: so many at once, and then so many a
// minute. They get one warning, since everybody in the room reads it.
const (
	personAtOnce, personPerMinute = 10, 60
	roomAtOnce                    = 40
)

// An Adapter connects the bot to Matrix. It is a [bot.Adapter].
type Adapter struct {
	cfg Config
	log *slog.Logger

	mu            sync.Mutex
	service       bot.Service
	known         []bot.Command
	dev           *device.Device
	queue         *queue
	asks          *intake.Queue
	rooms         map[id.RoomID]*room     // as on disk
	ctx           context.Context         // of requests; ends a while after the context of serve
	sends         context.Context         // of posts that are being delivered; ends after ctx
	inside        *sync.WaitGroup         // these posts
	joins         map[string]*joinAttempt // under way, by room
	failed        map[id.EventID]failure
	verifications map[id.UserID]verification // to be cancelled
	done          time.Time                  // when the adapter last handled an event
	read          time.Time                  // when the homeserver last answered a sync

	idle     atomic.Bool                   // another process may have the account; this one does nothing
	synced   atomic.Pointer[device.Device] // the device for which an answer of the homeserver was taken in
	leftover int64                         // the newest event that was there before serve began
	reviewed bool                          // invitations that an earlier start has ignored were looked at; only the loop that reads uses it
	out      atomic.Bool                   // the homeserver is out of reach, as far as is known
	up       intake.State                  // the opposite, with its time
	heard    intake.Mark                   // somebody did something
	keys     atomic.Int64                  // how often keys have come

	restored    restored
	personLimit *intake.Limit // how often a person may ask
	roomLimit   *intake.Limit // how often all in a room may; nil: as often as they like
	origins     sync.Map      // rooms of which it is known whether they replace others
	secret      sync.Map      // by known id: rooms of which the bot knows that they are encrypted
	making      turns         // of making a room for somebody
	fresh       sync.Map      // by id: rooms that the bot has made, see [fresh]
	invites     inviteLimiter // how often the bot joins

	account     *outbox.Account
	sending     turns                   // of sending a board, or a picture after its words, by line
	newest      *lru.Cache[string, int] // by line: the event of the newest board that was sent
	uploads     uploads
	files       *lru.Cache[string, content] // files that are to follow the words of answers, by their keys
	closed      *lru.Cache[door, closed]    // what rooms have refused
	memberships *lru.Cache[member, membership]
	empty       atomic.Bool // the bot may be alone in a room
	movedRooms  atomic.Bool // the bot may have come into a room, or left one
}

var (
	_ bot.Adapter    = (*Adapter)(nil)
	_ bot.Membership = (*Adapter)(nil)
	_ bot.Watched    = (*Adapter)(nil)
)

// New makes an adapter. It asks the homeserver nothing yet.
func New(cfg Config) (*Adapter, error) {
	switch {
	case cfg.Homeserver == "":
		return nil, errors.New("matrix.homeserver: missing")
	case cfg.User == "" && cfg.Token.IsZero():
		return nil, errors.New("matrix.user: missing")
	case cfg.DB == nil:
		return nil, errors.New("matrix: no database")
	}
	cfg.Edit, cfg.Slow = cmp.Or(cfg.Edit, editAfter), cmp.Or(cfg.Slow, slowAfter)
	cfg.Rate, cfg.Burst = cmp.Or(cfg.Rate, sendRate), cmp.Or(cfg.Burst, sendBurst)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Lease == nil {
		cfg.Lease = func() (string, int64, bool) { return "", 0, true }
	}
	a := &Adapter{cfg: cfg, log: cfg.Log.With("adapter", Name),
		rooms: map[id.RoomID]*room{}, failed: map[id.EventID]failure{}, verifications: map[id.UserID]verification{}, joins: map[string]*joinAttempt{},
		personLimit: intake.PerMinute(cmp.Or(cfg.Person, personPerMinute), personAtOnce, 1),
		account:     outbox.NewAccount(cfg.Rate, cfg.Burst),
		uploads:     uploads{known: lru.New[string, message.Picture](uploadsKnown), lines: map[string]*upload{}},
		newest:      lru.New[string, int](boardsKnown), files: lru.New[string, content](filesKept), closed: lru.New[door, closed](refusedKept),
		memberships: lru.New[member, membership](membersKept)}
	if cfg.Room > 0 {
		a.roomLimit = intake.PerMinute(cfg.Room, roomAtOnce, 1)
	}
	return a, nil
}

// Name is "matrix".
func (a *Adapter) Name() string { return Name }

func (a *Adapter) theService() (bot.Service, []bot.Command) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.service, a.known
}

// device gives the device in use; nil before Run.
func (a *Adapter) device() *device.Device {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dev
}

// enter begins something that is done with the device in use, in a context that ends with the
// device; done ends it. Without a device it returns nil.
func (a *Adapter) enter(ctx context.Context) (_ context.Context, dev *device.Device, done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dev == nil {
		return ctx, nil, func() {}
	}
	inside := a.inside
	inside.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.sends, cancel)
	return ctx, a.dev, func() {
		stop()
		cancel()
		inside.Done()
	}
}

// errLoggedOut is the error of a device that the homeserver no longer knows.
var errLoggedOut = errors.New("device logged out")

// Run logs in, reads what people write and asks service until ctx is done, whenever this process
// has the account. An error means that there is no point in going on: a password that is not
// accepted, a device that belongs to somebody else.
func (a *Adapter) Run(ctx context.Context, service bot.Service) error {
	a.mu.Lock()
	a.service, a.known, a.queue = service, bot.Commands(), &queue{a.cfg.DB}
	a.mu.Unlock()
	hold := a.cfg.Hold
	if hold == nil {
		hold = (*units.Keeper)(nil).Hold
	}
	a.idle.Store(a.cfg.Hold != nil)
	return hold(ctx, Name, func(ctx context.Context, _ *units.Held) error { return a.serve(ctx) })
}

// serve is Run while this process has the account. It believes nothing that the adapter remembers
// from before: another process may have had the account since.
func (a *Adapter) serve(ctx context.Context) error {
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	asking, cancel := context.WithCancel(sending)
	defer cancel()
	asks := intake.NewQueue(askWorkers, func(v any) {
		a.log.Error("panic", "value", v, "stack", string(debug.Stack()))
	})
	inside := &sync.WaitGroup{}
	a.forget()
	a.reachable(false)
	a.idle.Store(false)
	a.mu.Lock()
	a.ctx, a.asks, a.sends, a.inside = asking, asks, sending, inside
	a.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		if !a.holds() { // nothing may finish
			cut()
		}
	})()
	defer func() { // what is being asked is answered; what waits is on disk
		a.idle.Store(a.cfg.Hold != nil)
		timer := time.AfterFunc(drainFor, cut)
		defer timer.Stop()
		asks.Close()
		a.mu.Lock()
		dev := a.dev
		a.dev = nil
		a.mu.Unlock()
		cancel() // of uploads: a board comes with its picture later
		inside.Wait()
		if dev != nil {
			dev.Close()
		}
	}()

	var group sync.WaitGroup
	running, stop := context.WithCancel(ctx)
	defer group.Wait()
	defer stop()
	group.Go(func() { a.tidy(running) })
	remembers, failures := false, 0
	for {
		began := time.Now()
		var err error
		if !remembers {
			err = a.remember(ctx)
			remembers = err == nil
		}
		if err == nil {
			err = a.connected(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errLoggedOut):
			a.log.Warn("homeserver logged the device out, will log in again")
		case passing(err):
			a.log.Warn("database does not answer, will connect again", "error", err)
		case errors.Is(err, device.ErrTwin) && a.gone(ctx):
			return nil
		default:
			return err
		}
		if time.Since(began) > 10*time.Minute {
			failures = 0
		} else {
			failures++
			backoff.Sleep(ctx, backoff.After(failures, time.Second, 5*time.Minute))
		}
	}
}

// holds reports whether this process has the account now.
func (a *Adapter) holds() bool {
	_, _, ok := a.cfg.Lease()
	return ok
}

// gone reports whether it is another process with the same database that has the account now, not
// another Halfpoint. It waits until that is known.
func (a *Adapter) gone(ctx context.Context) bool {
	for ctx.Err() == nil {
		err := a.cfg.DB.DoTxn(ctx, nil, func(context.Context) error { return nil })
		if err == nil {
			return false
		}
		backoff.Sleep(ctx, time.Second)
	}
	return true
}

// passing reports whether an error is the database's, which may answer later.
func passing(err error) bool {
	var n net.Error
	return errors.As(err, new(interface{ SQLState() string })) || errors.Is(err, units.ErrLost) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &n)
}

// remember reads what the database knows.
func (a *Adapter) remember(ctx context.Context) error {
	rooms, err := a.queue.roomsKnown(ctx)
	if err != nil {
		return err
	}
	leftover, err := a.queue.newest(ctx)
	if err != nil {
		return err
	}
	if err := a.readRestored(ctx, a.queue); err != nil {
		return err
	}
	a.mu.Lock()
	a.rooms, a.leftover = rooms, leftover
	a.mu.Unlock()
	return a.notLoggedIn(ctx)
}

// forget drops what the adapter remembers of the homeserver and of the database. What it keeps is
// its own: how often people have asked it, and files that posts show.
func (a *Adapter) forget() {
	a.mu.Lock()
	a.rooms, a.joins, a.failed, a.verifications = map[id.RoomID]*room{}, map[string]*joinAttempt{}, map[id.EventID]failure{}, map[id.UserID]verification{}
	a.done, a.read, a.reviewed = time.Time{}, time.Time{}, false
	a.mu.Unlock()
	a.synced.Store(nil)
	for _, known := range []*sync.Map{&a.origins, &a.secret, &a.fresh, &a.uploads.asked} {
		known.Clear()
	}
	a.newest.Purge()
	a.closed.Purge()
	a.memberships.Purge()
	a.invites.forget()
	a.movedRooms.Store(false)
}

// connected logs in and reads until the device is not known any more.
func (a *Adapter) connected(ctx context.Context) error {
	a.mu.Lock()
	old := a.dev
	a.dev = nil
	a.mu.Unlock()
	if old != nil { // before another takes its place in the database
		if err := old.Close(); err != nil {
			a.log.Warn("closing the previous device failed", "error", err)
		}
	}
	dev, err := a.login(ctx)
	if err != nil {
		return err
	}
	dev.Client.Client = &http.Client{Transport: flat{dev.Client.Client.Transport}, Timeout: dev.Client.Client.Timeout}
	a.mu.Lock()
	a.dev = dev
	a.mu.Unlock()
	defer func() {
		if a.device() != dev { // it was taken over
			dev.Close()
		}
	}()
	if err := a.queue.unmark(ctx, "restored", "perhaps"); err != nil {
		return err
	}
	if dev.Crypto != nil {
		dev.Crypto.OnKey(func(_ id.RoomID, session id.SessionID) { a.keyCame(session) })
	}
	var group sync.WaitGroup
	defer group.Wait()
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	group.Go(func() { a.aside(running, "profile", func(ctx context.Context) { a.introduce(ctx, dev) }) })
	group.Go(func() {
		select {
		case <-dev.Taken():
			a.reachable(false)
			a.mu.Lock()
			a.dev = nil // what is still being asked must not encrypt with the other's keys
			a.mu.Unlock()
			stop(fmt.Errorf("%w and has taken it over; each needs an account of its own", device.ErrTwin))
		case <-running.Done():
		}
	})
	err = a.sync(running, dev)
	if err == nil && ctx.Err() == nil {
		err = context.Cause(running)
	}
	return err
}

// login opens the device, again and again while the homeserver cannot be reached or
// lets the bot wait.
func (a *Adapter) login(ctx context.Context) (*device.Device, error) {
	began := time.Now()
	for failures := 1; ; failures++ {
		dev, err := device.Open(ctx, a.deviceConfig())
		if err == nil || ctx.Err() != nil || !unreachable(err) {
			return dev, err
		}
		again := max(backoff.After(failures, time.Second, 30*time.Second), retry.After(err))
		a.log.Warn("login failed, will retry", "error", err, "again", again)
		if time.Since(began) > awayAfter {
			a.away(ctx)
		}
		backoff.Sleep(ctx, again)
	}
}

func (a *Adapter) deviceConfig() device.Config {
	c := a.cfg
	_, term, _ := c.Lease()
	return device.Config{Homeserver: c.Homeserver, User: c.User, Password: c.Password, Token: c.Token, RecoveryKey: c.RecoveryKey, RecoveryFile: c.RecoveryFile, LoginFile: c.LoginFile,
		DB: c.DB, Holds: a.holds, Term: term, Name: "Halfpoint", Dial: c.Dial, Settle: c.Settle, OldCopy: a.wentBack, Log: a.log, Waiting: a.away}
}

// away tells the service that Matrix cannot be reached; what waits waits until it
// can.
func (a *Adapter) away(ctx context.Context) {
	a.reachable(false)
	service, _ := a.theService()
	if err := service.Report(ctx, bot.Away{Platform: Name}); err != nil && ctx.Err() == nil {
		a.log.Error("storing an outage failed", "error", err)
	}
}

// back tells the service that Matrix can be reached, before anything is asked, and
// has dealt with what waits.
func (a *Adapter) back(ctx context.Context) bool {
	service, _ := a.theService()
	err := service.Report(ctx, bot.Back{Platform: Name})
	if err != nil && ctx.Err() == nil {
		a.log.Error("storing the end of an outage failed, will retry", "error", err)
	}
	if err != nil {
		return false
	}
	a.reachable(true)
	a.wakeAll(ctx)
	return true
}

// reachable notes whether the homeserver can be reached, as far as is known.
func (a *Adapter) reachable(is bool) {
	a.out.Store(!is)
	a.up.Set(is, time.Now())
}

// silentFor is how long the homeserver may take to answer a sync until Health no longer
// calls it connected.
const silentFor = longPoll + 2*awayAfter

// Health tells how the connection to the homeserver is. Its heartbeats are the answers to
// syncs, of which there is one in half a minute at least. A process that does not have the account
// lacks no connection.
func (a *Adapter) Health() bot.Health {
	h := bot.Health{Event: a.heard.At(), Refused: map[string]uint64{"person_limit": a.personLimit.Refused(), "channel_limit": a.roomLimit.Refused()}}
	h.Connected, h.Since = a.up.Is()
	if a.idle.Load() {
		h.Connected = true
		return h
	}
	a.mu.Lock()
	h.Heartbeat = a.read
	a.mu.Unlock()
	if now := time.Now(); h.Connected && now.Sub(h.Heartbeat) > silentFor && now.Sub(h.Since) > silentFor {
		h.Connected, h.Since, h.Lacks = false, h.Heartbeat, "the homeserver does not answer"
	}
	return h
}
