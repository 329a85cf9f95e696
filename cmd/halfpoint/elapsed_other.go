//go:build !linux

package main

import "time"

var start = time.Now()

// elapsed returns the time since the program started. Nobody can set it. Where it stops
// while the machine sleeps, the bot follows the clock of the machine later.
func elapsed() time.Duration { return time.Since(start) }
