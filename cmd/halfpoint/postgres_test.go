package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// The program runs on PostgreSQL with a password in the address, which it shows nobody. Beside
// it, commands look after the database; an export moves it to a file and back.
func TestOnPostgres(t *testing.T) {
	server := pgtest.Start(t)
	address := strings.Replace(server.Database(t), "halfpoint@", "halfpoint:se%3Fcret@", 1)
	var said strings.Builder
	says := func(status int, want string, args ...string) {
		t.Helper()
		c := exec.Command(program, args...)
		c.Dir = t.TempDir()
		out, err := c.CombinedOutput()
		said.Write(out)
		if c.ProcessState.ExitCode() != status || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	s := serve(t, address)
	ask := func(n int, seat, text string) {
		t.Helper()
		if answer, ok := s.ask(uuid(n), seat, text); !ok {
			t.Fatalf("%s: %s\n%s", text, answer, s.stderr.String())
		}
	}
	ask(1, "black", "/new aga 9x9")
	ask(2, "black", "/place E5")
	ask(3, "white", "/place C3")

	says(1, "try post p1 again: not found", "undelivered", "--again", "p1", "--database", address)
	says(0, "1 game with 5 events", "check", "--database", address)
	says(0, "No undelivered posts", "undelivered", "--database", address)
	says(0, "database: postgres://halfpoint:xxxxx@", "config", "check", "--database", address)
	t.Setenv("HALFPOINT_LIMITS_PERSON", "100000") // as serve has it
	t.Setenv("HALFPOINT_DISCORD_GUILD", "12345678901234567")
	says(0, "the halfpoint that started last has other values of: discord.guild, limits.channel\n", "config", "check", "--database", address)
	t.Setenv("HALFPOINT_DISCORD_GUILD", "")
	says(2, "use pg_dump", "backup", "--database", address, t.TempDir())
	says(2, "use pg_restore", "restore", "--database", address, "games.backup")
	exports := t.TempDir()
	export := func(name, database string) string {
		t.Helper()
		file := filepath.Join(exports, name)
		says(0, "1 game", "export", "--database", database, file)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := export("first", address)
	s.Process.Kill()
	s.Wait()
	said.WriteString(s.stderr.String())

	file, again := filepath.Join(t.TempDir(), "games.db"), server.Database(t)
	says(0, "Imported", "import", "--database", file, filepath.Join(exports, "first"))
	second := export("second", file)
	says(0, "Imported postgres://halfpoint@/", "import", "--database", again, filepath.Join(exports, "second"))
	if third := export("third", again); first != second || second != third {
		t.Errorf("an export has changed on the way:\n%s\n%s\n%s", first, second, third)
	}
	says(1, "database is not empty", "import", "--database", again, filepath.Join(exports, "second"))

	// What was asked before the kill is done once, and the game goes on.
	t.Setenv("HALFPOINT_DISCORD_GUILD", "12345678901234567")
	s = serve(t, address)
	s.stderr.await("the configuration differs from that of the halfpoint that started last\" settings=discord.guild\n")
	ask(3, "white", "/place C3")
	ask(4, "black", "/place D5")
	says(0, "1 game with 6 events", "check", "--database", address)
	s.Process.Kill()
	s.Wait()
	if all := said.String() + s.stderr.String(); strings.Contains(all, "cret") {
		t.Errorf("somebody has seen the password:\n%s", all)
	}
}
