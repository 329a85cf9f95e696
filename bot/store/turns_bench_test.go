//go:build unix

package store_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// cpu is the time that the process has spent on its processors.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A player asks as somebody in a room. Each has a process of its own choice.
type player func(process, who int, room, id, command string, args map[string]string)

// processes starts so many processes on one database, which show their posts on one screen, until
// the benchmark ends.
func processes(b *testing.B, n int, database string, shown *screen) player {
	silent := slog.New(slog.NewTextHandler(io.Discard, nil))
	ctx, stop := context.WithCancel(b.Context())
	var running sync.WaitGroup
	var closes []func() error
	var services []*bot.Bot
	for range n {
		s, err := store.Open(ctx, database)
		must(b, err)
		closes = append(closes, s.Close)
		c := bot.Config{Log: silent}
		if store.IsPostgres(database) {
			rows, err := s.OpenUnits()
			must(b, err)
			closes = append(closes, rows.Close)
			c.Units = units.New(units.Config{Rows: rows, Log: silent})
			running.Go(func() { _ = c.Units.Run(ctx) })
		}
		service := bot.New(s, c)
		services = append(services, service)
		running.Go(func() {
			_ = service.Hold(ctx, shown.Name(), func(ctx context.Context, _ *units.Held) error { <-ctx.Done(); return nil })
		})
		running.Go(func() { s.Hints(ctx, service.Look) })
		running.Go(func() { _ = service.Run(ctx, shown) })
	}
	b.Cleanup(func() {
		stop()
		running.Wait()
		for _, c := range slices.Backward(closes) {
			must(b, c())
		}
	})
	return func(process, who int, room, id, command string, args map[string]string) {
		a, err := services[process%n].Ask(ctx, bot.Request{ID: id, Command: command, Args: args,
			Who:   outbox.User{Platform: "bench", ID: fmt.Sprint("p", who), Name: fmt.Sprint("Player ", who)},
			Where: match.Room{Platform: "bench", Channel: room}})
		if err != nil || !a.Public {
			b.Errorf("%s %v: %q, %v", command, args, a.Own().Text, err)
		}
	}
}

// BenchmarkTurns plays games at once in a database file, or on PostgreSQL, which waits for the
// disk, and for a standby if two processes use it. Each player waits for the board before the next
// turn; the two of a game ask different processes. It reports turns a second, and of a turn
// the CPU, without that of PostgreSQL, and the round trips to that. One iteration is one turn of each game.
func BenchmarkTurns(b *testing.B) {
	for _, c := range []struct {
		name         string
		games, rooms int
		draws        bool
		processes    int // on PostgreSQL; 0: one on a file
	}{
		{"100 games", 100, 100, false, 0},
		{"100 games on PostgreSQL", 100, 100, false, 1},
		{"100 games, two processes on PostgreSQL", 100, 100, false, 2},
		{"1 game", 1, 1, false, 0},
		{"1 game on PostgreSQL", 1, 1, false, 1},
		{"1 game, two processes on PostgreSQL", 1, 1, false, 2},
		{"100 games, pictures", 100, 100, true, 0},
		{"40 games in one room, pictures", 40, 1, true, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			database := ""
			if c.processes == 0 {
				database = newFile(b)
			} else {
				server := pgtest.Durable(b)
				if database = server.Database(b); c.processes > 1 {
					server.Standby(b)
				}
			}
			shown := &screen{draws: c.draws}
			ask := processes(b, max(1, c.processes), database, shown)
			type game struct {
				room   string
				number int
				turns  int
			}
			games := make([]*game, c.games)
			for i := range games {
				g := &game{room: fmt.Sprint("room", i%c.rooms), number: i/c.rooms + 1}
				games[i] = g
				ask(0, 2*i, g.room, fmt.Sprint("bench:new:", i), "new", map[string]string{"rules": "two-button", "size": "19x19"})
				ask(1, 2*i+1, g.room, fmt.Sprint("bench:join:", i), "join", map[string]string{"game": fmt.Sprint(g.number)})
				<-shown.of(g.room, g.number)
			}
			turn := func(i int) {
				g := games[i]
				at := g.turns % 324 // two colours in turn on points of their own: nothing is taken
				if g.turns >= 324 {
					b.Error("the board is full: fewer iterations")
					return
				}
				ask(g.turns%2, 2*i+g.turns%2, g.room, fmt.Sprintf("bench:%d:%d", i, g.turns), "place",
					map[string]string{"game": fmt.Sprint(g.number), "at": fmt.Sprintf("%c%d", "ABCDEFGHJKLMNOPQRS"[at%18], at/18+1)})
				<-shown.of(g.room, g.number)
				g.turns++
			}
			turns, spent := 0, cpu()
			var trips atomic.Int64
			defer store.OnRoundTrip(func() { trips.Add(1) })()
			for b.Loop() {
				var all sync.WaitGroup
				for i := range games {
					all.Go(func() { turn(i) })
				}
				all.Wait()
				turns += len(games)
			}
			b.ReportMetric(float64(trips.Load())/float64(turns), "trips/turn")
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
			b.ReportMetric(float64((cpu()-spent).Microseconds())/float64(turns), "µs-CPU/turn")
		})
	}
}
