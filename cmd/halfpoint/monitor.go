package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// Limits of the monitor, so that whoever asks, however often and slowly, does not disturb
// the bot.
const (
	monitorConns   = 64               // at a time; others wait
	monitorScrapes = 4                // of /metrics at a time; others get 503
	monitorRead    = 5 * time.Second  // for a request
	monitorWrite   = 15 * time.Second // for a response, with the time to make it
	storeAnswers   = 5 * time.Second  // within which the store answers if it is well
	loopHangs      = time.Minute      // at one piece of work
)

// A monitor answers how the program is: /healthz whether its main loops turn, /readyz
// whether people can use it, /metrics for Prometheus. It reads no table for that.
type monitor struct {
	*metrics
	started   time.Time
	platforms *platforms
	ping      singleflight.Group // of the store
	watched   atomic.Pointer[watched]
}

// watched is what a monitor looks at, once it is there.
type watched struct {
	store interface {
		Ping(ctx context.Context) error
	}
	bot interface {
		Busy() map[string]time.Duration
		Counts() bot.Counts
		Waits(ages []time.Duration) map[string]outbox.Waits
	}
	adapters []bot.Adapter
	units    interface {
		Units() []units.Row
		Holds(unit string) bool
	}
}

func newMonitor(p *platforms) *monitor {
	return &monitor{metrics: newMetrics(), started: time.Now(), platforms: p}
}

// listen answers at an address, unless it is empty, until close is called.
func (m *monitor) listen(address string) (close func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	line, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return m.serve(line), nil
}

// serve answers the connections of a listener until close is called.
func (m *monitor) serve(line net.Listener) (close func()) {
	server := &http.Server{Handler: m.handler(), ReadTimeout: monitorRead, WriteTimeout: monitorWrite, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10}
	go server.Serve(netutil.LimitListener(line, monitorConns)) //nolint:errcheck // it ends when it is closed
	return func() { server.Close() }
}

func (m *monitor) handler() http.Handler {
	paths := http.NewServeMux()
	scrapes := semaphore.NewWeighted(monitorScrapes)
	paths.Handle("GET /metrics", http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !scrapes.TryAcquire(1) {
			http.Error(w, "Others are reading the metrics. Try again later.", http.StatusServiceUnavailable)
			return
		}
		defer scrapes.Release(1)
		w.Header().Set("Content-Type", expositionType)
		_ = m.scrape().write(w) // into memory: it does not fail
	}), monitorWrite-time.Second, "The metrics cannot be read in time.\n"))
	paths.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, "healthy", m.hangs()) })
	paths.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { answer(w, "ready", m.lacks(r.Context())) })
	return paths
}

// answer answers 200 with a word, or 503 with a line for each thing that is wrong.
func answer(w http.ResponseWriter, well string, wrong []string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	if len(wrong) == 0 {
		fmt.Fprintln(w, well)
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	for _, line := range wrong {
		fmt.Fprintln(w, strings.ReplaceAll(line, "\n", "; "))
	}
}

// hangs returns the main loops that no longer turn.
func (m *monitor) hangs() (wrong []string) {
	if w := m.watched.Load(); w != nil {
		for loop, busy := range w.bot.Busy() {
			if busy >= loopHangs {
				wrong = append(wrong, fmt.Sprintf("%s: at the same piece of work for %v", loop, busy.Truncate(time.Second)))
			}
		}
	}
	return wrong
}

// lacks returns why people cannot use the bot, or not everywhere.
func (m *monitor) lacks(ctx context.Context) (wrong []string) {
	w := m.watched.Load()
	if w == nil {
		return []string{"the bot is starting"}
	}
	if err := m.reach(ctx, w); err != nil {
		wrong = append(wrong, "database: "+err.Error())
	}
	failed := m.platforms.reasons()
	for _, a := range w.adapters {
		if why, over := failed[a.Name()]; over {
			wrong = append(wrong, fmt.Sprintf("%s: stopped for good: %v", a.Name(), why))
			continue
		}
		h, ok := health(a)
		if !ok || h.Connected {
			continue
		}
		line := fmt.Sprintf("%s: not connected for %v", a.Name(), time.Duration(m.since(h.Since)*float64(time.Second)).Truncate(time.Second))
		if h.Lacks != "" {
			line += ": " + h.Lacks
		}
		wrong = append(wrong, line)
	}
	return wrong
}

// reach reports whether the store answers in time. All who ask while one waits for it wait
// for the same answer.
func (m *monitor) reach(ctx context.Context, w *watched) error {
	answer := m.ping.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), storeAnswers)
		defer cancel()
		return nil, w.store.Ping(ctx)
	})
	late := time.NewTimer(storeAnswers)
	defer late.Stop()
	select {
	case got := <-answer:
		if !errors.Is(got.Err, context.DeadlineExceeded) {
			return got.Err
		}
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return fmt.Errorf("no answer within %v", storeAnswers)
}
