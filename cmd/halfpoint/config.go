package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/halfpoint-go/halfpoint/adapters/web"
	"github.com/halfpoint-go/halfpoint/bot"
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
	Check configCheckCmd `cmd:"" help:"List all mistakes in the configuration, then try it on Discord and Matrix."`
}

type configCheckCmd struct{}

// Run reads the configuration and prints what follows from it.
func (*configCheckCmd) Run(e *env) error {
	s, err := e.settings()
	var bad bot.BadSettings
	if err != nil && !errors.As(err, &bad) {
		return err
	}
	own, unread := customRulesets(s)
	if err := errors.Join(err, unread); err != nil {
		return err
	}
	if err := web.CheckAccess(s.Listen, s.Hosts, s.Owner); err != nil {
		return s.Mistake(err)
	}
	if e.file == "" {
		fmt.Fprintln(e.out, "config: no file; looked for", strings.Join(configFiles(), ", "))
	} else {
		fmt.Fprintln(e.out, "config:", e.file)
	}
	fmt.Fprintf(e.out, "listen: %s\ndatabase: %s\n", s.Listen, s.Database)
	if len(s.Hosts) > 0 {
		fmt.Fprintf(e.out, "hosts: %s\n", strings.Join(s.Hosts, ", "))
	}
	for _, r := range own {
		fmt.Fprintf(e.out, "ruleset: %s, %s\n", r.ID(), r.Title)
	}
	return errors.Join(checkDiscord(e, s), checkMatrix(e, s))
}
