package bot

import (
	"context"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
	"github.com/halfpoint-go/halfpoint/internal/lru"
)

// Of several processes each shows the posts of the rooms whose units it holds, and one looks after
// what is due. Any of them decides requests.

// timeUnit is the duty of running timed actions, pruning, and finishing to forget people.
const timeUnit = "time"

// A Sharded adapter serves its platform in several units. The unit of any other has the platform's
// name.
type Sharded interface {
	// Unit returns the unit that serves a room of a server; empty: it is not known yet. It may
	// be called concurrently, and asks nobody.
	Unit(where match.Room, server string) string
}

// A homes knows which unit serves a room.
type homes struct {
	bot     *Bot
	mu      sync.Mutex
	sharded map[string]Sharded // by platform
	known   *lru.Cache[match.Room, home]
}

type home struct {
	unit string
	till time.Time // zero: for good
}

const (
	homesKnown = 100_000
	homelessOf = time.Minute // how long a room counts as one without a server
)

// unit returns the unit that serves a room; empty: it is not known now.
func (h *homes) unit(where match.Room) string {
	where = where.WithoutThread()
	h.mu.Lock()
	sharded := h.sharded[where.Platform]
	h.mu.Unlock()
	if sharded == nil {
		return where.Platform
	}
	now := h.bot.now()
	if is, known := h.known.Get(where); known && (is.till.IsZero() || now.Before(is.till)) {
		return is.unit
	}
	ctx, cancel := context.WithTimeout(context.Background(), rooms.Pulse/4)
	defer cancel()
	here, err := h.bot.rooms.Place(ctx, where)
	if err != nil {
		return ""
	}
	is := home{unit: sharded.Unit(where, here.Server.ID)}
	if here.Server.ID == "" {
		is.till = now.Add(homelessOf)
	}
	if is.unit != "" {
		h.known.Add(where, is)
	}
	return is.unit
}

// Lease returns as which holder this process shows the posts of a room now; see outbox.Leases.
func (h *homes) Lease(where match.Room) (holder string, ok bool) {
	holder, _, ok = h.bot.units.Lease(h.unit(where))
	return holder, ok
}

// Under returns a context that also ends when this process does not any more.
func (h *homes) Under(ctx context.Context, where match.Room) (context.Context, context.CancelFunc) {
	return h.bot.units.Under(ctx, h.unit(where))
}

// Hold calls serve whenever this process holds a unit; see [units.Keeper.Hold]. Adapters serve
// their units by it. That nobody did for a while is an outage of the platform.
func (b *Bot) Hold(ctx context.Context, unit string, serve func(context.Context, *units.Held) error) error {
	return b.units.Hold(ctx, unit, func(ctx context.Context, h *units.Held) error {
		if platform := units.Kind(unit); h.Absent > 0 && platform != timeUnit {
			now := b.now()
			for b.rooms.Missed(ctx, platform, now.Add(-h.Absent), now) != nil && backoff.Sleep(ctx, time.Second) == nil {
			}
		}
		if holder, _, ok := b.units.Lease(unit); ok && b.units != nil {
			b.outbox.Took(holder)
		}
		return serve(ctx, h)
	})
}

// keepTime does what only one process does, until ctx is done.
func (b *Bot) keepTime(ctx context.Context) error {
	return b.Hold(ctx, timeUnit, func(ctx context.Context, _ *units.Held) error {
		var group sync.WaitGroup
		group.Go(func() { b.prune(ctx) })
		b.Watch(ctx)
		group.Wait()
		return nil
	})
}

// beAlive notes that this process runs, until ctx is done: where there are several, those that do
// not look after what is due do it, too.
func (b *Bot) beAlive(ctx context.Context) {
	for b.units != nil && ctx.Err() == nil {
		b.rooms.Look(ctx) //nolint:errcheck // the next look tells
		backoff.Sleep(ctx, lookEvery)
	}
}

// wait serves a unit that needs nothing but to be held.
func wait(ctx context.Context, _ *units.Held) error {
	<-ctx.Done()
	return nil
}
