package bot

import (
	"context"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A situation is what a step left behind: a post that is delivered right after it
// need not look that up.
type situation struct {
	match match.Match
	pos   *match.Position
	place place // where the match is played
	who   map[match.PersonID]outbox.User
	at    time.Time
}

// fresh is how long a situation is taken for the present one.
const fresh = 2 * time.Second

// recent returns the situation in which a post was stored, if that was just now.
func (b *Bot) recent(o outbox.Claimed) *situation {
	s, ok := o.Left.(*situation)
	if ok && o.Game == s.match.ID && o.Seq == s.match.Seq && b.now().Sub(s.at) < fresh {
		return s
	}
	return nil
}

// commit stores a step, which was decided from in unless that is nil, and hands its
// posts to the outbox. It returns those that the asker is to show, who asked there.
func (b *Bot) commit(ctx context.Context, step *match.Step, in *task, asker *Request) ([]outbox.Claimed, error) {
	for i := range step.Posts {
		if o := &step.Posts[i]; asker != nil && !o.Private && o.Where.Platform == asker.Where.Platform && o.Where.Channel == asker.Where.Channel &&
			(i == 0 || !step.New || asker.Flat) { // what follows the first post of a game needs its receipt
			o.For = match.Asker
		}
	}
	b.outbox.Assign(step)
	if err := b.store.Commit(ctx, step); err != nil {
		return nil, err
	}
	if step.After == nil {
		return b.outbox.Take(ctx, step, nil), nil
	}
	b.cache.keep(step.Match.ID, step.After, in.epoch)
	return b.outbox.Take(ctx, step, &situation{*step.Match, step.After, in.place, in.who, b.now()}), nil
}

// Settle stores that the asker has shown a post; see [Service].
func (b *Bot) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes ...outbox.Owes) error {
	return b.outbox.Settle(ctx, p, r, owes...)
}

// Release gives back a post that the asker could not show; see [Service].
func (b *Bot) Release(ctx context.Context, p outbox.Post, why error) error {
	b.outbox.Release(ctx, p, why)
	return nil
}

// Owe stores decorations that follow no post; see [Service].
func (b *Bot) Owe(ctx context.Context, where match.Room, owes ...outbox.Owes) error {
	return b.outbox.Owe(ctx, where, owes...)
}

// Done drops a decoration; see [Service].
func (b *Bot) Done(_ context.Context, where match.Room, kind, key string) error {
	b.outbox.Done(where.Platform, kind, key)
	return nil
}

// Wake tells the bot that something is owed.
func (b *Bot) Wake() { b.outbox.Wake() }

// Flush delivers until nothing is due, for tests.
func (b *Bot) Flush(ctx context.Context, adapters ...Adapter) error {
	for {
		if n, err := b.Deliver(ctx, adapters...); n == 0 || err != nil {
			return err
		}
	}
}

// Deliver shows the posts that are due, the oldest of each lane, and returns how
// many there were. When it returns 0, calling it again is of no use until
// something new is due.
func (b *Bot) Deliver(ctx context.Context, adapters ...Adapter) (int, error) {
	return b.outbox.Deliver(ctx, platforms(adapters)...)
}

func platforms(adapters []Adapter) (out []outbox.Platform) {
	for _, a := range adapters {
		out = append(out, a)
	}
	return out
}
