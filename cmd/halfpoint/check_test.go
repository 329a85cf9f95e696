package main

import (
	"database/sql"
	"encoding/json"
	"io"
	"os"
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

// An import takes an export that somebody edited, so that nobody is locked out by one game, and
// names the game and the event as check does.
func TestImportOfAnEditedExport(t *testing.T) {
	database := filepath.Join(t.TempDir(), "a.db")
	if status := run([]string{"play", "--database", database}, strings.NewReader("/new aga 9x9\n/place E5\n/resign confirm:yes\n/new two-button 9x9\n/place D4\n"), io.Discard, io.Discard); status != 0 {
		t.Fatal(status)
	}
	status, export := halfpoint("export", "--database", database)
	if status != 0 {
		t.Fatal(export)
	}
	for what, c := range map[string]struct {
		from, to string // what somebody edits of the first game
		event    int    // that is wrong; -1: none
	}{
		"nothing": {"", "", -1},
		"komi":    {`\"komi\":15`, `\"komi\":1`, 0},
		"a seat":  {`"state":"ended","black":"p`, `"state":"ended","black":"x`, 0},
		"result":  {`"result":"B+R"`, `"result":"W+R"`, 0},
		"body":    {`"body":"turn B place E5"`, `"body":"turn B place E4"`, 4},
	} {
		t.Run(what, func(t *testing.T) {
			edited := strings.Replace(export, c.from, c.to, 1)
			if c.from != "" && strings.Count(export, c.from) != 1 {
				t.Fatalf("%s is not in the export once:\n%s", c.from, export)
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "a.jsonl")
			if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
				t.Fatal(err)
			}
			target := filepath.Join(dir, "b.db")
			status, says := halfpoint("import", "--database", target, file)
			if _, again := halfpoint("export", "--database", target); again != edited {
				t.Errorf("the database has\n%s", again)
			}
			if c.event < 0 {
				if status != 0 || strings.Count(says, "\n") != 1 {
					t.Errorf("exit status %d: %s", status, says)
				}
				return
			}
			_, checked := halfpoint("check", target)
			_, damage, _ := strings.Cut(checked, "\n")
			if _, said, _ := strings.Cut(says, "\n"); status != 1 || said != damage || !strings.HasPrefix(says, "Imported ") ||
				!strings.Contains(says, "\n  Game 1 in terminal/terminal (") || !strings.HasSuffix(says, "b.db is damaged in 1 place\n") {
				t.Errorf("exit status %d: %s\ncheck: %s", status, says, checked)
			}
			var found struct {
				Games  int
				Damage []damageRow
			}
			status, says = halfpoint("import", "--json", "--database", filepath.Join(dir, "c.db"), file)
			object, _, _ := strings.Cut(says, "\n")
			if err := json.Unmarshal([]byte(object), &found); err != nil || status != 1 || found.Games != 2 || len(found.Damage) != 1 || found.Damage[0].Number != 1 || found.Damage[0].Event != c.event {
				t.Errorf("exit status %d, %v: %s", status, err, says)
			}
		})
	}
}
