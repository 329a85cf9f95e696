//go:build unix

package store_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// talk returns a function that makes requests of a bot with a store.
func talk(t *testing.T, s *store.Store, r *rand.Rand) func(room int, who, typed string) {
	now, n := noon, 0
	service := bot.New(s, bot.Config{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Rand: rand.NewChaCha8([32]byte{})})
	return func(room int, who, typed string) {
		t.Helper()
		n++
		now = now.Add(time.Duration(1+r.IntN(1000)) * time.Second)
		command, rest, _ := strings.Cut(typed, " ")
		args := map[string]string{}
		for word := range strings.FieldsSeq(rest) {
			name, value, _ := strings.Cut(word, ":")
			args[name] = value
		}
		_, err := service.Ask(t.Context(), bot.Request{ID: fmt.Sprintf("far:%d:%s", n, typed), Command: command, Args: args,
			Who: outbox.User{Platform: "far", ID: who, Name: who}, Where: match.Room{Platform: "far", Channel: fmt.Sprint("room", room)}})
		must(t, err)
	}
}

// club is a database file with games of several rulesets, some with clocks, handicap,
// comments, turns that were taken back, and results.
func club(t *testing.T) (file []byte, games []match.GameID) {
	t.Helper()
	s, r := open(t, store.Memory), rand.New(rand.NewPCG(1, 32))
	say := talk(t, s, r)
	for room := range 20 {
		say(room, "ada", "new size:9x9 rules:"+[]string{"two-button", "aga", "japanese", "half-pass"}[room%4]+[]string{"", " clock:3d", " handicap:2"}[room%3])
		say(room, "bob", "join")
		for turn := range 20 {
			who := []string{"ada", "bob"}[(turn+room)%2]
			switch r.IntN(12) {
			case 0:
				say(room, who, "undo")
			case 1:
				say(room, who, "pass")
			default:
				say(room, who, fmt.Sprintf("place at:%c%d", "ABCDEFGHJ"[r.IntN(9)], 1+r.IntN(9)))
			}
		}
		if room%2 == 0 {
			say(room, "bob", "resign confirm:yes")
			say(room, "ada", "comment text:Why_not_C2? move:1")
		}
	}
	name := newFile(t)
	f := open(t, name)
	must(t, f.Import(t.Context(), strings.NewReader(export(t, s))))
	must(t, f.Close())
	file, err := os.ReadFile(name)
	must(t, err)
	ms, err := s.Matches(t.Context(), bot.Query{Where: match.Room{Platform: "far"}})
	must(t, err)
	for _, m := range ms {
		games = append(games, m.ID)
	}
	slices.Sort(games)
	if r := check(t, files{"": file}.lay(t)); r.Games != 20 || len(r.Damage) > 0 || r.Events < 300 {
		t.Fatalf("%+v", r)
	}
	return file, games
}

func check(t *testing.T, name string) store.Report {
	t.Helper()
	r, err := store.Check(t.Context(), name, "", noon, nil)
	must(t, err)
	return r
}

// An edit changes what is stored of a game with so many events at one of them, and returns
// which event is damaged then; 0: the game's row.
type edit func(do func(statement string, args ...any), game match.GameID, at, events int) int

// row is an edit of a game's row.
func row(set string) edit {
	return func(do func(string, ...any), game match.GameID, _, _ int) int {
		do("UPDATE game SET "+set+" WHERE id = $1", game)
		return 0
	}
}

// line is an edit of an event.
func line(set string) edit {
	return func(do func(string, ...any), game match.GameID, at, _ int) int {
		do("UPDATE event SET "+set+" WHERE game = $1 AND seq = $2", game, at)
		return at
	}
}

