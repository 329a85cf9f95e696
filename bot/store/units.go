package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// A Units stores which process holds which unit. On PostgreSQL it has a connection of its own, so
// that beats wait for nobody.
type Units struct {
	db    *sql.DB
	own   bool             // the connection is its own
	Wall  func() time.Time // the clock of this machine; set it before the units are used
	ahead atomic.Int64     // by how much that of PostgreSQL is ahead of it, in nanoseconds
}

var _ units.Rows = (*Units)(nil)

// OpenUnits opens the units of the database. The caller closes them before the store. On SQLite,
// which only one process can use, tests need them.
func (s *Store) OpenUnits() (*Units, error) {
	if s.address == "" {
		return &Units{db: s.write, Wall: time.Now}, nil
	}
	db, err := pgPool{answer: pgAnswer, conns: 1, newest: s.newest}.open(s.address)
	return &Units{db: db, own: true, Wall: time.Now}, err
}

// Measure compares the clock of this machine with that of the database on PostgreSQL. It returns an
// ErrNewer if a newer version has taken away from the tables what this one needs: then this process
// loses its units to others.
func (u *Units) Measure(ctx context.Context) error {
	if !u.own {
		return nil
	}
	known, err := newestMigration()
	if err != nil {
		return err
	}
	var there, oldest int64
	before := u.Wall()
	err = u.db.QueryRowContext(ctx, `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT),
		(SELECT COALESCE(MAX(n), 0) FROM counter WHERE name = 'oldest')`).Scan(&there, &oldest)
	if err != nil {
		return err
	}
	if oldest > known {
		return fmt.Errorf("%w: its tables serve version %d and later, this program knows %d", ErrNewer, oldest, known)
	}
	here := before.Add(u.Wall().Sub(before) / 2)
	u.ahead.Store(int64(time.UnixMilli(there).Sub(here.Round(0))))
	return nil
}

// Now returns the time by the clock of the database, as last measured: all processes on it agree
// about that, even if the clocks of their machines do not.
func (u *Units) Now() time.Time { return u.Wall().Add(time.Duration(u.ahead.Load())) }

// Close closes the connection.
func (u *Units) Close() error {
	if !u.own {
		return nil
	}
	return u.db.Close()
}

// locks returns how a query locks its rows, which SQLite need not say.
func (u *Units) locks(how string) string {
	if !u.own {
		return ""
	}
	return " " + how
}

// Look returns all units and processes.
func (u *Units) Look(ctx context.Context) (rows []units.Row, processes []units.Process, err error) {
	defer annotate(&err, "look at the units")
	rows, err = list(ctx, u.db, func(scan scanner) (r units.Row, err error) {
		var lease int64
		err = scan(&r.Name, &r.Holder, &r.Term, &r.Beat, &lease, &r.State)
		r.Dead = time.Duration(lease) * time.Millisecond
		return r, err
	}, "SELECT name, holder, term, beat, lease, state FROM unit")
	if err != nil {
		return nil, nil, err
	}
	processes, err = list(ctx, u.db, func(scan scanner) (p units.Process, err error) {
		err = scan(&p.ID, &p.Beat, &p.Wants, &p.Epoch)
		return p, err
	}, "SELECT id, beat, wants, epoch FROM process")
	return rows, processes, err
}

// Renew stores a process with the next beat, and the next beat of the units of some holders. It
// also measures the clock.
func (u *Units) Renew(ctx context.Context, p units.Process, holders []string) (stand []string, err error) {
	defer annotate(&err, "renew the units")
	if err := u.Measure(ctx); err != nil {
		return nil, err
	}
	_, err = u.db.ExecContext(ctx, `INSERT INTO process (id, beat, wants, epoch) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, wants = excluded.wants, epoch = excluded.epoch`, p.ID, p.Beat, p.Wants, p.Epoch)
	if err != nil || len(holders) == 0 {
		return nil, err
	}
	args := make([]any, len(holders))
	for i, h := range slices.Sorted(slices.Values(holders)) {
		args[i] = h
	}
	return values[string](ctx, u.db, "UPDATE unit SET beat = beat + 1 WHERE holder IN ("+placeholders(1, len(args))+") RETURNING holder", args...)
}

