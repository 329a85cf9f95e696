//go:build unix

package store

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

// lock takes the lock file at path, or gives ErrInUse, and gives what releases
// it. The lock is the kernel's (flock) and ends with the process, killed or not;
// a file that a killed process left behind holds nobody up.
//
// It is not a lock on the database itself, because SQLite uses POSIX locks there
// and on some systems the two kinds exclude each other. It does not reach over
// network file systems, on which SQLite's log does not work either.
func lock(path string) (unlock func() error, err error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := flock(f); err != nil {
			f.Close()
			return nil, err
		}
		if same(f, path) {
			return sync.OnceValue(func() error { return errors.Join(os.Remove(path), f.Close()) }), nil
		}
		f.Close() // its last holder removed it while we waited at the door: try the new one
	}
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrInUse
		default:
			return err
		}
	}
}

// same reports whether f is still the file at path.
func same(f *os.File, path string) bool {
	ours, err1 := f.Stat()
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
}
