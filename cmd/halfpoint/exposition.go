package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The text that Prometheus reads, version 0.0.4 of its exposition format. Its own client
// would add 2 MB to the program, most of it for another format, protobuf.

// expositionType is the media type of the text.
const expositionType = "text/plain; version=0.0.4; charset=utf-8"

// A metric is what samples have in common.
type metric struct {
	name, kind, help string // the kind is gauge, counter, histogram or summary
	labels           []string
}

// A scrape holds the samples for one answer, as lines of text.
type scrape map[*metric][]string

// add adds a sample with the values of the labels of its metric.
func (s scrape) add(m *metric, v float64, values ...string) {
	s.line(m, "", m.labels, values, v)
}

// line adds a sample whose name has a suffix, with labels and their values.
func (s scrape) line(m *metric, suffix string, labels, values []string, v float64) {
	var pairs string
	for i, label := range labels {
		pairs += fmt.Sprintf(`,%s="%s"`, label, escapeLabel.Replace(values[i]))
	}
	if pairs != "" {
		pairs = "{" + pairs[1:] + "}"
	}
	s[m] = append(s[m], fmt.Sprintf("%s%s%s %s\n", m.name, suffix, pairs, number(v)))
}

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// write writes the samples, by the names of their metrics.
func (s scrape) write(w io.Writer) error {
	for _, m := range slices.SortedFunc(maps.Keys(s), func(a, b *metric) int { return cmp.Compare(a.name, b.name) }) {
		if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s", m.name, escapeHelp.Replace(m.help), m.name, m.kind, strings.Join(s[m], "")); err != nil {
			return err
		}
	}
	return nil
}

// A histogram counts values. It may be used concurrently.
type histogram struct {
	bounds []float64 // of the buckets, which are ascending

	mu     sync.Mutex
	counts []uint64 // of the values in each bucket; the last one has those above all bounds
	sum    float64
}

func newHistogram(bounds []float64) *histogram {
	return &histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

// observe counts a value, in the first bucket whose bound is not below it.
func (h *histogram) observe(v float64) {
	at, _ := slices.BinarySearch(h.bounds, v)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[at]++
	h.sum += v
}

// collect adds the samples of the histogram.
func (h *histogram) collect(s scrape, m *metric, values ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all uint64
	for i, n := range h.counts {
		all += n
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = number(h.bounds[i])
		}
		s.line(m, "_bucket", slices.Concat(m.labels, []string{"le"}), slices.Concat(values, []string{bound}), float64(all))
	}
	s.line(m, "_sum", m.labels, values, h.sum)
	s.line(m, "_count", m.labels, values, float64(all))
}
