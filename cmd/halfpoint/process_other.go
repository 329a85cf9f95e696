//go:build !linux

package main

import "time"

// processMetrics adds when the process started.
func processMetrics(s scrape, started time.Time) {
	s.add(startTime, float64(started.UnixNano())/1e9)
}
