package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Restore puts a backup in the place of the database called name, which nobody may have
// open. It keeps what it replaces, in files called kept and kept-wal; kept is empty if there
// was nothing. The backup may also be a database that was kept, with its write-ahead log.
// Restore only reads it, and checks a copy of it first: after an error nothing has changed.
// Killed at any step, it leaves either the old database or the new one.
func Restore(ctx context.Context, name, backup string, now time.Time, progress Progress) (s Summary, kept string, err error) {
	defer func() {
		if !errors.Is(err, ErrInUse) {
			annotate(&err, "restore %s", name)
		}
	}()
	path, release, err := alone(name)
	if err != nil {
		return s, "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := suits(path, backup); err != nil {
		return s, "", fmt.Errorf("%s: %w", backup, err)
	}
	_, log, err := checkLog(backup)
	if err != nil {
		return s, "", fmt.Errorf("%s: %w", backup, err)
	}
	removeParts(path, "")
	copied, err := createPart(path)
	if err != nil {
		return s, "", err
	}
	defer copied.Discard() // if it has not been renamed
	s.File = name
	if err := copied.settleFrom(ctx, backup, log, progress, &s); err != nil {
		return s, "", fmt.Errorf("%s: %w", backup, diskFull(err))
	}
	kept, err = copied.replace(path, now)
	return s, kept, err
}

// alone locks the database called name, which nobody may have open and which need not be
// there, until release.
func alone(name string) (path string, release func() error, err error) {
	if path, err = resolve(name); err != nil {
		return "", nil, err
	}
	unlock, err := lock(path + ".lock")
	if errors.Is(err, ErrInUse) {
		return "", nil, fmt.Errorf("%w %s; stop it first", ErrInUse, name)
	}
	if err != nil {
		return "", nil, fmt.Errorf("create lock file: %w", withoutPath(err))
	}
	opened, err := lockExisting(path)
	if errors.Is(err, ErrInUse) {
		err = fmt.Errorf("%w %s; stop it first", ErrInUse, name)
	}
	if err != nil {
		return "", nil, errors.Join(err, unlock())
	}
	return path, func() error { opened(); return unlock() }, nil
}

// replace puts the part, a complete database, in the place of the one at path, and keeps that.
func (p *Part) replace(path string, now time.Time) (kept string, err error) {
	if err := p.Sync(); err != nil {
		return "", diskFull(withoutPath(err))
	}
	if err := ownedLike(p.Name(), path); err != nil {
		return "", fmt.Errorf("give the copy to the owner of the database: %w", withoutPath(err))
	}
	p.Close() // Windows renames no open file
	return exchange(path, p.Name(), now)
}

// exchange puts a new database in the place of the one at path, and keeps that one.
func exchange(path, with string, now time.Time) (kept string, err error) {
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
	for _, suffix := range []string{logSuffix, ""} { // a kept database has its log whenever it is there
		passed("keep the old " + suffix)
		switch err := keep(path+suffix, kept+suffix); {
		case err == nil:
			found = true
		case !errors.Is(err, fs.ErrNotExist):
			return kept, fmt.Errorf("keep %s: %w", path+suffix, withoutPath(err))
		}
	}
	passed("sync what is kept")
	if err := syncFolder(path); err != nil {
		return kept, err
	}
	// From here on the new database is there, and its mark says that a log beside it
	// belongs to the old one.
	passed("rename")
	if err := os.Rename(with, path); err != nil {
		return kept, withoutPath(err)
	}
	replaced = true
	if !found {
		kept = ""
	}
	passed("sync the name")
	if err := syncFolder(path); err != nil {
		return kept, err
	}
	passed("remove the log")
	if err := removeSidecars(path); err != nil {
		return kept, fmt.Errorf("remove the old write-ahead log: %w", withoutPath(err))
	}
	passed("done")
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
	head, size, err := readHeader(backup)
	if err != nil {
		return err
	}
	if !isDatabase(head) {
		return fmt.Errorf("%w; halfpoint import reads an export", ErrUnreadable)
	}
	return cutOff(head, size)
}

// settleFrom copies a database with its log into the part, and returns when that is
// whole, checked, and marked as replacing another database.
func (p *Part) settleFrom(ctx context.Context, from string, log *logHead, progress Progress, s *Summary) error {
	name := p.Name()
	for _, suffix := range []string{"", logSuffix} {
		if err := copyFile(from+suffix, name+suffix, progress); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return withoutPath(err)
		}
	}
	return settle(ctx, name, progress, s, func(db *sql.DB) error {
		if log != nil {
			if err := log.complete(ctx, db, from, name); err != nil {
				return err
			}
		}
		return setMark(ctx, db, replacing)
	})
}

// freeName returns name, or name with a number if there is such a file or its log.
func freeName(name string) (string, error) {
	for n := 1; ; n++ {
		free := name
		if n > 1 {
			free = fmt.Sprintf("%s-%d", name, n)
		}
		_, err := os.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = os.Lstat(free + logSuffix)
		}
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
	if err := copyFile(from, to, nil); err != nil {
		return err
	}
	return syncFile(to)
}

// copyFile copies a file, so that only its owner may read the copy.
func copyFile(from, to string, progress Progress) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for done := int64(0); err == nil; {
		progress.at("copying", int(done), int(info.Size()))
		var n int64
		n, err = io.CopyN(out, in, 16<<20)
		done += n
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
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
