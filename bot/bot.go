package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/rules"
)

// A Bot answers requests and delivers posts. What it keeps in memory it can read
// again. It may be asked from any number of goroutines.
type Bot struct {
	store Store
	log   *slog.Logger
	clock *steadyClock
	now   func() time.Time // clock.now
	rand  io.Reader        // of a simulation; nil: see newID
	games GameLimits
	cache *cache

	estimator *estimator

	outbox *outbox.Outbox

	rulesets match.Rulesets // besides the catalogue

	serving sync.Mutex               // one look at servers
	absence sync.Mutex               // one look at the time or change of outages; after serving
	outages atomic.Pointer[[]Outage] // all that are stored; nil: not read yet
	before  time.Time                // when the bot was last there before it began; absence
	drawn   atomic.Pointer[[]byte]   // the secret; nil: not read yet
	beaten  atomic.Int64             // the last look at the time, in milliseconds of Unix time; 0: none yet
}

// Config is what a Bot may be told besides its store.
type Config struct {
	Log *slog.Logger     // nil: slog.Default
	Now func() time.Time // nil: time.Now

	// Elapsed tells how much time has passed since any fixed moment, however the
	// clock of Now is set meanwhile. Nil: the monotonic clock, or with a Now of its
	// own the bot trusts that.
	Elapsed func() time.Duration

	// Rand is the source of new games' ids and of nigiri. It must be safe for
	// concurrent use. Nil: they follow from the request and a secret that the store
	// keeps. Simulations pass a seeded one.
	Rand io.Reader

	// Rulesets are those that people may choose besides the catalogue's.
	Rulesets []*rules.Ruleset

	// Games limits how many games people can open.
	Games GameLimits

	// Shown is told of each board that was shown: where, and how long after the
	// event that it shows. It may be called from several goroutines; nil: nobody
	// is told.
	Shown func(platform string, after time.Duration)

	// Deliveries is how many games of a platform are written to at once; 0: 32.
	// With 1 posts come in one order, as simulations and terminals need.
	Deliveries int
}

// New gives a bot on a store.
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
	clock := newSteadyClock(c.Now, c.Elapsed)
	b := &Bot{
		cache: newCache(), estimator: newEstimator(), games: c.Games.orDefault(), rulesets: c.Rulesets,
		store: store, log: c.Log, clock: clock, now: clock.now, rand: c.Rand,
	}
	b.outbox = outbox.New(outbox.Config{
		Rows: store, Word: b.worded, Decoration: b.decoration, Now: b.now, Log: c.Log, Shown: c.Shown, Lanes: c.Deliveries,
	})
	return b
}

var _ Service = (*Bot)(nil)

// Commands gives what people can ask for, in the order of help.
func (b *Bot) Commands() []Command { return Commands() }

// Run connects the adapters and delivers until ctx is done. An adapter that fails leaves
// the others running, and its platform counts as away. When all have failed, Run returns
// their errors.
func (b *Bot) Run(ctx context.Context, adapters ...Adapter) error {
	// An outage is known before anybody can say anything.
	if _, err := b.look(ctx); err != nil {
		return fmt.Errorf("look for an outage before the start: %w", err)
	}
	if err := b.outbox.Open(ctx, platforms(adapters)...); err != nil {
		return err
	}
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
			if all {
				return errors.Join(failed...)
			}
			b.log.Error("platform stopped, the others go on; put it right and start the program again", "platform", a.Name(), "error", err)
			if err := b.Away(ctx, a.Name()); err != nil && ctx.Err() == nil {
				b.log.Error("outage not stored", "platform", a.Name(), "error", err)
			}
			return nil
		})
	}
	group.Go(func() error {
		b.Watch(ctx)
		return nil
	})
	group.Go(func() error {
		b.prune(ctx)
		return nil
	})
	group.Go(func() error {
		b.outbox.Run(ctx, platforms(adapters)...)
		return nil
	})
	return group.Wait()
}
