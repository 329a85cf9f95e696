package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A backup is made while the program runs, and restores.
func TestBackupWhileRunning(t *testing.T) {
	database := filepath.Join(t.TempDir(), "game.db")
	s := serve(t, database)
	for i, text := range []string{"/new aga 9x9", "/place E5"} {
		if _, ok := s.ask(uuid(i+1), "black", text); !ok {
			t.Fatal("no answer")
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if says := runOn(t, database, "backup", copied); !strings.HasPrefix(says, copied+": ") || !strings.Contains(says, " MB, 1 game, last change on ") {
		t.Fatalf("backed up: %q", says)
	}
	if _, ok := s.ask(uuid(3), "white", "/place C3"); !ok {
		t.Fatal("no answer")
	}
	if says := runOn(t, database, "restore", copied); !strings.Contains(says, "another halfpoint is using "+database+"; stop it first") {
		t.Errorf("restored while the program runs: %q", says)
	}
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.Wait()

	// Moved there by hand, it lies beside the log of the killed program.
	killed, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(database, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if says := runOn(t, database, "serve"); !strings.Contains(says, "halfpoint restore") {
		t.Errorf("a start beside the log of another: %q", says)
	}
	if now, err := os.ReadFile(database); err != nil || !bytes.Equal(now, data) {
		t.Errorf("the start changed the file: %v", err)
	}
	if err := os.WriteFile(database, killed, 0o600); err != nil {
		t.Fatal(err)
	}
	if says := runOn(t, database, "restore", copied); !strings.HasPrefix(says, "Restored "+database) {
		t.Errorf("restored: %q", says)
	}
	s = serve(t, database)
	if answer, ok := s.ask(uuid(4), "white", "/board move:1"); !ok || !strings.Contains(answer, "E5") {
		t.Errorf("the game goes on: %q", answer)
	}
}

// runOn runs the program again, for a database, and returns what it prints.
func runOn(t *testing.T, database string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, append(args, "--listen", "127.0.0.1:0", "--database", database)...)
	cmd.Dir = filepath.Dir(database)
	said, _ := cmd.CombinedOutput() // which tells an error
	return string(said)
}
