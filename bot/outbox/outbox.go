package outbox

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/lru"
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
// wait for that, only for [RetryAfter]; decorations do ([Account.Wait]).
type Limited interface {
	// Account returns the account. The outbox spends its tokens for each post, and for the
	// messages of each decoration.
	Account() *Account
}

// Rows stores posts and decorations. Its methods may be called concurrently.
type Rows interface {
	// Waiting returns the posts that wait, those of each lane in their order.
	Waiting(ctx context.Context) ([]match.OutboxPost, error)
	// Change stores the state of a post that waits, why it is that, and its Attempt, Tried
	// and Due. If it is tried, older posts of its lane that it supersedes wait no longer. The
	// error is ErrNotFound if it does not wait any more, and is not parked; ErrLost if
	// OutboxPost.Holder is not the holder of its unit any more.
	Change(ctx context.Context, o match.OutboxPost, is State, why string) error
	// Settle stores that a post was shown, and the resulting changes of decorations; and
	// also that another one is tried, if next is not nil. If the post is a line of a room's
	// log, Settle appends that, and its N is the receipt. Settling twice has no further effect.
	// The error is ErrLost if Decorations.Holder is not the holder of its unit any more.
	Settle(ctx context.Context, post string, r Receipt, line *Message, c Decorations, next *match.OutboxPost) error
	// Decorate stores changes of decorations. Storing them twice has no further effect. The
	// error is ErrLost as that of Settle.
	Decorate(ctx context.Context, c Decorations) error
	// Decorations returns all decorations that wait, the oldest first.
	Decorations(ctx context.Context) ([]Row, error)
	// Park pauses the waiting posts of a room that cannot be reached, or only those of a
	// game there. It returns their ids and reports whether this is the first time.
	Park(ctx context.Context, where match.Room, game match.GameID, why string) (parked []string, first bool, err error)
}

// A State is that of a stored post.
type State string

// The states of posts.
const (
	Waiting    State = "waiting"
	Shown      State = "settled"
	Superseded State = "superseded" // never shown, because a newer post says the same and more
	Refused    State = "refused"    // never shown, because the platform refuses it
	Parked     State = "parked"     // not shown until its room is in reach again
)

// Leases say which process shows the posts of a room, if there are several. Methods may be called
// concurrently.
type Leases interface {
	// Lease returns as which holder this process shows the posts of a room now, once the outbox
	// has been told that it [Outbox.Took] them; false: another process does, or will.
	Lease(where match.Room) (holder string, ok bool)
	// Under returns a context that also ends when this process does not any more.
	Under(ctx context.Context, where match.Room) (context.Context, context.CancelFunc)
}

// Config configures an Outbox.
type Config struct {
	Rows   Rows
	Leases Leases // nil: this process shows all posts
	// Word words a post, and Decoration a decoration, just before it is sent. Their error
	// is ErrStale if the post or decoration has become pointless.
	Word       func(context.Context, Pending) (Post, error)
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
	retryAfter = 5 * time.Second  // after an error that says nothing better; twice as long after the next,
	retryMost  = 30 * time.Second // but no longer than this
	maxTries   = 3                // of a post that is refused or causes a panic
	deliverFor = 75 * time.Second // for one post: pictures go up slow lines
	finishIn   = 8 * time.Second  // once the program stops
	settleFor  = 5 * time.Second  // to store that a post was shown
	maxLanes   = 1000             // remembered, although nothing waits in them
	askerWaits = time.Second      // for older posts of its lane
	longest    = time.Hour        // that a post waits for its next attempt: the clock may have been ahead
	yieldsFor  = 30 * time.Second // at most, a refusal to boards
	sheetEvery = 4 * time.Second  // of an event, which many people may change at a time
	readAgain  = 2 * time.Second  // the posts that wait, if that failed
	lookEvery  = time.Second      // at the posts that other processes have stored
	removedAre = 256              // posts that were removed last, remembered
)

