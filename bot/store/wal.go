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
	"os"
)

// # The write-ahead log beside a database
//
// SQLite applies whatever log lies beside a database, and nothing in the log names the
// database for which it was written. A log that a killed process left beside a file that
// was replaced since, for example by a backup, would destroy that file. So the store marks
// its file: the mark in the header of the database (its user_version) is the first salt of
// the first log of a session, a session being the time in which the store is open. Each
// later log of the session has the next salt, whichever connection begins it. Before
// anything else is written in a session, the mark is in the file itself, unless another
// program reads there. checkLog compares the two before SQLite opens the file.
//
// A connection that has begun no log yet draws random salts if it finds the log empty, and
// other connections may be such. So nobody but scrub empties the log, and that looks at the
// next one.
//
// A backup, which "VACUUM INTO" writes, is not in the mode that uses a log, and never has
// one of its own.

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

// Places in the header of a database, and in the first page of each of its versions.
const (
	headerSize  = 100
	pageSizeAt  = 16 // of two bytes
	readModeAt  = 19 // of one byte: 2 if the file uses a log
	changesAt   = 24 // of four bytes, as all below
	markAt      = 60
	validForAt  = 92
	usesLog     = 2
	lockedBytes = 1 << 30 // the page with this byte is never written
)

// A logHead is what the first 32 bytes of a log say.
type logHead struct {
	pageSize int
	salt     uint32 // the first; that of the next log of the session is higher by one
	salts    [8]byte
	sums     [2]uint32
	order    binary.ByteOrder // of the checksums
}

// readLogHead reads the head of a log. It reports false if it is not that of a log.
func readLogHead(b []byte) (h logHead, ok bool) {
	const magic, format = 0x377f0682, 3007000
	if len(b) < 32 {
		return h, false
	}
	first := binary.BigEndian.Uint32(b)
	h.order = binary.ByteOrder(binary.LittleEndian)
	if first&1 != 0 {
		h.order = binary.BigEndian
	}
	h.pageSize = int(binary.BigEndian.Uint32(b[8:]))
	h.salts = [8]byte(b[16:24])
	h.salt = binary.BigEndian.Uint32(b[16:])
	h.sums = sum(h.order, h.sums, b[:24])
	return h, first&^1 == magic && binary.BigEndian.Uint32(b[4:]) == format &&
		h.pageSize >= 512 && h.pageSize <= 1<<16 && h.pageSize&(h.pageSize-1) == 0 &&
		h.sums == [2]uint32{binary.BigEndian.Uint32(b[24:]), binary.BigEndian.Uint32(b[28:])}
}

// sum continues a checksum of SQLite's over b, whose length is a multiple of eight.
func sum(order binary.ByteOrder, s [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		s[0] += order.Uint32(b) + s[1]
		s[1] += order.Uint32(b[4:]) + s[0]
	}
	return s
}

// maxLogs is how many logs of a session are known by its mark: one every two seconds for a
// year. Of 256 logs of others one passes for a session's own.
const maxLogs = 1 << 24

// marked reports whether a log is of the session with a mark.
func (h logHead) marked(mark uint32) bool { return h.salt-mark < maxLogs }

// committed is what a log holds up to the end of its last transaction.
type committed struct {
	frames int          // 0: nothing
	pages  int          // of the database after it
	has    map[int]bool // numbers of pages
	first  []byte       // the first page, as the log has it first; nil if it has not
}

// readFrames reads the frames of a log that follow its head, up to the first that is not
// whole: SQLite recovers the same.
func readFrames(r io.Reader, h logHead) (c committed, err error) {
	c.has = map[int]bool{}
	frame := make([]byte, 24+h.pageSize)
	var since []int // pages of a transaction that has not ended
	var first []byte
	for n := 1; ; n++ {
		switch _, err := io.ReadFull(r, frame); {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return c, nil
		case err != nil:
			return c, withoutPath(err)
		}
		head, page := frame[:24], frame[24:]
		h.sums = sum(h.order, sum(h.order, h.sums, head[:8]), page)
		number := int(binary.BigEndian.Uint32(head))
		if [8]byte(head[8:16]) != h.salts || number == 0 ||
			h.sums != [2]uint32{binary.BigEndian.Uint32(head[16:]), binary.BigEndian.Uint32(head[20:])} {
			return c, nil
		}
		since = append(since, number)
		if number == 1 && first == nil {
			first = bytes.Clone(page)
		}
		if pages := int(binary.BigEndian.Uint32(head[4:])); pages != 0 {
			c.frames, c.pages, c.first = n, pages, first
			for _, p := range since {
				c.has[p] = true
			}
			since = since[:0]
		}
	}
}

