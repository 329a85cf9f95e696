package main

import (
	"math"
	"regexp"
	runtimemetrics "runtime/metrics"
	"slices"
	"strings"
	"testing"
)

// Prometheus can read whatever is in a label or an explanation. A value that is the bound of a
// bucket is in it.
func TestExposition(t *testing.T) {
	s := scrape{}
	words := &metric{"words", "gauge", "A \\ and a\nline.", []string{"a", "b"}}
	s.add(words, 1.5, `say "hi"`, "C:\\\n")
	s.add(words, math.Inf(1), "", "ö")
	s.add(&metric{"large_total", "counter", "Large.", nil}, 1e21)
	h := newHistogram([]float64{.5, 1, 10})
	for _, v := range []float64{.25, .5, 1, 10, 10.5} {
		h.observe(v)
	}
	h.collect(s, &metric{"seconds", "histogram", "Time.", []string{"of"}}, "x")
	want := `# HELP large_total Large.
# TYPE large_total counter
large_total 1e+21
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{of="x",le="0.5"} 2
seconds_bucket{of="x",le="1"} 3
seconds_bucket{of="x",le="10"} 4
seconds_bucket{of="x",le="+Inf"} 5
seconds_sum{of="x"} 22.25
seconds_count{of="x"} 5
# HELP words A \\ and a\nline.
# TYPE words gauge
words{a="say \"hi\"",b="C:\\\n"} 1.5
words{a="",b="ö"} +Inf
`
	var got strings.Builder
	if err := s.write(&got); err != nil || got.String() != want {
		t.Errorf("%v\n%s", err, got.String())
	}
}

// Each name of a metric stands once, with its explanation and its type before its samples, and
// package runtime/metrics has what the metrics of Go are made of.
func TestMetricNames(t *testing.T) {
	m, _ := looks(&patient{name: "discord"})
	_, text := m.gets("/metrics")
	names := map[string]bool{}
	for block := range strings.SplitSeq(strings.TrimPrefix(text, "# HELP "), "\n# HELP ") {
		name, _, _ := strings.Cut(block, " ")
		if names[name] {
			t.Errorf("%s stands twice", name)
		}
		names[name] = true
		if !regexp.MustCompile(`^` + name + ` [^\n]+\n# TYPE ` + name + ` (gauge|counter|histogram|summary)(\n` + name + `[^\n]* [^ ]+)+\n?$`).MatchString(block) {
			t.Errorf("%s: %q", name, block)
		}
	}
	for _, name := range []string{"go_goroutines", "go_info", "go_gc_duration_seconds", "process_start_time_seconds", "halfpoint_build_info"} {
		if !names[name] {
			t.Errorf("no %s in\n%s", name, text)
		}
	}
	var all []string
	for _, d := range runtimemetrics.All() {
		if d.Kind == runtimemetrics.KindUint64 {
			all = append(all, d.Name)
		}
	}
	for _, named := range goNames {
		for _, name := range named[1:] {
			if !slices.Contains(all, name) {
				t.Errorf("%s: package runtime/metrics has no number %s", named[0], name)
			}
		}
	}
}
