package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// part ends the name of a backup that is being written.
const part = ".part"

// Backup writes a copy of the database to a new file, which Open can open. The copy
// holds what was stored at one moment, and Backup has checked it when it returns. Writes
// go on meanwhile, except in a store in memory. After an error there is no file.
//
// Only one process at a time can use a database, so to export that of a running program,
// run "halfpoint export" on a backup.
func (s *Store) Backup(ctx context.Context, name string) (err error) {
	defer annotate(&err, "back up to %s", name)
	path, err := resolve(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return errors.New("file already exists")
	}
	// The file gets its name when it is complete on the disk. Only its owner may read
	// it, as with the database.
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+part)
	if err != nil {
		return withoutPath(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	db := s.write
	if s.path != "" { // so that writes go on; the reading connections may not write anywhere
		if db, err = s.connect(nil, 1); err != nil {
			return err
		}
		defer db.Close()
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO $1", f.Name()); err != nil {
		return err
	}
	if err := errors.Join(withoutPath(f.Sync()), withoutPath(f.Close())); err != nil {
		return err
	}
	if err := verify(ctx, f.Name()); err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(path)
}

// verify checks that a file is a complete database that this program can use.
func verify(ctx context.Context, path string) error {
	db, err := connect(fileAddress(path, url.Values{"mode": {"rw"}}), 1) // with ro SQLite checks less
	if err != nil {
		return err
	}
	defer db.Close()
	if err := intact(ctx, db, "PRAGMA quick_check(1)"); err != nil {
		return err
	}
	switch current, err := inspect(ctx, db); {
	case err != nil:
		return err
	case !current:
		return fmt.Errorf("%w: tables are missing", ErrUnreadable)
	}
	return nil
}

// intact returns an ErrUnreadable if a check of SQLite's finds a database damaged.
func intact(ctx context.Context, db *sql.DB, check string) error {
	var says string
	if err := db.QueryRowContext(ctx, check).Scan(&says); err != nil {
		return unreadable(err)
	}
	if says != "ok" {
		return fmt.Errorf("%w: %s", ErrUnreadable, strings.Join(strings.Fields(says), " "))
	}
	return nil
}

// removeParts removes the unfinished files of backups and restores that were killed, and
// the logs beside those. Errors are ignored.
func removeParts(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		n := e.Name()
		name := n
		for _, suffix := range sidecars {
			name = strings.TrimSuffix(name, suffix)
		}
		if strings.HasPrefix(name, filepath.Base(path)+".") && strings.HasSuffix(name, part) && e.Type().IsRegular() {
			os.Remove(filepath.Join(filepath.Dir(path), n))
		}
	}
}
