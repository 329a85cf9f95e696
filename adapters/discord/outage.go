package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// Discord counts as away while some of its users cannot reach the bot, as far as the
// adapter can see: no flag falls on a player who cannot move. The clocks of those who
// could have moved stop as well.

// whole reports whether every shard is connected.
func whole(shards []gateway.Status) bool {
	return len(shards) > 0 && !slices.ContainsFunc(shards, func(s gateway.Status) bool { return !s.Connected })
}

// watch reports to the service when a shard that this process holds has not been connected for
// a while, and when all of these are connected again; it repeats a report that failed.
func (a *Adapter) watch(ctx context.Context, g *gateway.Gateway) {
	began := time.Now()
	a.look(ctx, awayAfter/3, func() (away, back bool) {
		shards := g.Status() // taken while reporting is held, so that reports keep their order
		away = len(shards) == 0 && !a.others() && time.Since(began) > awayAfter
		for _, s := range shards {
			away = away || !s.Connected && time.Since(s.Since) > awayAfter
		}
		return away, whole(shards)
	})
}

// probe does the same where interactions come over HTTP, by asking Discord now
// and then. Whether Discord reaches the bot only Discord knows.
func (a *Adapter) probe(ctx context.Context) {
	a.look(ctx, 2*awayAfter, func() (away, back bool) {
		_, err := a.rest.GatewayBot(ctx)
		if !unreachable(err) {
			a.probed.Set(time.Now())
		}
		return unreachable(err), true
	})
}

// others reports whether other processes run, which may hold the shards.
func (a *Adapter) others() bool {
	return !a.alone() && (a.cfg.Processes == nil || a.cfg.Processes() > 1)
}

// look looks again and again whether Discord is away or back, until ctx is done.
func (a *Adapter) look(ctx context.Context, every time.Duration, look func() (away, back bool)) {
	for backoff.Sleep(ctx, every) == nil {
		a.reporting <- struct{}{}
		switch away, back := look(); {
		case away:
			a.away(ctx)
		case a.reportedAway && back:
			a.back(ctx)
		}
		<-a.reporting
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

// away tells the service that Discord cannot be reached. The caller holds a.reporting.
func (a *Adapter) away(ctx context.Context) {
	if ctx.Err() != nil {
		return // it is we who leave
	}
	a.reportedAway = true
	a.up.Set(false, time.Now())
	if !a.reports() {
		return
	}
	if err := a.service.Report(ctx, bot.Away{Platform: Name}); err != nil && ctx.Err() == nil {
		a.log.Error("storing an outage failed, will retry", "error", err)
	}
}

// back tells the service that Discord can be reached. The caller holds a.reporting.
func (a *Adapter) back(ctx context.Context) {
	if !a.reports() {
		a.up.Set(true, time.Now())
		return
	}
	if err := tried(ctx, func() error { return a.service.Report(ctx, bot.Back{Platform: Name}) }); err != nil {
		a.log.Error("storing the end of an outage failed, will retry", "error", err)
		return
	}
	a.reportedAway = false
	a.up.Set(true, time.Now())
}

// reports reports whether this process tells the service when Discord is away: over HTTP that is
// up to one of them.
func (a *Adapter) reports() bool { return a.cfg.Listen == "" || a.alone() || a.leads.Load() }

// Health tells how the connection to Discord is: all shards that this process holds, or where
// interactions come over HTTP, whether Discord answers. The heartbeat is that of the shard
// whose last is the oldest. A process that holds none because others do is connected.
func (a *Adapter) Health() bot.Health {
	h := bot.Health{Event: a.event.At(), Refused: map[string]uint64{"person_limit": a.personLimit.Refused(), "channel_limit": a.channelLimit.Refused()}}
	if a.cfg.Listen != "" {
		h.Connected, h.Since = a.up.Is()
		h.Heartbeat = a.probed.At()
		return h
	}
	g := a.gateway.Load()
	if g == nil {
		return h
	}
	shards, connected := g.Status(), 0
	if len(shards) == 0 && a.others() {
		h.Since = a.known.At()
		h.Connected = !h.Since.IsZero()
		return h
	}
	h.Connected = whole(shards)
	for i, s := range shards {
		if s.Connected {
			connected++
		}
		if s.Connected == h.Connected && s.Since.After(h.Since) {
			h.Since = s.Since
		}
		if i == 0 || s.Heartbeat.Before(h.Heartbeat) {
			h.Heartbeat = s.Heartbeat
		}
	}
	if len(shards) > 1 && !h.Connected {
		h.Lacks = fmt.Sprintf("%d of %d shards", len(shards)-connected, len(shards))
	}
	return h
}
