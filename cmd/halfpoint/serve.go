package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/terminal"
	"github.com/halfpoint-go/halfpoint/adapters/web"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// drain is how long open requests may take after the signal to stop.
const drain = 10 * time.Second

type serveCmd struct{}

// Run opens the local room and connects the platforms, until a signal stops it.
func (*serveCmd) Run(e *env) error {
	s, err := e.settings()
	if err != nil {
		return err
	}
	if err := web.CheckAccess(s.Listen, s.Hosts, s.Owner); err != nil {
		return s.Mistake(err)
	}
	own, err := e.customRulesets(s)
	if err != nil {
		return err
	}
	log := e.log()
	ctx, stop := interrupted()
	defer stop()
	refuseSignal(ctx, log)
	running, end := context.WithCancel(ctx)
	defer end()
	now := &platforms{room: asksForRoom(s), end: end}
	seen := newMonitor(now)
	closeMonitor, err := seen.listen(s.Metrics)
	if err != nil {
		return err
	}
	defer closeMonitor()
	st, err := store.Open(ctx, s.Database)
	if err != nil {
		return err
	}
	defer st.Close()
	if store.IsPostgres(s.Database) {
		if err := compareSettings(ctx, st, s, own, log); err != nil {
			return err
		}
	}
	if newer, err := st.Newer(ctx); err != nil {
		return err
	} else if newer {
		log.Warn("a newer halfpoint has brought the tables up to date; this one works beside it, replace it")
	}
	if lossy, err := st.Lossy(ctx); err != nil {
		return err
	} else if lossy {
		log.Warn("PostgreSQL waits for no standby: one that is promoted may lack turns that were answered; set synchronous_standby_names")
	}
	st.Watch(seen.committed)
	team, err := join(ctx, st, s, elapsed, log)
	if err != nil {
		return err
	}
	room := web.New(web.Config{Now: team.now, Shared: team.Keeper != nil, Listen: s.Listen, Hosts: s.Hosts, PublicURL: s.URL, OwnerToken: s.Owner, Person: s.Limits.Person, Channel: s.Limits.Channel, Log: st, Logger: log,
		Ready: func(url string) {
			e.started(s, log, url)
			fmt.Fprintf(e.out, "halfpoint: local room at %s\n", url)
		}})
	b := bot.New(st, bot.Config{Log: log, Now: team.now, Elapsed: elapsed, Rulesets: own, Games: s.Limits.Games, Shown: seen.shown, Stopped: now.stopped, Units: team.Keeper,
		PublicURL: s.URL, Pages: map[string]match.Pages{room.Name(): match.LinkPages}})
	defer team.work(log, func() { b.Look(); room.Look() })()
	others, err := discordAdapters(s, st, b, team.Keeper, log)
	if err != nil {
		return err
	}
	more, closed, err := matrixAdapters(e, s, st, b, team.Keeper, log)
	defer closed()
	if err != nil {
		return err
	}
	others = append(others, more...)
	now.chats = len(others)
	all := append([]bot.Adapter{room}, others...)
	seen.watched.Store(&watched{st, b, all, team})
	done := make(chan error, 1)
	go func() { done <- b.Run(running, all...) }()
	select {
	case err := <-done:
		return cmp.Or(err, now.failure())
	case <-running.Done():
	}
	select {
	case err := <-done:
		return cmp.Or(err, now.failure())
	case <-time.After(drain):
		return cmp.Or(now.failure(), errors.New("stopped before all requests were answered"))
	}
}

// platforms knows which platforms have stopped for good. Its methods may be called
// concurrently.
type platforms struct {
	room  bool   // somebody wants the local room, even if it is the only platform left
	chats int    // other platforms
	end   func() // ends the program

	mu     sync.Mutex
	names  []string // of the platforms that have failed
	failed []error  // why each did
	chat   int      // how many of the other platforms have failed
	ended  bool
}

// asksForRoom reports whether the configuration mentions the local room. Without that
// the room is there for people who try the program out.
func asksForRoom(s bot.Settings) bool {
	return s.Listen != bot.Defaults.Listen || len(s.Hosts) > 0 || !s.Owner.IsZero()
}

// stopped takes note that a platform has failed for good. If only a local room is left that
// nobody asked for, the program ends: whatever looks after it should know.
func (p *platforms) stopped(platform string, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names, p.failed = append(p.names, platform), append(p.failed, why)
	if platform != "web" {
		p.chat++
	}
	if p.chat > 0 && p.chat == p.chats && !p.room {
		p.ended = true
		p.end()
	}
}

// failure returns why the program ends by itself; nil: it does not.
func (p *platforms) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		return nil
	}
	var all []error
	for i, why := range p.failed {
		all = append(all, fmt.Errorf("%s: %w", p.names[i], why))
	}
	return errors.Join(all...)
}

// reasons returns why platforms have stopped for good, by name.
func (p *platforms) reasons() map[string]error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]error{}
	for i, name := range p.names {
		all[name] = p.failed[i]
	}
	return all
}

// started logs which configuration and platforms the program uses.
func (e *env) started(s bot.Settings, log *slog.Logger, url string) {
	if e.file == "" {
		log.Info("no configuration file", "looked for", configFiles())
	} else {
		log.Info("configuration read", "file", e.file)
	}
	log.Info("local room open", "address", url, "database", store.Redacted(s.Database))
	if s.Discord.Token.IsZero() {
		log.Info("Discord is off: discord.token is not set")
	}
	if s.Matrix.Homeserver == "" {
		log.Info("Matrix is off: matrix.homeserver is not set")
	}
}

type playCmd struct{}

// Run plays in the terminal until its input ends or a signal stops it. After a refused
// command a script runs to its end, and then fails.
func (*playCmd) Run(e *env) error {
	s, err := e.settings()
	if err != nil {
		return err
	}
	ctx, stop := interrupted()
	defer stop()
	path := store.Memory // a game in the terminal is stored only on request
	if s.Database != bot.Defaults.Database || e.cli.Database != "" {
		path = s.Database
	}
	st, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	defer st.Close()
	own, err := e.customRulesets(s)
	if err != nil {
		return err
	}
	b := bot.New(st, bot.Config{Elapsed: elapsed, Rulesets: own, Games: s.Limits.Games, Deliveries: 1, Log: e.log()})
	t := &terminal.Terminal{In: e.in, Out: e.out, Lang: cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))}
	if f, ok := e.in.(*os.File); ok {
		t.Prompt = terminal.Interactive(f)
	}
	if err := b.Run(ctx, t); !errors.Is(err, io.EOF) {
		return err
	}
	if n := t.Refused(); n > 0 && !t.Prompt {
		return fmt.Errorf("%d %s refused", n, map[bool]string{true: "command was", false: "commands were"}[n == 1])
	}
	return nil
}
