package outbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// deliver shows a post, or passes it to the asker that waits for it, and stores the
// outcome.
func (b *Outbox) deliver(ctx context.Context, platforms []Platform, p *pending) {
	defer b.Wake()
	defer b.free(p)
	account := b.queue.accounts.of(p.Where.Platform)
	if !p.NotAfter.IsZero() && b.Now().After(p.NotAfter) {
		b.drop(ctx, p, errTooLate)
		return
	}
	if b.superseded(p) { // since it was stored as tried
		b.change(ctx, p, Superseded, "")
		return
	}
	if !b.mark(ctx, p) {
		return
	}
	b.mu.Lock()
	o, handed := b.merge(p), b.hand(p)
	b.mu.Unlock()
	if handed || !account.held(b.Now()).IsZero() {
		return
	}
	account.Spend(b.Now(), 1)
	ctx, cancel := context.WithTimeout(ctx, deliverFor)
	defer cancel()
	ctx, let := b.under(ctx, o.Where)
	defer let()
	post, err := b.worded(ctx, o)
	var receipt Receipt
	var owes []Owes
	if _, ok := b.lease(o.Where); err == nil && !ok { // since it was marked
		err = ErrLost
	}
	if err == nil {
		err = Guarded(func() (err error) {
			platform := named(platforms, o.Where.Platform)
			receipt, owes, err = platform.Deliver(ctx, post)
			if errors.Is(err, ErrTooLarge) && (post.Scene != nil || post.Chart != nil || post.Sheet != nil || post.File != nil) {
				post.Scene, post.Chart, post.Sheet, post.File = nil, nil, nil, nil // the words say what they can
				receipt, owes, err = platform.Deliver(ctx, post)
			}
			return err
		})
	}
	if unsent(err) {
		account.Spend(b.Now(), -1)
	}
	b.delivered(ctx, p, post.At, receipt, owes, err)
}

// free notes that nobody shows a post any more.
func (b *Outbox) free(p *pending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sending[p.Where.Platform]--
	p.busy = false
	for _, q := range p.with {
		q.busy = false
	}
	if in := b.lanes[p.Lane()]; in != nil {
		in.supersede()
	}
}

// worded words a post, and returns a panic as an error.
func (b *Outbox) worded(ctx context.Context, o Pending) (p Post, err error) {
	err = Guarded(func() (err error) {
		p, err = b.Word(ctx, o)
		return err
	})
	p.Attempt, p.Unsent = o.Attempt+1, !o.Look
	return p, err
}

