//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// Processes that start at once on an empty database all find its tables: one makes them, and the
// others wait for that, but not longer than they are told.
func TestOneBringsTheTablesUp(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Start(t).Database(t)
	alone, err := pgPool{answer: pgPatient, conns: 1, alone: true}.open(address)
	must(t, err)
	must(t, alone.PingContext(ctx)) // another process is at it
	waits := make(chan bool)
	defer OnStep(func(step string) {
		if step == "lock" {
			waits <- true
		}
	})()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := Open(ctx, address)
			if err != nil {
				t.Error(err)
				return
			}
			err = s.SetBookmark(ctx, "a", "1")
			if err = errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
		<-waits
	}
	given, up := context.WithCancel(ctx)
	all.Go(func() {
		if s, err := Open(given, address); !errors.Is(err, context.Canceled) {
			t.Errorf("one that was given up: %v, %v", s, err)
		}
	})
	<-waits
	up()
	must(t, alone.Close())
	all.Wait()
}

// twoOn opens a database on PostgreSQL twice, as two processes would.
func twoOn(t *testing.T) (a, b *Store) {
	t.Helper()
	address := pgtest.Start(t).Database(t)
	return opened(t, address), opened(t, address)
}

// Two processes write at the same time. One that was cut off goes on by itself.
func TestTwoProcessesWrite(t *testing.T) {
	ctx := t.Context()
	a, b := twoOn(t)
	for n, s := range []*Store{a, b, a} {
		must(t, s.SetBookmark(ctx, "a", fmt.Sprint(n)))
		must(t, errors.Join(a.Ping(ctx), b.Ping(ctx)))
	}
	_, err := b.read.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	must(t, err)
	must(t, a.SetBookmark(ctx, "a", "3"))
	got, err := b.Bookmark(ctx, "a")
	wants(t, "the bookmark", "3", got, err)
}
