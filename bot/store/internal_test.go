package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/rules"
)

// What is in a database today must be read by every later version: these texts
// may be added to, and never changed.
func TestWrittenFormsStay(t *testing.T) {
	setup := rules.Setup{W: 9, H: 13, Komi: -1, Handicap: 2, First: rules.White,
		Black: []rules.Point{{X: 3, Y: 3}}, White: []rules.Point{{X: 8, Y: 12}}}
	reply := bot.Reply{
		Texts:   []bot.Text{{Key: "started", Args: []string{"person:p1"}}},
		Private: true, Game: "g1",
		Controls: []bot.Control{{Label: "Pass", Command: "pass", Args: map[string]string{"seq": "2"}}},
	}
	body := storedBody{Texts: reply.Texts, Notify: []bot.Person{"p1"}, Reply: "route"}
	for _, c := range []struct {
		text  string
		value any
		write func() (string, error)
		read  func(string) (any, error)
	}{
		{`{"w":9,"h":13,"komi":-1,"handicap":2,"black":["D4"],"white":["J13"],"first":"W"}`, setup,
			func() (string, error) { return encodeSetup(setup) },
			func(s string) (any, error) { return decodeSetup(s) }},
		{`{"texts":[{"k":"started","a":["person:p1"]}],"private":true,"controls":[{"label":"Pass","command":"pass","args":{"seq":"2"}}],"game":"g1"}`, reply,
			func() (string, error) { return encodeReply(reply) },
			func(s string) (any, error) { return decodeReply(s) }},
		{`{"texts":[{"k":"started","a":["person:p1"]}],"notify":["p1"],"reply":"route"}`, body,
			func() (string, error) { return encode(body) },
			func(s string) (any, error) { var b storedBody; err := decode(s, &b); return b, err }},
	} {
		written, err := c.write()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.text, written); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
		read, err := c.read(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.value, read); diff != "" {
			t.Errorf("read (-want +got):\n%s", diff)
		}
	}
}

// What is asked often must be found by an index, or it grows slower with every
// match that was ever played.
func TestQueriesUseIndices(t *testing.T) {
	s, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	here := bot.Room{Platform: "web", Channel: "c"}
	going := []bot.State{bot.Going}
	for name, c := range map[string]struct {
		query bot.Query
		use   string
	}{
		"going on here":      {bot.Query{Where: here, States: going}, "game_channel_state"},
		"mine here":          {bot.Query{Where: here, Player: "p", States: going}, "game_channel_state"},
		"mine":               {bot.Query{Player: "p"}, "game_white"},
		"mine, going on":     {bot.Query{Player: "p", States: going}, "game_white"},
		"of a thread":        {bot.Query{Where: bot.Room{Platform: "web", Channel: "c", Thread: "t"}}, "game_channel_thread"},
		"by number":          {bot.Query{Where: here, Number: 3}, "number=?"},
		"of a thread, going": {bot.Query{Where: bot.Room{Platform: "web", Channel: "c", Thread: "t"}, States: going}, "game_channel_thread"},
	} {
		query, args := matchesQuery(c.query)
		plan := explain(t, s, query, args...)
		if strings.Contains(plan, "SCAN") || !strings.Contains(plan, c.use) {
			t.Errorf("%s: the plan should use %s:\n%s", name, c.use, plan)
		}
	}
}

// What is promised to be durable is so only with these.
func TestSettings(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "halfpoint.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "1000",
	} {
		for name, db := range map[string]*sql.DB{"writer": s.write, "reader": s.read} {
			var got string
			if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("%s: %s is %s, want %s", name, pragma, got, want)
			}
		}
	}
	if _, err := s.read.ExecContext(t.Context(), "DELETE FROM game"); err == nil {
		t.Error("a reader can write")
	}
}

// A commit that fails is told to all who had their part in it, and to nobody
// else.
func TestCommitFails(t *testing.T) {
	s, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bookmark := func(adapter string) change {
		return change{t.Context(), func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO bookmark (adapter, value) VALUES ($1, '')", adapter)
			return err
		}, nil}
	}
	// An event of no match, which the database notices only in the end.
	bad := change{t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `PRAGMA defer_foreign_keys = ON;
			INSERT INTO event (game, seq, at, actor, body, proof) VALUES ('none', 1, 0, '', '', '')`)
		return err
	}, nil}
	// And one that ends the transaction, as SQLite itself does when the disk is full.
	worse := change{t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "ROLLBACK")
		return errors.Join(errors.New("the disk is full"), err)
	}, nil}
	for name, fault := range map[string]change{"commit": bad, "transaction": worse} {
		for i, err := range s.committer.commit([]change{bookmark("a"), fault, bookmark("b")}) {
			if err == nil {
				t.Errorf("%s: change %d knows of no error", name, i)
			}
		}
		var n int
		if err := s.read.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM bookmark").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("%s: %d changes of a commit that failed are there", name, n)
		}
	}
	if err := errors.Join(s.committer.commit([]change{bookmark("a"), bookmark("b")})...); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	// Of changes that share a commit, one that is refused leaves the others alone.
	errs := s.committer.commit([]change{bookmark("c"), bookmark("a"), bookmark("d")})
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("the second of three should be refused: %v", errs)
	}
}

func TestClosedStore(t *testing.T) {
	s, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // closing twice is closing once
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetBookmark(t.Context(), "matrix", "s1"); !errors.Is(err, errClosed) {
		t.Errorf("error is %v, want %v", err, errClosed)
	}
}

func explain(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
