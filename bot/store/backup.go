package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A Progress is told how far long work is: what is being done, and how much of all of
// it. all is 0 if nobody knows. It may be nil.
type Progress func(what string, done, all int)

func (p Progress) at(what string, done, all int) {
	if p != nil {
		p(what, done, all)
	}
}

// A Summary describes a file that is complete.
type Summary struct {
	File    string
	Bytes   int64
	Games   int
	Last    time.Time // of the last event of a game; zero: there is none
	Version int64     // of the tables, or of the form of an export
	Damage  []Damage  // in what was imported; nobody has looked for damage in other files
}

// count looks into a database of any version for what it holds.
func (s *Summary) count(ctx context.Context, db reader) error {
	var last int64
	err := db.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(MAX(changed), 0) FROM game").Scan(&s.Games, &last)
	s.Last = timed(last)
	return err
}

// Backup writes a copy of the database called name to a new file, which Restore and Open
// take. If target is a directory, the file gets a name in it that tells the time now.
// Another process may have the database open: Backup keeps no lock, changes no table,
// and never makes others wait. (In the process that has it open, Backup would release
// SQLite's locks against other processes.) The copy holds what was stored at one moment, has been
// checked, and is on the disk when Backup returns. After an error, and if the process
// dies, there is no file.
func Backup(ctx context.Context, name, target string, now time.Time, progress Progress) (s Summary, err error) {
	defer annotate(&err, "back up to %s", target)
	path, err := existing(name)
	if err != nil {
		return s, err
	}
	free := func() (string, error) { return target, nil }
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		removeParts(filepath.Join(target, filepath.Base(path)), backupSuffix)
		free = func() (string, error) { return freeName(filepath.Join(target, backupName(path, now))) }
	} else if strings.HasSuffix(filepath.ToSlash(target), "/") {
		return s, errors.New("no such directory")
	}
	for {
		s.File, err = free()
		if err != nil {
			return s, err
		}
		to, err := resolve(s.File)
		if err != nil {
			return s, err
		}
		if slices.ContainsFunc([]string{logSuffix, indexSuffix, journalSuffix, ".lock"}, func(suffix string) bool { return to == path+suffix }) {
			return s, errors.New("this name belongs to the database")
		}
		if err := backupTo(ctx, path, to, progress, &s); !errors.Is(err, fs.ErrExist) || s.File == target {
			return s, err
		}
	}
}

func backupTo(ctx context.Context, path, to string, progress Progress, s *Summary) error {
	p, err := Create(to)
	if err != nil {
		return err
	}
	defer p.Discard()
	if err := p.copyDatabase(ctx, path, progress); err != nil {
		return err
	}
	if err := settle(ctx, p.Name(), progress, s, nil); err != nil {
		return fmt.Errorf("check the copy: %w", diskFull(err))
	}
	return p.Publish()
}

// existing returns the real path of a database, which must be there, or the address of one on
// PostgreSQL.
func existing(name string) (string, error) {
	if IsPostgres(name) {
		return name, nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, withoutPath(err))
	case info.IsDir():
		return "", fmt.Errorf("%s: is a directory", name)
	}
	return resolve(name)
}

const (
	backupSuffix = ".backup"
	backupTime   = "20060102T150405Z"
)

// backupName returns the name of a backup of a database that is made now.
func backupName(path string, now time.Time) string {
	return filepath.Base(path) + "." + now.UTC().Format(backupTime) + backupSuffix
}

// RemoveBackups removes the oldest backups of the database called name from a directory,
// as their names tell, so that made and others, n in all, stay. A backup that seems to be
// newer than made is from a time when the clock was ahead: RemoveBackups leaves it alone,
// does not count it, and returns it in ahead.
func RemoveBackups(name, made string, n int) (removed, ahead []string, err error) {
	path, err := existing(name)
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Dir(made)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	var older []string
	for _, e := range slices.Backward(entries) { // the newest first
		rest, ours := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		at, suffix, found := strings.Cut(rest, ".")
		if _, err := time.Parse(backupTime, at); !ours || !found || err != nil || !e.Type().IsRegular() || !isBackupSuffix(suffix) {
			continue
		}
		switch there := filepath.Join(dir, e.Name()); {
		case e.Name() == filepath.Base(made):
		case at > strings.Split(filepath.Base(made)[len(filepath.Base(path))+1:], ".")[0]:
			ahead = append(ahead, there)
		default:
			older = append(older, there)
		}
	}
	for _, there := range older[min(max(n-1, 0), len(older)):] {
		if err := os.Remove(there); err != nil {
			return removed, ahead, err
		}
		removed = append(removed, there)
	}
	return removed, ahead, withoutPath(syncFolder(made))
}

// isBackupSuffix reports whether the name of a backup may end so: "backup", "backup-2".
func isBackupSuffix(s string) bool {
	rest, ok := strings.CutPrefix(s, backupSuffix[1:])
	return ok && strings.Trim(rest, "-0123456789") == ""
}

