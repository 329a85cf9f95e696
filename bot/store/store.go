// Package store keeps the bot's games, people and posts in a SQLite database, in a file or
// in memory, or in a database on PostgreSQL.
//
// All SQL is written so that SQLite and PostgreSQL both accept it: TEXT and BIGINT,
// numbered placeholders, ON CONFLICT and RowsAffected instead of the error codes of
// either. Code for SQLite alone is in sqlite.go, that for PostgreSQL in postgres.go.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// Memory is the name to Open for a database that is gone when it is closed.
const Memory = ":memory:"

// Errors of Open.
var (
	// ErrInUse means that another process, or this one, has the file open.
	ErrInUse = errors.New("another halfpoint is using")
	// ErrNewer means that the database was written by a newer halfpoint.
	ErrNewer = errors.New("written by a newer halfpoint")
	// ErrUnreadable means that the file is no database, is damaged, or belongs
	// to another program.
	ErrUnreadable = errors.New("not a halfpoint database")
)

// ErrMoved means that the database file was removed or replaced while the store had
// it open. Nothing is stored until the file is back.
var ErrMoved = errors.New("database file was removed or replaced")

// A Store is a bot.Store and a bot.RoomLog.
type Store struct {
	write      *sql.DB // one connection, on PostgreSQL several, through which changes are made
	read       pool    // several that see what is committed; in memory the same as write
	costly     *sql.DB // one that reads much, so that few reads never wait for that; in memory the same as write
	anchor     *sql.DB // one idle connection, so that the write-ahead log is never without any
	changes    changer
	watcher    watcher
	unscrubbed atomic.Bool   // the write-ahead log still holds erased data, or the mark
	path       string        // of the file; empty in memory and on PostgreSQL
	address    string        // on PostgreSQL; else empty
	hints      chan struct{} // on PostgreSQL; see hint
	newest     *timeline     // on PostgreSQL
	file       *os.File
	unlock     func() error
}

var (
	_ bot.Store   = (*Store)(nil)
	_ bot.RoomLog = (*Store)(nil)
)

// Open opens the SQLite file called name, or Memory, or the database on PostgreSQL whose
// address name is ("postgres://…"), and brings its tables up to date. It creates a file that
// does not exist, and does not change a file or database that it cannot use. A file is locked
// until Close or the end of the process: a second Open fails with ErrInUse. Several processes may
// have the same database on PostgreSQL open; while one of them brings its tables up to date, Open
// waits.
func Open(ctx context.Context, name string) (*Store, error) {
	switch {
	case name == Memory:
		return openMemory(ctx)
	case IsPostgres(name):
		return openPostgres(ctx, name)
	}
	if err := almostPostgres(name); err != nil {
		return nil, err
	}
	return openFile(ctx, name)
}

// Close waits for changes under way, and releases the file.
func (s *Store) Close() error {
	var errs []error
	if s.changes != nil {
		s.changes.stop()
	}
	if s.read.DB != nil && s.read.DB != s.write {
		errs = append(errs, s.read.Close())
	}
	if s.costly != nil && s.costly != s.write {
		errs = append(errs, s.costly.Close())
	}
	if s.anchor != nil {
		errs = append(errs, s.anchor.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close()) // last, so that it empties the write-ahead log
	}
	if s.file != nil {
		unlockFile(s.file) // nothing was written through it
	}
	if s.unlock != nil {
		errs = append(errs, s.unlock())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// Watch has f called after each commit: with the number of changes in it, how long it took,
// and why the database failed, nil if it did not. A change that was refused, for example
// because of a conflict, is no failure. f must return soon, since the next commit waits. On
// PostgreSQL f may be called concurrently.
func (s *Store) Watch(f func(changes int, took time.Duration, failed error)) {
	s.watcher.f.Store(&f)
}

// Ping reports whether the store reads, and could commit. On SQLite it waits for the commit
// under way. It changes nothing.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.changes.reach(ctx); err != nil {
		return err
	}
	_, err := values[int](ctx, s.read, "SELECT 1 FROM game LIMIT 1")
	return err
}

// change makes a change in a transaction: all of it is stored, or none. On PostgreSQL f may be
// called several times, see changer.
func (s *Store) change(ctx context.Context, f func(context.Context, transaction) error) error {
	return s.changes.change(ctx, f)
}

// exec makes a change of one statement.
func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		return tx.later(ctx, write{query: query, args: args})
	})
}

// A querier is the database or a transaction, and a scanner reads a row into variables.
type (
	querier interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	scanner func(to ...any) error
	// A reader is either, for those who also want single rows.
	reader interface {
		querier
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	}
)

