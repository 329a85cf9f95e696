package store

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// Processes on one database look every second for what others have stored: posts for rooms that
// they show, lines of the local room. A hint makes them look at once. It may be lost, and is sent
// after the commit, because PostgreSQL commits transactions with notifications one after another.

const (
	hintChannel = "halfpoint"
	hintPause   = 5 * time.Millisecond // between two hints of a process
)

// hint tells the other processes that there is something for them.
func (s *Store) hint() {
	if s.address == "" {
		return
	}
	select {
	case s.hints <- struct{}{}:
	default: // one is about to be sent
	}
}

// Hints sends the hints of this process, and calls f for those of the others, until ctx is done.
// On SQLite there are none.
func (s *Store) Hints(ctx context.Context, f func()) {
	if s.address == "" {
		return
	}
	self := rand.Text()
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		for {
			select {
			case <-s.hints:
				values[any](ctx, s.read, "SELECT CAST(pg_notify($1, $2) AS TEXT)", hintChannel, self) //nolint:errcheck // others look by themselves
				backoff.Sleep(ctx, hintPause)                                                         //nolint:errcheck // then ctx is done
			case <-ctx.Done():
				return
			}
		}
	})
	for ctx.Err() == nil {
		s.listen(ctx, self, f)       //nolint:errcheck // without a connection there are no hints
		backoff.Sleep(ctx, pgAnswer) //nolint:errcheck // as above
	}
}

// listen calls f for each hint of others until the connection ends.
func (s *Store) listen(ctx context.Context, self string, f func()) error {
	db, err := pgPool{answer: pgPatient, conns: 1, newest: s.newest}.open(s.address)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(c any) error {
		conn := c.(postgresConn).Conn.Conn()
		if _, err := conn.Exec(ctx, "LISTEN "+hintChannel); err != nil {
			return err
		}
		for {
			n, err := conn.WaitForNotification(ctx)
			if err != nil {
				return err
			}
			if n.Payload != self {
				f()
			}
		}
	})
}
