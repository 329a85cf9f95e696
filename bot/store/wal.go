package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
)

// # The write-ahead log beside a database
//
// SQLite applies whatever log lies beside a database, and nothing in the log names the
// database for which it was written. A log that a killed process left beside a file that
// was replaced since, for example by a backup, would destroy that file. So the store marks
// its file: the mark in the header of the database (its user_version) is the first salt of
// the first log of a session, a session being the time in which the store is open. Before
// anything else is written in a session, the mark is in its log, and also in the file unless
// another program reads there. So a log that begins with the first page has the mark of the
// file on it, unless it is the session's first, which has the mark in its head. checkLog
// looks for that before SQLite opens the file, which refuses the logs of other sessions.
// Whether a log of the session is of a later state than the file, which is then an older
// copy, only the pages of both together can tell: see try.
//
// A backup is not in the mode that uses a log, and never has one of its own.

// ErrForeignLog means that the write-ahead log beside a database is not its own, or not
// whole. Nothing has been changed.
var ErrForeignLog = errors.New("the write-ahead log does not belong to this database")

// The files of a database beside it.
const (
	logSuffix     = "-wal"
	indexSuffix   = "-shm"
	journalSuffix = "-journal"
)

var sidecars = []string{logSuffix, indexSuffix, journalSuffix}

// replacing marks a database that Restore put in the place of another and that has not
// been opened since. A log beside it belongs to the other one, and is kept elsewhere.
const replacing = 0x68707265

// Places in the header of a database.
const (
	headerSize = 100
	readModeAt = 19 // of one byte: 2 if the file uses a log
	markAt     = 60 // of four bytes, also in the first page as a log has it
	usesLog    = 2
)

// A logHead is what the first 32 bytes of a log say.
type logHead struct {
	salt  uint32 // the first of the two
	salts [8]byte
}

// readLogHead reads the head of a log. It reports false if it is not that of a log.
func readLogHead(b []byte) (h logHead, ok bool) {
	const magic, format = 0x377f0682, 3007000
	if len(b) < 32 {
		return h, false
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[i:]) }
	order := binary.ByteOrder(binary.LittleEndian)
	if word(0)&1 != 0 {
		order = binary.BigEndian
	}
	var s0, s1 uint32 // SQLite's checksum
	for i := 0; i < 24; i += 8 {
		s0 += order.Uint32(b[i:]) + s1
		s1 += order.Uint32(b[i+4:]) + s0
	}
	h = logHead{word(16), [8]byte(b[16:24])}
	return h, word(0)&^1 == magic && word(4) == format && s0 == word(24) && s1 == word(28)
}

// checkLog returns an ErrForeignLog, and changes nothing, if the log beside a database
// was not written for the database as it is in the file. Then SQLite must not open it. It
// reports whether a log is there; h is nil if there is nothing in it. A process that was
// killed may leave an empty log, or half a transaction at its end.
//
// The mark alone does not tell whether the file is as old as the log, nor whether a log
// that begins with another page is the file's own: try does. Whether the log has lost
// pages at its end, complete tells.
func checkLog(path string) (there bool, h *logHead, err error) {
	log, err := os.Open(path + logSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	if err != nil {
		return false, nil, fmt.Errorf("write-ahead log: %w", withoutPath(err))
	}
	defer log.Close()
	info, err := log.Stat()
	switch {
	case err != nil:
		return false, nil, fmt.Errorf("write-ahead log: %w", withoutPath(err))
	case !info.Mode().IsRegular():
		return false, nil, foreign("it is not a file")
	case info.Size() <= 32: // not even a head, or nothing after it
		return true, nil, nil
	}
	head, size, err := readHeader(path)
	if err != nil {
		return false, nil, err
	}
	if size == 0 {
		return false, nil, foreign("the database is missing or empty, the log is not")
	}
	if !isDatabase(head) { // a message of its own tells that
		return true, nil, nil
	}
	mark := binary.BigEndian.Uint32(head[markAt:])
	if head[readModeAt] != usesLog {
		if mark == replacing {
			return true, nil, nil // see dropReplaced
		}
		return false, nil, foreign("the database is a copy, and copies have no log")
	}
	start := make([]byte, 32+24+headerSize) // with the beginning of its first page
	n, err := io.ReadFull(log, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil, fmt.Errorf("write-ahead log: %w", withoutPath(err))
	}
	head1, ok := readLogHead(start[:n])
	if !ok {
		return false, nil, foreign("it is damaged")
	}
	// The first log of a session begins with the first page, and the mark from before. Behind the
	// head of a log that was just begun anew are pages of the one before, with other salts.
	if first := start[32:]; head1.salt != mark && n == len(start) && [8]byte(first[8:16]) == head1.salts && binary.BigEndian.Uint32(first) == 1 &&
		binary.BigEndian.Uint32(first[24+markAt:]) != mark {
		return false, nil, foreign(otherState)
	}
	return true, &head1, nil
}

const otherState = "it was written for another database, or for another state of this one"

// foreign returns an ErrForeignLog.
func foreign(why string) error {
	return fmt.Errorf("%w: %s; nothing was changed. To go back to a backup, run halfpoint restore BACKUP", ErrForeignLog, why)
}

// try reads a database together with its log, as SQLite would bring them together, and
// writes to neither: it gives them other names, beside which SQLite makes its index.
func try(ctx context.Context, path string, h logHead) error {
	name, err := freeName(path + ".log" + part)
	if err != nil {
		return err
	}
	defer func() { // what fails here is left to removeParts
		os.Remove(name)
		removeSidecars(name) //nolint:errcheck
	}()
	for _, suffix := range []string{"", logSuffix} {
		if err := keep(path+suffix, name+suffix); err != nil {
			return withoutPath(err)
		}
	}
	db, err := connect(fileAddress(name, url.Values{"mode": {"ro"}}), 1)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = inspect(ctx, db)
	if err == nil {
		err = intact(ctx, db, "PRAGMA integrity_check(1)")
	}
	if errors.Is(err, ErrUnreadable) {
		return foreign(fmt.Sprintf("%s, or the database is damaged: %v", otherState, err))
	}
	if err != nil {
		return err
	}
	return h.complete(ctx, db, path, name)
}

// complete returns an ErrForeignLog if the log beside a database has lost pages at its end,
// or if the database has not all the pages to which the log belongs; db is a copy of both,
// which has been read. A page is in the log on the disk before it is in its index, so the
// index beside the database, if it is still there, says how many pages the log had.
func (h logHead) complete(ctx context.Context, db *sql.DB, path, copied string) error {
	var size int
	if err := db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&size); err != nil {
		return err
	}
	had, _ := h.indexed(path)
	has, pages := h.indexed(copied)
	switch {
	case had > has:
		return foreign(fmt.Sprintf("it had %d pages, and the end is missing from page %d on", had, has+1))
	case has > 0 && size != pages:
		return foreign("the database is older than the log")
	}
	return nil
}

