//go:build unix

package store

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// A tenant is a process that has, or had, the unit "matrix", and the connections of its adapter.
type tenant struct {
	*sql.DB
	row units.Row
	ok  bool // it believes that it has the unit
}

// tenants returns two, of which the first has the unit, and what lets another process take it.
func tenants(t *testing.T) (one, other *tenant, take func(units.Row) (units.Row, error)) {
	t.Helper()
	s := opened(t, pgtest.Start(t).Database(t))
	rows, err := s.OpenUnits()
	must(t, err)
	t.Cleanup(func() { must(t, rows.Close()) })
	take = func(seen units.Row) (units.Row, error) {
		row, taken, err := rows.Take(context.WithoutCancel(t.Context()), seen, "holder of "+time.Now().String(), units.DefaultDead)
		if err == nil && !taken {
			err = errors.New("not taken")
		}
		return row, err
	}
	made := func() *tenant {
		x := &tenant{}
		x.DB, err = s.OpenAdapterDB("matrix", func() (string, int64, bool) { return x.row.Holder, x.row.Term, x.ok })
		must(t, err)
		t.Cleanup(func() { must(t, x.Close()) })
		return x
	}
	one, other = made(), made()
	one.row, err = take(units.Row{Name: "matrix"})
	must(t, err)
	one.ok = true
	for _, create := range []string{"CREATE TABLE place (one BIGINT PRIMARY KEY, token TEXT)", "INSERT INTO place (one, token) VALUES (1, 'first')"} {
		_, err := one.Exec(create)
		must(t, err)
	}
	return one, other, take
}

// token returns what is stored.
func (x *tenant) token(t *testing.T) (token string) {
	t.Helper()
	must(t, x.QueryRow("SELECT token FROM place").Scan(&token))
	return token
}

// changes are the ways to change something.
var changes = map[string]func(context.Context, *sql.DB) error{
	"a statement": func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "UPDATE place SET token = $1", "changed")
		return err
	},
	"a statement that returns rows": func(ctx context.Context, db *sql.DB) error {
		var got string
		return db.QueryRowContext(ctx, "UPDATE place SET token = $1 RETURNING token", "changed").Scan(&got)
	},
	"a transaction": func(ctx context.Context, db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE place SET token = $1", "changed"); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	},
}

// The holder of a unit changes its adapter's tables. A process that was stopped while another one
// took the unit still believes that it has it, and changes nothing, in whatever way.
func TestOnlyTheHolderChangesAnything(t *testing.T) {
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other, take := tenants(t)
			must(t, change(t.Context(), one.DB))
			if got := one.token(t); got != "changed" {
				t.Fatalf("the holder's change: %q", got)
			}
			must(t, change(t.Context(), one.DB))
			var err error
			if other.row, err = take(one.row); err != nil {
				t.Fatal(err)
			}
			other.ok = true
			_, err = other.Exec("UPDATE place SET token = 'other'")
			must(t, err)
			if err := change(t.Context(), one.DB); !errors.Is(err, units.ErrLost) {
				t.Errorf("the change of who does not know it: %v", err)
			}
			one.ok = false
			if err := change(t.Context(), one.DB); !errors.Is(err, units.ErrLost) {
				t.Errorf("the change of who knows it: %v", err)
			}
			if got := one.token(t); got != "other" {
				t.Errorf("stored is %q", got)
			}
			if _, err := one.Prepare("DELETE FROM place"); err == nil {
				t.Error("a statement is prepared")
			}
		})
	}
}

// Who takes a unit waits for the transaction of the holder that has begun. What it stored, the next
// holder finds.
func TestTakeoverWaitsForTransactions(t *testing.T) {
	one, other, take := tenants(t)
	tx, err := one.Begin()
	must(t, err)
	_, err = tx.Exec("UPDATE place SET token = 'last'")
	must(t, err)
	taken := make(chan error, 1)
	go func() {
		var err error
		other.row, err = take(one.row)
		taken <- err
	}()
	for waits := false; !waits; {
		must(t, one.QueryRow("SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())").Scan(&waits))
		if len(taken) > 0 {
			t.Fatal("it does not wait")
		}
	}
	must(t, tx.Commit())
	must(t, <-taken)
	other.ok = true
	if got := other.token(t); got != "last" {
		t.Errorf("the next holder finds %q", got)
	}
}

// A process that stops in a transaction holds nobody up for longer than PostgreSQL lets it. When it
// goes on, its transaction is over.
func TestStoppedInATransaction(t *testing.T) {
	one, other, take := tenants(t)
	tx, err := one.Begin()
	must(t, err)
	_, err = tx.Exec("UPDATE place SET token = 'late'")
	must(t, err)
	_, err = other.Exec("SELECT 1") // its connection is there
	if !errors.Is(err, units.ErrLost) {
		t.Fatal(err)
	}
	// As its timeout would do after some seconds.
	var ended bool
	must(t, other.QueryRow("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()").Scan(&ended))
	if other.row, err = take(one.row); err != nil || !ended {
		t.Fatal(err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("its transaction is stored")
	}
	if got := other.token(t); got != "first" {
		t.Errorf("stored is %q", got)
	}
}
