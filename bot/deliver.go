package bot

import (
	"context"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Settle stores what came of showing a post; see [Service].
func (b *Bot) Settle(ctx context.Context, p outbox.Post, r outbox.Receipt, owes []outbox.Owes, err error) error {
	answer := p.Kind == match.Answer // which is not stored yet
	switch {
	case answer && err != nil:
		p.Stored.Reply = p.Reply
		p.Stored.Refused = false // its person waits for this answer, not for one merged with others
		return b.keep(context.WithoutCancel(ctx), p.ID, p.Stored)
	case answer:
		return b.outbox.Owe(ctx, p.Where, owes...)
	case err != nil:
		b.outbox.Release(ctx, p, err)
		return nil
	}
	return b.outbox.Settle(ctx, p, r, owes...)
}

// Owe stores or drops decorations that follow no post; see [Service].
func (b *Bot) Owe(ctx context.Context, where match.Room, owes ...outbox.Owes) error {
	return b.outbox.Owe(ctx, where, owes...)
}

// Wake tells the bot that others may have changed which posts wait.
func (b *Bot) Wake() { b.outbox.Reread() }

// Look tells the bot that other processes may have stored posts.
func (b *Bot) Look() { b.outbox.Look() }

// Flush delivers until nothing is due, for tests.
func (b *Bot) Flush(ctx context.Context, adapters ...Adapter) error {
	for {
		if n, err := b.Deliver(ctx, adapters...); n == 0 || err != nil {
			return err
		}
	}
}

// Deliver shows the posts that are due, the oldest of each lane, and returns their
// number. After it returns 0, another call does nothing until a new post is due.
func (b *Bot) Deliver(ctx context.Context, adapters ...Adapter) (int, error) {
	return b.outbox.Deliver(ctx, platforms(adapters)...)
}

func platforms(adapters []Adapter) (out []outbox.Platform) {
	for _, a := range adapters {
		out = append(out, a)
	}
	return out
}
