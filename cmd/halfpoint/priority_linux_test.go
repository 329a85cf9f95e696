package main

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// What goes first is the bot: all threads of a command run where it leaves a processor idle.
func TestLowerPriority(t *testing.T) {
	if os.Getenv("HALFPOINT_TEST_IDLE") == "" { // in a process of its own
		c := exec.Command(os.Args[0], "-test.run=^TestLowerPriority$")
		c.Env = append(os.Environ(), "HALFPOINT_TEST_IDLE=yes")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	lowerPriority()
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) < 2 {
		t.Fatal(len(threads), err)
	}
	done := make(chan uint32)
	for range 20 { // on any thread
		go func() {
			attr, err := unix.SchedGetAttr(0, 0)
			if err != nil {
				done <- 0
				return
			}
			done <- attr.Policy
		}()
	}
	for range 20 {
		if policy := <-done; policy != unix.SCHED_IDLE {
			t.Fatalf("a thread has the policy %d", policy)
		}
	}
}