// Take makes somebody the holder of a unit in the next term if it is still as it was seen, and nobody
// holds one that excludes it. The lock waits for transactions that are guarded by the former
// holder's lease; see guard.
func (u *Units) Take(ctx context.Context, seen units.Row, holder string, dead time.Duration) (r units.Row, taken bool, err error) {
	defer annotate(&err, "take %s", seen.Name)
	tx, err := u.db.BeginTx(ctx, nil)
	if err != nil {
		return r, false, err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit there is nothing to roll back
	if seen.Term == 0 {
		_, err := tx.ExecContext(ctx, "INSERT INTO unit (name, holder, term, beat, lease, state) VALUES ($1, '', 0, 0, 0, '') ON CONFLICT DO NOTHING", seen.Name)
		if err != nil {
			return r, false, err
		}
	}
	r = units.Row{Name: seen.Name, Holder: holder, Dead: dead}
	err = tx.QueryRowContext(ctx, "SELECT term + 1, beat + 1, state FROM unit WHERE name = $1 AND term = $2 AND beat = $3 AND holder = $4"+u.locks("FOR UPDATE"),
		seen.Name, seen.Term, seen.Beat, seen.Holder).Scan(&r.Term, &r.Beat, &r.State)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	// Whoever takes a unit later waits until this one is taken, and sees it.
	if _, err := tx.ExecContext(ctx, "INSERT INTO counter (name, n) VALUES ('unit', 1) ON CONFLICT (name) DO UPDATE SET n = counter.n + 1"); err != nil {
		return r, false, err
	}
	held, err := values[string](ctx, tx, "SELECT name FROM unit WHERE holder <> ''")
	if err != nil || slices.ContainsFunc(held, func(name string) bool { return units.Exclude(name, seen.Name) }) {
		return r, false, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE unit SET holder = $1, term = $2, beat = $3, lease = $4 WHERE name = $5", holder, r.Term, r.Beat, dead.Milliseconds(), r.Name); err != nil {
		return r, false, err
	}
	return r, true, tx.Commit()
}

// Keep stores the state of a unit if the holder still holds it, and reports whether.
func (u *Units) Keep(ctx context.Context, name, holder, state string) (kept bool, err error) {
	defer annotate(&err, "keep the state of %s", name)
	result, err := u.db.ExecContext(ctx, "UPDATE unit SET state = $1 WHERE name = $2 AND holder = $3", state, name, holder)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Free makes a unit nobody's if the holder still holds it.
func (u *Units) Free(ctx context.Context, name, holder string) (err error) {
	defer annotate(&err, "give up %s", name)
	_, err = u.db.ExecContext(ctx, "UPDATE unit SET holder = '' WHERE name = $1 AND holder = $2", name, holder)
	return err
}

// Raise begins a new epoch and returns it.
func (u *Units) Raise(ctx context.Context) (epoch int64, err error) {
	defer annotate(&err, "begin an epoch")
	err = u.db.QueryRowContext(ctx, `INSERT INTO unit (name, holder, term, beat, lease, state) VALUES ($1, '', 1, 1, 0, '')
		ON CONFLICT (name) DO UPDATE SET beat = unit.beat + 1 RETURNING beat`, units.Epoch).Scan(&epoch)
	return epoch, err
}

// guard makes a transaction one of a holder: it fails with ErrLost if that holds its unit no more,
// and until it ends nobody takes the unit. Nobody in particular is no holder.
func (s *Store) guard(ctx context.Context, tx transaction, holder string) error {
	if holder == "" {
		return nil
	}
	locks := ""
	if s.address != "" {
		locks = " FOR KEY SHARE"
	}
	var one int
	return tx.later(ctx, write{query: "SELECT 1 FROM unit WHERE holder = $1" + locks, args: []any{holder}, row: []any{&one}, least: 1, less: outbox.ErrLost})
}

// Gone deletes a process.
func (u *Units) Gone(ctx context.Context, id string) (err error) {
	defer annotate(&err, "remove a process")
	_, err = u.db.ExecContext(ctx, "DELETE FROM process WHERE id = $1", id)
	return err
}
