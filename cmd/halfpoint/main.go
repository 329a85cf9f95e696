// Halfpoint is a chat bot with which people play Go under experimental
// rulesets, in which every half point of the score can be seen moving. This
// command is flags, configuration and wiring; see the packages rules, render
// and bot for what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	_ "time/tzdata" // the time zones, for machines that have none

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/rules"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// cli is the commands and their flags.
type cli struct {
	Config   string   `help:"Read the configuration from this YAML file. Without it, Halfpoint looks for config.yaml in the working directory, ~/.config/halfpoint and /etc/halfpoint." placeholder:"FILE"`
	Listen   string   `help:"Address of the local room; port 0 chooses a free port." placeholder:"ADDR"`
	Database string   `help:"SQLite file that stores the games, or address of a PostgreSQL database (postgres://…)." placeholder:"PATH"`
	Ruleset  []string `help:"Add the custom ruleset in this YAML file to those of the configuration." placeholder:"FILE" sep:"none"`
	LogLevel string   `help:"Lowest level of log messages: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL"`

	VersionFlag bool `name:"version" help:"Print the version."`

	Serve       serveCmd       `cmd:"" default:"withargs" help:"Open the local room, and connect to Discord and Matrix if they are configured."`
	Play        playCmd        `cmd:"" help:"Play in the terminal: you in both seats, or a script on standard input."`
	Score       scoreCmd       `cmd:"" help:"Replay records and print ledger, count and result."`
	Compare     compareCmd     `cmd:"" help:"Count a record under every ruleset, side by side."`
	Render      renderCmd      `cmd:"" help:"Draw a record as a picture, an animation or text."`
	Rules       rulesCmd       `cmd:"" help:"List the rulesets, or print one of them."`
	Audit       auditCmd       `cmd:"" help:"Check the pairings and tables of an event from its export."`
	Perft       perftCmd       `cmd:"" help:"Count the sequences of turns of each length."`
	Backup      backupCmd      `cmd:"" help:"Copy the database to a new file, or into a folder. The bot may be running."`
	Check       checkCmd       `cmd:"" help:"Check every game of the database, and what else it holds. The bot may be running."`
	Export      exportCmd      `cmd:"" help:"Write the whole database as lines of JSON. The bot may be running."`
	Import      importCmd      `cmd:"" help:"Make a new database from an export. Stop halfpoint first."`
	Restore     restoreCmd     `cmd:"" help:"Put a backup in the place of the database. Stop halfpoint first."`
	Undelivered undeliveredCmd `cmd:"" help:"List posts and events that Halfpoint gave up, or retry posts."`
	Health      healthCmd      `cmd:"" help:"Ask the running bot how it is, for example as the health check of a container."`
	Init        initCmd        `cmd:"" help:"Ask for the settings that the bot needs, write config.yaml and test it."`
	ConfigGr    configCmd      `cmd:"" name:"config" help:"Check the configuration."`
	Completion  completionCmd  `cmd:"" help:"Print the completion script for a shell."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

// env is the flags and streams that a command works with.
type env struct {
	cli         *cli
	file        string // the configuration that settings read; empty: none
	in          io.Reader
	out, errout io.Writer
	custom      func() ([]*rules.Ruleset, error) // reads the custom rulesets, once
}

// exits are the commands that compute and end: for them, memory is cheaper than the time of the garbage
// collector, unless GOGC says otherwise.
var exits = map[string]bool{"score": true, "compare": true, "render": true, "rules": true, "audit": true, "perft": true}

// A usageError is a mistake of the caller: exit status 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run is the program. It returns the exit status: 0 done, 2 bad flags or content
// that cannot be read, 1 anything else.
func run(args []string, in io.Reader, out, errout io.Writer) int {
	c := &cli{}
	parser, err := newParser(c, out, errout)
	if err != nil {
		return report(errout, err)
	}
	e := &env{cli: c, in: in, out: out, errout: errout}
	e.custom = sync.OnceValues(e.readRulesets)
	if len(args) > 1 && args[0] == completeWord {
		return report(errout, e.complete(parser.Model.Node, args[1:]))
	}
	selected, err := parse(parser, args)
	switch {
	case errors.Is(err, errAnswered):
		return 0
	case err != nil:
		return report(errout, usageError{err})
	}
	if exits[selected.Name] && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	done := e.watch()
	err = selected.Target.Addr().Interface().(command).Run(e)
	done()
	return report(errout, err)
}

// report prints an error in one line, or a line for each of several, and returns
// the exit status.
func report(errout io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok && errors.Join(several.Unwrap()...).Error() == err.Error() {
		status := 0
		for _, err := range several.Unwrap() {
			status = max(status, report(errout, err))
		}
		return status
	}
	says := strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted")
	fmt.Fprintln(errout, "halfpoint:", strings.Join(strings.Fields(says), " "))
	var usage usageError
	var bad *bot.BadSetting
	if errors.As(err, &usage) || errors.As(err, &bad) {
		return 2
	}
	return 1
}

// interrupted returns a context that ends with SIGINT or SIGTERM.
func interrupted() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
}

// readRecord reads an SGF file, "-" from standard input.
func (e *env) readRecord(path string) (*sgf.Record, error) {
	in := e.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, plain(path, err)
		}
		defer f.Close()
		in = f
	}
	rec, err := sgf.Read(in)
	if err != nil {
		var system *fs.PathError
		if errors.As(err, &system) {
			return nil, plain(path, err)
		}
		return nil, usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return rec, nil
}

// plain returns a system error as "path: no such file or directory".
func plain(path string, err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// note tells something about a file beside the output.
func (e *env) note(path, note string) {
	if note != "" {
		fmt.Fprintf(e.errout, "halfpoint: %s: %s\n", path, note)
	}
}

// points reads the list of points of a flag, "A1,B2"; nil if the flag was not
// given, empty for "none".
func points(flag, list string, s rules.Setup) ([]rules.Point, error) {
	switch {
	case list == "":
		return nil, nil
	case strings.EqualFold(list, "none"):
		return []rules.Point{}, nil
	}
	var ps []rules.Point
	for _, word := range strings.Split(list, ",") {
		p, err := rules.ParsePoint(word, s.W, s.H)
		if err != nil {
			return nil, usageError{fmt.Errorf("%s: %w", flag, err)}
		}
		ps = append(ps, p)
	}
	return ps, nil
}
