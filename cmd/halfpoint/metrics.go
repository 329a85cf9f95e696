package main

import (
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

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
// are depends only on the platforms. docs/monitoring.md says what each means.
type metrics struct {
	*prometheus.Registry
	delay             *prometheus.HistogramVec
	commits           prometheus.Histogram
	changes, failures prometheus.Counter
}

func newMetrics(m *monitor) *metrics {
	ms := &metrics{
		Registry: prometheus.NewRegistry(),
		delay: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "halfpoint_board_delay_seconds", Buckets: delays,
			Help: "Delay in seconds between an event of a game, such as a turn, and its board being shown, by platform.",
		}, []string{"platform"}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "halfpoint_commit_duration_seconds", Buckets: commits,
			Help: "Time in seconds that a commit of the database took. A commit stores one or more changes.",
		}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "halfpoint_commit_changes_total", Help: "Changes that were made in commits, including refused ones.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "halfpoint_commit_failures_total", Help: "Commits that failed because of the database, its file or its disk.",
		}),
	}
	info, _ := debug.ReadBuildInfo()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "halfpoint_build_info", Help: "1, with the version, the commit and the version of Go of the program.",
		ConstLabels: prometheus.Labels{"version": version(), "commit": commit(info), "goversion": runtime.Version()},
	})
	build.Set(1)
	ms.MustRegister(ms.delay, ms.commits, ms.changes, ms.failures, build, live{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return ms
}

// shown counts a board that was shown some time after its event.
func (ms *metrics) shown(platform string, after time.Duration) {
	ms.delay.WithLabelValues(platform).Observe(after.Seconds())
}

// committed counts a commit; see [store.Store.Watch].
func (ms *metrics) committed(changes int, took time.Duration, failed error) {
	ms.commits.Observe(took.Seconds())
	ms.changes.Add(float64(changes))
	if failed != nil {
		ms.failures.Inc()
	}
}

// Metrics that are read when Prometheus asks, from memory.
var (
	connectedDesc = desc("platform_connected", "Whether the platform is connected: 1 or 0.", "platform")
	stoppedDesc   = desc("platform_stopped", "Whether the platform has stopped for good and needs somebody to look after it: 1 or 0.", "platform")
	eventDesc     = desc("platform_event_age_seconds", "Seconds since people last did something on the platform that the bot read; since the start if they have not.", "platform")
	heartbeatDesc = desc("platform_heartbeat_age_seconds", "Seconds since the platform last answered a heartbeat, a probe or a sync; since the start if it has not. The local room has none.", "platform")
	waitingDesc   = desc("posts_waiting", "Posts that wait to be shown and are at least as old as age, and younger than the next age.", "platform", "age")
	oldestDesc    = desc("posts_oldest_seconds", "Age in seconds of the oldest post that waits to be shown; 0 if none does.", "platform")
	requestsDesc  = desc("requests_total", "Requests of people, by platform.", "platform")
	refusedDesc   = desc("requests_refused_total", "Requests that were refused, by platform and reason.", "platform", "reason")
	busyDesc      = desc("loop_busy_seconds", "Seconds for which a main loop has been at the same piece of work; 0 if it waits for some.", "loop")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("halfpoint_"+name, help, labels, nil)
}

// live collects them.
type live struct{ *monitor }

// Describe lists the metrics.
func (live) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{connectedDesc, stoppedDesc, eventDesc, heartbeatDesc, waitingDesc, oldestDesc, requestsDesc, refusedDesc, busyDesc} {
		to <- d
	}
}

// Collect reads the metrics.
func (l live) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	w := l.watched.Load()
	if w == nil { // not running yet
		return
	}
	counts, waits := w.bot.Counts(), w.bot.Waits(ages)
	refusals := counts.Refused
	failed := l.platforms.reasons()
	for _, a := range w.adapters {
		name := a.Name()
		_, over := failed[name]
		gauge(stoppedDesc, number(over), name)
		count(requestsDesc, counts.Requests[name], name)
		for _, reason := range bot.RefusalReasons { // from the start, so that the first one is an increase
			one := bot.Refusal{Platform: name, Reason: reason}
			if _, counted := refusals[one]; !counted {
				refusals[one] = 0
			}
		}
		if _, some := waits[name]; !some {
			for _, age := range ageNames {
				gauge(waitingDesc, 0, name, age)
			}
			gauge(oldestDesc, 0, name)
		}
		h, ok := health(a)
		if !ok {
			continue
		}
		gauge(connectedDesc, number(h.Connected && !over), name)
		gauge(eventDesc, l.since(h.Event), name)
		if !h.Heartbeat.IsZero() || !h.Connected {
			gauge(heartbeatDesc, l.since(h.Heartbeat), name)
		}
		for reason, n := range h.Refused {
			refusals[bot.Refusal{Platform: name, Reason: reason}] += n
		}
	}
	for refusal, n := range refusals {
		count(refusedDesc, n, refusal.Platform, refusal.Reason)
	}
	for _, platform := range slices.Sorted(maps.Keys(waits)) { // also one that is no longer configured
		for i, n := range waits[platform].ByAge {
			gauge(waitingDesc, float64(n), platform, ageNames[i])
		}
		gauge(oldestDesc, waits[platform].Oldest.Seconds(), platform)
	}
	for loop, at := range w.bot.Busy() {
		gauge(busyDesc, at.Seconds(), loop)
	}
}

// since returns the seconds since a time, or since the start.
func (m *monitor) since(t time.Time) float64 {
	if t.IsZero() {
		t = m.started
	}
	return max(0, time.Since(t).Seconds())
}

func number(is bool) float64 { return map[bool]float64{true: 1}[is] }

func health(a bot.Adapter) (bot.Health, bool) {
	w, ok := a.(bot.Watched)
	if !ok {
		return bot.Health{}, false
	}
	return w.Health(), true
}
