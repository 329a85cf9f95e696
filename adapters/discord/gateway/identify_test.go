package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// A tally is Discord's view of session starts.
type tally struct {
	mu    sync.Mutex
	asked int
	limit discordgo.SessionInformation
	reset time.Time
}

func (l *tally) ask(context.Context) (*discordgo.GatewayBotResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	limit := l.limit
	if !l.reset.IsZero() && !time.Now().Before(l.reset) {
		limit.Remaining = limit.Total
	}
	limit.ResetAfter = int(time.Until(l.reset).Milliseconds())
	return &discordgo.GatewayBotResponse{URL: "wss://gateway.discord.gg", Shards: 16, SessionStartLimit: limit}, nil
}

func startsOf(l *tally) *identifyLimiter {
	return newIdentifyLimiter(l.ask, nil, slog.New(slog.DiscardHandler))
}

// In five seconds at most one shard of a max_concurrency group identifies, and
// all do in the time that this takes.
func TestConcurrency(t *testing.T) {
	for _, concurrency := range []int{1, 4, 16} {
		synctest.Test(t, func(t *testing.T) {
			l := &tally{limit: discordgo.SessionInformation{Total: 1000, Remaining: 1000, MaxConcurrency: concurrency}}
			s := startsOf(l)
			began := time.Now()
			var mu sync.Mutex
			when := map[int][]time.Duration{}
			var group sync.WaitGroup
			for shard := range 16 {
				group.Go(func() {
					_, done, err := s.acquire(t.Context(), shard)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Second) // connecting
					mu.Lock()
					when[shard%concurrency] = append(when[shard%concurrency], time.Since(began))
					mu.Unlock()
					done(true)
				})
			}
			group.Wait()
			for key, list := range when {
				for i := 1; i < len(list); i++ {
					if list[i]-list[i-1] < 5*time.Second {
						t.Errorf("of %d: group %d identified %v and %v after the start", concurrency, key, list[i-1], list[i])
					}
				}
			}
			if l.asked > 16/concurrency+1 {
				t.Errorf("of %d: asked Discord %d times", concurrency, l.asked)
			}
			if d := time.Since(began); d > time.Duration(16/concurrency)*6*time.Second {
				t.Errorf("of %d: it took %v", concurrency, d)
			}
		})
	}
}

// A turn that was not used costs the next shard nothing.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startsOf(&tally{limit: discordgo.SessionInformation{Total: 1000, Remaining: 1000, MaxConcurrency: 1}})
		began := time.Now()
		for shard := range 5 {
			_, done, err := s.acquire(t.Context(), shard)
			if err != nil {
				t.Fatal(err)
			}
			done(false)
		}
		if d := time.Since(began); d > 0 {
			t.Errorf("it took %v", d)
		}
	})
}

// At half of the day's session starts it stops, until the day is over.
func TestHalfUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &tally{limit: discordgo.SessionInformation{Total: 1000, Remaining: 500, MaxConcurrency: 1}, reset: time.Now().Add(7 * time.Hour)}
		s := startsOf(l)
		began := time.Now()
		_, done, err := s.acquire(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		done(true)
		if d := time.Since(began); d < 7*time.Hour || d > 7*time.Hour+10*time.Minute {
			t.Errorf("waited %v", d)
		}
		l.limit.Remaining, l.reset = 501, time.Now().Add(7*time.Hour)
		began = time.Now()
		if _, done, err = s.acquire(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		done(true)
		if d := time.Since(began); d > time.Minute {
			t.Errorf("waited %v with one left", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		l.limit.Remaining = 0
		if _, _, err = s.acquire(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// A shard whose session is lost again and again identifies twenty times at once, and
// then each three minutes.
func TestPerHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		d.run(nil)
		began := time.Now()
		for n := 0; time.Since(began) < 3*time.Hour; n++ {
			at := d.accept()
			at.greet(opIdentify)
			at.ready("")
			at.close(closeSeq)
			if most := perHour + int(time.Since(began)/(3*time.Minute)); n > most {
				t.Fatalf("identified %d times in %v", n, time.Since(began))
			}
		}
	})
}

// A wait counts from the beginning of the attempt that failed.
func TestBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 5: 12 * time.Second, 1000: 12 * time.Second} {
			for range 100 {
				if d := until(failures, time.Now(), nil); d < want*3/4 || d > want*5/4 {
					t.Errorf("after %d failures: %v", failures, d)
				}
			}
		}
		if d := until(1000, time.Now().Add(-time.Minute), nil); d != 0 {
			t.Errorf("after a failure that took a minute: %v", d)
		}
		if d := until(1, time.Now(), fmt.Errorf("asking: %w", &rest.RateLimited{Wait: time.Hour})); d != time.Hour {
			t.Errorf("asked to wait an hour: %v", d)
		}
	})
}

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no token": {},
		"negative": {Token: secret.New(token), Shards: -1},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// The shards of several processes take turns, too.
func TestTurnsOfProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &tally{limit: discordgo.SessionInformation{Total: 1000, Remaining: 1000, MaxConcurrency: 2}}
		var mu sync.Mutex
		next := map[string]time.Time{}
		turn := func(_ context.Context, name string, every time.Duration) (time.Duration, error) {
			mu.Lock()
			defer mu.Unlock()
			at := time.Now()
			if at.Before(next[name]) {
				at = next[name]
			}
			next[name] = at.Add(every)
			return time.Until(at), nil
		}
		processes := []*identifyLimiter{}
		for range 3 {
			processes = append(processes, newIdentifyLimiter(l.ask, turn, slog.New(slog.DiscardHandler)))
		}
		var group sync.WaitGroup
		when := map[int][]time.Time{}
		for shard := range 12 {
			group.Go(func() {
				_, done, err := processes[shard%3].acquire(t.Context(), shard)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				when[shard%2] = append(when[shard%2], time.Now())
				mu.Unlock()
				done(true)
			})
		}
		group.Wait()
		for key, list := range when {
			for i := 1; i < len(list); i++ {
				if d := list[i].Sub(list[i-1]); d < identifyTime {
					t.Errorf("group %d identified twice in %v", key, d)
				}
			}
			if d := list[len(list)-1].Sub(list[0]); len(list) != 6 || d > 5*turnTime {
				t.Errorf("group %d: %d identified in %v", key, len(list), d)
			}
		}
		failing := newIdentifyLimiter(l.ask, func(context.Context, string, time.Duration) (time.Duration, error) {
			return 0, errors.New("no database")
		}, slog.New(slog.DiscardHandler))
		if _, _, err := failing.acquire(t.Context(), 0); err == nil {
			t.Error("a shard identifies out of turn")
		}
	})
}
