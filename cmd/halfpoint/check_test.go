package main

import (
	"database/sql"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Beside the running bot, check finds the game that somebody edits by hand, and the event.
func TestCheckWhileRunning(t *testing.T) {
	database := filepath.Join(t.TempDir(), "game.db")
	s := serve(t, database)
	for i, text := range []string{"/new aga 9x9", "/place E5", "/place C3", "/new aga 9x9"} {
		if _, ok := s.ask(uuid(i+1), "black", text); !ok {
			t.Fatal("no answer")
		}
	}
	check := func(args ...string) (said string, status int) {
		cmd := exec.Command(program, append([]string{"check", "--database", database}, args...)...)
		out, _ := cmd.Output() // which tells an error
		return string(out), cmd.ProcessState.ExitCode()
	}
	if said, status := check(); status != 0 || !strings.HasSuffix(said, ", 0 tournaments and leagues.\nNothing is damaged.\n") {
		t.Errorf("exit status %d: %s", status, said)
	}
	db, err := sql.Open("sqlite", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE event SET at = at - 60000 WHERE seq = 3 AND game = (SELECT game FROM game_channel WHERE number = 1)"); err != nil {
		t.Fatal(err)
	}
	if said, status := check(); status != 1 || !strings.Contains(said, "Game 1 in web/local (") || !strings.Contains(said, "), event 3: it does not follow from what was stored before it.\n") {
		t.Errorf("exit status %d: %s", status, said)
	}
	said, status := check("--json")
	var found struct {
		Games  int
		Damage []struct {
			Game, Platform, Channel string
			Number, Event           int
			Why                     string
		}
	}
	if err := json.Unmarshal([]byte(said), &found); err != nil || status != 1 || found.Games != 2 || len(found.Damage) != 1 || found.Damage[0].Number != 1 || found.Damage[0].Event != 3 {
		t.Errorf("exit status %d, %v: %s", status, err, said)
	}
}
