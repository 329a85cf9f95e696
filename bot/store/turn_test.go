package store_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/render"
)

// A turn should not cross the database more often than it must, and prepares nothing that
// a turn before it has prepared. Whoever makes it cheaper lowers these numbers; whoever
// raises them should know why.
const (
	statementsOfATurn = 11 // until its board is shown and settled
	writesOfATurn     = 7  // of these in its commit and the settling
	roundTripsOfATurn = 8  // to PostgreSQL: also for the frames of both transactions
)

// aGame begins a game, and returns what asks for a turn and waits until its board is shown and
// settled.
func aGame(t *testing.T, database string) (s *store.Store, place func(turn int)) {
	t.Helper()
	s, err := store.Open(t.Context(), database)
	must(t, err)
	service := bot.New(s, bot.Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx, stop := context.WithCancel(t.Context())
	go service.Run(ctx, &screen{})
	t.Cleanup(func() {
		stop()
		synctest.Wait()
		s.Close()
	})
	n := 0
	ask := func(who, command string, args map[string]string) {
		t.Helper()
		n++
		a, err := service.Ask(t.Context(), bot.Request{ID: fmt.Sprint("chat:", n), Command: command, Args: args,
			Who: outbox.User{Platform: "bench", ID: who, Name: who}, Where: match.Room{Platform: "bench", Channel: "room"}})
		if err != nil || !a.Public {
			t.Fatalf("%q, %v", a.Own().Text, err)
		}
		synctest.Wait()
	}
	ask("ada", "new", map[string]string{"rules": "two-button", "size": "19x19"})
	ask("bob", "join", nil)
	return s, func(turn int) {
		t.Helper()
		ask([]string{"ada", "bob"}[turn%2], "place", map[string]string{"at": fmt.Sprint("D", turn+4)})
	}
}

// How often a turn waits for PostgreSQL is most of what it takes there.
func TestRoundTripsOfATurn(t *testing.T) {
	address := pgtest.Start(t).Database(t)
	synctest.Test(t, func(t *testing.T) {
		var trips atomic.Int64
		defer store.OnRoundTrip(func() { trips.Add(1) })()
		_, place := aGame(t, address)
		for turn := range 12 {
			trips.Store(0)
			place(turn)
			if n := trips.Load(); turn >= 10 && n != roundTripsOfATurn { // before, connections prepare statements
				t.Errorf("turn %d: %d round trips, want %d", turn, n, roundTripsOfATurn)
			}
		}
	})
}

func TestStatementsOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran statements
		defer store.OnStatement(ran.add)()
		s, place := aGame(t, store.Memory)
		var prepared map[string]int
		for turn := range 6 {
			ran.clear()
			place(turn)
			all := ran.clear()
			before := prepared
			prepared = store.Prepared(t, s)
			if turn < 2 { // reads what later turns remember
				continue
			}
			if !maps.Equal(prepared, before) {
				t.Errorf("turn %d has prepared statements: before and after,\n%v\n%v", turn, before, prepared)
			}
			writes := 0
			for _, text := range all {
				if !strings.HasPrefix(text, "SELECT") {
					writes++
				}
			}
			if len(all) != statementsOfATurn || writes != writesOfATurn {
				t.Fatalf("turn %d: %d statements, want %d; %d of them write, want %d:\n%s",
					turn, len(all), statementsOfATurn, writes, writesOfATurn, strings.Join(all, "\n"))
			}
		}
	})
}

// A screen is an adapter that draws what it is given and shows it to nobody.
type screen struct {
	draws bool
	shown sync.Map // by game, a channel of the boards shown
}

func (s *screen) Name() string { return "bench" }

func (s *screen) Run(ctx context.Context, _ bot.Service) error { <-ctx.Done(); return nil }

func (s *screen) Deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if p.Kind != match.Show || p.Scene == nil {
		return outbox.Receipt(p.ID), nil, nil
	}
	if s.draws {
		var b bytes.Buffer
		if err := render.PNG(&b, *p.Scene, render.Options{}); err != nil {
			return "", nil, err
		}
	}
	s.of(p.Where.Channel, p.Number) <- p.Seq
	return outbox.Receipt(p.ID), nil, nil
}

// of returns the channel on which the boards of a game arrive.
func (s *screen) of(room string, number int) chan int {
	c, _ := s.shown.LoadOrStore(fmt.Sprint(room, "/", number), make(chan int, 1000))
	return c.(chan int)
}

// statements are those that stores run, but for the frames of transactions.
type statements struct {
	mu   sync.Mutex
	list []string
}

func (s *statements) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.Join(strings.Fields(text), " ")
	if !strings.HasPrefix(text, "SAVEPOINT") && !strings.HasPrefix(text, "RELEASE") {
		s.list = append(s.list, text)
	}
}

// clear returns the statements since it was last called.
func (s *statements) clear() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}
