package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// onRestore, unless it is nil, is called before each step of Restore that changes a file.
// Tests let the process die there.
var onRestore func(step string)

// Restore puts a backup in the place of the database called name, which nobody may have
// open. It keeps what it replaces, in files called kept and kept-wal; kept is empty if there
// was nothing. The backup may also be a database that was kept, with its write-ahead log.
// Restore only reads it, and checks a copy of it first: after an error nothing has changed.
// Killed at any step, it leaves either the old database or the new one.
func Restore(ctx context.Context, name, backup string, now time.Time) (kept string, err error) {
	path, err := resolve(name)
	if err != nil {
		return "", fmt.Errorf("restore %s: %w", name, err)
	}
	unlock, err := lock(path + ".lock")
	if errors.Is(err, ErrInUse) {
		return "", fmt.Errorf("%w %s; stop it first", ErrInUse, name)
	}
	if err != nil {
		return "", fmt.Errorf("create lock file: %w", withoutPath(err))
	}
	defer func() { err = errors.Join(err, unlock()) }()
	defer annotate(&err, "restore %s", name)
	release, err := lockExisting(path)
	if err != nil {
		return "", err
	}
	defer release()
	if err := suits(path, backup); err != nil {
		return "", fmt.Errorf("%s: %w", backup, err)
	}
	_, log, err := checkLog(backup)
	if err != nil {
		return "", fmt.Errorf("%s: %w", backup, err)
	}
	removeParts(path)
	copied, err := settled(ctx, backup, path, log)
	if err != nil {
		return "", fmt.Errorf("%s: %w", backup, err)
	}
	defer os.Remove(copied) // if it has not been renamed
	if err := ownedLike(copied, path); err != nil {
		return "", fmt.Errorf("give the copy to the owner of the database: %w", withoutPath(err))
	}
	return exchange(path, copied, now)
}

// exchange puts a new database in the place of the one at path, and keeps that one.
func exchange(path, with string, now time.Time) (kept string, err error) {
	step := func(name string) {
		if onRestore != nil {
			onRestore(name)
		}
	}
	if kept, err = freeName(path + "." + now.UTC().Format("20060102T150405Z") + ".replaced"); err != nil {
		return "", err
	}
	replaced, found := false, false
	defer func() {
		if !replaced { // nothing was replaced
			os.Remove(kept)
			os.Remove(kept + logSuffix)
		}
	}()
	for _, suffix := range []string{"", logSuffix} {
		step("keep the old " + suffix)
		switch err := keep(path+suffix, kept+suffix); {
		case err == nil:
			found = true
		case !errors.Is(err, fs.ErrNotExist):
			return kept, fmt.Errorf("keep %s: %w", path+suffix, withoutPath(err))
		}
	}
	step("sync what is kept")
	if err := syncFolder(path); err != nil {
		return kept, err
	}
	// From here on the new database is there, and its mark says that a log beside it
	// belongs to the old one.
	step("rename")
	if err := os.Rename(with, path); err != nil {
		return kept, withoutPath(err)
	}
	replaced = true
	if !found {
		kept = ""
	}
	step("sync the name")
	if err := syncFolder(path); err != nil {
		return kept, err
	}
	step("remove the log")
	if err := removeSidecars(path); err != nil {
		return kept, fmt.Errorf("remove the old write-ahead log: %w", withoutPath(err))
	}
	step("done")
	return kept, nil
}

// suits returns an error that tells why a file can be no backup of the database at path.
func suits(path, backup string) error {
	info, err := os.Stat(backup)
	switch {
	case err != nil:
		return withoutPath(err)
	case info.IsDir():
		return errors.New("is a directory; name the file of the backup")
	case !info.Mode().IsRegular():
		return errors.New("is not a file")
	case info.Size() == 0:
		return errors.New("is empty")
	}
	if there, err := os.Stat(path); err == nil && os.SameFile(info, there) {
		return errors.New("is the database itself; name a backup of it")
	}
	switch head, _, err := readHeader(backup); {
	case err != nil:
		return err
	case !isDatabase(head):
		return fmt.Errorf("%w; halfpoint import reads an export", ErrUnreadable)
	}
	return nil
}

// settled copies a database with its log to a file beside the one at path, and returns the
// name of the copy when it is whole, checked, marked as replacing another one, and on the
// disk.
func settled(ctx context.Context, from, path string, log *logHead) (_ string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+part)
	if err != nil {
		return "", withoutPath(err)
	}
	f.Close()
	name := f.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(name))
		}
		removeSidecars(name) //nolint:errcheck // nothing is left but after an error
	}()
	for _, suffix := range []string{"", logSuffix} {
		if err := copyFile(from+suffix, name+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", withoutPath(err)
		}
	}
	db, err := connect(fileAddress(name, url.Values{"mode": {"rw"}, "_pragma": {"synchronous(FULL)", "secure_delete(1)"}}), 1)
	if err != nil {
		return "", err
	}
	defer db.Close()
	if err := intact(ctx, db, "PRAGMA integrity_check(1)"); err != nil {
		return "", err
	}
	if err := intact(ctx, db, "SELECT COALESCE((SELECT 'a row of ' || \"table\" || ' refers to nothing' FROM pragma_foreign_key_check LIMIT 1), 'ok')"); err != nil {
		return "", err
	}
	if log != nil {
		if err := log.complete(ctx, db, from, name); err != nil {
			return "", err
		}
	}
	switch tables, _, err := inspected(ctx, db); {
	case err != nil:
		return "", err
	case tables == 0:
		return "", errors.New("is a database without tables")
	}
	// A file that uses no log is one file, and is known by that.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = DELETE"); err != nil {
		return "", err
	}
	if err := setMark(ctx, db, replacing); err != nil {
		return "", err
	}
	if err := db.Close(); err != nil {
		return "", err
	}
	return name, syncFile(name)
}

// freeName returns name, or name with a number if there is such a file.
func freeName(name string) (string, error) {
	for n := 1; ; n++ {
		free := name
		if n > 1 {
			free = fmt.Sprintf("%s-%d", name, n)
		}
		_, err := os.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		if err != nil {
			return "", withoutPath(err)
		}
	}
}

// keep gives a file a second name, or copies it where the file system knows no such names.
func keep(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := copyFile(from, to); err != nil {
		return err
	}
	return syncFile(to)
}

// copyFile copies a file, so that only its owner may read the copy.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// syncFile waits until the disk has a file.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