// delivered stores the outcome of a post.
func (b *Outbox) delivered(ctx context.Context, p *pending, at time.Time, receipt Receipt, owes []Owes, err error) {
	log := b.Log.With("post", p.ID, "channel", p.Where.Channel)
	now := b.Now()
	var wait RetryAfter
	if !errors.As(err, &wait) || !wait.Account {
		b.mu.Lock()
		b.lane(p.Lane()).sent = now
		b.mu.Unlock()
	}
	// again stores that the post waits for its next attempt, or is refused.
	again := func(is State, due time.Time, look bool) error {
		b.mu.Lock()
		b.fail(p, due, look)
		b.mu.Unlock()
		if ctx.Err() != nil {
			return ctx.Err() // the program ends, or it took too long
		}
		return b.change(ctx, p, is, err.Error())
	}
	later := func() time.Time { return now.Add(min(retryAfter<<min(p.Attempt, 10), retryMost)) }
	settle := func() {
		// The post was shown, however late: unless that is stored it is shown again.
		settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
		defer cancel()
		if e := b.settle(settling, p.OutboxPost, receipt, nil, owes); errors.Is(e, ErrLost) {
			b.mu.Lock()
			b.lost(p.OutboxPost)
			b.mu.Unlock()
			return
		} else if e != nil && !errors.Is(e, ErrNotFound) {
			log.Error("storing the outcome of a delivery failed, will look for the post again", "error", e)
			b.mu.Lock()
			b.fail(p, later(), true)
			b.mu.Unlock()
			return
		}
		for _, q := range p.with {
			e := b.settle(settling, q.OutboxPost, receipt, nil, nil)
			if errors.Is(e, ErrNotFound) { // its person was forgotten meanwhile
				continue
			}
			b.failed(ctx, e, "storing the outcome of a delivery failed, may be shown again", "post", q.ID)
		}
	}
	var panicked Panic
	switch {
	case errors.Is(err, ErrLost): // its new holder looks for it
		b.mu.Lock()
		b.lost(p.OutboxPost)
		b.mu.Unlock()
	case errors.Is(err, ErrStale):
		settle()
	case err == nil:
		settle()
		b.tell(p.Kind, p.Where.Platform, now, at)
	case errors.As(err, &wait):
		if wait.Account {
			b.queue.accounts.of(p.Where.Platform).hold(now, wait.Wait)
			wake(b.decorate)
			wait.Wait = 0 // of this post by itself
		}
		again(Waiting, now.Add(wait.Wait), false)
	case p.For != "" && (errors.Is(err, ErrGone) || errors.As(err, new(Forbidden))): // which says nothing about boards
		b.drop(ctx, p, err)
	case errors.Is(err, ErrGone), errors.As(err, new(Forbidden)):
		if again(Waiting, now, false) == nil {
			b.park(ctx, p, err)
		}
	case errors.Is(err, ErrTooLarge):
		log.Error("post too large even without its picture and file, dropped", "error", err)
		settle()
	case p.Attempt+1 >= maxTries && (errors.Is(err, ErrRefused) || errors.As(err, &panicked)):
		log.Error("post not delivered, gave up", "attempt", p.Attempt+1, "error", err, "stack", panicked.Stack)
		again(Refused, now, false)
	default: // ErrAmbiguous too: the adapter looks for the message on the next attempt
		log.Warn("post not delivered, will retry", "attempt", p.Attempt+1, "error", err)
		again(Waiting, later(), true)
	}
}

// errTooLate is the reason for dropping an answer after its NotAfter.
var errTooLate = errors.New("too late")

// drop gives up an answer that next has chosen.
func (b *Outbox) drop(ctx context.Context, p *pending, why error) {
	b.Log.Warn("answer dropped", "post", p.ID, "channel", p.Where.Channel, "error", why)
	b.change(ctx, p, Refused, why.Error())
}

// park pauses the posts of the room of a post, or of its game there. It passes posts to
// the askers that wait for them: only an asker can tell the person why nothing is shown.
func (b *Outbox) park(ctx context.Context, p *pending, why error) {
	game := match.GameID("")
	if errors.As(why, new(InThread)) {
		game = p.Game
	}
	parked, first, err := b.Rows.Park(ctx, p.Where, game, why.Error())
	b.failed(ctx, err, "posts not parked, will retry", "post", p.ID)
	if first {
		b.Log.Warn("cannot post to a room, its posts wait for the next command there", "channel", p.Where.Channel, "error", why)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.lane(p.Lane()).from = b.Now().Add(retryAfter)
		return
	}
	b.remove(p.OutboxPost)
	for _, in := range b.lanes {
		in.posts = slices.DeleteFunc(in.posts, func(q *pending) bool { return q.idle() && slices.Contains(parked, q.ID) && !b.hand(q) })
	}
}

// A Panic is the error for a post that made the program panic. Other posts must not
// suffer from it.
type Panic struct{ What, Stack string }

// Error says what the panic was about.
func (e Panic) Error() string { return "panic: " + e.What }

// Guarded calls do and returns its error, or a [Panic] if it panics.
func Guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Panic{fmt.Sprint(v), string(debug.Stack())}
		}
	}()
	return do()
}

// tell calls Shown for a post that was shown at now, if it is the board after an event.
func (b *Outbox) tell(kind, platform string, now, event time.Time) {
	if b.Shown != nil && kind == match.Show && !event.IsZero() {
		b.Shown(platform, max(0, now.Sub(event)))
	}
}