var edits = map[string]edit{
	"seats":        row("black = white, white = black"),
	"komi":         row("setup = json_set(setup, '$.komi', COALESCE(setup ->> 'komi', 0) + 1)"),
	"result":       row("result = 'W+5.5'"),
	"time control": row("clock = 'byoyomi 1h+5x30s'"),
	"opener":       row("opener = 'eve'"),
	"last change":  row("changed = changed + 1"),
	"time":         line("at = at + 1"),
	"actor":        line("actor = 'eve'"),
	"body":         line("body = 'turn B place C3 '"),
	"body, a bit":  line("body = body || ' '"),
	"proof":        line("proof = 'AAAAAAAAAAAAAAA' || substr(proof, 16)"),
	"not a number": line("at = 'noon'"),
	"removed": func(do func(string, ...any), game match.GameID, at, _ int) int {
		do("DELETE FROM event WHERE game = $1 AND seq = $2", game, at)
		return at
	},
	"cut out": func(do func(string, ...any), game match.GameID, at, events int) int {
		do("DELETE FROM event WHERE game = $1 AND seq = $2", game, at)
		do("UPDATE event SET seq = 1 - seq WHERE game = $1 AND seq > $2", game, at)
		do("UPDATE event SET seq = -seq WHERE game = $1 AND seq < 0", game)
		do("UPDATE game SET seq = seq - 1 WHERE id = $1", game)
		if at == events {
			return 0
		}
		return at
	},
	"end cut off": func(do func(string, ...any), game match.GameID, at, _ int) int {
		do("DELETE FROM event WHERE game = $1 AND seq > $2", game, max(at-1, 1))
		do("UPDATE game SET seq = $2 WHERE id = $1", game, max(at-1, 1))
		return 0
	},
	"reordered": func(do func(string, ...any), game match.GameID, at, events int) int {
		if at == events {
			at--
		}
		do("UPDATE event SET seq = -seq WHERE game = $1 AND seq = $2", game, at)
		do("UPDATE event SET seq = $2 WHERE game = $1 AND seq = $2 + 1", game, at)
		do("UPDATE event SET seq = $2 + 1 WHERE game = $1 AND seq = -$2", game, at)
		return at
	},
	"repeated": func(do func(string, ...any), game match.GameID, _, events int) int {
		do("INSERT INTO event SELECT game, seq + 1, at, actor, body, proof FROM event WHERE game = $1 AND seq = $2", game, events)
		return events + 1
	},
	"room": func(do func(string, ...any), game match.GameID, _, _ int) int {
		do("UPDATE game_channel SET state = 'deleted' WHERE game = $1", game)
		return 0
	},
}

// Check names every game that somebody has edited, and no other, and the first event that is
// wrong in it.
func TestEveryEditIsFound(t *testing.T) {
	file, games := club(t)
	names := slices.Sorted(maps.Keys(edits))
	tried := map[string]int{}
	for n, seed := 0, uint64(0); n < tier.Pick(100, 1000, 20_000); seed++ {
		r := rand.New(rand.NewPCG(seed, 32))
		name := files{"": file}.lay(t)
		db, err := sql.Open("sqlite", name)
		must(t, err)
		tx, err := db.BeginTx(t.Context(), nil)
		must(t, err)
		do := func(statement string, args ...any) {
			t.Helper()
			if _, err := tx.ExecContext(t.Context(), statement, args...); err != nil {
				t.Fatal(statement, err)
			}
		}
		want, how := map[match.GameID]int{}, map[match.GameID]string{}
		for _, game := range games {
			if r.IntN(2) == 0 {
				continue
			}
			var events int
			must(t, tx.QueryRowContext(t.Context(), "SELECT seq FROM game WHERE id = $1", game).Scan(&events))
			what := names[r.IntN(len(names))]
			want[game], how[game] = edits[what](do, game, 1+r.IntN(events), events), what
			tried[what]++
			n++
		}
		must(t, errors.Join(tx.Commit(), db.Close()))
		got := map[match.GameID]int{}
		for _, d := range check(t, name).Damage {
			if d.Game == "" && strings.HasPrefix(d.Why, "they are comments") { // their actor is now nobody
				continue
			}
			got[d.Game] = d.Seq
			if d.Why == "" || d.Where.Channel == "" || d.Number != 1 {
				t.Errorf("it says %+v", d)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, edits %v (-damaged +found):\n%s", seed, how, diff)
		}
	}
	for _, what := range names {
		if tried[what] == 0 {
			t.Errorf("%s: not tried", what)
		}
	}
}

// An import finds what Check would find, also in an export that somebody has edited, and takes all of it.
func TestImportFindsEdits(t *testing.T) {
	file, games := club(t)
	name := files{"": file}.lay(t)
	db, err := sql.Open("sqlite", name)
	must(t, err)
	do := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(statement, err)
		}
	}
	edits := maps.Clone(edits)
	delete(edits, "not a number") // cannot be exported
	want := map[match.GameID]int{}
	for i, what := range slices.Sorted(maps.Keys(edits)) {
		var events int
		must(t, db.QueryRowContext(t.Context(), "SELECT seq FROM game WHERE id = $1", games[i]).Scan(&events))
		want[games[i]] = edits[what](do, games[i], 1+i%events, events)
	}
	do("INSERT INTO preference VALUES ('eve', '{}')")
	must(t, db.Close())
	var clean, edited bytes.Buffer
	_, err = store.Export(t.Context(), files{"": file}.lay(t), &clean, nil)
	must(t, err)
	_, err = store.Export(t.Context(), name, &edited, nil)
	must(t, err)
	if s, _ := importFile(t, newFile(t), clean.String()); len(s.Damage) > 0 || s.Games != len(games) {
		t.Errorf("%+v", s)
	}
	target := newFile(t)
	s, _ := importFile(t, target, edited.String())
	found := map[match.GameID]int{}
	for _, d := range s.Damage {
		if d.Table == "" {
			found[d.Game] = d.Seq
		}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-damaged +found):\n%s", diff)
	}
	if diff := cmp.Diff(check(t, target).Damage, s.Damage); diff != "" || len(s.Damage) == len(found) {
		t.Errorf("(-check +import):\n%s", diff)
	}
	var again bytes.Buffer
	_, err = store.Export(t.Context(), target, &again, nil)
	must(t, err)
	if again.String() != edited.String() {
		t.Error("the import is not the export")
	}
}

