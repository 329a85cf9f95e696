//go:build !linux

package store

import "os"

// lockFile does nothing: only the lock file keeps other processes away.
func lockFile(*os.File) error { return nil }
