package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/units"
)

// A patient is what a monitor of the tests looks at: a store, a bot and a platform in one.
type patient struct {
	bot.Adapter
	name   string
	health bot.Health
	busy   time.Duration
	hangs  chan struct{} // what the bot waits for before it says how many posts wait; nil: nothing
	pings  atomic.Int32
	store  func(ctx context.Context) error // what a ping gets; nil: an answer at once
}

func (p *patient) Name() string       { return p.name }
func (p *patient) Health() bot.Health { return p.health }
func (p *patient) Busy() map[string]time.Duration {
	return map[string]time.Duration{"posts": p.busy, "timed actions": 0}
}
func (p *patient) Counts() bot.Counts {
	return bot.Counts{Requests: map[string]uint64{"discord": 7}, Refused: map[bot.Refusal]uint64{{Platform: "discord", Reason: bot.RefusedFailed}: 2}}
}
func (p *patient) Waits(ages []time.Duration) map[string]outbox.Waits {
	if p.hangs != nil {
		<-p.hangs
	}
	return map[string]outbox.Waits{"discord": {ByAge: []int{3, 0, 1, 0, 0}, Oldest: 90 * time.Second}}
}
func (p *patient) Ping(ctx context.Context) error {
	p.pings.Add(1)
	if p.store == nil {
		return nil
	}
	return p.store(ctx)
}

// Units are two shards, one of which this process holds.
func (p *patient) Units() []units.Row {
	return []units.Row{{Name: "discord/0/2", Holder: "here-1 a", Term: 7}, {Name: "discord/1/2", Holder: "there-2 b", Term: 3}}
}
func (p *patient) Holds(unit string) bool { return unit == "discord/0/2" }

// looks returns a monitor that looks at a patient.
func looks(p *patient) (*monitor, *platforms) {
	ps := &platforms{room: true}
	m := newMonitor(ps)
	m.watched.Store(&watched{p, p, []bot.Adapter{p}, p})
	return m, ps
}

// gets asks a monitor for a page.
func (m *monitor) gets(path string) (status int, body string) {
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code, w.Body.String()
}

// /readyz says in one line each what people cannot use, and /healthz only whether the main
// loops turn.
func TestReady(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, x := range map[string]struct {
		patient *patient
		stopped error
		ready   string // empty: it is
		healthy string
	}{
		"well":          {patient: &patient{health: bot.Health{Connected: true}}},
		"never there":   {patient: &patient{}, ready: "discord: not connected for 1h0m0s\n"},
		"away":          {patient: &patient{health: bot.Health{Since: time.Unix(0, 0)}}, ready: "discord: not connected for 12s\n"},
		"a shard":       {patient: &patient{health: bot.Health{Since: time.Unix(0, 0), Lacks: "1 of 2 shards"}}, ready: "discord: not connected for 12s: 1 of 2 shards\n"},
		"off for good":  {patient: &patient{health: bot.Health{Connected: true}}, stopped: errors.New("the token is not\naccepted (4004)"), ready: "discord: stopped for good: the token is not; accepted (4004)\n"},
		"the disk":      {patient: &patient{health: bot.Health{Connected: true}, store: func(context.Context) error { return errors.New("the file is gone") }}, ready: "database: the file is gone\n"},
		"a slow disk":   {patient: &patient{health: bot.Health{Connected: true}, store: hang}, ready: "database: no answer within 5s\n"},
		"disk and chat": {patient: &patient{health: bot.Health{Since: time.Unix(0, 0)}, store: hang}, ready: "database: no answer within 5s\ndiscord: not connected for 17s\n"},
		"busy":          {patient: &patient{health: bot.Health{Connected: true}, busy: 59 * time.Second}},
		"hangs":         {patient: &patient{health: bot.Health{Connected: true}, busy: 61 * time.Second}, healthy: "posts: at the same piece of work for 1m1s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := x.patient
				p.name = "discord"
				m, ps := looks(p)
				time.Sleep(time.Hour)
				if !p.health.Since.IsZero() {
					p.health.Since = time.Now().Add(-12 * time.Second)
				}
				if x.stopped != nil {
					ps.stopped("discord", x.stopped)
				}
				for path, want := range map[string]string{"/readyz": x.ready, "/healthz": x.healthy} {
					status, well := 503, map[string]string{"/readyz": "ready\n", "/healthz": "healthy\n"}[path]
					if want == "" {
						status, want = 200, well
					}
					if got, says := m.gets(path); got != status || says != want {
						t.Errorf("%s answers %d %q, not %d %q", path, got, says, status, want)
					}
				}
			})
		})
	}
	m := newMonitor(&platforms{})
	if status, says := m.gets("/readyz"); status != 503 || says != "the bot is starting\n" {
		t.Errorf("at the start: %d %q", status, says)
	}
	if status, _ := m.gets("/healthz"); status != 200 {
		t.Errorf("at the start: %d", status)
	}
}