// asItIs begins a transaction that sees the database as it is at its first look.
func asItIs(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	how := sql.TxOptions{ReadOnly: true}
	if onPostgres(db) { // on SQLite every transaction does
		how.Isolation = sql.LevelRepeatableRead
	}
	return db.BeginTx(ctx, &how)
}

// A pool is a database of which a query waits only so long for a free connection. While
// PostgreSQL hangs, everybody else would wait for those that wait for an answer.
type pool struct {
	*sql.DB
	patience time.Duration // 0: as long as the context
}

// found returns the rows of a query, after which release is to be called.
func found(ctx context.Context, db querier, query string, args ...any) (rows *sql.Rows, release func(), err error) {
	p, ok := db.(pool)
	if !ok || p.patience == 0 {
		rows, err = db.QueryContext(ctx, query, args...)
		return rows, func() {}, err
	}
	for range readers + 1 { // all may be broken without having noticed it
		wait, cancel := context.WithTimeout(ctx, p.patience)
		c, failed := p.Conn(wait)
		cancel()
		if failed != nil {
			return nil, nil, fmt.Errorf("wait for a connection: %w", failed)
		}
		if rows, err = c.QueryContext(ctx, query, args...); err == nil {
			return rows, func() { c.Close() }, nil
		}
		c.Close() //nolint:errcheck // err says more
		if !errors.Is(err, driver.ErrBadConn) {
			break
		}
	}
	return nil, nil, err
}

// list returns the results of read for each row of a query.
func list[T any](ctx context.Context, db querier, read func(scanner) (T, error), query string, args ...any) (all []T, err error) {
	rows, release, err := found(ctx, db, query, args...)
	if err != nil {
		return nil, err
	}
	defer release()
	defer rows.Close()
	for rows.Next() {
		one, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// values returns the results of a query for one column.
func values[T any](ctx context.Context, db querier, query string, args ...any) ([]T, error) {
	return list(ctx, db, scanValue[T], query, args...)
}

// scanValue reads a row of one column.
func scanValue[T any](scan scanner) (value T, err error) {
	err = scan(&value)
	return value, err
}

// first returns the result of read for the first row of a query, or sql.ErrNoRows.
func first[T any](ctx context.Context, db querier, read func(scanner) (T, error), query string, args ...any) (one T, err error) {
	all, err := list(ctx, db, read, query, args...)
	if err == nil && len(all) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return one, err
	}
	return all[0], nil
}

// single returns the only value of a query, or sql.ErrNoRows.
func single[T any](ctx context.Context, db querier, query string, args ...any) (value T, err error) {
	return first(ctx, db, scanValue[T], query, args...)
}

// put runs a statement that must write a row, and returns ErrConflict if it wrote none.
// Conflicts are detected in this way because ON CONFLICT DO NOTHING and a condition that
// is no longer true have the same outcome on every database.
func put(ctx context.Context, tx transaction, what, query string, args ...any) error {
	return tx.now(ctx, write{what: what, query: query, args: args, least: 1})
}

// putLater is put, but later.
func putLater(ctx context.Context, tx transaction, what, query string, args ...any) error {
	return tx.later(ctx, write{what: what, query: query, args: args, least: 1})
}

// numbered runs an INSERT of a row with the next number of its kind, which it returns, and returns
// ErrConflict if exists finds such a row already. Somebody else may have used the number first,
// while the INSERT waited for that: then there is a next one.
func numbered(ctx context.Context, tx transaction, insert write, exists string, args ...any) error {
	insert.least, insert.less = 1, sql.ErrNoRows
	for {
		err := tx.now(ctx, insert)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if there, err := single[bool](ctx, tx, "SELECT EXISTS ("+exists+")", args...); there || err != nil {
			return cmp.Or(err, bot.ErrConflict)
		}
	}
}

// locks returns the end of a query that locks the rows that it finds until the transaction ends.
// On SQLite nobody else writes.
func (s *Store) locks(how string) string {
	if s.address == "" {
		return ""
	}
	return " " + how
}

// annotate adds to err, if there is one, what was being done.
func annotate(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// limited returns the end of a query that finds at most n rows. The number is part of the
// text: SQLite prepares a statement anew each time that a number is bound to its LIMIT, and
// that costs more than running it.
func limited(n int) string { return " LIMIT " + strconv.Itoa(max(n, 0)) }

// placeholders returns "$from, $from+1, …", n of them.
func placeholders(from, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("$", from+i)
	}
	return strings.Join(names, ", ")
}

// millis and moment convert times to and from stored numbers.
func millis(t time.Time) int64  { return t.UnixMilli() }
func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// timer and timed convert the times of timed actions to and from stored numbers; 0 is
// never. timer rounds up to milliseconds, so that nothing happens before its time.
func timer(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return millis(t.Add(time.Millisecond - time.Nanosecond))
}

func timed(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return moment(ms)
}

// flag converts a bool to a stored number.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