// checkLog returns an ErrForeignLog, and changes nothing, if the log beside a database
// was not written for the database as it is in the file, or has lost what it held. Then
// SQLite must not open it. It reports whether there is a log of which something may be
// left to apply. A process that was killed may leave an empty log, or half a transaction
// at its end.
func checkLog(ctx context.Context, path string) (left bool, err error) {
	log, err := os.Open(path + logSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write-ahead log: %w", withoutPath(err))
	}
	defer log.Close()
	info, err := log.Stat()
	switch {
	case err != nil:
		return false, fmt.Errorf("write-ahead log: %w", withoutPath(err))
	case !info.Mode().IsRegular():
		return false, foreign("it is not a file")
	case info.Size() <= 32: // not even a head, or nothing after it
		return info.Size() > 0, nil
	}
	head, size, err := readHeader(path)
	if err != nil {
		return false, err
	}
	if size == 0 {
		return false, foreign("the database is missing or empty, the log is not")
	}
	if !isDatabase(head) { // a message of its own tells that
		return true, nil
	}
	mark := binary.BigEndian.Uint32(head[markAt:])
	if head[readModeAt] != usesLog {
		if mark == replacing {
			return true, nil // see dropReplaced
		}
		return false, foreign("the database is a copy, and copies have no log")
	}
	start := make([]byte, 32)
	if _, err := io.ReadFull(log, start); err != nil {
		return false, fmt.Errorf("write-ahead log: %w", withoutPath(err))
	}
	h, ok := readLogHead(start)
	if !ok {
		return false, foreign("it is damaged")
	}
	if n := pageSizeOf(head); h.pageSize != n {
		return false, foreign(fmt.Sprintf("its pages have %d bytes, those of the database %d", h.pageSize, n))
	}
	c, err := readFrames(log, h)
	if err != nil {
		return false, fmt.Errorf("write-ahead log: %w", err)
	}
	if n := indexed(path, h.salts); n > c.frames {
		return false, foreign(fmt.Sprintf("it had %d pages, and the end is missing from page %d on", n, c.frames+1))
	}
	if c.frames == 0 {
		return true, nil
	}
	inFile := int(size / int64(h.pageSize))
	for p := inFile + 1; p <= c.pages; p++ {
		if !c.has[p] && p != lockedBytes/h.pageSize+1 {
			return false, foreign("the database is older than the log")
		}
	}
	switch {
	case h.marked(mark):
		return true, nil
	case onlyMarks(c, path, head, h.pageSize):
		return true, nil // killed before the mark was in the file
	case c.first == nil || binary.BigEndian.Uint32(c.first[markAt:]) == mark:
		// The mark of the database did not change with the log. It is of a program that sets
		// no marks, or was begun before its mark was in the file: only trying a copy tells.
		switch err := tried(ctx, path); {
		case errors.Is(err, ErrUnreadable):
			return false, foreign(otherState + ": " + err.Error())
		case err != nil && !errors.Is(err, ErrNewer):
			return false, fmt.Errorf("try the write-ahead log on a copy: %w", err)
		}
		return true, nil
	}
	return false, foreign(otherState)
}

const otherState = "it was written for another database, or for another state of this one"

// foreign returns an ErrForeignLog.
func foreign(why string) error {
	return fmt.Errorf("%w: %s; nothing was changed. To go back to a backup, run halfpoint restore BACKUP", ErrForeignLog, why)
}

// onlyMarks reports whether a log changes nothing in a database but its mark.
func onlyMarks(c committed, path string, head []byte, pageSize int) bool {
	if len(c.has) != 1 || c.first == nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	page := make([]byte, pageSize)
	if _, err := io.ReadFull(f, page); err != nil {
		return false
	}
	other := bytes.Clone(c.first)
	for _, p := range [][]byte{page, other} {
		clear(p[changesAt : changesAt+4])
		clear(p[markAt : markAt+4])
		clear(p[validForAt:headerSize]) // the number of changes again, and the version of SQLite
	}
	return bytes.Equal(page, other)
}

// indexed returns how many pages the log with these salts holds, as its index says. The
// index is newer than any log that lacks some of them: a page is in the log on the disk
// before it is in the index. It returns 0 if there is no index or it does not know.
func indexed(path string, salts [8]byte) int {
	b := make([]byte, 2*48) // it is there twice, and the same if nobody was writing it
	f, err := os.Open(path + indexSuffix)
	if err != nil {
		return 0
	}
	defer f.Close()
	if _, err := io.ReadFull(f, b); err != nil || !bytes.Equal(b[:48], b[48:]) || b[12] != 1 || [8]byte(b[32:40]) != salts {
		return 0
	}
	return int(binary.NativeEndian.Uint32(b[16:]))
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

// isDatabase reports whether a header is that of a database.
func isDatabase(head []byte) bool {
	return len(head) == headerSize && bytes.HasPrefix(head, []byte("SQLite format 3\x00"))
}

func pageSizeOf(head []byte) int {
	if n := int(binary.BigEndian.Uint16(head[pageSizeAt:])); n != 1 {
		return n
	}
	return 1 << 16
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

// markLog sees that the file has a mark by which the log is known that db has begun, or
// finds begun. At the beginning of a session there must be no log yet; until the mark is in
// the file that holds nothing else. A reader outside the store can keep the mark out of the
// file: then markLog reports false, and is to be called again.
func (s *Store) markLog(ctx context.Context, db *sql.DB) (inFile bool, err error) {
	s.marking.Lock()
	defer s.marking.Unlock()
	was := s.mark
	if was == 0 { // the session's log, as checkLog sees it, begins with the mark of the file
		if err := db.QueryRowContext(ctx, "SELECT user_version & 0xffffffff FROM pragma_user_version").Scan(&was); err != nil {
			return false, err
		}
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
	if s.mark != 0 && h.marked(s.mark) {
		return true, nil
	}
	if err := setMark(ctx, db, h.salt); err != nil {
		return false, err
	}
	var busy, pages, copied int
	// Whoever writes next begins the next log.
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &pages, &copied); err != nil || busy != 0 {
		return false, err
	}
	s.mark = h.salt
	return true, nil
}

func setMark(ctx context.Context, db *sql.DB, mark uint32) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", int32(mark)))
	return err
}