// indexed returns how many pages the log holds, and the database with it, as the index
// beside the database says. It returns 0 if there is no index or it does not know. No
// connection of this process may have the database open: closing the index would release its
// locks.
func (h logHead) indexed(path string) (frames, pages int) {
	f, err := os.Open(path + indexSuffix)
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	return h.indexedIn(f)
}

// indexedIn is indexed for an index that is open.
func (h logHead) indexedIn(f io.ReaderAt) (frames, pages int) {
	b := make([]byte, 2*48) // it is there twice, and the same if nobody was writing it
	if _, err := f.ReadAt(b, 0); err != nil || !bytes.Equal(b[:48], b[48:]) || b[12] != 1 || [8]byte(b[32:40]) != h.salts {
		return 0, 0
	}
	return int(binary.NativeEndian.Uint32(b[16:])), int(binary.NativeEndian.Uint32(b[20:]))
}

// readHeader returns the header of a database and the size of its file; 0: there is none.
func readHeader(path string) (head []byte, size int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, withoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, withoutPath(err)
	}
	head = make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, withoutPath(err)
	}
	return head[:n], info.Size(), nil
}

// cutOff returns an ErrUnreadable if a file without a log is shorter than its header says.
func cutOff(head []byte, size int64) error {
	word := func(i int) int64 { return int64(binary.BigEndian.Uint32(head[i:])) }
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 1 << 16
	}
	if whole := page * word(28); head[readModeAt] != usesLog && word(24) == word(92) && size < whole {
		return fmt.Errorf("%w: it is cut off: of %d bytes it has the first %d", ErrUnreadable, whole, size)
	}
	return nil
}

// isDatabase reports whether a header is that of a database.
func isDatabase(head []byte) bool {
	return len(head) == headerSize && bytes.HasPrefix(head, []byte("SQLite format 3\x00"))
}

// dropReplaced removes the log of a database in whose place a backup was put: Restore was
// killed before it could. There is another copy of it.
func dropReplaced(path string) error {
	head, _, err := readHeader(path)
	if err != nil || !isDatabase(head) || head[readModeAt] == usesLog || binary.BigEndian.Uint32(head[markAt:]) != replacing {
		return err
	}
	return removeSidecars(path)
}

// removeSidecars removes the log of a database, its index, and a journal.
func removeSidecars(path string) error {
	var errs []error
	for _, suffix := range sidecars {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, syncFolder(path))...)
}

// markLog begins a session: it marks the log that db begins, or finds begun, and reports
// whether the mark is also in the file, from which a reader outside the store can keep it.
// There must be no log yet, unless such a reader keeps that; until it is marked it holds
// nothing new.
func (s *Store) markLog(ctx context.Context, db *sql.DB) (inFile bool, err error) {
	var was uint32 // the session's log, as checkLog sees it, begins with the mark of the file
	if err := db.QueryRowContext(ctx, "SELECT user_version & 0xffffffff FROM pragma_user_version").Scan(&was); err != nil {
		return false, err
	}
	if err := setMark(ctx, db, was); err != nil { // which begins a log if there is none
		return false, err
	}
	f, err := os.Open(s.path + logSuffix)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start := make([]byte, 32)
	if _, err := io.ReadFull(f, start); err != nil {
		return false, err
	}
	h, ok := readLogHead(start)
	if !ok {
		return false, errors.New("the new write-ahead log cannot be read")
	}
	if err := setMark(ctx, db, h.salt); err != nil {
		return false, err
	}
	var busy, pages, copied int
	// The next writer begins the next log.
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &pages, &copied)
	return busy == 0, err
}

func setMark(ctx context.Context, db *sql.DB, mark uint32) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", int32(mark)))
	return err
}