// Check says what else is not as it should be, and what is still to be deleted.
func TestCheckOtherRows(t *testing.T) {
	file, games := club(t)
	for _, c := range []struct {
		statement string
		damage    []store.Damage
		jobs      []store.Job
	}{
		{"DELETE FROM game WHERE id = '" + string(games[3]) + "'", []store.Damage{
			{Table: "due", Why: "the game or event that they are to change does not exist"},
			{Game: games[3], Table: "event"},
			{Table: "game_channel", Rows: 1, Why: "what they refer to in game does not exist"},
			{Table: "post", Why: "the game or event that they show does not exist"},
		}, nil},
		{"DELETE FROM game_channel WHERE game = '" + string(games[3]) + "'", []store.Damage{{Game: games[3], Why: "it is in no room"}}, nil},
		{"UPDATE game SET opened = 'now' WHERE id = '" + string(games[3]) + "'", []store.Damage{{Game: games[3]}}, nil},
		{"INSERT INTO preference VALUES ('eve', '{}')", []store.Damage{{Table: "preference", Rows: 1, Why: "the person whose settings they are was forgotten"}}, nil},
		{"DELETE FROM person WHERE name = 'ada'", []store.Damage{{Table: "event", Rows: 10, Why: "they are comments of people who were forgotten"}}, nil},
		{"INSERT INTO contest VALUES ('e-1', 'p', 'far', 'room', '', 1, 'Open', 'signup', 1, 0, 0)", []store.Damage{{Game: "e-1", Number: 1, Seq: 1, Why: "it is missing"}}, nil},
		{`INSERT INTO contest VALUES ('e-1', 'p', 'far', 'room', '', 1, 'Open', 'signup', 1, 0, 0);
			INSERT INTO contest_event VALUES ('e-1', 1, 0, '', '', '{"kind":"join"}')`, []store.Damage{{Game: "e-1", Number: 1, Seq: 1, Why: "event 1, join: it cannot come here"}}, nil},
		{"UPDATE inbox SET at = 1 WHERE request = 'far:1:new size:9x9 rules:two-button'", nil, []store.Job{{Table: "inbox", Rows: 1, Late: 1}}},
		{"INSERT INTO server VALUES ('far', 'club', '{}', 1000)", nil, []store.Job{{Server: "far/club", Due: time.Unix(1, 0).UTC().AddDate(0, 0, 7)}}},
		{`INSERT INTO bookmark SELECT 'bot:forget:' || id, '{}' FROM person WHERE name = 'ada'`, nil, []store.Job{{Person: "ada", Rows: 1 + 10}}},
	} {
		name := files{"": file}.lay(t)
		sqlDo(t, name, "PRAGMA foreign_keys = OFF; "+c.statement)
		r := check(t, name)
		for i := range r.Damage {
			d := &r.Damage[i]
			if d.Table == "event" && d.Game != "" || d.Table == "due" || d.Table == "post" {
				d.Rows = 0 // as many as there are
			}
			if d.Table == "event" && d.Game != "" || d.Game == games[3] && d.Why != "it is in no room" {
				d.Why = ""
			}
			d.Where, d.Number = match.Room{}, 0
			if d.Game == "e-1" {
				d.Number = 1
			}
		}
		for i := range r.Jobs {
			if r.Jobs[i].Person != "" {
				r.Jobs[i].Person = "ada"
				r.Jobs[i].Rows = 11
			}
		}
		if diff := cmp.Diff(c.damage, r.Damage); diff != "" {
			t.Errorf("%s: damage (-want +got):\n%s", c.statement, diff)
		}
		if diff := cmp.Diff(c.jobs, r.Jobs); diff != "" {
			t.Errorf("%s: jobs (-want +got):\n%s", c.statement, diff)
		}
	}
}

