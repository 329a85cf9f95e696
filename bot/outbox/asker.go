package outbox

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Assign decides who shows each post of a step that is about to be stored, if the commit
// can claim it. The posts for the asker are marked already; while their platform takes
// nothing, Assign leaves them to nobody.
func (b *Outbox) Assign(step *match.Step) {
	b.mu.Lock()
	start := b.start != nil
	b.mu.Unlock()
	now := b.Now()
	for i := range step.Posts {
		o := &step.Posts[i]
		switch account := b.queue.accounts.of(o.Where.Platform); {
		case account.held(now):
			o.For = ""
		case o.For == match.Asker:
		case start && !account.narrow(now): // or lanes that have waited longer come first
			o.For = match.Outbox
		}
		step.Claim = now.Add(claimFor)
	}
}

// Take takes over the posts of an assigned step once it is stored: it starts to deliver
// those that the commit has claimed, and claims the others. It returns the posts that the
// asker shows, see [Outbox.Give]. If one of these cannot be claimed yet, Take waits for
// at most a second. If its room is parked meanwhile, the asker gets the post unclaimed.
// Take passes left to Word with each post.
func (b *Outbox) Take(ctx context.Context, step *match.Step, left any) (own []Claimed) {
	since := step.Claim.Add(-claimFor)
	var late *wanted
	b.mu.Lock()
	for _, o := range step.Posts {
		c := Claimed{o, left, since, since}
		switch {
		case o.Held():
			own = append(own, c)
			b.asked[o.ID] = c
		case o.For == match.Asker && len(own) == 0 && late == nil && b.running:
			late = &wanted{c, make(chan Claimed, 1)}
			b.wanted[o.ID] = late
			if _, parked := b.parked[o.ID]; parked {
				b.hand(o, since)
			}
			b.Wake()
		case o.Attempt == 0 || b.start == nil:
			b.Wake()
		default:
			l := o.Lane()
			posts, busy := b.underway[l]
			b.underway[l] = append(posts, c)
			if !busy {
				b.start(l)
			}
		}
	}
	b.mu.Unlock()
	if late != nil {
		own = b.await(ctx, late)
	}
	return own
}

// A wanted post is one for which its asker waits.
type wanted struct {
	post  Claimed
	given chan Claimed // has room for it
}

// await waits for a post, for a limited time.
func (b *Outbox) await(ctx context.Context, w *wanted) []Claimed {
	wait := time.NewTimer(askerWaits)
	defer wait.Stop()
	select {
	case c := <-w.given:
		return []Claimed{c}
	case <-wait.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.wanted, w.post.ID)
	select {
	case c := <-w.given:
		return []Claimed{c}
	default:
		return nil
	}
}

// hand passes a post to the asker who waits for it, and reports whether there is one.
// The caller holds b.mu.
func (b *Outbox) hand(o match.OutboxPost, now time.Time) bool {
	w := b.wanted[o.ID]
	if w == nil {
		return false
	}
	delete(b.wanted, o.ID)
	o.Attempt = max(o.Attempt, 1)
	c := Claimed{o, w.post.Left, now, now}
	b.asked[o.ID] = c
	w.given <- c
	return true
}

// handParked passes parked posts to the askers who wait for them or are about to: only
// an asker can tell the person why nothing is shown.
func (b *Outbox) handParked(posts []string) {
	now := b.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.parked, func(_ string, at time.Time) bool { return now.Sub(at) > askerWaits })
	for _, id := range posts {
		b.parked[id] = now
		if w := b.wanted[id]; w != nil {
			b.hand(w.post.OutboxPost, now)
		}
	}
}

// Settle stores that the asker has shown a post. Settling twice has no further effect.
func (b *Outbox) Settle(ctx context.Context, p Post, r Receipt, owes ...Owes) error {
	o, ok := b.given(p.ID)
	if !ok {
		o = Claimed{OutboxPost: match.OutboxPost{ID: p.ID, Game: p.Game, Where: p.Where, Kind: p.Kind, Seq: p.Seq}}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	defer b.Wake()
	if err := b.settle(ctx, o.OutboxPost, r, p.Message, owes); err != nil {
		return err
	}
	b.tell(p.Kind, p.Where.Platform, b.Now(), p.At)
	return nil
}

// Release takes back a post that the asker could not show, and those after it; why is
// the error as Deliver would return it.
func (b *Outbox) Release(ctx context.Context, p Post, why error) {
	o, ok := b.given(p.ID)
	if !ok {
		return // its claim has run out
	}
	ctx = context.WithoutCancel(ctx)
	if errors.Is(why, ErrTooLarge) && p.Scene != nil {
		why = RetryAfter{} // the outbox shows it without its picture
	}
	b.delivered(ctx, o, p.At, "", nil, why)
	b.mu.Lock()
	var after []Claimed
	for id, c := range b.asked {
		if c.Lane() == o.Lane() && c.since.Equal(o.since) {
			after = append(after, c)
			delete(b.asked, id)
		}
	}
	b.mu.Unlock()
	b.letGo(ctx, after, 0)
	b.Wake()
}

// given ends the asker's hold on a post.
func (b *Outbox) given(id string) (Claimed, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.asked[id]
	delete(b.asked, id)
	if ok && b.claims > 0 {
		b.finished[id] = true
	}
	return o, ok
}

// Give words the posts that the asker shows. The outbox later shows those that cannot be
// worded now.
func (b *Outbox) Give(ctx context.Context, own []Claimed) (posts []Post) {
	for i, o := range own {
		p, err := b.worded(ctx, o)
		if errors.Is(err, ErrStale) {
			b.given(o.ID)
			b.delivered(ctx, o, p.At, "", nil, err)
			continue
		}
		if err != nil {
			b.Log.Warn("post not shown with its answer, outbox will deliver it", "post", o.ID, "error", err)
			for _, o := range own[i:] {
				b.given(o.ID)
			}
			b.letGo(context.WithoutCancel(ctx), own[i:], 0)
			b.Wake()
			break
		}
		b.queue.accounts.of(o.Where.Platform).spend(b.Now())
		posts = append(posts, p)
	}
	return posts
}
