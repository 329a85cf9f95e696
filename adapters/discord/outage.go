package discord

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// Discord is away while some of its people cannot reach the bot, as far as that
// can be told: no flag falls on somebody who cannot move. The clocks of those who
// could have moved stop with theirs.

// whole reports whether every shard is connected.
func whole(shards []gateway.Status) bool {
	return len(shards) > 0 && !slices.ContainsFunc(shards, func(s gateway.Status) bool { return !s.Connected })
}

// watch tells the service when a shard of this process has not been connected for a
// while, and that all are again if it could not be told at once.
func (a *Adapter) watch(ctx context.Context, g *gateway.Gateway) {
	began := time.Now()
	a.every(ctx, awayAfter/3, func() {
		a.telling <- struct{}{}
		defer func() { <-a.telling }()
		shards := g.Status() // of this moment: nobody tells of a later one before this is told
		late := len(shards) == 0 && time.Since(began) > awayAfter
		for _, s := range shards {
			late = late || !s.Connected && time.Since(s.Since) > awayAfter
		}
		switch {
		case late:
			a.away(ctx)
		case a.out.Load() && whole(shards):
			a.back(ctx)
		}
	})
}

// probe does the same where interactions come over HTTP, by asking Discord now
// and then. Whether Discord reaches the bot only Discord knows.
func (a *Adapter) probe(ctx context.Context) {
	a.every(ctx, 2*awayAfter, func() {
		_, err := a.rest.GatewayBot(ctx)
		a.telling <- struct{}{}
		defer func() { <-a.telling }()
		switch {
		case unreachable(err):
			a.away(ctx)
		case a.out.Load():
			a.back(ctx)
		}
	})
}

// every does something again and again until ctx is done.
func (a *Adapter) every(ctx context.Context, d time.Duration, do func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// unreachable reports whether a request failed because nobody was there to say
// yes or no.
func unreachable(err error) bool {
	var wait *rest.RateLimited
	if err == nil || errors.As(err, &wait) {
		return false
	}
	s := status(err)
	return s == http.StatusOK || s >= http.StatusInternalServerError
}

// away tells the service that Discord cannot be reached. The caller holds a.telling.
func (a *Adapter) away(ctx context.Context) {
	if ctx.Err() != nil {
		return // it is we who leave
	}
	a.out.Store(true)
	if err := a.service.Away(ctx, Name); err != nil && ctx.Err() == nil {
		a.log.Error("an outage was not written down", "error", err)
	}
}

// back tells the service that Discord can be reached. The caller holds a.telling.
func (a *Adapter) back(ctx context.Context) {
	for try := 0; try < askTries && ctx.Err() == nil; try++ {
		err := a.service.Back(ctx, Name)
		if err == nil {
			a.out.Store(false)
			return
		}
		a.log.Error("the end of an outage was not written down", "error", err)
		pause(ctx, askPause<<try)
	}
}