// Somebody who computes all proofs of a game again, or removes them all, is found only against
// a backup; there games only grow, and lose comments of people who are forgotten.
func TestCheckAgainstBackup(t *testing.T) {
	earlier, games := club(t)
	after := func(who string) []byte {
		name := files{"": earlier}.lay(t)
		s := open(t, name)
		talk(t, s, rand.New(rand.NewPCG(2, 32)))(19, who, "resign confirm:yes")
		must(t, s.Close())
		file, err := os.ReadFile(name)
		must(t, err)
		return file
	}
	backup, recomputed := after("ada"), after("bob")
	const strip = `UPDATE event SET proof = (SELECT substr(head, 16, 16) FROM game WHERE id = game), at = at + 5000 WHERE game = '%[1]s';
		UPDATE game SET head = '' WHERE id = '%[1]s'`
	for what, c := range map[string]struct {
		file     []byte
		edit     string
		seq, old int // of the event that differs; 0: the game; -1: none
	}{
		"the same":           {file: backup, seq: -1},
		"forgotten":          {file: backup, edit: "UPDATE event SET body = 'comment', proof = substr(proof, 1, 31) WHERE body LIKE 'comment %'", seq: -1},
		"recomputed":         {file: recomputed, seq: -2},
		"proofs removed":     {file: backup, edit: fmt.Sprintf(strip, games[5]), seq: 1, old: 1},
		"removed altogether": {file: backup, edit: fmt.Sprintf("DELETE FROM due WHERE game = '%[1]s'; DELETE FROM post WHERE game = '%[1]s'; DELETE FROM event WHERE game = '%[1]s'; DELETE FROM game_channel WHERE game = '%[1]s'; DELETE FROM game WHERE id = '%[1]s'", games[5])},
	} {
		name := files{"": c.file}.lay(t)
		if c.edit != "" {
			sqlDo(t, name, c.edit)
		}
		if r := check(t, name); len(r.Damage) > 0 || r.Old != c.old {
			t.Errorf("%s, on its own: %+v", what, r)
		}
		r, err := store.Check(t.Context(), name, files{"": backup}.lay(t), noon, nil)
		must(t, err)
		switch {
		case r.Compared != len(games):
			t.Errorf("%s: compared %d", what, r.Compared)
		case c.seq == -1 && len(r.Damage) == 0:
		case len(r.Damage) != 1:
			t.Errorf("%s: %+v", what, r.Damage)
		case c.seq == -2 && r.Damage[0].Where.Channel == "room19" && r.Damage[0].Seq > 10:
		case r.Damage[0].Game != games[5] || r.Damage[0].Seq != c.seq:
			t.Errorf("%s: %+v", what, r.Damage)
		}
	}
	r, err := store.Check(t.Context(), files{"": backup}.lay(t), files{"": earlier}.lay(t), noon, nil)
	if err != nil || len(r.Damage) > 0 || r.Compared != len(games) {
		t.Errorf("gone on: %+v, %v", r, err)
	}

	// A dump on PostgreSQL does for a backup, too; and a file for a database there.
	server := pgtest.Start(t)
	on := func(file []byte) string {
		var export bytes.Buffer
		_, err := store.Export(t.Context(), files{"": file}.lay(t), &export, nil)
		must(t, err)
		address := server.Database(t)
		_, _, err = store.Import(t.Context(), address, &export, noon, nil)
		must(t, err)
		return address
	}
	is, was, file := on(recomputed), on(backup), files{"": backup}.lay(t)
	for what, c := range map[string]struct {
		name, against string
		damage        int
	}{
		"the same file":     {was, file, 0},
		"the same database": {was, was, 0},
		"a file":            {is, file, 1},
		"a database":        {is, was, 1},
		"of a file":         {file, is, 1},
	} {
		r, err := store.Check(t.Context(), c.name, c.against, noon, nil)
		if err != nil || len(r.Damage) != c.damage || r.Compared != len(games) {
			t.Errorf("PostgreSQL, %s: %+v, %v", what, r, err)
		}
	}
	wrong := strings.Replace(server.Address("none"), "halfpoint@", "halfpoint:secret@", 1)
	if _, err := store.Check(t.Context(), file, wrong, noon, nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("an address that is wrong: %v", err)
	}
}

