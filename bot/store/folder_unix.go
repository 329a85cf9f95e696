//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// syncFolder waits until the disk has the names of the files beside path.
func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) { // not every file system can
		return err
	}
	return nil
}

// ownedLike gives a new file to the owner of the database at path, or of its folder if
// there is none: a superuser may put a backup in the place of another user's database.
func ownedLike(file, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Chown(file, int(owner.Uid), int(owner.Gid))
}

// lockExisting locks the database at path as the store does, if there is one.
func lockExisting(path string) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, withoutPath(err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, withoutPath(err)
	}
	return func() { unlockFile(f) }, nil
}
