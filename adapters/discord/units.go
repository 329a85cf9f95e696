package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// Several processes share the shards of the bot: each is a unit, which its holder keeps
// connected, and whose session the next holder resumes. Where interactions come over HTTP there
// is one unit, of the name of the platform.

// unitOf returns the name of the unit of a shard.
func unitOf(shard, of int) string { return fmt.Sprintf("%s/%d/%d", Name, shard, of) }

// Unit returns the unit that serves a room: by Discord's formula the shard that hears of its
// server. Direct messages, and servers that the bot is not in, are shard 0's. It is empty until
// Discord has said how many shards there are; see [bot.Sharded].
func (a *Adapter) Unit(_ match.Room, server string) string {
	if a.cfg.Listen != "" {
		return Name
	}
	shards := uint64(a.shards.Load())
	if shards == 0 {
		return ""
	}
	guild, err := strconv.ParseUint(strings.TrimPrefix(server, serverOf("")), 10, 64)
	if err != nil {
		guild = 0
	}
	return unitOf(int((guild>>22)%shards), int(shards))
}

// alone reports whether this process is the only one.
func (a *Adapter) alone() bool { return a.cfg.Hold == nil }

// hold serves a unit whenever this process holds it; see [units.Keeper].
func (a *Adapter) hold(ctx context.Context, unit string, serve func(context.Context, *units.Held) error) error {
	if a.alone() {
		return (*units.Keeper)(nil).Hold(ctx, unit, serve)
	}
	return a.cfg.Hold(ctx, unit, serve)
}

// connect takes interactions through the gateway, from the shards that this process holds.
func (a *Adapter) connect(ctx context.Context, stop context.CancelCauseFunc) error {
	g, err := gateway.New(gateway.Config{
		Token: a.cfg.Token, Bot: a.rest.GatewayBot, Shards: a.cfg.Shards, Turn: a.cfg.Turn,
		Handle: func(raw json.RawMessage, done func()) {
			in, err := interaction.Parse(raw)
			if in.Token == "" {
				a.log.Warn("malformed interaction ignored", "error", err)
				done()
				return
			}
			a.receive(in, a.direct(in), a.unlessCut(done))
		},
		Intents: a.intents(), Message: a.readMessage, Changed: a.changed,
		Connected: func(bool) { // before anything is asked that comes after it
			a.twin.connected()
			a.reporting <- struct{}{}
			if whole(a.gateway.Load().Status()) {
				a.back(ctx)
			}
			<-a.reporting
			a.connected()
			if a.cfg.Ready != nil {
				a.cfg.Ready("")
			}
		},
		Dial: a.cfg.Dial, Log: a.log,
	})
	if err != nil {
		return err
	}
	a.gateway.Store(g)
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { a.watch(ctx, g) })
	if !a.alone() {
		group.Go(func() { a.learnCommands(ctx) })
	}
	shards, err := g.Shards(ctx)
	if err != nil {
		stop(err)
	}
	if a.shards.Store(int64(shards)); shards > 0 {
		a.known.Set(time.Now())
	}
	for shard := range shards {
		group.Go(func() {
			err := a.hold(ctx, unitOf(shard, shards), func(ctx context.Context, h *units.Held) error {
				return a.serveShard(ctx, stop, h, g, shard, shards)
			})
			if err != nil {
				stop(err)
			}
		})
	}
	<-ctx.Done()
	return nil
}

// serveShard keeps a shard connected while this process holds it. The holder of the first one
// does what one process does for all.
func (a *Adapter) serveShard(ctx context.Context, stop context.CancelCauseFunc, h *units.Held, g *gateway.Gateway, shard, shards int) error {
	var group sync.WaitGroup
	defer group.Wait()
	if shard == 0 {
		leading, end := context.WithCancel(ctx)
		defer end()
		group.Go(func() { a.lead(leading, stop) })
	}
	if a.alone() {
		return g.Serve(ctx, shard, shards, gateway.Session{}, nil)
	}
	var session gateway.Session
	if err := json.Unmarshal([]byte(h.State), &session); err != nil && h.State != "" {
		a.log.Warn("stored session not readable, will identify", "shard", shard, "error", err)
		session = gateway.Session{}
	}
	return g.Serve(ctx, shard, shards, session, func(s gateway.Session) {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepsFor)
		defer cancel()
		if err := h.Keep(late, marshal(s)); err != nil && !errors.Is(err, units.ErrLost) {
			a.log.Warn("session not stored, the next process may identify anew", "shard", shard, "error", err)
		}
	})
}

// keepsFor is how long storing a session may take.
const keepsFor = 2 * time.Second

// unlessCut has something count as done unless the time is over that requests have when the
// process ends: then Discord sends it to the next process.
func (a *Adapter) unlessCut(done func()) func() {
	return func() {
		if a.drainCtx.Err() == nil {
			done()
		}
	}
}

// lead does what one process does for all: it registers the commands, says where the bot is, and
// keeps the list of its servers.
func (a *Adapter) lead(ctx context.Context, stop context.CancelCauseFunc) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { a.servers(ctx) })
	a.registered(ctx, stop)
	select {
	case <-a.isConnected:
		a.greet(ctx)
	case <-ctx.Done():
	}
}

// learnCommands reads the ids of the commands until those of this version are there, which another
// process may register.
func (a *Adapter) learnCommands(ctx context.Context) {
	for failures := 1; ; failures++ {
		there, err := a.there(ctx, bot.Commands())
		if there || backoff.Sleep(ctx, atLeast(backoff.After(failures, time.Second, time.Hour), err)) != nil {
			return
		}
	}
}
