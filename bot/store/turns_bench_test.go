//go:build unix

package store_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// cpu is the time that the process has spent on its processors.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTurns plays games at once in a database file. Each player waits for the
// board before the next turn. It reports turns a second and the CPU of a turn. One
// iteration is one turn of each game.
func BenchmarkTurns(b *testing.B) {
	for _, c := range []struct {
		name         string
		games, rooms int
		draws        bool
	}{
		{"100 games", 100, 100, false},
		{"100 games, pictures", 100, 100, true},
		{"40 games in one room, pictures", 40, 1, true},
		{"1 game", 1, 1, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := store.Open(b.Context(), newFile(b))
			must(b, err)
			defer s.Close()
			shown := &screen{draws: c.draws}
			service := bot.New(s, bot.Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
			ctx, stop := context.WithCancel(b.Context())
			var running sync.WaitGroup
			running.Go(func() { _ = service.Run(ctx, shown) })
			ask := func(who int, room string, id, command string, args map[string]string) {
				a, err := service.Ask(ctx, bot.Request{ID: id, Command: command, Args: args,
					Who:   outbox.User{Platform: "bench", ID: fmt.Sprint("p", who), Name: fmt.Sprint("Player ", who)},
					Where: match.Room{Platform: "bench", Channel: room}})
				if err != nil || !a.Public {
					b.Errorf("%s %v: %q, %v", command, args, a.Own().Text, err)
				}
			}
			type game struct {
				room   string
				number int
				turns  int
			}
			games := make([]*game, c.games)
			for i := range games {
				g := &game{room: fmt.Sprint("room", i%c.rooms), number: i/c.rooms + 1}
				games[i] = g
				ask(2*i, g.room, fmt.Sprint("bench:new:", i), "new", map[string]string{"rules": "two-button", "size": "19x19"})
				ask(2*i+1, g.room, fmt.Sprint("bench:join:", i), "join", map[string]string{"game": fmt.Sprint(g.number)})
				<-shown.of(g.room, g.number)
			}
			turn := func(i int) {
				g := games[i]
				at := g.turns % 324 // two colours in turn on points of their own: nothing is taken
				if g.turns >= 324 {
					b.Error("the board is full: fewer iterations")
					return
				}
				ask(2*i+g.turns%2, g.room, fmt.Sprintf("bench:%d:%d", i, g.turns), "place",
					map[string]string{"game": fmt.Sprint(g.number), "at": fmt.Sprintf("%c%d", "ABCDEFGHJKLMNOPQRS"[at%18], at/18+1)})
				<-shown.of(g.room, g.number)
				g.turns++
			}
			turns, spent := 0, cpu()
			for b.Loop() {
				var all sync.WaitGroup
				for i := range games {
					all.Go(func() { turn(i) })
				}
				all.Wait()
				turns += len(games)
			}
			b.ReportMetric(float64(turns)/b.Elapsed().Seconds(), "turns/s")
			b.ReportMetric(float64((cpu()-spent).Microseconds())/float64(turns), "µs-CPU/turn")
			stop()
			running.Wait()
		})
	}
}
