package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The elapsed time is that since the machine started, with its sleep, which the kernel
// also tells in a file.
func TestElapsedCountsSleep(t *testing.T) {
	read := func() time.Duration {
		data, err := os.ReadFile("/proc/uptime")
		if err != nil {
			t.Skip(err)
		}
		first, _, _ := strings.Cut(string(data), " ")
		seconds, err := strconv.ParseFloat(first, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(seconds * float64(time.Second))
	}
	before := read()
	e := elapsed()
	const rounded = 20 * time.Millisecond // the file has hundredths
	if after := read(); e < before-rounded || e > after+rounded {
		t.Errorf("elapsed: %v, should be from %v to %v", e, before, after)
	}
}