// However many ask while the store does not answer, one waits for it.
func TestReadyAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{name: "discord", health: bot.Health{Connected: true}, store: func(context.Context) error { time.Sleep(3 * time.Second); return nil }}
		m, _ := looks(p)
		for range 100 {
			go func() {
				if status, says := m.gets("/readyz"); status != 200 {
					t.Errorf("%d %q", status, says)
				}
			}()
		}
		time.Sleep(4 * time.Second)
		if n := p.pings.Load(); n != 1 {
			t.Errorf("the store was asked %d times", n)
		}
	})
}

// Who sends half a request, or none, or does not read, is cut off; and beside as many of
// these as may connect others are answered after a while.
func TestMonitorCutsOffTheSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		line, err := network.Listen("monitor:80")
		if err != nil {
			t.Fatal(err)
		}
		m, _ := looks(&patient{name: "discord", health: bot.Health{Connected: true}})
		stop := m.serve(line)
		defer stop()
		dial := func(sends string) net.Conn {
			c, err := network.DialContext(t.Context(), "tcp", "monitor:80")
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(c, sends)
			return c
		}
		var slow []net.Conn
		for n := range monitorConns {
			slow = append(slow, dial([]string{"", "GET /metrics HT", strings.Repeat("GET /metrics HTTP/1.1\r\nHost: monitor\r\n\r\n", 500)}[n%3]))
		}
		began := time.Now()
		c := dial("GET /readyz HTTP/1.1\r\nHost: monitor\r\nConnection: close\r\n\r\n")
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || r.StatusCode != 200 || time.Since(began) > monitorWrite {
			t.Errorf("%v after %v, %v", r, time.Since(began), err)
		}
		c.Close()
		time.Sleep(monitorRead + monitorWrite)
		for n, c := range slow {
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("connection %d: %v", n, err)
			}
			c.Close()
		}
		stop()
		synctest.Wait()
	})
}

