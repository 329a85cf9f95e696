package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

const (
	block   = 8 << 10
	segment = 16 << 20 // of the log of PostgreSQL, whose files have their size from the beginning
)

// large makes tables at least as large as a segment, so that a disk can be full for them, and not for
// the log of PostgreSQL.
func (s *storm) large(server *pgtest.Server, tables ...string) {
	s.Helper()
	server.Exec(s, "ALTER SYSTEM SET autovacuum = off") // what is rolled back keeps its place
	server.Exec(s, "SELECT pg_reload_conf()")
	c := s.connect()
	defer c.Close(s.Context())
	for _, table := range tables {
		tx, err := c.Begin(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		values := map[string]string{
			"inbox":   "INSERT INTO inbox (request, at, answer) SELECT 'large' || n, 0, repeat('x', 1000)",
			"post":    "INSERT INTO post (id, game, platform, channel, thread, n, kind, seq, private, body, state, due, attempt, receipt, why) SELECT 'large' || n, 'large', '', '', '', n, '', 0, 0, repeat('x', 1000), 'settled', 0, 0, '', ''",
			"message": "INSERT INTO message (n, key, room, at, sender, body, game, seq, kind, removed) SELECT -n, '', '', 0, '', repeat('x', 1000), '', 0, '', 0",
		}[table]
		if _, err := tx.Exec(s.Context(), fmt.Sprintf("%s FROM generate_series(1, %d) AS n", values, segment/1000)); err != nil {
			s.Fatal(err)
		}
		if err := tx.Rollback(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *storm) connect() *pgx.Conn {
	s.Helper()
	c, err := pgx.Connect(s.Context(), s.owner)
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// size returns the size of the largest file that PostgreSQL has for tables and indexes.
func (s *storm) size() (bytes int64) {
	s.Helper()
	c := s.connect()
	defer c.Close(s.Context())
	if err := c.QueryRow(s.Context(), "SELECT max(pg_relation_size(oid)) FROM pg_class WHERE relkind IN ('r', 'i')").Scan(&bytes); err != nil {
		s.Fatal(err)
	}
	return max(bytes, segment)
}

// waits waits until the log of the server has a text once more.
func (s *storm) waits(server *pgtest.Server, text string, before int) {
	for began := time.Now(); lines(s, server, text) == before && !s.Failed(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > answerFor {
			s.Errorf("PostgreSQL does not say %q", text)
		}
	}
}

// lines returns how often the log of the server has a text.
func lines(t testing.TB, server *pgtest.Server, text string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(server.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), text)
}

// noRoom lets no table grow for a while.
func noRoom(server *pgtest.Server) strike {
	return func(s *storm) {
		const says = "could not extend file" // 53100, or XX000 for one that has grown beyond the limit meanwhile
		before := lines(s, server, says)
		free := server.Full(s, s.size()+block/2)
		s.waits(server, says, before)
		time.Sleep(s.within(2 * lease))
		free()
	}
}

// noLog lets PostgreSQL not write its log, so that it stops with a PANIC and cannot recover. It is
// started again later.
func noLog(server *pgtest.Server) strike {
	return func(s *storm) {
		postmaster := server.Postmaster(s)
		server.Full(s, block)
		for postmaster.Signal(syscall.Signal(0)) == nil && !s.Failed() {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(s.within(lease))
		server.Revive(s)
	}
}

// The disk of PostgreSQL is full, again and again: for its tables, or also for its log.
func TestStormOfFullDisks(t *testing.T) {
	tier.Change(t)
	for name, c := range map[string]struct {
		hit   func(*pgtest.Server) strike
		times int
	}{
		"tables": {noRoom, tier.Pick(0, 3, 100)},
		"log":    {noLog, tier.Pick(0, 0, 100)},
	} {
		if c.times == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			server := pgtest.New(t)
			s := newStorm(t, server.Database(t), 2)
			s.up()
			if name == "tables" {
				s.large(server, "inbox", "post", "message")
			}
			s.strikes(c.times, c.hit(server))
			if n := s.restarts.Load(); n > 0 {
				t.Errorf("%d processes have ended", n)
			}
		})
	}
}
