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

// claim claims the posts that are due, and returns their number and the lanes that no
// goroutine delivers yet.
func (b *Outbox) claim(ctx context.Context) (n int, begin []match.Lane, err error) {
	b.mu.Lock()
	b.claims++
	b.mu.Unlock()
	now := b.Now()
	due, err := b.Rows.Claim(ctx, now, now.Add(claimFor), b.queue.accounts.held(now)...)
	var again []Claimed // that are being delivered, or were a moment ago: unless that settles them they are due again soon
	defer func() { b.letGo(ctx, again, againAfter) }()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range due {
		if b.hand(o, now) {
			continue
		}
		l, c := o.Lane(), Claimed{OutboxPost: o, since: now, renewed: now}
		posts, busy := b.underway[l]
		_, asked := b.asked[o.ID]
		// A delivery may take longer than its claim, and end while the post is
		// claimed once more.
		if asked || b.finished[o.ID] || slices.ContainsFunc(posts, func(p Claimed) bool { return p.ID == o.ID }) {
			again = append(again, c)
			continue
		}
		if !busy {
			begin = append(begin, l)
		}
		b.underway[l] = append(posts, c)
	}
	// After a hold there may be room for one: who has waited longest comes first.
	slices.SortStableFunc(begin, func(x, y match.Lane) int { return b.turns[x].Compare(b.turns[y]) })
	if b.claims--; b.claims == 0 {
		clear(b.finished)
	}
	return len(due), begin, err
}

