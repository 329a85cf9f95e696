package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// This file holds everything that is specific to SQLite.

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is where goose stores the version of the tables. Its name distinguishes
// our files from those of other programs.
const versionTable = "halfpoint_version"

// readers is the number of reads that can go on during a write. Reads whose cost grows with
// what a person or a room has done, or with the database, have a connection of their own
// and wait for one another.
const readers = 4

// Settings of every connection. FULL makes a commit wait until the disk has it.
// Deleted rows are overwritten, so that the file keeps nothing about people who were
// forgotten. The timeout, in milliseconds, is for other programs that read the file, such
// as a backup; it is shorter than people wait for an answer. A turn changes a few small
// rows in a dozen pages, and pages are written whole: therefore pages have half the usual
// size, and twice as many go into the write-ahead log before it is copied back. An
// existing database keeps its page size. A long read makes the log grow; when it begins
// anew it is cut to the limit, in bytes.
var settings = url.Values{"_pragma": {"page_size(2048)", "wal_autocheckpoint(2000)", logLimit,
	"busy_timeout(1000)", "foreign_keys(1)", "synchronous(FULL)", "secure_delete(1)"}}

const logLimit = "journal_size_limit(8388608)"

// openMemory opens a database in memory. It exists only in its one connection, which
// therefore also reads.
func openMemory(ctx context.Context) (_ *Store, err error) {
	defer annotate(&err, "open database in memory")
	image, err := migratedImage()
	if err != nil {
		return nil, err
	}
	db, err := connect(Memory+"?"+settings.Encode(), 1)
	if err != nil {
		return nil, err
	}
	s := &Store{write: db, read: pool{DB: db}, costly: db}
	if err := raw(ctx, db, func(c sqliteConn) error { return c.Deserialize(image) }); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.changes = startCommitter(db, func() error { return nil }, &s.watcher)
	return s, nil
}

// migratedImage returns the bytes of an empty database with all its tables. The
// migrations take ten times as long as copying their result, and tests open thousands
// of databases in memory, so a process runs the migrations once for all of these.
var migratedImage = sync.OnceValues(func() (image []byte, err error) {
	db, err := connect(Memory+"?"+settings.Encode(), 1)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	ctx := context.Background()
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	err = raw(ctx, db, func(c sqliteConn) (err error) {
		image, err = c.Serialize()
		return err
	})
	return image, err
})

// raw calls f with a connection of the driver.
func raw(ctx context.Context, db *sql.DB, f func(sqliteConn) error) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(c any) error { return f(c.(*preparingConn).sqliteConn) })
}

