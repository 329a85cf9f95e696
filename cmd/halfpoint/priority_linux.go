package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowerPriority lets other processes go first, such as the bot of the same database: this one
// runs where they leave a processor idle. Linux knows the priority of each thread; new threads
// have that of the one that starts them.
func lowerPriority() {
	idle := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
	done := map[int]bool{}
	for more := true; more; {
		more = false
		threads, _ := os.ReadDir("/proc/self/task")
		for _, t := range threads {
			if id, err := strconv.Atoi(t.Name()); err == nil && !done[id] {
				done[id], more = true, true
				unix.SchedSetAttr(id, &idle, 0) //nolint:errcheck // a nicety
			}
		}
	}
}