// write delivers the claimed posts of a lane until there are no more.
func (b *Outbox) write(ctx context.Context, platforms []Platform, l match.Lane) {
	// A slow platform must not use up the lanes of the others.
	defer b.enter(b.writing, l.Platform, b.Lanes)()
	for {
		b.mu.Lock()
		posts := b.underway[l]
		if len(posts) == 0 {
			delete(b.underway, l)
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		ok := b.inTurn(ctx, platforms, posts[0])
		b.mu.Lock()
		if b.claims > 0 {
			b.finished[posts[0].ID] = true
		}
		rest := b.underway[l][1:]
		if b.underway[l] = rest; !ok {
			delete(b.underway, l)
		}
		b.mu.Unlock()
		if !ok {
			b.letGo(ctx, rest, 0)
		}
		b.Wake() // the next of the same game can be claimed now
		if !ok {
			return
		}
	}
}

// inTurn delivers a post when its turn has come, and reports whether the next of its
// lane may follow. While an account is held, its posts wait without claims; afterwards
// they are sent one at a time for a while.
func (b *Outbox) inTurn(ctx context.Context, platforms []Platform, o Claimed) bool {
	account := b.queue.accounts.of(o.Where.Platform)
	if account.narrow(b.Now()) {
		defer b.enter(b.narrow, o.Where.Platform, 1)()
	}
	if account.held(b.Now()) {
		b.letGo(ctx, []Claimed{o}, 0)
		return false
	}
	account.spend(b.Now())
	ctx, cancel := context.WithTimeout(ctx, deliverFor)
	defer cancel()
	return b.deliver(ctx, platforms, o)
}

// letGo ends the claims on posts that are not sent now. They are due again later.
func (b *Outbox) letGo(ctx context.Context, posts []Claimed, after time.Duration) {
	for _, o := range posts {
		err := b.Rows.Later(ctx, o.ID, o.Attempt, b.Now().Add(after), true)
		b.failed(ctx, err, "claim not released, it runs out by itself", "post", o.ID)
	}
}

// renew renews older claims. It lets a claim go that an asker has held for longer than
// any delivery takes.
func (b *Outbox) renew(ctx context.Context) {
	now := b.Now()
	var old []match.OutboxPost
	b.mu.Lock()
	renewed := func(c *Claimed) {
		if now.Sub(c.renewed) >= renewEvery {
			c.renewed = now
			old = append(old, c.OutboxPost)
		}
	}
	for _, posts := range b.underway {
		for i := range posts {
			renewed(&posts[i])
		}
	}
	for id, c := range b.asked {
		if now.Sub(c.since) > deliverFor {
			delete(b.asked, id)
			continue
		}
		renewed(&c)
		b.asked[id] = c
	}
	b.mu.Unlock()
	if len(old) == 0 {
		return
	}
	b.failed(ctx, b.Rows.Renew(ctx, old, now.Add(claimFor)), "claims not renewed", "posts", len(old))
}

// enter waits for one of the n places of a platform, and returns the function that
// leaves it.
func (b *Outbox) enter(places map[string]chan struct{}, platform string, n int) (leave func()) {
	b.mu.Lock()
	p := places[platform]
	if p == nil {
		p = make(chan struct{}, n)
		places[platform] = p
	}
	b.mu.Unlock()
	p <- struct{}{}
	return func() { <-p }
}

// deliver shows one post and stores the outcome. It reports false if nothing more may be
// shown in its lane now.
func (b *Outbox) deliver(ctx context.Context, platforms []Platform, o Claimed) bool {
	platform := named(platforms, o.Where.Platform)
	if platform == nil {
		return b.delivered(ctx, o, time.Time{}, "", nil, RetryAfter{Wait: time.Hour})
	}
	post, err := b.worded(ctx, o)
	var receipt Receipt
	var owes []Owes
	if err == nil {
		err = Guarded(func() (err error) {
			receipt, owes, err = platform.Deliver(ctx, post)
			if errors.Is(err, ErrTooLarge) && post.Scene != nil {
				post.Scene = nil // the words say it too
				receipt, owes, err = platform.Deliver(ctx, post)
			}
			return err
		})
	}
	if unsent(err) {
		b.queue.accounts.of(o.Where.Platform).refund(b.Now())
	}
	return b.delivered(ctx, o, post.At, receipt, owes, err)
}

// worded words a post, and returns a panic as an error.
func (b *Outbox) worded(ctx context.Context, o Claimed) (p Post, err error) {
	err = Guarded(func() (err error) {
		p, err = b.Word(ctx, o)
		return err
	})
	return p, err
}

// delivered stores the outcome of a post, and reports whether the next of its lane may
// follow at once.
func (b *Outbox) delivered(ctx context.Context, o Claimed, at time.Time, receipt Receipt, owes []Owes, err error) bool {
	log := b.Log.With("post", o.ID, "channel", o.Where.Channel)
	failed := func(err error) {
		b.failed(ctx, err, "storing the outcome of a delivery failed, will retry when its claim expires", "post", o.ID, "channel", o.Where.Channel)
	}
	now := b.Now()
	var wait RetryAfter
	if !errors.As(err, &wait) || !wait.Account {
		b.mu.Lock()
		b.turns[o.Lane()] = now
		if len(b.turns) > maxTurns {
			clear(b.turns)
		}
		b.mu.Unlock()
	}
	var panicked Panic
	switch {
	case errors.Is(err, ErrStale):
		failed(b.Rows.Settle(ctx, o.ID, "", nil, Decorations{}))
		return true
	case err == nil:
		// The post was shown, however late: unless that is stored it is shown again.
		settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
		defer cancel()
		if err := b.settle(settling, o.OutboxPost, receipt, nil, owes); err != nil {
			log.Error("storing the outcome of a delivery failed, will retry when its claim expires", "error", err)
		}
		b.tell(o.Kind, o.Where.Platform, now, at)
		return true
	case ctx.Err() != nil:
		// The claim expires; the post is claimed again after the restart.
	case errors.As(err, &wait):
		if wait.Account {
			b.hold(o.Where.Platform, wait.Wait)
			wait.Wait = 0 // of this post by itself
		}
		failed(b.Rows.Later(ctx, o.ID, o.Attempt, now.Add(wait.Wait), true))
	case errors.Is(err, ErrGone), errors.As(err, new(Forbidden)):
		game := match.GameID("")
		if errors.As(err, new(InThread)) {
			game = o.Game
		}
		parked, first, e := b.Rows.Park(ctx, o.Where, game, err.Error())
		failed(e)
		if first {
			log.Warn("cannot post to a room, its posts wait for the next command there", "error", err)
		}
		b.handParked(parked)
	case errors.Is(err, ErrTooLarge):
		log.Error("post too large even without its picture, dropped", "error", err)
		failed(b.Rows.Settle(ctx, o.ID, "", nil, Decorations{}))
		return true
	case o.Attempt >= maxTries && (errors.Is(err, ErrRefused) || errors.As(err, &panicked)):
		log.Error("post not delivered, gave up", "attempt", o.Attempt, "error", err, "stack", panicked.Stack)
		failed(b.Rows.Refuse(ctx, o.ID, o.Attempt, err.Error()))
		return true
	default: // ErrAmbiguous too: the adapter looks for the message on the next attempt
		log.Warn("post not delivered, will retry", "attempt", o.Attempt, "error", err)
		failed(b.Rows.Later(ctx, o.ID, o.Attempt, now.Add(min(retryAfter<<min(o.Attempt-1, 10), retryMost)), false))
	}
	return false
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

// hold stops all sending to a platform for a while.
func (b *Outbox) hold(platform string, wait time.Duration) {
	b.queue.accounts.of(platform).hold(b.Now(), wait)
	time.AfterFunc(wait+time.Millisecond, b.Wake)
}

// tell calls Shown for a post that was shown at now, if it is the board after an event.
func (b *Outbox) tell(kind, platform string, now, event time.Time) {
	if b.Shown != nil && kind == match.Show && !event.IsZero() {
		b.Shown(platform, max(0, now.Sub(event)))
	}
}
