//go:build unix

package store

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

// lock locks the lock file at path and returns the function that releases it, or
// ErrInUse. The lock is the kernel's (flock) and ends with the process, even a killed
// one, so a lock file that was left behind does no harm.
//
// The lock does not work on network file systems, where SQLite's log does not work
// either. On some systems it conflicts with SQLite's own locks (fcntl), so the database
// itself cannot be locked there; see lockFile.
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
			return sync.OnceValue(func() error {
				if !same(f, path) { // somebody removed it; another may be somebody else's
					return unlockFile(f)
				}
				return errors.Join(os.Remove(path), unlockFile(f))
			}), nil
		}
		f.Close() // its last holder removed it meanwhile: try the new one
	}
}

// inUse reports whether a process has the database at path open.
func inUse(path string) bool {
	f, err := os.OpenFile(path+".lock", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f), ErrInUse)
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

// unlockFile closes f, which may be locked. Closing alone would not unlock it while a
// program that is just being started still holds a copy of it.
func unlockFile(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