// A damaged page does not keep the rest from being checked.
func TestCheckDamagedFile(t *testing.T) {
	file, games := club(t)
	file = slices.Clone(file)
	at := bytes.LastIndex(file, []byte("aga@"))
	copy(file[at&^2047:], make([]byte, 8)) // the head of a page of games
	r := check(t, files{"": file}.lay(t))
	if len(r.Damage) == 0 || r.Games > len(games) {
		t.Errorf("%+v", r)
	}
	for name, c := range map[string]struct {
		name, says string
	}{
		"a missing one": {filepath.Join(t.TempDir(), "no.db"), "no such file"},
		"a directory":   {t.TempDir(), "is a directory"},
		"a text":        {files{"": []byte("Dear diary,")}.lay(t), "not a halfpoint database"},
		"nothing":       {files{"": nil}.lay(t), "is empty"},
	} {
		if _, err := store.Check(t.Context(), c.name, "", noon, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Check changes nothing and leaves nothing, also if it is killed at any moment; and it reads
// what a killed process has left in the log, what a running one writes, and older tables.
func TestCheckLeavesNothing(t *testing.T) {
	name := newFile(t)
	s := imported(t, name)
	killed := left(t, name).lay(t)
	running := check(t, name)
	must(t, s.Close())
	must(t, errors.Join(os.RemoveAll(name+"-wal"), os.RemoveAll(name+"-shm"))) // of our own reading
	backup := filepath.Join(t.TempDir(), "copy.db")
	backUp(t, name, backup)
	must(t, errors.Join(os.RemoveAll(name+"-wal"), os.RemoveAll(name+"-shm")))
	packed, err := os.Open("testdata/release/discord.db.gz")
	must(t, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	must(t, err)
	old, err := io.ReadAll(unpacked)
	must(t, err)
	for what, name := range map[string]string{"closed": name, "killed": killed, "a backup": backup, "of an early release": files{"": old}.lay(t)} {
		before := folder(t, filepath.Dir(name))
		r := check(t, name)
		if what == "of an early release" {
			if r.Old == 0 || r.Old != r.Games || len(r.Damage) > 0 {
				t.Errorf("%s: %+v", what, r)
			}
		} else if diff := cmp.Diff(running, r); diff != "" {
			t.Errorf("%s: (-running +now):\n%s", what, diff)
		}
		now := folder(t, filepath.Dir(name))
		delete(before, filepath.Base(name)+"-shm") // SQLite's, for a log that is there
		delete(now, filepath.Base(name)+"-shm")
		if diff := cmp.Diff(before, now); diff != "" {
			t.Errorf("%s: files (-before +after):\n%.1000s", what, diff)
		}
	}
	before := folder(t, filepath.Dir(name))
	for step := 1; ; step++ {
		c := startWith(t, "check", name, "", fmt.Sprint(step))
		c.out.Scan()
		ended := c.out.Text() == "done"
		c.kill()
		if diff := cmp.Diff(before, folder(t, filepath.Dir(name))); diff != "" {
			t.Errorf("killed at step %d: files (-before +after):\n%.1000s", step, diff)
		}
		if ended {
			if step < 10 {
				t.Errorf("only %d steps", step)
			}
			break
		}
	}
}

// checkAndDie checks a database, and dies at a step of it.
func checkAndDie(ctx context.Context, file string) error {
	at, n := os.Args[3], 0
	_, err := store.Check(ctx, file, "", noon, func(string, int, int) {
		if n++; fmt.Sprint(n) == at {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	fmt.Println("done")
	return err
}