// openFile opens a database file.
func openFile(ctx context.Context, name string) (_ *Store, err error) {
	s := &Store{}
	defer func() {
		switch {
		case err == nil:
			return
		case errors.Is(err, ErrInUse):
			err = fmt.Errorf("%w %s", ErrInUse, name)
		default:
			err = fmt.Errorf("open %s: %w", name, err)
		}
		err = errors.Join(err, s.Close())
	}()
	path, err := resolve(name)
	if err != nil {
		return nil, err
	}
	if s.unlock, err = lock(path + ".lock"); err != nil {
		return nil, fmt.Errorf("create lock file: %w", withoutPath(err))
	}
	killed, log, err := checkLog(path)
	if err != nil {
		return nil, err
	}
	if err := s.hold(path); err != nil {
		return nil, err
	}
	removeParts(path, "")
	if log != nil {
		if err := try(ctx, path, *log); err != nil {
			return nil, err
		}
	}
	if err := dropReplaced(path); err != nil {
		return nil, err
	}

	current, err := s.openWriter(ctx)
	if err == nil && killed {
		// A session begins without a log: the last connection removes that of the killed
		// process, whose changes are then in the file.
		if err = s.write.Close(); err == nil {
			current, err = s.openWriter(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	var mode string
	if err := s.write.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return nil, err
	}
	if mode != "wal" {
		return nil, errors.New("file system does not support a write-ahead log")
	}
	inFile, err := s.markLog(ctx, s.write)
	if err != nil {
		return nil, fmt.Errorf("mark the write-ahead log: %w", err)
	}
	s.unscrubbed.Store(!inFile)
	if s.anchor, err = s.connect(url.Values{"_query_only": {"1"}}, 1); err != nil {
		return nil, err
	}
	if _, err := inspect(ctx, s.anchor); err != nil { // from now on it keeps the log
		return nil, err
	}
	if !current {
		if err := migrate(ctx, s.write); err != nil {
			return nil, err
		}
	}
	if s.read.DB, err = s.connect(url.Values{"_query_only": {"1"}}, readers); err != nil {
		return nil, err
	}
	if s.costly, err = s.connect(url.Values{"_query_only": {"1"}}, 1); err != nil {
		return nil, err
	}
	s.changes = startCommitter(s.write, s.inPlace, &s.watcher)
	return s, nil
}

// openWriter opens the connection that writes, if the file is ours, and reports whether
// the tables are up to date.
func (s *Store) openWriter(ctx context.Context) (current bool, err error) {
	if s.write, err = s.connect(url.Values{"_txlock": {"immediate"}}, 1); err != nil {
		return false, err
	}
	return inspect(ctx, s.write)
}

// scrub empties the write-ahead log, which holds pages from before data was erased. That
// is impossible during a read: then the next round of pruning does it.
func (s *Store) scrub(ctx context.Context) error {
	if s.path == "" {
		return nil
	}
	s.unscrubbed.Store(true)
	db, err := s.connect(nil, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	var busy, pages, copied int
	if err := db.QueryRowContext(ctx, truncate).Scan(&busy, &pages, &copied); err != nil {
		return fmt.Errorf("empty the write-ahead log: %w", err)
	}
	s.unscrubbed.Store(busy != 0)
	return nil
}

const truncate = "PRAGMA wal_checkpoint(TRUNCATE)"

// resolve returns the real path of a file, so that two names of one file share one lock.
// The file need not exist; its directory must.
func resolve(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return "", errors.New("is a directory")
	case err == nil:
		path, err = filepath.EvalSymlinks(path)
		return path, withoutPath(err)
	case !errors.Is(err, fs.ErrNotExist):
		return "", withoutPath(err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("directory: %w", withoutPath(err))
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// hold opens the file, creating it if necessary, and keeps it open, so that its identity
// stays known. Where the system allows, hold locks the file, so that neither a hard link
// nor a removed lock file lets another process in. The file stays open until SQLite is
// done with it, because closing it releases SQLite's own locks on it.
//
// The file must begin like a database. hold makes it readable only by its owner, because
// it holds people's names and the bot's keys.
func (s *Store) hold(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return withoutPath(err)
	}
	s.path, s.file = path, f
	if err := lockFile(f); err != nil {
		return withoutPath(err)
	}
	if i, err := f.Stat(); err == nil && i.Mode().Perm()&0o077 != 0 { // for example a restored copy
		if err := f.Chmod(i.Mode().Perm() &^ 0o077); err != nil {
			return fmt.Errorf("restrict permissions to the owner: %w", withoutPath(err))
		}
	}
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	switch n, err := io.ReadFull(f, head); {
	case errors.Is(err, io.EOF): // empty
		return nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return withoutPath(err)
	case string(head[:n]) != magic:
		return ErrUnreadable
	}
	return nil
}

// inPlace returns ErrMoved if the path no longer leads to the open file: SQLite would go
// on writing to a file that nobody will ever read.
func (s *Store) inPlace() error {
	ours, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	there, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	if !os.SameFile(ours, there) {
		return fmt.Errorf("%w: %s is another file", ErrMoved, s.path)
	}
	return nil
}

// withoutPath removes the path from err, for messages that contain it already.
func withoutPath(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// fileAddress returns the driver's name for a file.
func fileAddress(path string, with url.Values) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + with.Encode()
}

// connect returns a pool of at most n connections to the file. They never create a file,
// and all use the same one.
func (s *Store) connect(with url.Values, n int) (*sql.DB, error) {
	all := url.Values{"mode": {"rw"}}
	maps.Copy(all, settings)
	maps.Copy(all, with)
	return connect(fileAddress(s.path, all), n, s.inPlace)
}

// connect returns a pool of at most n connections, which stay open. All checks must
// succeed before each connection.
func connect(address string, n int, checks ...func() error) (*sql.DB, error) {
	db, err := openPrepared(address, checks...)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// Look opens a database only for reading, even while another process uses it. If there
// is no such file, the database is empty. The caller closes it. On PostgreSQL path is the
// address of a database.
func Look(path string) (*sql.DB, error) {
	if IsPostgres(path) {
		return pgPool{answer: pgAnswer, conns: 1, standby: true}.open(path)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return connect(Memory, 1)
	}
	return connect(fileAddress(path, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(1000)"}}), 1)
}

// inspect checks, before anything is written, that the database is empty or ours, and not
// from a newer version. It reports whether it has all migrations.
func inspect(ctx context.Context, db *sql.DB) (current bool, err error) {
	_, current, err = inspected(ctx, db)
	return current, err
}

// inspected is inspect, and returns the number of tables as well.
func inspected(ctx context.Context, db *sql.DB) (tables int, current bool, err error) {
	var ours int
	err = db.QueryRowContext(ctx, "SELECT COUNT(*), COUNT(CASE WHEN name = $1 THEN 1 END) FROM "+tablesOf(onPostgres(db))+" AS t", versionTable).Scan(&tables, &ours)
	if err != nil {
		return 0, false, unreadable(err)
	}
	if tables == 0 {
		return 0, false, nil
	}
	if ours == 0 {
		return 0, false, fmt.Errorf("%w, but another program's", ErrUnreadable)
	}
	var has sql.NullInt64
	err = db.QueryRowContext(ctx, "SELECT MAX(version_id) FROM "+versionTable).Scan(&has)
	if err != nil {
		return 0, false, unreadable(err)
	}
	known, err := newestMigration()
	if err != nil {
		return 0, false, err
	}
	if has.Int64 > known {
		return 0, false, fmt.Errorf("%w: schema version %d, this program knows %d", ErrNewer, has.Int64, known)
	}
	return tables, has.Int64 == known, nil
}

// tablesOf returns a query, in parentheses, for the names of the tables of a database.
func tablesOf(postgres bool) string {
	if postgres {
		return "(SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema())"
	}
	return "(SELECT name FROM sqlite_schema WHERE type = 'table')"
}

// newestMigration returns the version after the last migration.
func newestMigration() (int64, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql") // in order
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(names[len(names)-1])
}

// unreadable marks err with ErrUnreadable if it is about what the file holds. If there is no
// room for the log's index, it says so, because SQLite does not.
func unreadable(err error) error {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		if e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
			return fmt.Errorf("database or disk is full: %w", err)
		}
	}
	return err
}

// violates reports whether err means that a row refers to one that does not exist.
func violates(err error) bool {
	e := (*sqlite.Error)(nil)
	return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY || code(err) == "23503"
}

// migrate brings the tables up to date.
func migrate(ctx context.Context, db *sql.DB) error {
	provider, err := migrator(db)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the tables: %w", err)
	}
	return nil
}

func migrator(db *sql.DB) (*goose.Provider, error) {
	dialect, files, err := dialectOf(db)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(dialect, db, files,
		goose.WithTableName(versionTable), goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
}
