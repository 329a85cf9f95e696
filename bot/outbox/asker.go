package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Commit stores a step by calling store, and takes over its posts. It returns those that
// the asker shows, which are marked, see [Outbox.Give]. If one of these is not the first
// of its lane, Commit waits for at most a second; but not for a post whose room is parked
// meanwhile. It passes the result of store to Word with each post that need not wait for
// its platform.
func (b *Outbox) Commit(ctx context.Context, step *match.Step, store func() (left any, err error)) (own []Pending, err error) {
	for i := range step.Posts {
		o := &step.Posts[i]
		if !b.queue.accounts.of(o.Where.Platform).held(b.Now()).IsZero() {
			o.Asker = false
		}
		if _, ok := b.lease(o.Where); !ok {
			o.Asker, o.Elsewhere = false, true
		}
	}
	b.mu.Lock()
	reads := b.reads
	b.mu.Unlock()
	left, err := store()
	if err != nil {
		if !errors.Is(err, ErrConflict) { // it may have been stored
			b.Reread()
		}
		return nil, err
	}
	var late *pending
	var given <-chan struct{}
	b.mu.Lock()
	now := b.Now()
	behind := map[match.Lane]bool{} // one of the step that the asker does not show at once
	for _, o := range step.Posts {
		if o.Elsewhere {
			continue
		}
		in := b.lane(o.Lane())
		last := in.last
		p := b.find(o)
		marked := o.Tried
		if reads != b.reads { // it may have been read meanwhile, and shown
			if _, gone := b.removed.Get(o.ID); gone {
				behind[o.Lane()] = true
				continue
			}
			if p != nil && p.idle() && !behind[o.Lane()] {
				in.posts = slices.DeleteFunc(in.posts, func(q *pending) bool { return q == p })
				p = nil
			}
			o.Tried = o.Tried && p == nil && !behind[o.Lane()]
		}
		if o.Tried { // what was before it waits no longer
			in.posts = slices.DeleteFunc(in.posts, func(p *pending) bool { return p.N < o.N && p.idle() })
		}
		if p == nil {
			o.Due = step.At
			p = &pending{Pending: Pending{OutboxPost: o}, marked: marked}
			if b.queue.accounts.of(o.Where.Platform).held(now).IsZero() { // else it may wait for long
				p.Left = left
			}
			if o.Held() {
				p.asked = now
			}
			b.put(p)
		}
		if !o.Tried && o.For == "" && (in.posts[0] == p && o.Kind != match.Sheet || o.N > last+1) { // an older post is in the store, but not here yet
			b.current = false
		}
		behind[o.Lane()] = p.asked.IsZero()
		switch {
		case !p.asked.IsZero():
			own = append(own, p.Pending)
		case o.Asker && p.idle() && len(own) == 0 && late == nil && b.running.Load():
			p.wanted = make(chan struct{})
			late, given = p, p.wanted
		}
	}
	b.mu.Unlock()
	b.Wake()
	if late != nil {
		own = append(b.await(ctx, late, given), own...)
	}
	return own, nil
}

// await waits for a post until its asker may show it, for a limited time.
func (b *Outbox) await(ctx context.Context, p *pending, given <-chan struct{}) []Pending {
	wait := time.NewTimer(askerWaits)
	defer wait.Stop()
	select {
	case <-given:
	case <-wait.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	p.wanted = nil
	handed := !p.asked.IsZero()
	b.mu.Unlock()
	marked := handed && b.mark(context.WithoutCancel(ctx), p) // it is not yet if it was parked
	b.mu.Lock()
	defer b.mu.Unlock()
	if !marked {
		p.asked = time.Time{}
		return nil
	}
	return []Pending{p.Pending}
}

// hand passes a post to the asker that waits for it, and reports whether there is one.
// The caller holds b.mu.
func (b *Outbox) hand(p *pending) bool {
	if p.wanted == nil {
		return false
	}
	p.asked = b.Now()
	close(p.wanted)
	p.wanted = nil
	return true
}

// Settle stores that the asker has shown a post. Settling twice has no further effect.
func (b *Outbox) Settle(ctx context.Context, p Post, r Receipt, owes ...Owes) error {
	o := match.OutboxPost{ID: p.ID, Game: p.Game, Where: p.Where, Kind: p.Kind, Seq: p.Seq, Private: p.Private}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	defer b.Wake()
	if err := b.settle(ctx, o, r, p.Message, owes); err != nil {
		b.letGo(o, true)
		return err
	}
	b.tell(p.Kind, p.Where.Platform, b.Now(), p.At)
	return nil
}

// Release takes back a post that the asker could not show, and those after it; why is
// the error as Deliver would return it.
func (b *Outbox) Release(ctx context.Context, p Post, why error) {
	ctx = context.WithoutCancel(ctx)
	defer b.Wake()
	b.mu.Lock()
	o := match.OutboxPost{ID: p.ID, Game: p.Game, Where: p.Where}
	released := b.find(o) // nil: it was dropped, with the lease
	var after []*pending
	for _, q := range b.lane(o.Lane()).posts {
		if !q.asked.IsZero() && (released != nil && q.N > released.N || released == nil && q.Seq == p.Seq) {
			q.Tried = q.Look
			after = append(after, q)
		}
	}
	shows := released != nil && !released.asked.IsZero() // else the outbox shows it
	if shows {
		released.asked, released.busy = time.Time{}, true
		b.sending[p.Where.Platform]++
	}
	b.mu.Unlock()
	for _, q := range after {
		b.change(ctx, q, Waiting, "")
		b.letGo(match.OutboxPost{ID: q.ID, Game: q.Game, Where: q.Where}, false)
	}
	if !shows {
		return
	}
	defer b.free(released)
	if errors.Is(why, ErrTooLarge) && p.Scene != nil {
		why = RetryAfter{} // the outbox shows it without its picture
	}
	b.delivered(ctx, released, p.At, "", nil, why)
}

// letGo ends the asker's hold on a post, which it may have sent.
func (b *Outbox) letGo(o match.OutboxPost, sent bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.find(o); p != nil && !p.asked.IsZero() { // else the outbox shows it
		if sent {
			b.fail(p, b.Now().Add(retryAfter), true)
		}
		p.asked = time.Time{}
		b.lane(o.Lane()).supersede()
	}
}

// Give words the posts that the asker shows. The outbox later shows those that cannot be
// worded now.
func (b *Outbox) Give(ctx context.Context, own []Pending) (posts []Post) {
	for i, o := range own {
		p, err := b.worded(ctx, o)
		if errors.Is(err, ErrStale) {
			b.failed(ctx, b.settle(ctx, o.OutboxPost, "", nil, nil), "pointless post not settled", "post", o.ID)
			continue
		}
		if err != nil {
			b.Log.Warn("post not shown with its answer, outbox will deliver it", "post", o.ID, "error", err)
			for _, o := range own[i:] {
				b.letGo(o.OutboxPost, false)
			}
			b.Wake()
			break
		}
		b.queue.accounts.of(o.Where.Platform).Spend(b.Now(), 1)
		posts = append(posts, p)
	}
	return posts
}
