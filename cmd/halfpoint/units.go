package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// A team is what makes this process one of several on a database on PostgreSQL.
type team struct {
	*units.Keeper                  // nil on SQLite, where the process is alone
	now           func() time.Time // by the clock of the database, so that all processes agree; nil on SQLite
	st            *store.Store
	end           func() error
}

// wall returns the time by the clock of this machine. Tests set it.
var wall = time.Now

// join makes this process one of several. It holds nothing before it works. elapsed also counts
// the time in which the machine sleeps.
func join(ctx context.Context, st *store.Store, s bot.Settings, elapsed func() time.Duration, log *slog.Logger) (*team, error) {
	if !store.IsPostgres(s.Database) {
		return &team{st: st, end: func() error { return nil }}, nil
	}
	rows, err := st.OpenUnits()
	if err != nil {
		return nil, err
	}
	rows.Wall = wall
	if err := rows.Measure(ctx); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	k := units.New(units.Config{Rows: rows, ID: processID(), Dead: time.Duration(s.Lease) * time.Second, Elapsed: elapsed, Log: log})
	return &team{Keeper: k, now: rows.Now, st: st, end: rows.Close}, nil
}

// work has the process take and keep units, and look when others hint that there is something for
// it, until leave is called, which gives the units up.
func (t *team) work(log *slog.Logger, look func()) (leave func() error) {
	if t.Keeper == nil {
		return t.end
	}
	running, end := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() {
		if err := t.Run(running); err != nil {
			log.Warn("leaving the other processes failed, they notice by themselves", "error", err)
		}
	})
	group.Go(func() { t.st.Hints(running, look) })
	return func() error {
		end()
		group.Wait()
		return t.end()
	}
}

// processID names this process for people and for other processes. It is another one each time.
func processID() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return cmp.Or(host, "halfpoint") + "-" + rand.Text()[:8]
}
