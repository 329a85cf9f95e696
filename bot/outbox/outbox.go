package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A Platform shows posts. Its methods are called from several goroutines.
type Platform interface {
	// Name returns the platform's name, as in Room.Platform: "web".
	Name() string

	// Deliver shows a post and returns the id of the message, and the decorations that
	// follow it. Calls for the same game and channel come one after another; calls for
	// different games come at the same time, even in one channel. After an error or a
	// crash Deliver may be called again with the same post: Post.ID is the key by which
	// the platform must recognize it. Its errors are RetryAfter, ErrGone, Forbidden,
	// ErrTooLarge, ErrRefused and ErrAmbiguous, wrapped in InThread if they concern only
	// the game's thread; after any other error the post is tried again later.
	//
	// Decorations come the same way, at the same time as posts of their game: repeating
	// one must do no harm.
	Deliver(ctx context.Context, p Post) (Receipt, []Owes, error)
}

// A Limited platform knows the rate that it surely allows the bot's account. Posts never
// wait for that, only for [RetryAfter]; decorations are sent while more than half of
// the burst is left.
type Limited interface {
	// Budget returns how many messages a second the platform takes in the long run, and
	// how many at once.
	Budget() (perSecond float64, burst int)
}

// Rows stores posts and decorations. Its methods may be called concurrently.
type Rows interface {
	// Claim returns the posts to deliver now: of each game and channel the oldest
	// that is neither settled nor parked, if it is due. It does not return them again
	// before until. It never returns a show or status that a newer one of the same game
	// and channel supersedes, nor posts of the platforms in except.
	Claim(ctx context.Context, now, until time.Time, except ...string) ([]match.OutboxPost, error)
	// Renew extends claims that have not ended to a later time.
	Renew(ctx context.Context, posts []match.OutboxPost, until time.Time) error
	// Settle stores that a post was shown, and the resulting changes of decorations. If
	// the post is a line of a room's log, Settle appends that, and its N is the receipt.
	// Settling twice has no further effect.
	Settle(ctx context.Context, post string, r Receipt, line *Message, c Decorations) error
	// Decorate stores changes of decorations. Storing them twice has no further effect.
	Decorate(ctx context.Context, c Decorations) error
	// Decorations returns all decorations that wait, the oldest first.
	Decorations(ctx context.Context) ([]Row, error)
	// Later postpones a post, and with it the others of its game in that channel, if the
	// claim of that attempt still holds. Unsent means that the post was not sent under
	// this claim, so that a newer board may supersede it.
	Later(ctx context.Context, post string, attempt int, until time.Time, unsent bool) error
	// Refuse gives up a post that cannot be shown, so that later ones can be, if the
	// claim of that attempt still holds.
	Refuse(ctx context.Context, post string, attempt int, why string) error
	// Park pauses the pending posts of a room that cannot be reached, or only those of a
	// game there. It returns their ids and reports whether this is the first time.
	Park(ctx context.Context, where match.Room, game match.GameID, why string) (parked []string, first bool, err error)
}

// Config configures an Outbox.
type Config struct {
	Rows Rows
	// Word words a post, and Decoration a decoration, just before it is sent. Their error
	// is ErrStale if the post or decoration has become pointless.
	Word       func(context.Context, Claimed) (Post, error)
	Decoration func(context.Context, Row) (Post, error)
	Now        func() time.Time
	Log        *slog.Logger
	Shown      func(platform string, after time.Duration) // called for each board that was shown; may be nil
	Lanes      int                                        // of a platform, delivered at once; 0: 32. With 1 posts come in one order
}

// lanes is the default number of lanes of a platform that are delivered at the same
// time. At 300 ms for a message that is 100 messages a second, twice what Discord takes
// from one bot; more would only keep more pictures in memory, a megabyte each.
const lanes = 32

const (
	claimFor   = 30 * time.Second // how long a claim lasts
	retryAfter = 5 * time.Second  // after an error that says nothing better; twice as long after the next,
	retryMost  = 30 * time.Second // but no longer than this
	maxTries   = 3                // of a post that is refused or causes a panic
	deliverFor = 75 * time.Second // for one post: pictures go up slow lines
	finishIn   = 8 * time.Second  // once the program has been told to stop
	settleFor  = 5 * time.Second  // to store that a post was shown
	renewEvery = 10 * time.Second // claims that are in use
	askerWaits = time.Second      // for older posts of its lane
	againAfter = time.Second      // until a post is claimed again whose delivery was just ending
	maxTurns   = 10_000           // lanes whose last turn is remembered
)

// An Outbox delivers stored posts and does decorations. Its methods may be called
// concurrently.
type Outbox struct {
	Config
	queue    *queue // of decorations
	wake     chan struct{}
	decorate chan struct{} // wakes what does decorations
	reading  chan struct{} // guards read: holds a value while stored decorations are read
	read     bool
	delivery sync.Mutex // one call of Deliver at a time

	mu       sync.Mutex
	underway map[match.Lane][]Claimed // claimed and not yet shown
	asked    map[string]Claimed       // by id: those that their askers show
	wanted   map[string]*wanted       // by id: those that an asker waits for
	parked   map[string]time.Time     // by id: posts that were parked a moment ago
	turns    map[match.Lane]time.Time // when a post of the lane was last sent
	writing  map[string]chan struct{} // a place for each lane that is delivered, by platform
	narrow   map[string]chan struct{} // by platform: holds a value while its one post is sent
	running  bool                     // Run is claiming posts
	start    func(match.Lane)         // starts to deliver a lane; nil while Run does not deliver
	claims   int                      // calls of claim that are running
	finished map[string]bool          // posts whose delivery has ended since the first of these began
	gone     []Row                    // decorations that are done, to be stored at tidyAt
	tidyAt   time.Time
}

