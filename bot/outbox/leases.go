package outbox

import (
	"context"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Where there are several processes, each shows the posts of the rooms for which it has a lease,
// and leaves the others to whoever has theirs. A lane holds posts of one room, so it is shown
// here or elsewhere as a whole.

// lease returns as which holder this process shows the posts of a room now. It does not before
// [Outbox.Took], since until then its lanes may lack posts.
func (b *Outbox) lease(where match.Room) (holder string, ok bool) {
	if b.Leases == nil {
		return "", true
	}
	if holder, ok = b.Leases.Lease(where); ok {
		_, ok = b.holders.Load(holder)
	}
	return holder, ok
}

// under returns a context that also ends with the lease for a room.
func (b *Outbox) under(ctx context.Context, where match.Room) (context.Context, context.CancelFunc) {
	if b.Leases == nil {
		return ctx, func() {}
	}
	return b.Leases.Under(ctx, where)
}

// Took makes the outbox show the posts of other rooms, too, as a holder. Those that wait there
// may all have been sent by the last one, so they are looked for.
func (b *Outbox) Took(holder string) {
	b.mu.Lock()
	rooms := map[match.Lane]match.Room{}
	for l, in := range b.lanes {
		if len(in.posts) > 0 {
			rooms[l] = in.posts[0].Where
		}
	}
	b.mu.Unlock()
	for l, where := range rooms { // without the lock, since a room may have to be looked up
		if now, ok := b.Leases.Lease(where); ok && now != holder {
			delete(rooms, l)
		}
	}
	b.mu.Lock()
	b.taken[holder] = true
	for l := range rooms { // what is left there is of an earlier lease
		if in := b.lanes[l]; in != nil {
			in.dropIdle()
		}
	}
	b.holders.Store(holder, true)
	b.mu.Unlock()
	b.Reread()
}

// takeDecorations takes over the decorations of rooms that this process has begun to show.
func (b *Outbox) takeDecorations(ctx context.Context, taken map[string]bool) error {
	if len(taken) == 0 {
		return nil
	}
	err := b.readDecorations(ctx, func(r Row) bool {
		holder, ok := b.lease(r.Where())
		return ok && taken[holder]
	})
	wake(b.decorate)
	return err
}
