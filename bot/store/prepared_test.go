package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"
)

// counting connects to SQLite and counts what it is asked to prepare, and what of
// that is still open.
type counting struct {
	driver.Connector
	prepared, open map[string]int
}

func (c counting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return countingConn{conn.(sqliteConn), c}, nil
}

type countingConn struct {
	sqliteConn
	counting counting
}

func (c countingConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	stmt, err := c.sqliteConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	c.counting.prepared[text]++
	c.counting.open[text]++
	return countingStmt{stmt.(preparedStmt), text, c.counting}, nil
}

type countingStmt struct {
	preparedStmt
	text     string
	counting counting
}

func (s countingStmt) Close() error {
	s.counting.open[s.text]--
	return s.preparedStmt.Close()
}

func openCounting(t *testing.T, dsn string) (*sql.DB, counting) {
	t.Helper()
	inner, err := sqlite.NewConnector(dsn)
	must(t, err)
	c := counting{inner, map[string]int{}, map[string]int{}}
	db := sql.OpenDB(preparingConnector{Connector: c})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db, c
}

func TestEachTextIsPreparedOnce(t *testing.T) {
	ctx := t.Context()
	db, c := openCounting(t, Memory)
	if _, err := db.ExecContext(ctx, "CREATE TABLE t (n BIGINT)"); err != nil {
		t.Fatal(err)
	}
	const insert, read = "INSERT INTO t (n) VALUES ($1)", "\n\tSELECT n FROM t WHERE n = $1"
	for n := range 5 {
		tx, err := db.BeginTx(ctx, nil)
		must(t, err)
		if _, err := tx.ExecContext(ctx, insert, n); err != nil {
			t.Fatal(err)
		}
		var got int
		if err := tx.QueryRowContext(ctx, read, n).Scan(&got); err != nil || got != n {
			t.Errorf("read %d, %v; want %d", got, err, n)
		}
		must(t, tx.Commit())
		if err := db.QueryRowContext(ctx, read, -1).Scan(&got); err != sql.ErrNoRows {
			t.Errorf("error is %v, want no rows", err)
		}
	}
	if len(c.prepared) != 2 || c.prepared[insert] != 1 || c.prepared[read] != 1 {
		t.Errorf("prepared: %v", c.prepared)
	}
	must(t, db.Close())
	if c.open[insert] != 0 || c.open[read] != 0 {
		t.Errorf("open after the connection was closed: %v", c.open)
	}
}

// A text that is used again while its rows are being read gets a statement of
// its own, and an error spoils none.
func TestPreparedTextInUse(t *testing.T) {
	ctx := t.Context()
	db, c := openCounting(t, Memory)
	if _, err := db.ExecContext(ctx, "CREATE TABLE t (n BIGINT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	const insert, read = "INSERT INTO t (n) VALUES ($1)", "SELECT n FROM t WHERE n >= $1 ORDER BY n"
	for n := range 3 {
		if _, err := db.ExecContext(ctx, insert, n); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(ctx, insert, n); err == nil {
			t.Fatal("the same row was inserted twice")
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	must(t, err)
	defer tx.Rollback()
	for range 2 {
		var pairs []string
		outer, err := tx.QueryContext(ctx, read, 0)
		must(t, err)
		for outer.Next() {
			var a, b int
			must(t, outer.Scan(&a))
			must(t, tx.QueryRowContext(ctx, read, a).Scan(&b))
			pairs = append(pairs, fmt.Sprint(a, b))
		}
		if got, want := fmt.Sprint(pairs, outer.Err()), "[0 0 1 1 2 2] <nil>"; got != want {
			t.Errorf("read %s, want %s", got, want)
		}
	}
	if c.prepared[insert] != 1 || c.open[insert] != 1 || c.open[read] != 1 {
		t.Errorf("prepared %v, still open %v", c.prepared, c.open)
	}
}

func TestPreparedStatementsAreBounded(t *testing.T) {
	db, c := openCounting(t, Memory)
	for n := range 3 * maxPrepared {
		if _, err := db.ExecContext(t.Context(), fmt.Sprint("SELECT ", n)); err != nil {
			t.Fatal(err)
		}
	}
	open := 0
	for _, n := range c.open {
		open += n
	}
	if open != maxPrepared {
		t.Errorf("%d statements are kept, want %d", open, maxPrepared)
	}
	// Settings take effect each time.
	for _, want := range []int{7, 8, 7} {
		var got int
		if _, err := db.ExecContext(t.Context(), fmt.Sprint("PRAGMA cache_size = ", want)); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowContext(t.Context(), "PRAGMA cache_size").Scan(&got); err != nil || got != want {
			t.Errorf("the setting is %d, %v; want %d", got, err, want)
		}
	}
}

// A statement that was prepared before another connection changed the table
// works as if it were new.
func TestPreparedBeforeTableChanged(t *testing.T) {
	ctx := t.Context()
	dsn := fileAddress(filepath.Join(t.TempDir(), "halfpoint.db"), nil)
	one, _ := openCounting(t, dsn)
	other, _ := openCounting(t, dsn)
	do := func(db *sql.DB, text string) {
		t.Helper()
		if _, err := db.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	do(one, "CREATE TABLE t (n BIGINT)")
	for _, add := range []string{"a", "b", "c"} {
		do(one, "INSERT INTO t (n) VALUES (1)")
		do(other, "ALTER TABLE t ADD COLUMN "+add+" TEXT")
		rows, err := one.QueryContext(ctx, "SELECT * FROM t")
		must(t, err)
		columns, err := rows.Columns()
		if err != nil || columns[len(columns)-1] != add {
			t.Errorf("columns %v, %v; want the last to be %s", columns, err, add)
		}
		rows.Close()
	}
}
