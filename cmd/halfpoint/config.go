package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/web"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// configFile returns the path of the configuration: --config, or else the first
// config.yaml of those that exist; empty if none does.
func (e *env) configFile() (string, error) {
	if e.cli.Config != "" {
		return e.cli.Config, nil
	}
	for _, path := range configFiles() {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", plain(path, err)
		}
	}
	return "", nil
}

// configFiles returns the files that may be the configuration, best first.
func configFiles() []string {
	paths := []string{"config.yaml"}
	own := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(own) { // the specification has relative ones ignored
		own = ""
		if home, err := os.UserHomeDir(); err == nil {
			own = filepath.Join(home, ".config")
		}
		if dir, err := os.UserConfigDir(); err == nil && runtime.GOOS == "windows" {
			own = dir
		}
	}
	if own != "" {
		paths = append(paths, filepath.Join(own, "halfpoint", "config.yaml"))
	}
	if runtime.GOOS != "windows" {
		paths = append(paths, "/etc/halfpoint/config.yaml")
	}
	return paths
}

// settings reads the configuration, with the flags over it, and notes in e.file
// which file it read.
func (e *env) settings() (bot.Settings, error) {
	path, err := e.configFile()
	if err != nil {
		return bot.Settings{}, err
	}
	e.file = path
	flags := map[string]string{}
	if e.cli.Listen != "" {
		flags["listen"] = e.cli.Listen
	}
	if e.cli.Database != "" {
		flags["database"] = e.cli.Database
	}
	s, err := bot.ReadSettings(path, flags)
	s.Rulesets = append(s.Rulesets, e.cli.Ruleset...)
	var bad bot.BadSettings
	if err != nil && !errors.As(err, &bad) {
		return s, plain(path, err)
	}
	return s, err
}

// log returns the log for operators, on standard error.
func (e *env) log() *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(e.cli.LogLevel)); err != nil {
		level = slog.LevelInfo // kong takes no other
	}
	return slog.New(slog.NewTextHandler(e.errout, &slog.HandlerOptions{Level: level}))
}

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"List all mistakes in the configuration, then test it on Discord and Matrix."`
}

type configCheckCmd struct {
	Channel string `help:"Also post one board in this channel and delete it: the id of a channel on Discord; the id or alias of a room on Matrix." placeholder:"ID"`
}

// Run reads the configuration and prints what follows from it.
func (c *configCheckCmd) Run(e *env) error {
	s, err := e.settings()
	var bad bot.BadSettings
	if err != nil && !errors.As(err, &bad) {
		return err
	}
	own, unread := e.customRulesets(s)
	var access error
	if err := web.CheckAccess(s.Listen, s.Hosts, s.Owner); err != nil {
		access = s.Mistake(err)
	}
	if err := errors.Join(err, access, unread); err != nil {
		return err
	}
	if e.file == "" {
		fmt.Fprintln(e.out, "config: no file found, looked for", strings.Join(configFiles(), ", "))
	} else {
		fmt.Fprintln(e.out, "config:", e.file)
	}
	fmt.Fprintf(e.out, "listen: %s\ndatabase: %s\n", s.Listen, store.Redacted(s.Database))
	if len(s.Hosts) > 0 {
		fmt.Fprintf(e.out, "hosts: %s\n", strings.Join(s.Hosts, ", "))
	}
	if s.URL != "" {
		fmt.Fprintf(e.out, "public_url: %s\n", s.URL)
	}
	if store.IsPostgres(s.Database) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		keys, err := unlike(ctx, s, own)
		cancel()
		switch {
		case err != nil:
			return err
		case len(keys) > 0:
			fmt.Fprintf(e.out, "the halfpoint that started last has other values of: %s\n", strings.Join(keys, ", "))
		}
	}
	for _, r := range own {
		fmt.Fprintf(e.out, "ruleset: %s, %s\n", r.ID(), r.Title)
	}
	channel, room := c.Channel, ""
	if strings.HasPrefix(c.Channel, "!") || strings.HasPrefix(c.Channel, "#") {
		channel, room = "", c.Channel
	}
	switch {
	case strings.Trim(channel, "0123456789") != "":
		return usageError{fmt.Errorf("--channel: %q is neither the id of a Discord channel (a number) nor a Matrix room (!… or #…)", c.Channel)}
	case channel != "" && s.Discord.Token.IsZero():
		return usageError{errors.New("--channel: this is a Discord channel, but discord.token is not set")}
	case room != "" && s.Matrix.Homeserver == "":
		return usageError{errors.New("--channel: this is a Matrix room, but matrix.homeserver is not set")}
	}
	return errors.Join(checkDiscord(e, s, channel), checkMatrix(e, s, room))
}

// testBoard returns the board that is posted to see whether the bot may.
func testBoard() render.Scene {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 9, H: 9})
	for _, line := range []string{"B place E5", "W place G7", "B place C3"} {
		var t rules.Turn
		if t, err = rules.ParseTurn(line, 9, 9); err == nil {
			g, err = g.Play(t)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		panic(err) // it is always the same
	}
	return render.Of(g, render.Names{})
}
