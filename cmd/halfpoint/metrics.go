package main

import (
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// Buckets of durations, in seconds. A board that takes more than a minute is late.
var (
	delays  = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600}
	commits = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
)

// ages are the limits by which waiting posts are counted, and ageNames how metrics name the
// age from which on a post belongs to a number.
var (
	ages     = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}
	ageNames = []string{"0s", "10s", "1m", "10m", "1h"}
)

// metrics are what the program counts for Prometheus. They name nobody, and how many there
// are depends only on the platforms. docs/monitoring.md says what each means. They may be
// used concurrently.
type metrics struct {
	build             []string // the values of buildInfo's labels
	commits           *histogram
	changes, failures atomic.Int64

	mu     sync.Mutex
	delays map[string]*histogram // by platform
}

func newMetrics() *metrics {
	info, _ := debug.ReadBuildInfo()
	return &metrics{build: []string{commit(info), runtime.Version(), version()}, commits: newHistogram(commits), delays: map[string]*histogram{}}
}

// shown counts a board that was shown some time after its event.
func (ms *metrics) shown(platform string, after time.Duration) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	h := ms.delays[platform]
	if h == nil {
		h = newHistogram(delays)
		ms.delays[platform] = h
	}
	h.observe(after.Seconds())
}

// committed counts a commit; see [store.Store.Watch].
func (ms *metrics) committed(changes int, took time.Duration, failed error) {
	ms.commits.observe(took.Seconds())
	ms.changes.Add(int64(changes))
	if failed != nil {
		ms.failures.Add(1)
	}
}

var (
	buildInfo         = family("build_info", "gauge", "1, with the version, the commit and the version of Go of the program.", "commit", "goversion", "version")
	boardDelay        = family("board_delay_seconds", "histogram", "Delay in seconds between an event of a game, such as a turn, and its board being shown, by platform.", "platform")
	commitTime        = family("commit_duration_seconds", "histogram", "Time in seconds that a commit of the database took. A commit stores one or more changes.")
	changesMade       = family("commit_changes_total", "counter", "Changes that were made in commits, including refused ones.")
	failures          = family("commit_failures_total", "counter", "Commits that failed because of the database, its file or its disk.")
	platformConnected = family("platform_connected", "gauge", "Whether the platform is connected: 1 or 0.", "platform")
	platformStopped   = family("platform_stopped", "gauge", "Whether the platform has stopped for good and needs somebody to look after it: 1 or 0.", "platform")
	eventAge          = family("platform_event_age_seconds", "gauge", "Seconds since people last did something on the platform that the bot read; since the start if they have not.", "platform")
	heartbeat         = family("platform_heartbeat_age_seconds", "gauge", "Seconds since the platform last answered a heartbeat, a probe or a sync; since the start if it has not. The local room has none.", "platform")
	waiting           = family("posts_waiting", "gauge", "Posts that wait to be shown and are at least as old as age, and younger than the next age.", "age", "platform")
	oldest            = family("posts_oldest_seconds", "gauge", "Age in seconds of the oldest post that waits to be shown; 0 if none does.", "platform")
	requests          = family("requests_total", "counter", "Requests of people, by platform.", "platform")
	refused           = family("requests_refused_total", "counter", "Requests that were refused, by platform and reason.", "platform", "reason")
	unitTerm          = family("unit_term", "gauge", "The term of a unit that several processes share out among them, by the process that holds it; empty: none does.", "process", "unit")
	unitHeld          = family("unit_held", "gauge", "Whether this process holds a unit: 1 or 0.", "unit")
	loopBusy          = family("loop_busy_seconds", "gauge", "Seconds for which a main loop has been at the same piece of work; 0 if it waits for some.", "loop")
)

func family(name, kind, help string, labels ...string) *metric {
	return &metric{"halfpoint_" + name, kind, help, labels}
}

// scrape returns all metrics. It reads memory and what the system says about the process.
func (m *monitor) scrape() scrape {
	s := scrape{}
	m.metrics.collect(s)
	m.collect(s)
	goMetrics(s)
	processMetrics(s, m.started)
	return s
}

// collect adds what was counted.
func (ms *metrics) collect(s scrape) {
	s.add(buildInfo, 1, ms.build...)
	ms.commits.collect(s, commitTime)
	s.add(changesMade, float64(ms.changes.Load()))
	s.add(failures, float64(ms.failures.Load()))
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, platform := range slices.Sorted(maps.Keys(ms.delays)) {
		ms.delays[platform].collect(s, boardDelay, platform)
	}
}

// collect adds how the platforms and the bot are.
func (m *monitor) collect(s scrape) {
	w := m.watched.Load()
	if w == nil { // not running yet
		return
	}
	counts, waits := w.bot.Counts(), w.bot.Waits(ages)
	refusals := counts.Refused
	failed := m.platforms.reasons()
	for _, a := range w.adapters {
		name := a.Name()
		_, over := failed[name]
		s.add(platformStopped, bit(over), name)
		s.add(requests, float64(counts.Requests[name]), name)
		for _, reason := range bot.RefusalReasons { // from the start, so that the first one is an increase
			one := bot.Refusal{Platform: name, Reason: reason}
			if _, counted := refusals[one]; !counted {
				refusals[one] = 0
			}
		}
		if _, some := waits[name]; !some {
			for _, age := range ageNames {
				s.add(waiting, 0, age, name)
			}
			s.add(oldest, 0, name)
		}
		h, ok := health(a)
		if !ok {
			continue
		}
		s.add(platformConnected, bit(h.Connected && !over), name)
		s.add(eventAge, m.since(h.Event), name)
		if !h.Heartbeat.IsZero() || !h.Connected {
			s.add(heartbeat, m.since(h.Heartbeat), name)
		}
		for reason, n := range h.Refused {
			refusals[bot.Refusal{Platform: name, Reason: reason}] += n
		}
	}
	for refusal, n := range refusals {
		s.add(refused, float64(n), refusal.Platform, refusal.Reason)
	}
	for _, platform := range slices.Sorted(maps.Keys(waits)) { // also one that is no longer configured
		for i, n := range waits[platform].ByAge {
			s.add(waiting, float64(n), ageNames[i], platform)
		}
		s.add(oldest, waits[platform].Oldest.Seconds(), platform)
	}
	for loop, at := range w.bot.Busy() {
		s.add(loopBusy, at.Seconds(), loop)
	}
	for _, u := range w.units.Units() {
		process, _, _ := strings.Cut(u.Holder, " ")
		s.add(unitTerm, float64(u.Term), process, u.Name)
		s.add(unitHeld, bit(w.units.Holds(u.Name)), u.Name)
	}
}

// since returns the seconds since a time, or since the start.
func (m *monitor) since(t time.Time) float64 {
	if t.IsZero() {
		t = m.started
	}
	return max(0, time.Since(t).Seconds())
}

func bit(is bool) float64 { return map[bool]float64{true: 1}[is] }

func health(a bot.Adapter) (bot.Health, bool) {
	w, ok := a.(bot.Watched)
	if !ok {
		return bot.Health{}, false
	}
	return w.Health(), true
}