// An Outbox delivers stored posts and does decorations. Its methods may be called
// concurrently.
type Outbox struct {
	Config
	queue    *queue // of decorations
	wake     chan struct{}
	decorate chan struct{} // wakes what does decorations
	known    bool          // Open has read the decorations
	running  atomic.Bool   // Run sends posts
	holders  sync.Map      // as which this process shows posts, or did: strings
	delivery sync.Mutex    // one call of Deliver at a time
	posting  Busy          // the loop that chooses posts,
	adorning Busy          // and the one that chooses decorations

	mu      sync.Mutex
	current bool // the lanes hold all posts that wait
	reads   int  // how often these were read
	lanes   map[match.Lane]*lane
	sending map[string]int // posts of a platform
	gone    []Row          // decorations that are done, to be stored at tidyAt
	tidyAt  time.Time
	lookAt  time.Time                    // when to read the posts that wait again, if there are other processes,
	lookMin time.Time                    // and when at the earliest, although somebody hints that there are others
	hinted  bool                         // somebody has, since the last reading began
	taken   map[string]bool              // holders as which this process has begun to show posts since
	removed *lru.Cache[string, struct{}] // posts that left their lanes
}

// New returns an Outbox that delivers nothing yet.
func New(c Config) *Outbox {
	if c.Lanes == 0 {
		c.Lanes = lanes
	}
	return &Outbox{
		Config: c, queue: newQueue(c.Now().UnixMicro()),
		wake: make(chan struct{}, 1), decorate: make(chan struct{}, 1),
		lanes: map[match.Lane]*lane{}, sending: map[string]int{}, taken: map[string]bool{}, removed: lru.New[string, struct{}](removedAre),
	}
}

// A Pending post waits to be shown.
type Pending struct {
	match.OutboxPost
	Left any  // what Commit got with it, or nil
	Look bool // it may have been sent
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
	// A delivery that has begun is finished, even if the program stops meanwhile: half a
	// delivery would have to be repeated after the restart.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishIn)
	defer cancel()
	if err := b.Open(ctx, platforms...); err != nil {
		return 0, err
	}
	if err := b.read(ctx); err != nil {
		return 0, err
	}
	posts, _ := b.next(platforms, math.MaxInt)
	for _, p := range posts {
		b.deliver(ctx, platforms, p)
	}
	if ctx.Err() != nil {
		return len(posts), nil
	}
	return len(posts) + b.decorateDue(ctx, platforms), nil
}

// Open asks the platforms for their accounts, and reads the decorations that earlier
// processes stored. Call it before the first request.
func (b *Outbox) Open(ctx context.Context, platforms ...Platform) error {
	for _, p := range platforms {
		if l, ok := p.(Limited); ok {
			b.queue.accounts.LoadOrStore(p.Name(), l.Account())
		}
	}
	if b.known {
		return nil
	}
	if b.Leases == nil { // else see Took
		if err := b.readDecorations(ctx, func(Row) bool { return true }); err != nil {
			return err
		}
	}
	b.known = true
	return nil
}

// readDecorations takes over the decorations that earlier processes stored.
func (b *Outbox) readDecorations(ctx context.Context, which func(Row) bool) error {
	rows, err := b.Rows.Decorations(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if !which(r) {
			continue
		}
		r.Attempt = max(r.Attempt, 1) // the process may have ended over it
		if r.Kind == Ending {         // nobody else answers what an earlier process put off
			r.NotBefore = time.Time{}
		}
		b.queue.Put(r)
	}
	return nil
}

// Run delivers posts until ctx is done, and returns when deliveries under way have ended.
func (b *Outbox) Run(ctx context.Context, platforms ...Platform) {
	finishing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wait sync.WaitGroup
	defer wait.Wait()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishIn, cancel) })()
	b.running.Store(true)
	defer b.running.Store(false)
	wait.Go(func() { b.decorating(ctx, finishing, platforms) })
	b.loop(ctx, b.wake, &b.posting, func(now time.Time) time.Time {
		if err := b.read(finishing); err != nil {
			b.failed(ctx, err, "pending posts not read, will retry")
			return now.Add(readAgain)
		}
		posts, again := b.next(platforms, b.Lanes)
		for _, p := range posts {
			wait.Go(func() { b.deliver(finishing, platforms, p) })
		}
		if b.Leases != nil {
			again = sooner(again, sooner(now.Add(lookEvery), b.looksAt()))
		}
		return again
	})
}

// loop calls next until ctx is done: at the time that it returned last, and when woken. It
// is busy during each call.
func (b *Outbox) loop(ctx context.Context, wake <-chan struct{}, busy *Busy, next func(now time.Time) (again time.Time)) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		pause, now := time.Hour, b.Now()
		busy.Begin(now)
		if again := next(now); !again.IsZero() {
			pause = min(pause, max(again.Sub(now), time.Millisecond))
		}
		busy.End()
		timer.Reset(pause)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-timer.C:
		}
	}
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