// How many pages of a database are copied at once, and after how many the disk is to
// have them, because a turn would have to wait for all that the disk does not have.
const (
	pagesAtOnce = 1 << 10
	pagesToSync = 8 << 10
)

// backuper is what the driver's connections can do to copy a database.
type backuper interface {
	NewBackup(to string) (*sqlite.Backup, error)
}

// copyDatabase copies a database, which others may be using, as it is at one moment.
func (p *Part) copyDatabase(ctx context.Context, path string, progress Progress) error {
	head, size, err := readHeader(path)
	switch {
	case err != nil:
		return err
	case size == 0:
		return errors.New("the database is empty")
	case !isDatabase(head):
		return ErrUnreadable
	}
	if err := cutOff(head, size); err != nil && !inUse(path) {
		return err
	}
	there, log, err := checkLog(path)
	if err != nil && !(errors.Is(err, ErrForeignLog) && inUse(path)) { // a process that has it open sees to its log
		return err
	}
	if there && log == nil && head[readModeAt] != usesLog && !inUse(path) {
		return errors.New("somebody interrupted halfpoint restore: run it again")
	}
	had := 0
	var index *os.File
	if log != nil {
		if index, err = os.Open(path + indexSuffix); err == nil {
			// Only after the connection: closing any file of a database releases all locks that this
			// process has on it, and then others could overwrite pages that are still to be copied.
			defer index.Close()
			had, _ = log.indexedIn(index)
		}
	}
	still, db, err := p.look(path, there)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	// While the transaction lasts, the pages are those of its first look.
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return unreadable(err)
	}
	defer c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	var tables int
	if err := c.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return unreadable(err)
	}
	if had > 0 {
		if has, _ := log.indexedIn(index); has > 0 && has < had {
			return foreign(fmt.Sprintf("it had %d pages, and the end is missing from page %d on", had, has+1))
		}
	}
	passed("copy")
	err = c.Raw(func(c any) error { return p.copyPages(ctx, c.(*preparingConn).sqliteConn.(backuper), progress) })
	if !still() {
		return errAwake
	}
	return err
}

func (p *Part) copyPages(ctx context.Context, from backuper, progress Progress) error {
	b, err := from.NewBackup(fileAddress(p.Name(), url.Values{"mode": {"rw"}, "_pragma": {"journal_mode(OFF)", "synchronous(OFF)"}}))
	if err != nil {
		return err
	}
	if p.nameless {
		os.Remove(p.Name()) // where that is impossible, Discard does it
	}
	for copied := 0; ; copied += pagesAtOnce {
		more, err := b.Step(pagesAtOnce)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && copied%pagesToSync == 0 {
			err = withoutPath(p.Sync())
		}
		if err != nil {
			b.Finish() //nolint:errcheck // it repeats the error
			return unreadable(diskFull(err))
		}
		progress.at("copying", b.PageCount()-b.Remaining(), b.PageCount())
		passed("pages")
		switch {
		case more:
		case p.nameless:
			p.conn, err = b.Commit()
			return unreadable(err)
		default:
			return b.Finish()
		}
	}
}

// errFull means that a disk has no room for a file.
var errFull = errors.New("disk is full")

// diskFull returns err, or errFull if that is why.
func diskFull(err error) error {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC) {
		return errFull
	}
	return err
}

// settle checks that a copy is a complete database that this program can use, and makes one
// file of it and its log. Before the latter it calls more, unless that is nil. It stores
// what it found in s.
func settle(ctx context.Context, name string, progress Progress, s *Summary, more func(*sql.DB) error) error {
	db, err := connect(fileAddress(name, url.Values{"mode": {"rw"}, "_pragma": {"synchronous(FULL)", "secure_delete(1)"}}), 1)
	if err != nil {
		return err
	}
	defer db.Close()
	progress.at("checking", 0, 0)
	passed("check")
	if err := intact(ctx, db, "PRAGMA integrity_check(1)"); err != nil {
		return err
	}
	if err := intact(ctx, db, "SELECT COALESCE((SELECT 'a row of ' || \"table\" || ' refers to nothing' FROM pragma_foreign_key_check LIMIT 1), 'ok')"); err != nil {
		return err
	}
	switch tables, _, err := inspected(ctx, db); {
	case err != nil:
		return err
	case tables == 0:
		return errors.New("is a database without tables")
	}
	if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+versionTable).Scan(&s.Version); err != nil {
		return err
	}
	if s.Version == 0 {
		return fmt.Errorf("%w: tables are missing", ErrUnreadable)
	}
	if err := s.count(ctx, db); err != nil {
		return err
	}
	if more != nil {
		if err := more(db); err != nil {
			return err
		}
	}
	// A file that uses no log is one file, and is known by that.
	passed("one file")
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = DELETE"); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return withoutPath(err)
	}
	s.Bytes = info.Size()
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
