package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Assign says of each post of a step that is about to be stored who shows it if it
// can be claimed then. Those for which it is to be the asker say so already; while
// their platform may be sent nothing, nobody shows them yet.
func (b *Outbox) Assign(step *match.Step) {
	b.mu.Lock()
	start := b.start != nil
	b.mu.Unlock()
	now := b.Now()
	for i := range step.Posts {
		switch o := &step.Posts[i]; {
		case b.queue.Held(o.Where.Platform, now) > 0:
			o.For = ""
		case o.For == match.Asker:
		case start && !b.queue.Narrow(o.Where.Platform, now): // or lanes that have waited longer come first
			o.For = match.Outbox
		}
		step.Claim = now.Add(claimFor)
	}
}

// Take takes over the posts of a step that was assigned and is stored now: it starts
// to deliver those that could be claimed, and claims the others. It returns those
// that the asker is to show, see [Outbox.Give]. If one of these cannot be claimed yet
// it waits for that, but no longer than a second. Left is handed to Word with each.
func (b *Outbox) Take(ctx context.Context, step *match.Step, left any) (own []Claimed) {
	since := step.Claim.Add(-claimFor)
	var late chan Claimed
	b.mu.Lock()
	for _, o := range step.Posts {
		c := Claimed{o, left, since, since}
		switch {
		case o.Held():
			own = append(own, c)
			b.asked[o.ID] = c
		case o.For == match.Asker && len(own) == 0 && late == nil && b.running:
			late = make(chan Claimed, 1)
			b.wanted[o.ID] = late
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
		for i := range own {
			own[i].Left = left
		}
	}
	return own
}

// await waits a while until the claim is the asker's that is to be handed over.
func (b *Outbox) await(ctx context.Context, late chan Claimed) []Claimed {
	wait := time.NewTimer(askerWaits)
	defer wait.Stop()
	select {
	case c := <-late:
		return []Claimed{c}
	case <-wait.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, w := range b.wanted {
		if w == late {
			delete(b.wanted, id)
		}
	}
	select {
	case c := <-late:
		return []Claimed{c}
	default:
		return nil
	}
}

// Settle stores that the asker has shown a post. Settling twice is settling once.
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
	b.letGo(ctx, after)
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

// Give words the posts that the asker is to show. What cannot be worded now the
// outbox shows later.
func (b *Outbox) Give(ctx context.Context, own []Claimed) (posts []Post) {
	for i, o := range own {
		p, err := b.worded(ctx, o)
		if errors.Is(err, ErrStale) {
			b.given(o.ID)
			b.delivered(ctx, o, p.At, "", nil, err)
			continue
		}
		if err != nil {
			b.Log.Warn("post not worded for its asker, will be delivered", "post", o.ID, "error", err)
			for _, o := range own[i:] {
				b.given(o.ID)
			}
			b.letGo(context.WithoutCancel(ctx), own[i:])
			b.Wake()
			break
		}
		b.queue.Spend(o.Where.Platform, b.Now())
		posts = append(posts, p)
	}
	return posts
}
