//go:build unix

package matrixtest

import (
	"os"
	"syscall"
)

// lock waits until no other process holds the file.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			if err != nil {
				f.Close()
				return nil, err
			}
			return func() { f.Close() }, nil
		}
	}
}
