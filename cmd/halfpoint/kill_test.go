package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Each command that looks after a database is killed fifty times, at any moment. The database stays
// sound, nothing incomplete gets a final name, and the next run removes what a killed one has left.
// The bot of that database is running, and is asked for a turn after each kill.
func TestCommandsKilled(t *testing.T) {
	tier.Soak(t)
	const kills = 50
	dir := t.TempDir()
	database, backup, text := filepath.Join(dir, "game.db"), filepath.Join(dir, "backup"), filepath.Join(dir, "games.jsonl")
	writeGames(t, text, 200, 20)
	ran(t, "import", "--database", database, text)
	s, turns := serve(t, database), 0
	turn := func(t *testing.T) {
		t.Helper()
		command := "/new aga 19x19"
		if turns > 0 {
			command = fmt.Sprintf("/place %c%d", "ABCDEFGHJKLMNOPQRST"[turns%19], 1+turns/19)
		}
		if _, ok := s.ask(uuid(turns), []string{"white", "black"}[turns%2], command); !ok {
			t.Fatalf("%s was not answered\n%s", command, s.stderr.String())
		}
		turns++
	}
	export := func(t *testing.T, database string) string {
		t.Helper()
		return ran(t, "export", "--database", database)
	}
	sound := func(t *testing.T, database string) {
		t.Helper()
		if says := ran(t, "check", database); !strings.Contains(says, "\nNothing is damaged.\n") {
			t.Errorf("%s: %s", database, says)
		}
	}

	// What is to be restored, and what that replaces: a database with a log, as a killed bot leaves it.
	turn(t)
	old := copied(t, database)
	turn(t)
	ran(t, "backup", "--database", database, backup)
	is, was := export(t, backup), export(t, lay(t, old))
	if is == was || len(old["-wal"]) == 0 {
		t.Fatal("the backup is what it is to replace")
	}

	for _, c := range []struct {
		name   string
		before map[string][]byte
		args   func(file string) []string
		left   func(t *testing.T, file string)                 // checks what a killed command has left
		end    func(t *testing.T, file string, names []string) // checks what is there in the end, beside the file
	}{
		{name: "backup", args: func(file string) []string { return []string{"backup", "--database", database, file} },
			end: func(t *testing.T, file string, _ []string) { sound(t, file) }},
		{name: "check", args: func(string) []string { return []string{"check", database} }},
		{name: "export", args: func(file string) []string { return []string{"export", "--database", database, file} },
			end: func(t *testing.T, file string, _ []string) {
				ran(t, "import", "--database", filepath.Join(t.TempDir(), "again.db"), file)
			}},
		{name: "import", args: func(file string) []string { return []string{"import", "--database", file, text} },
			end: func(t *testing.T, file string, _ []string) {
				sound(t, file)
				if says, err := os.ReadFile(text); err != nil || export(t, file) != string(says) {
					t.Errorf("it is not what was exported: %v", err)
				}
			}},
		{name: "restore", before: old, args: func(file string) []string { return []string{"restore", "--database", file, backup} },
			left: func(t *testing.T, file string) {
				switch status, says := halfpoint("check", file); {
				case status == 2 && strings.HasSuffix(says, "somebody interrupted halfpoint restore: run it again\n"):
				case status != 0:
					t.Errorf("check: %d %s", status, says)
				default:
					if now := export(t, file); now != was && now != is {
						t.Error("it is neither the old database nor the backup")
					}
				}
			},
			end: func(t *testing.T, file string, names []string) {
				sound(t, file)
				if export(t, file) != is {
					t.Error("it is not the backup")
				}
				kept := 0
				for _, name := range names {
					if !strings.Contains(name, ".replaced") || strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") {
						continue
					}
					kept++
					if now := export(t, filepath.Join(filepath.Dir(file), name)); now != was && now != is {
						t.Errorf("%s is neither the old database nor the backup", name)
					}
				}
				if kept == 0 {
					t.Errorf("no database was kept: %q", names)
				}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(32, uint64(len(c.name))))
			begun := time.Now()
			ran(t, c.args(lay(t, c.before))...)
			takes := time.Since(begun)
			struck, complete, unfinished := 0, 0, 0
			for range kills {
				file := lay(t, c.before)
				if killed(t, time.Duration(rnd.Int64N(int64(takes))), c.args(file)...) {
					struck++
				}
				turn(t)
				unfinished += len(parts(t, filepath.Dir(file))) + len(parts(t, dir))
				sound(t, database)
				if c.left != nil {
					c.left(t, file)
				}
				if _, err := os.Lstat(file); err == nil && c.before == nil {
					complete++
				} else {
					ran(t, c.args(file)...)
				}
				if c.end != nil {
					c.end(t, file, names(t, filepath.Dir(file)))
				}
				if left := append(parts(t, filepath.Dir(file)), parts(t, dir)...); len(left) > 0 {
					t.Errorf("the next run has left %q", left)
				}
				if t.Failed() {
					t.FailNow()
				}
			}
			t.Logf("killed %d times within %v; the file was complete %d times; %d unfinished files were left for the next run", struck, takes, complete, unfinished)
			if struck < kills/5 {
				t.Errorf("only %d of %d runs had not ended", struck, kills)
			}
		})
	}
}

// killed starts the program, kills it after a time, and reports whether it had not ended.
func killed(t *testing.T, after time.Duration, args ...string) bool {
	t.Helper()
	cmd := exec.Command(program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(after, func() { cmd.Process.Kill() }).Stop()
	cmd.Wait()
	return !cmd.ProcessState.Exited()
}

// ran runs the program and returns what it prints.
func ran(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	var errout bytes.Buffer
	cmd.Stderr = &errout
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("halfpoint %q: %v\n%s%s", args, err, out, errout.String())
	}
	return string(out)
}

// copied returns a database and its log, by what follows its name.
func copied(t *testing.T, database string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(database + suffix)
		if err != nil {
			t.Fatal(err)
		}
		files[suffix] = data
	}
	return files
}

// lay returns the name of a file in a new directory, with what copied has returned there.
func lay(t *testing.T, files map[string][]byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	for suffix, data := range files {
		if err := os.WriteFile(file+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// names returns what is in a directory.
func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// parts returns the unfinished files in a directory.
func parts(t *testing.T, dir string) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, dir), func(name string) bool { return !strings.Contains(name, ".part") })
}

// writeGames exports games, each of so many turns.
func writeGames(t *testing.T, file string, games, turns int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now, n := time.Unix(1_800_000_000, 0), 0
	service := bot.New(s, bot.Config{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Rand: rand.NewChaCha8([32]byte{})})
	ask := func(game, who int, command string, args map[string]string) {
		t.Helper()
		n++
		now = now.Add(time.Second)
		user := outbox.User{Platform: "far", ID: fmt.Sprint(2*game + who), Name: fmt.Sprint("Player ", 2*game+who)}
		if _, err := service.Ask(t.Context(), bot.Request{ID: fmt.Sprint("far:", n), Command: command, Args: args, Who: user,
			Where: match.Room{Platform: "far", Channel: fmt.Sprint("room", game)}}); err != nil {
			t.Fatal(err)
		}
	}
	for game := range games {
		ask(game, 0, "new", map[string]string{"rules": "aga", "size": "19x19"})
		ask(game, 1, "join", nil)
		for k := range turns {
			ask(game, k%2, "place", map[string]string{"at": fmt.Sprintf("%c%d", "ABCDEFGHJKLMNOPQRST"[k%19], 1+k/19)})
		}
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := s.Export(context.WithoutCancel(t.Context()), f); err != nil {
		t.Fatal(err)
	}
}
