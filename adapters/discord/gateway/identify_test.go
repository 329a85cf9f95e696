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

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// A tally is Discord's view of session starts.
type tally struct {
	mu    sync.Mutex
	asked int
	limit rest.SessionLimit
	reset time.Time
}

func (l *tally) ask(context.Context) (*rest.GatewayBot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	limit := l.limit
	if !l.reset.IsZero() && !time.Now().Before(l.reset) {
		limit.Remaining = limit.Total
	}
	limit.ResetAfter = time.Until(l.reset).Milliseconds()
	return &rest.GatewayBot{URL: "wss://gateway.discord.gg", Shards: 16, Limit: limit}, nil
}

func startsOf(l *tally) *identifyLimiter {
	return newIdentifyLimiter(l.ask, slog.New(slog.DiscardHandler))
}

// In five seconds at most one shard of a max_concurrency group identifies, and
// all do in the time that this takes.
func TestConcurrency(t *testing.T) {
	for _, concurrency := range []int{1, 4, 16} {
		synctest.Test(t, func(t *testing.T) {
			l := &tally{limit: rest.SessionLimit{Total: 1000, Remaining: 1000, Concurrency: concurrency}}
			s := startsOf(l)
			if _, err := s.info(t.Context()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			var mu sync.Mutex
			when := map[int][]time.Duration{}
			var group sync.WaitGroup
			for shard := range 16 {
				group.Go(func() {
					_, done, err := s.acquire(t.Context(), shard, nil)
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
		s := startsOf(&tally{limit: rest.SessionLimit{Total: 1000, Remaining: 1000, Concurrency: 1}})
		began := time.Now()
		for shard := range 5 {
			_, done, err := s.acquire(t.Context(), shard, nil)
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
		l := &tally{limit: rest.SessionLimit{Total: 1000, Remaining: 500, Concurrency: 1}, reset: time.Now().Add(7 * time.Hour)}
		s := startsOf(l)
		began := time.Now()
		_, done, err := s.acquire(t.Context(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		done(true)
		if d := time.Since(began); d < 7*time.Hour || d > 7*time.Hour+10*time.Minute {
			t.Errorf("waited %v", d)
		}
		l.limit.Remaining, l.reset = 501, time.Now().Add(7*time.Hour)
		began = time.Now()
		if _, done, err = s.acquire(t.Context(), 1, nil); err != nil {
			t.Fatal(err)
		}
		done(true)
		if d := time.Since(began); d > time.Minute {
			t.Errorf("waited %v with one left", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		l.limit.Remaining = 0
		if _, _, err = s.acquire(ctx, 2, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// A shard whose session is lost again and again identifies twenty times an hour.
func TestPerHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startsOf(&tally{limit: rest.SessionLimit{Total: 1000, Remaining: 1000, Concurrency: 1}})
		var used []time.Time
		began := time.Now()
		for time.Since(began) < 3*time.Hour {
			_, done, err := s.acquire(t.Context(), 0, used)
			if err != nil {
				t.Fatal(err)
			}
			used = append(used, time.Now())
			done(true)
		}
		for i := range used {
			n := 0
			for _, at := range used[i:] {
				if at.Sub(used[i]) < time.Hour {
					n++
				}
			}
			if n > 20 {
				t.Fatalf("%d in the hour after %v", n, used[i].Sub(began))
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 7: time.Minute, 1000: time.Minute} {
		for range 100 {
			if d := backoff(failures, nil); d < want*3/4 || d > want*5/4 {
				t.Errorf("after %d failures: %v", failures, d)
			}
		}
	}
	if d := backoff(1, fmt.Errorf("asking: %w", &rest.RateLimited{Wait: time.Hour})); d != time.Hour {
		t.Errorf("asked to wait an hour: %v", d)
	}
}

func TestConfig(t *testing.T) {
	good := Config{Token: bot.NewSecret(token), Bot: (&tally{}).ask, Handle: func(context.Context, Event) {}}
	for name, change := range map[string]func(*Config){
		"no token":     func(c *Config) { c.Token = bot.Secret{} },
		"no lanes":     func(*Config) {},
		"out of range": func(c *Config) { c.Shards, c.First, c.Count = 4, 3, 2 },
		"negative":     func(c *Config) { c.Shards = -1 },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// Several shards of one process connect one after another, each as itself.
func TestShards(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(func(cfg *Config) { cfg.Shards, cfg.First, cfg.Count = 10, 4, 3 })
		seen := map[string]bool{}
		for range 3 {
			at := d.accept()
			at.hello(interval)
			seen[fmt.Sprint(at.hear(opIdentify)["shard"])] = true
			at.ready("")
			wait(t, "ready", c.ready)
		}
		if !seen["[4 10]"] || !seen["[5 10]"] || !seen["[6 10]"] {
			t.Errorf("shards %v", seen)
		}
		if s := c.g.Status(); len(s) != 3 || s[2].Shard != 6 {
			t.Errorf("status %+v", s)
		}
	})
}

// What one shard cannot survive ends them all.
func TestFatalEndsAll(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDiscord(t)
		c := d.run(func(cfg *Config) { cfg.Shards = 2 })
		first := d.accept()
		first.hello(interval)
		first.hear(opIdentify)
		first.ready("")
		wait(t, "ready", c.ready)
		second := d.accept()
		second.hello(interval)
		second.hear(opIdentify)
		second.close(4014)
		err := wait(t, "end of Run", c.result)
		c.result <- err
		var f *Fatal
		if !errors.As(err, &f) || f.Code != 4014 {
			t.Error(err)
		}
		if code := first.closed(); code != closeLeave {
			t.Errorf("the other was left with %d", code)
		}
	})
}
