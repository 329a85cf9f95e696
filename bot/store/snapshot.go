package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
)

// snapshot opens a database as it is at this moment, with the tables of this version. It
// keeps no lock that a process which uses the database would notice, and changes nothing.
// Such a process goes on writing, and a long read would make its log grow: so
// snapshot reads a copy beside the database, which is gone when the process ends, however
// that happens. (Windows keeps it until release.) It reads a backup in its place. The
// caller calls release at the end. The pool has one connection.
func snapshot(ctx context.Context, path string, progress Progress) (db *sql.DB, release func(), err error) {
	alone, err := singleFile(path)
	if err != nil {
		return nil, nil, err
	}
	if alone {
		db, err := connect(fileAddress(path, url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(1000)"}}), 1)
		if err != nil {
			return nil, nil, err
		}
		current, err := inspect(ctx, db)
		if err == nil && current {
			return db, func() { db.Close() }, nil
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return nil, nil, err
		}
	}
	removeParts(path, "")
	for {
		p, err := createPart(path)
		if err != nil {
			return nil, nil, fmt.Errorf("a copy beside it is needed for a while: %w", err)
		}
		p.nameless = true
		db, err := p.snapshot(ctx, path, progress)
		if err == nil {
			return db, func() { db.Close(); p.Discard() }, nil
		}
		p.Discard()
		if errors.Is(err, errFull) {
			err = fmt.Errorf("%w, so that there is no room for a copy beside it; make a backup on another disk, and use that", err)
		}
		if !errors.Is(err, errAwake) {
			return nil, nil, err
		}
	}
}

// errAwake means that a process began to use a database while it was read as one at rest.
var errAwake = errors.New("another program has begun to use the database")

// look opens a database for reading. SQLite would leave an empty log beside one that no process
// uses: for a nameless copy look opens that as if it were on a read-only disk, and still then
// reports whether it has not changed.
func (p *Part) look(path string, log bool) (still func() bool, db *sql.DB, err error) {
	was, err := os.Stat(path)
	if err != nil {
		return nil, nil, withoutPath(err)
	}
	if !p.nameless || log || inUse(path) {
		db, err = Look(path)
		return func() bool { return true }, db, err
	}
	db, err = connect(fileAddress(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}), 1)
	return func() bool {
		is, err := os.Stat(path)
		_, none := os.Lstat(path + logSuffix)
		return err == nil && none != nil && !inUse(path) && os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
	}, db, err
}

// snapshot copies a database, and opens the copy with the tables of this version.
func (p *Part) snapshot(ctx context.Context, path string, progress Progress) (_ *sql.DB, err error) {
	if err := p.copyDatabase(ctx, path, progress); err != nil {
		if p.conn != nil {
			p.conn.Close()
		}
		return nil, err
	}
	// The copy has no log. Its first page, which says otherwise, must be read again.
	if _, err := p.WriteAt([]byte{1, 1}, readModeAt-1); err != nil {
		p.conn.Close()
		return nil, withoutPath(err)
	}
	db := sql.OpenDB(&oneConn{c: &preparingConn{sqliteConn: p.conn.(sqliteConn), free: map[string]preparedStmt{}}})
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if _, err := db.ExecContext(ctx, "PRAGMA shrink_memory"); err != nil {
		return nil, err
	}
	tables, current, err := inspected(ctx, db)
	switch {
	case err != nil:
		return nil, err
	case tables == 0:
		return nil, errors.New("is a database without tables")
	case !current:
		if err := migrate(ctx, db); err != nil {
			return nil, unreadable(err)
		}
	}
	_, err = db.ExecContext(ctx, "PRAGMA query_only = 1")
	return db, err
}

// singleFile reports whether a database is one file without a log, as backups are.
func singleFile(path string) (bool, error) {
	head, size, err := readHeader(path)
	switch {
	case err != nil:
		return false, err
	case size == 0:
		return false, errors.New("is empty")
	case !isDatabase(head):
		return false, ErrUnreadable
	}
	for _, suffix := range sidecars {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
	}
	if err := cutOff(head, size); err != nil {
		return false, err
	}
	// One that was restored and not yet opened may be opened at any moment.
	return head[readModeAt] != usesLog && binary.BigEndian.Uint32(head[markAt:]) != replacing, nil
}

// oneConn connects to a connection that is there already.
type oneConn struct{ c driver.Conn }

// Connect returns the connection, once.
func (o *oneConn) Connect(context.Context) (driver.Conn, error) {
	c := o.c
	if o.c = nil; c == nil {
		return nil, errors.New("the connection to the copy has ended")
	}
	return c, nil
}

// Driver returns nil; nobody asks.
func (o *oneConn) Driver() driver.Driver { return nil }
