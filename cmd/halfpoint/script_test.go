package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// clockAhead is the variable of the environment that says by how much the clock of the machine of a
// program is ahead.
const clockAhead = "TEST_CLOCK_AHEAD"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"halfpoint": func() {
			if ahead, err := time.ParseDuration(os.Getenv(clockAhead)); err == nil {
				wall = func() time.Time { return time.Now().Add(ahead) }
			}
			os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// halfpoint runs the program and returns its exit status and all that it prints.
func halfpoint(args ...string) (status int, says string) {
	var out, errout bytes.Buffer
	status = run(args, strings.NewReader(""), &out, &errout)
	return status, out.String() + errout.String()
}

// The scripts in testdata/script use the program as people do. $SGF is the
// folder of the worked examples; $DISCORD_API, $DISCORD_TOKEN and $DISCORD_APPLICATION
// are a double of Discord and a bot on it.
func TestScripts(t *testing.T) {
	sgf, err := filepath.Abs(filepath.Join("..", "..", "rules", "sgf", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	d := discordtest.New(t, discordtest.Options{Lenient: true, Limits: discordtest.NoLimits()})
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exits STATUS PROGRAM ARGS...: the exact exit status of a program that
			// says what is wrong in one line, and nothing else.
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) < 2 {
					ts.Fatalf("usage: exits STATUS PROGRAM ARGS...")
				}
				err := ts.Exec(args[1], args[2:]...)
				var status *exec.ExitError
				if !errors.As(err, &status) || strconv.Itoa(status.ExitCode()) != args[0] {
					ts.Fatalf("%v: %v, want status %s", args[1:], err, args[0])
				}
				if said := ts.ReadFile("stderr"); strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "halfpoint: ") || ts.ReadFile("stdout") != "" {
					ts.Fatalf("%v says %q", args[1:], said)
				}
			},
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("SGF", sgf)
			e.Setenv("DISCORD_API", d.API())
			e.Setenv("DISCORD_TOKEN", d.Token())
			e.Setenv("DISCORD_APPLICATION", d.Application())
			return nil
		},
	})
}