// New returns an Outbox that delivers nothing yet.
func New(c Config) *Outbox {
	if c.Lanes == 0 {
		c.Lanes = lanes
	}
	return &Outbox{
		Config: c, queue: newQueue(c.Now().UnixMicro()),
		wake: make(chan struct{}, 1), decorate: make(chan struct{}, 1), reading: make(chan struct{}, 1),
		underway: map[match.Lane][]Claimed{}, asked: map[string]Claimed{}, wanted: map[string]*wanted{}, parked: map[string]time.Time{}, turns: map[match.Lane]time.Time{},
		writing: map[string]chan struct{}{}, narrow: map[string]chan struct{}{}, finished: map[string]bool{},
	}
}

// A Claimed post is a post that this process shows.
type Claimed struct {
	match.OutboxPost
	Left    any       // passed to Take with it, or nil
	since   time.Time // when it was claimed
	renewed time.Time // when its claim was made or renewed
}

// Wake tells the outbox that there may be something to deliver.
func (b *Outbox) Wake() { wake(b.wake) }

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Deliver shows the posts that are due, the oldest of each lane, and does the decorations
// that are due. It returns their number. After it returns 0, another call does nothing
// until something new is due.
func (b *Outbox) Deliver(ctx context.Context, platforms ...Platform) (int, error) {
	b.delivery.Lock()
	defer b.delivery.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// A delivery that has begun is finished, even if the program is told to stop
	// meanwhile: half a delivery would have to be repeated after the restart.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishIn)
	defer cancel()
	var wait sync.WaitGroup
	n, err := b.takeUp(ctx, platforms, &wait)
	wait.Wait()
	if err != nil || ctx.Err() != nil {
		return n, err
	}
	if err := b.Open(ctx, platforms...); err != nil {
		return n, err
	}
	return n + b.decorateDue(ctx, platforms), nil
}

// Open asks the platforms for their budgets, and reads what earlier processes stored.
// Call it before the first request.
func (b *Outbox) Open(ctx context.Context, platforms ...Platform) error {
	for _, p := range platforms {
		if l, ok := p.(Limited); ok {
			perSecond, burst := l.Budget()
			b.queue.accounts.of(p.Name()).limit(perSecond, burst)
		}
	}
	return b.readDecorations(ctx)
}

// Run delivers posts until ctx is done, and returns when deliveries under way have ended.
func (b *Outbox) Run(ctx context.Context, platforms ...Platform) {
	finishing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wait sync.WaitGroup
	defer wait.Wait()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishIn, cancel) })()
	var start func(match.Lane)
	if b.Lanes > 1 {
		start = func(l match.Lane) { wait.Go(func() { b.write(finishing, platforms, l) }) }
	}
	b.setRunning(true, start)
	defer b.setRunning(false, nil)
	wait.Go(func() { b.decorating(ctx, finishing, platforms) })
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		b.renew(ctx)
		n, err := b.takeUp(finishing, platforms, &wait)
		if err != nil && ctx.Err() == nil {
			b.Log.Error("deliver", "error", err)
		}
		if n > 0 && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-b.wake:
		case <-tick.C:
		}
	}
}

// setRunning sets whether Run delivers, and the function by which Take starts delivering
// a lane; if nil, Take leaves that to the next claim.
func (b *Outbox) setRunning(is bool, start func(match.Lane)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running, b.start = is, start
}

// takeUp claims the posts that are due, starts delivering them in wait, each lane
// on a goroutine of its own, and returns how many there are.
func (b *Outbox) takeUp(ctx context.Context, platforms []Platform, wait *sync.WaitGroup) (int, error) {
	due, begin, err := b.claim(ctx)
	if err != nil {
		return 0, err
	}
	inOrder := map[string][]match.Lane{}
	for _, l := range begin {
		switch {
		case b.Lanes == 1: // one after the other, in their order
			b.write(ctx, platforms, l)
		case b.queue.accounts.of(l.Platform).narrow(b.Now()):
			inOrder[l.Platform] = append(inOrder[l.Platform], l)
		default:
			wait.Go(func() { b.write(ctx, platforms, l) })
		}
	}
	for _, lanes := range inOrder {
		wait.Go(func() {
			for _, l := range lanes {
				b.write(ctx, platforms, l)
			}
		})
	}
	return due, nil
}

// failed logs that something was not stored, unless the program is ending.
func (b *Outbox) failed(ctx context.Context, err error, what string, about ...any) {
	if err != nil && ctx.Err() == nil {
		b.Log.Error(what, append(about, "error", err)...)
	}
}

func named(platforms []Platform, name string) Platform {
	for _, p := range platforms {
		if p.Name() == name {
			return p
		}
	}
	return nil
}