// Prometheus sees how the platforms, the posts, the commits and the requests are; a store
// that is closed does not keep it from that.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{name: "discord", busy: 2 * time.Second, store: func(context.Context) error { panic("a scrape reads the store") }}
		m, ps := looks(p)
		now := time.Now()
		p.health = bot.Health{Connected: true, Event: now.Add(-time.Hour), Heartbeat: now.Add(-40 * time.Second), Refused: map[string]uint64{"person_limit": 5}}
		m.shown("discord", 300*time.Millisecond)
		m.shown("discord", 2*time.Minute)
		m.committed(3, 2*time.Millisecond, nil)
		m.committed(1, 2*time.Second, errors.New("the disk is full"))
		status, text := m.gets("/metrics")
		if status != 200 {
			t.Fatal(status, text)
		}
		has := func(lines ...string) {
			t.Helper()
			for _, line := range lines {
				if !strings.Contains(text, "\nhalfpoint_"+line+"\n") {
					t.Errorf("no %s in\n%s", line, text)
				}
			}
		}
		has(`board_delay_seconds_bucket{platform="discord",le="0.25"} 0`, `board_delay_seconds_bucket{platform="discord",le="0.5"} 1`,
			`board_delay_seconds_bucket{platform="discord",le="120"} 2`, `board_delay_seconds_count{platform="discord"} 2`,
			`commit_duration_seconds_bucket{le="0.0025"} 1`, `commit_duration_seconds_count 2`, `commit_changes_total 4`, `commit_failures_total 1`,
			`platform_connected{platform="discord"} 1`, `platform_stopped{platform="discord"} 0`,
			`platform_event_age_seconds{platform="discord"} 3600`, `platform_heartbeat_age_seconds{platform="discord"} 40`,
			`posts_waiting{age="0s",platform="discord"} 3`, `posts_waiting{age="1m",platform="discord"} 1`, `posts_waiting{age="1h",platform="discord"} 0`,
			`posts_oldest_seconds{platform="discord"} 90`, `requests_total{platform="discord"} 7`,
			`requests_refused_total{platform="discord",reason="failed"} 2`, `requests_refused_total{platform="discord",reason="person_limit"} 5`,
			`requests_refused_total{platform="discord",reason="other"} 0`, `loop_busy_seconds{loop="posts"} 2`,
			`unit_term{process="here-1",unit="discord/0/2"} 7`, `unit_term{process="there-2",unit="discord/1/2"} 3`,
			`unit_held{unit="discord/0/2"} 1`, `unit_held{unit="discord/1/2"} 0`)

		ps.stopped("discord", errors.New("the token is not accepted"))
		p.name, p.health = "matrix", bot.Health{}
		time.Sleep(10 * time.Second)
		_, text = m.gets("/metrics")
		has(`platform_connected{platform="matrix"} 0`, `platform_heartbeat_age_seconds{platform="matrix"} 10`, `posts_waiting{age="0s",platform="matrix"} 0`,
			`posts_oldest_seconds{platform="discord"} 90`)
		p.name = "discord"
		_, text = m.gets("/metrics")
		has(`platform_connected{platform="discord"} 0`, `platform_stopped{platform="discord"} 1`)
	})
}

// While the bot does not answer, a few scrapes wait for it, for a while; others are refused at
// once, and the other pages answer.
func TestMetricsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &patient{name: "discord", health: bot.Health{Connected: true}, hangs: make(chan struct{})}
		m, _ := looks(p)
		h := m.handler()
		get := func(path string) (status int, says string) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			return w.Code, w.Body.String()
		}
		began := time.Now()
		for range monitorScrapes {
			go func() {
				if status, says := get("/metrics"); status != 503 || says != "The metrics cannot be read in time.\n" || time.Since(began) >= monitorWrite {
					t.Errorf("a scrape that waits: %d %q after %v", status, says, time.Since(began))
				}
			}()
		}
		synctest.Wait()
		if status, says := get("/metrics"); status != 503 || says != "Others are reading the metrics. Try again later.\n" || time.Since(began) > 0 {
			t.Errorf("one scrape more: %d %q after %v", status, says, time.Since(began))
		}
		if status, says := get("/healthz"); status != 200 {
			t.Errorf("/healthz: %d %q", status, says)
		}
		time.Sleep(monitorWrite)
		close(p.hangs)
		synctest.Wait()
		if status, says := get("/metrics"); status != 200 {
			t.Errorf("once the bot answers again: %d %q", status, says)
		}
	})
}

// An address that is taken is reported in one line.
func TestMetricsAddressTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	t.Setenv("HALFPOINT_METRICS", taken.Addr().String())
	if status, says := halfpoint("--listen", "127.0.0.1:0", "--database", filepath.Join(t.TempDir(), "taken.db")); status != 1 ||
		!strings.HasPrefix(says, "halfpoint: metrics: listen tcp "+taken.Addr().String()) {
		t.Errorf("a taken address: %d %s", status, says)
	}
}

func BenchmarkScrape(b *testing.B) {
	m, _ := looks(&patient{name: "discord", health: bot.Health{Connected: true}})
	for b.Loop() {
		if status, says := m.gets("/metrics"); status != 200 {
			b.Fatal(says)
		}
	}
}
