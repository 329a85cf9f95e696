package store

import (
	"context"
	"database/sql"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// memory returns a store in memory, which is closed at the end of the test.
func memory(t testing.TB) *Store {
	t.Helper()
	s, err := Open(context.WithoutCancel(t.Context()), Memory)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// onBoth tests a store in memory, and an empty one on PostgreSQL.
func onBoth(t *testing.T, test func(*testing.T, *Store)) {
	t.Run("SQLite", func(t *testing.T) { test(t, memory(t)) })
	t.Run("PostgreSQL", func(t *testing.T) {
		s, err := Open(context.WithoutCancel(t.Context()), pgtest.Start(t).Database(t))
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		test(t, s)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// OnStatement has f called with the text of each statement that stores opened from
// now on run, until the function that it returns is called.
func OnStatement(f func(text string)) (stop func()) {
	onStatement = f
	return func() { onStatement = nil }
}

// OnRoundTrip has f called for each message to PostgreSQL, until the function that it returns is
// called.
func OnRoundTrip(f func()) (stop func()) {
	onRoundTrip = f
	return func() { onRoundTrip = nil }
}

// Rehearse has a store on PostgreSQL make each change twice. The first time is rolled back, as if
// another change had been in the way.
func Rehearse(s *Store) { s.changes = rehearsing{s.changes.(*transactor), func() {}} }

type rehearsing struct {
	*transactor
	between func() // the two times
}

func (r rehearsing) change(ctx context.Context, write func(context.Context, transaction) error) error {
	rehearsed := false
	return r.transactor.change(ctx, func(ctx context.Context, tx transaction) error {
		if rehearsed {
			r.between()
		}
		err := write(ctx, tx)
		if err == nil {
			err = tx.(*piped).ready(ctx)
		}
		if err == nil && !rehearsed {
			rehearsed, err = true, &pgconn.PgError{Code: "40001"}
		}
		return err
	})
}

// OnStep has f called before each step that calls passed, until the function that it returns is
// called.
func OnStep(f func(step string)) (stop func()) {
	onStep = f
	return func() { onStep = nil }
}

// PageSize is the size of a page, in bytes.
const PageSize = 2048

// PagesInUse returns how many pages of a database hold something.
func PagesInUse(t testing.TB, s *Store) (n int) {
	t.Helper()
	var size int
	err := s.read.QueryRowContext(t.Context(), `SELECT page_count - freelist_count, page_size
		FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`).Scan(&n, &size)
	if err != nil || size != PageSize {
		t.Fatal(size, err)
	}
	return n
}

// Prepared returns the texts that the connections of a store have prepared and kept, and
// how often SQLite has prepared each again by itself.
func Prepared(t testing.TB, s *Store) map[string]int {
	t.Helper()
	again := map[string]int{}
	for _, db := range []*sql.DB{s.read.DB, s.write} {
		c, err := db.Conn(context.WithoutCancel(t.Context()))
		must(t, err)
		must(t, c.Raw(func(c any) error {
			for text, stmt := range c.(*preparingConn).free {
				again[text] += reprepared(stmt)
			}
			return nil
		}))
		must(t, c.Close())
	}
	return again
}

// reprepared asks SQLite, by the handles that the driver hides, how often it has prepared
// a statement again.
func reprepared(stmt preparedStmt) int {
	hidden := func(v reflect.Value, name string) reflect.Value {
		f := v.Elem().FieldByName(name)
		return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
	}
	v := reflect.ValueOf(stmt)
	n := reflect.ValueOf(sqlite3.Xsqlite3_stmt_status).Call([]reflect.Value{hidden(hidden(v, "c"), "tls"), hidden(v, "pstmt"),
		reflect.ValueOf(int32(sqlite3.SQLITE_STMTSTATUS_REPREPARE)), reflect.ValueOf(int32(0))})
	return int(n[0].Int())
}
