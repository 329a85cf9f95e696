package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed returns the time since the machine started. Nobody can set it. It runs while
// the machine sleeps; the clock by which Go measures time does not.
func elapsed() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("read the time since the machine started: " + err.Error()) // every Linux that Go runs on has it
	}
	return time.Duration(t.Nano())
}
