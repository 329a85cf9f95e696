package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/terminal"
	"github.com/halfpoint-go/halfpoint/adapters/web"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// drain is how long open requests may take after the signal to stop.
const drain = 10 * time.Second

type serveCmd struct{}

// Run opens the local room until it is told to stop.
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
	st, err := store.Open(ctx, s.Database)
	if err != nil {
		return err
	}
	defer st.Close()
	backups(ctx, st, s.Database, log)
	shown, closeMetrics, err := metrics(s.Metrics)
	if err != nil {
		return err
	}
	defer closeMetrics()
	b := bot.New(st, bot.Config{Log: log, Rulesets: own, Games: s.Limits.Games, Shown: shown})
	room := web.New(web.Config{Listen: s.Listen, Hosts: s.Hosts, OwnerToken: s.Owner, Person: s.Limits.Person, Channel: s.Limits.Channel, Log: st, Logger: log,
		Ready: func(url string) {
			e.started(s, log, url)
			fmt.Fprintf(e.out, "halfpoint: local room at %s\n", url)
		}})
	others, err := discordAdapters(e, s, log)
	if err != nil {
		return err
	}
	more, closed, err := matrixAdapters(e, s, st, log)
	defer closed()
	if err != nil {
		return err
	}
	others = append(others, more...)
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx, append([]bot.Adapter{room}, others...)...) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(drain):
		return fmt.Errorf("stopped before all requests were answered")
	}
}

// started logs which configuration and platforms the program uses.
func (e *env) started(s bot.Settings, log *slog.Logger, url string) {
	if e.file == "" {
		log.Info("no configuration file", "looked for", configFiles())
	} else {
		log.Info("configuration read", "file", e.file)
	}
	log.Info("local room open", "address", url, "database", s.Database)
	if s.Discord.Token.IsZero() {
		log.Info("Discord is off: discord.token is not set")
	}
	if s.Matrix.Homeserver == "" {
		log.Info("Matrix is off: matrix.homeserver is not set")
	}
}

type playCmd struct{}

// Run plays in the terminal until its input ends or a signal stops it. After a refused
// command a script goes on to its end, and then fails.
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
	b := bot.New(st, bot.Config{Rulesets: own, Games: s.Limits.Games, Deliveries: 1, Log: e.log()})
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
