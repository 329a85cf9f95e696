package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// delays are the buckets for the delays of boards, in seconds. More than a minute is late.
var delays = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600}

// metrics answers Prometheus at an address, if there is one, and at /readyz says whether the
// program is ready, until close is called. The caller reports each board that was shown.
func metrics(address string, ready http.Handler) (shown func(platform string, after time.Duration), close func(), err error) {
	if address == "" {
		return nil, func() {}, nil
	}
	line, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("metrics: %w", err)
	}
	all, delay := prometheus.NewRegistry(), prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "halfpoint_board_delay_seconds", Buckets: delays,
		Help: "Delay in seconds between an event of a game, such as a turn, and its board being shown, by platform.",
	}, []string{"platform"})
	all.MustRegister(delay, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	paths := http.NewServeMux()
	paths.Handle("GET /metrics", promhttp.HandlerFor(all, promhttp.HandlerOpts{}))
	paths.Handle("GET /readyz", ready)
	server := &http.Server{Handler: paths, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(line) //nolint:errcheck // it ends when it is closed
	return func(platform string, after time.Duration) {
		delay.WithLabelValues(platform).Observe(after.Seconds())
	}, func() { server.Close() }, nil
}
