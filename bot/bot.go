package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/lru"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Bot answers requests and delivers posts. All that it keeps in memory is also in the
// store. Its methods may be called concurrently.
type Bot struct {
	store Store
	log   *slog.Logger
	rooms *rooms.Rooms
	now   func() time.Time // rooms.Now
	rand  io.Reader        // of a simulation; nil: see newID
	games match.Limits
	cache *cache

	estimator *estimator

	stopped func(platform string, why error) // may be nil

	outbox *outbox.Outbox

	units *units.Keeper // nil: this process is alone
	homes *homes

	changes changes // of games and events

	counter *counter    // of requests
	ticking outbox.Busy // Watch

	readings *lru.Cache[string, match.Reading] // of records, by their slugs

	rulesets match.Rulesets // besides the catalogue

	pages   map[string]match.Pages // see Config
	address string                 // of the local room, before the path of a page; empty: not known

	members map[string]Membership // by platform; set before the adapters run
	hosts   map[string]Host       // likewise

	forgetful atomic.Pointer[[]Forgetful]

	drawing sync.Mutex             // makes the secret
	drawn   atomic.Pointer[[]byte] // the secret; nil: not read yet
}

// Config configures a Bot. The zero value is usable.
type Config struct {
	Log *slog.Logger     // nil: slog.Default
	Now func() time.Time // nil: time.Now

	// Elapsed returns the time that has passed since some fixed moment, unaffected by
	// changes of the clock that Now reads. It should go on while the machine sleeps. Nil:
	// Go's monotonic clock, which on Linux does not, or if Now is set, Now alone.
	Elapsed func() time.Duration

	// Rand is the source of new games' ids and of nigiri. It must be safe for
	// concurrent use. Nil: both are derived from the request and a secret in the store.
	// Simulations pass a seeded source.
	Rand io.Reader

	// Rulesets are the custom rulesets that people may choose.
	Rulesets []*rules.Ruleset

	// PublicURL is where people find the pages of games, "https://go.example.org"; empty: it
	// is not known, so that nothing says.
	PublicURL string

	// Pages says, by platform, whether games have pages in rooms that choose nothing.
	// Without a platform they have none.
	Pages map[string]match.Pages

	// Games limits how many games people can open; zero: as DefaultLimits does.
	Games match.Limits

	// Shown, if not nil, is called for each board that was shown, with its platform and
	// the time since the event that it shows. It may be called concurrently.
	Shown func(platform string, after time.Duration)

	// Stopped, if not nil, is called when the adapter of a platform has failed for good. It
	// may be called concurrently.
	Stopped func(platform string, why error)

	// Units are what this process holds of several on one database. The caller runs the
	// Keeper. Nil: it is alone.
	Units *units.Keeper

	// Deliveries is the number of games of a platform to which the bot posts at the same
	// time; 0: 32. With 1 all posts come in one order, as simulations and terminals need.
	Deliveries int
}

// New returns a bot on a store.
func New(store Store, c Config) *Bot {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
		if start := time.Now(); c.Elapsed == nil {
			c.Elapsed = func() time.Duration { return time.Since(start) }
		}
	}
	house := rooms.New(store, c.Now, c.Elapsed, c.Log)
	b := &Bot{
		cache: newCache(), counter: newCounter(), readings: lru.New[string, match.Reading](16), estimator: newEstimator(), games: cmp.Or(c.Games, match.DefaultLimits), rulesets: c.Rulesets,
		store: store, log: c.Log, rooms: house, pages: c.Pages, address: c.PublicURL, now: house.Now, rand: c.Rand, stopped: c.Stopped,
	}
	b.homes = &homes{bot: b, sharded: map[string]Sharded{}, known: lru.New[match.Room, home](homesKnown)}
	var leases outbox.Leases
	if b.units = c.Units; b.units != nil {
		leases, house.Shared = b.homes, true
		b.units.OnForget(b.forgetAll)
	}
	b.outbox = outbox.New(outbox.Config{
		Rows: store, Leases: leases, Word: b.worded, Decoration: b.decoration, Now: b.now, Log: c.Log, Shown: c.Shown, Lanes: c.Deliveries,
	})
	return b
}

var _ Service = (*Bot)(nil)

// Before returns when the bot last ran before this start; see [Service].
func (b *Bot) Before(ctx context.Context) (time.Time, error) { return b.rooms.Before(ctx) }

// Run runs the adapters and delivers posts until ctx is done. When an adapter fails, the
// others go on, and its platform counts as away. When all have failed, Run returns their
// errors.
func (b *Bot) Run(ctx context.Context, adapters ...Adapter) error {
	// Note an outage before the first request.
	if _, err := b.rooms.Look(ctx); err != nil {
		return fmt.Errorf("look for an outage before the start: %w", err)
	}
	if err := b.outbox.Open(ctx, platforms(adapters)...); err != nil {
		return err
	}
	b.meet(adapters)
	b.eraseRest(ctx) // before the people can come back
	group, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	var failed []error
	for _, a := range adapters {
		group.Go(func() error {
			err := a.Run(ctx, b)
			if err == nil || errors.Is(err, context.Canceled) {
				return nil
			}
			mu.Lock()
			failed = append(failed, fmt.Errorf("%s: %w", a.Name(), err))
			all := len(failed) == len(adapters)
			mu.Unlock()
			if b.stopped != nil {
				b.stopped(a.Name(), err)
			}
			if all {
				return errors.Join(failed...)
			}
			b.log.Error("platform stopped, the others go on; put it right and start the program again", "platform", a.Name(), "error", err)
			if err := b.rooms.Away(ctx, a.Name()); err != nil && ctx.Err() == nil {
				b.log.Error("outage not stored", "platform", a.Name(), "error", err)
			}
			return nil
		})
	}
	group.Go(func() error { return b.keepTime(ctx) })
	group.Go(func() error {
		b.beAlive(ctx)
		return nil
	})
	if b.units != nil && slices.ContainsFunc(adapters, func(a Adapter) bool { return a.Name() == LogPlatform }) {
		group.Go(func() error { return b.Hold(ctx, LogPlatform, wait) })
	}
	if b.units != nil {
		group.Go(func() error {
			b.lookAround(ctx)
			return nil
		})
	}
	group.Go(func() error {
		b.outbox.Run(ctx, platforms(adapters)...)
		return nil
	})
	return group.Wait()
}

// meet notes which adapters know who is in their rooms, where an event can be held, and which
// keep something about people.
func (b *Bot) meet(adapters []Adapter) {
	var forgetful []Forgetful
	b.members, b.hosts = map[string]Membership{}, map[string]Host{}
	for _, a := range adapters {
		if m, ok := a.(Membership); ok {
			b.members[a.Name()] = m
		}
		if h, ok := a.(Host); ok {
			b.hosts[a.Name()] = h
		}
		if f, ok := a.(Forgetful); ok {
			forgetful = append(forgetful, f)
		}
		if s, ok := a.(Sharded); ok {
			b.homes.mu.Lock()
			b.homes.sharded[a.Name()] = s
			b.homes.mu.Unlock()
		}
	}
	b.forgetful.Store(&forgetful)
}

// forgetAll drops what this process remembers of the database, because somebody was forgotten.
func (b *Bot) forgetAll() {
	b.cache.clear()
	if all := b.forgetful.Load(); all != nil {
		for _, f := range *all {
			f.Forgotten()
		}
	}
}
