package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed returns the time since the machine started. Nobody can set it. It goes on while
// the machine sleeps, when the clock by which Go measures time stops.
func elapsed() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("read the time since the machine started: " + err.Error()) // every Linux that Go runs on has it
	}
	return time.Duration(t.Nano())
}
