package store

import "os"

// lockFile locks the database itself, whatever its name, or returns ErrInUse. Here
// the lock and those of SQLite ignore each other.
func lockFile(f *os.File) error { return flock(f) }
