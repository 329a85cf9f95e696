package main

import (
	"os"
	"strconv"
	"syscall"
)

// lowerPriority lets other processes go first, such as the bot of the same database. Linux
// knows the priority of each thread; new threads have that of the one that starts them.
func lowerPriority() {
	const priority = 15
	done := map[int]bool{}
	for more := true; more; {
		more = false
		threads, _ := os.ReadDir("/proc/self/task")
		for _, t := range threads {
			if id, err := strconv.Atoi(t.Name()); err == nil && !done[id] {
				done[id], more = true, true
				syscall.Setpriority(syscall.PRIO_PROCESS, id, priority) // a nicety: errors do not matter
			}
		}
	}
}
