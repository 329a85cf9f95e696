//go:build unix

package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// played returns the number of events of match g in a database; -1: there is no such match.
func played(t *testing.T, name string) int {
	t.Helper()
	s, err := store.Open(t.Context(), name)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	_, events, err := s.Match(t.Context(), "g")
	if errors.Is(err, bot.ErrNotFound) {
		return -1
	}
	must(t, err)
	return len(events)
}

// files are what a killed process leaves: the database, its log and the index of that, by
// the ends of their names.
type files map[string][]byte

// left reads the files as they are at this moment.
func left(t *testing.T, name string) files {
	t.Helper()
	all := files{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if data, err := os.ReadFile(name + suffix); err == nil {
			all[suffix] = data
		}
	}
	return all
}

// lay writes the files into a new directory and returns the name of the database.
func (f files) lay(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "half point.db")
	for suffix, data := range f {
		must(t, os.WriteFile(name+suffix, data, 0o600))
	}
	return name
}

// with returns the files with other ones in the place of some.
func (f files) with(others files) files {
	f = maps.Clone(f)
	maps.Copy(f, others)
	return f
}

// A session stores n more events of match g and returns what lies there then, as a kill
// would leave it, and what a backup holds. The store is then closed.
func session(t *testing.T, name string, n int) (killed, backup files) {
	t.Helper()
	s, err := store.Open(t.Context(), name)
	must(t, err)
	step := opening("g", "room")
	if m, _, err := s.Match(t.Context(), "g"); err == nil {
		step = turn(&m)
	}
	for range n {
		must(t, s.Commit(t.Context(), step))
		step = turn(step.Match)
	}
	killed = left(t, name)
	copied := filepath.Join(t.TempDir(), "backup")
	backUp(t, name, copied)
	must(t, s.Close())
	return killed, left(t, copied)
}

// begunAnew returns a log of which nothing but the next head was written.
func begunAnew(log []byte) []byte {
	log = slices.Clone(log)
	word := binary.BigEndian
	word.PutUint32(log[16:], word.Uint32(log[16:])+1)
	word.PutUint32(log[20:], ^word.Uint32(log[20:]))
	order := binary.ByteOrder(binary.LittleEndian)
	if log[3]&1 != 0 {
		order = binary.BigEndian
	}
	var s0, s1 uint32
	for i := 0; i < 24; i += 8 {
		s0 += order.Uint32(log[i:]) + s1
		s1 += order.Uint32(log[i+4:]) + s0
	}
	word.PutUint32(log[24:], s0)
	word.PutUint32(log[28:], s1)
	return log
}

func TestLogOfAnotherStateIsRefused(t *testing.T) {
	name := newFile(t)
	killed1, backup := session(t, name, 5) // with 4 turns
	closed := left(t, name)
	killed2, _ := session(t, name, 5)
	other, _ := session(t, newFile(t), 5)
	restored := closed.lay(t)
	_, _, err := store.Restore(t.Context(), restored, backup.lay(t), time.Now(), nil)
	must(t, err)
	log := func(f files) files { return files{"-wal": f["-wal"], "-shm": f["-shm"]} }
	half := func(b []byte) []byte { return b[:len(b)/2] }
	damaged := slices.Clone(killed2["-wal"])
	damaged[13]++
	hole := slices.Clone(killed2[""])
	clear(hole[len(hole)/store.PageSize/2*store.PageSize:][:store.PageSize])
	pages := slices.Clone(killed2["-wal"])
	binary.BigEndian.PutUint32(pages[8:], 4096)
	// Salts are random: those of another log may look as if they came after the mark.
	near := func(f files, salt uint32) files {
		b := slices.Clone(f[""])
		binary.BigEndian.PutUint32(b[60:], salt-5)
		return f.with(files{"": b})
	}
	salt := func(f files) uint32 { return binary.BigEndian.Uint32(f["-wal"][16:]) }
	again, err := store.Open(t.Context(), name)
	must(t, err)
	opened := left(t, name)
	must(t, again.Close())
	if !bytes.Equal(opened[""][60:64], opened["-wal"][16:20]) {
		t.Fatal("the first log of a session has another mark than the file")
	}
	for _, c := range []struct {
		name   string
		files  files
		events int    // of match g; with says: the start is refused
		says   string // empty: the log is this file's
	}{
		{"as it was left", killed2, 9, ""},
		{"as it was left, without the index", files{"": killed2[""], "-wal": killed2["-wal"]}, 9, ""},
		{"an empty log", killed2.with(files{"-wal": {}, "-shm": {}}), 4, ""},
		{"a log of which only the head was begun", closed.with(files{"-wal": killed2["-wal"][:20]}), 4, ""},
		{"a log that was begun anew, still with the pages of the one before", files{"": opened[""], "-wal": begunAnew(opened["-wal"])}, 9, ""},
		{"a log with a page that was being written", killed2.with(files{"-wal": slices.Concat(killed2["-wal"], make([]byte, 1000))}), 9, ""},
		{"a backup beside the log of later", backup.with(log(killed2)), 0, "is a copy"},
		{"a backup beside the log of its time", backup.with(log(killed1)), 0, "is a copy"},
		{"a backup beside a log without index", backup.with(files{"-wal": killed2["-wal"]}), 0, "is a copy"},
		{"the file of the session before, which lacks only the mark", closed.with(log(killed2)), 9, ""},
		{"the killed file of the session before", killed1.with(log(killed2)), 0, "older than the log"},
		{"a later file", killed2.with(log(killed1)), 0, "another state of this one"},
		{"another database", closed.with(log(other)), 0, "for another database"},
		{"another database, with salts as if they were this one's", near(closed, salt(other)).with(log(other)), 0, "for another database"},
		{"a later file, with salts as if they were its own", near(killed2, salt(killed1)).with(log(killed1)), 0, "another state of this one"},
		{"a damaged database", killed2.with(files{"": hole}), 0, "or the database is damaged: not a halfpoint database"},
		{"half a log", killed2.with(files{"-wal": half(killed2["-wal"])}), 0, "the end is missing"},
		{"a damaged log", killed2.with(files{"-wal": damaged}), 0, "is damaged"},
		{"a log of other pages", killed2.with(files{"-wal": pages}), 0, "is damaged"},
		{"no log but garbage", killed2.with(files{"-wal": []byte(strings.Repeat("garbage ", 100))}), 0, "is damaged"},
		{"an empty file", killed2.with(files{"": {}}), 0, "missing or empty"},
		{"no file", log(killed2), 0, "missing or empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := c.files.lay(t)
			if c.says == "" {
				if n := played(t, name); n != c.events {
					t.Errorf("it has %d events, want %d", n, c.events)
				}
				return
			}
			before := folder(t, filepath.Dir(name))
			s, err := store.Open(t.Context(), name)
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if !errors.Is(err, store.ErrForeignLog) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), name) ||
				!strings.Contains(err.Error(), "halfpoint restore") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %q and should be one line with %q, the file, and what to do", err, c.says)
			}
			if diff := cmp.Diff(before, folder(t, filepath.Dir(name))); diff != "" {
				t.Errorf("the directory changed (-before +after):\n%.500s", diff)
			}
		})
	}
	if n := played(t, restored); n != 4 {
		t.Errorf("the restored database has %d events", n)
	}
}

// A process may die before any statement: what lies there then opens, and has everything
// that was stored. The log begins anew many times.
func TestEveryMomentLeavesItsOwnLog(t *testing.T) {
	name := newFile(t)
	stored, moments, checked := -1, 0, map[string]bool{}
	var states []files
	var least []int
	defer store.OnStatement(func(string) {
		if moments++; moments > 40 && moments%199 != 0 { // all of a start, some of the games
			return
		}
		f := left(t, name)
		if key := string(slices.Concat(f[""], f["-wal"], f["-shm"])); !checked[key] {
			checked[key] = true
			states, least = append(states, f), append(least, stored)
		}
	})()
	s, err := store.Open(t.Context(), name)
	must(t, err)
	step := opening("g", "room")
	for range 300 {
		must(t, s.Commit(t.Context(), step))
		stored = step.Match.Seq
		step = turn(step.Match)
	}
	must(t, s.Close())
	logs := map[string]bool{}
	for i, f := range states {
		if log := f["-wal"]; len(log) > 32 {
			logs[string(log[12:24])] = true
		}
		if n := played(t, f.lay(t)); n < least[i] {
			t.Errorf("state %d has %d events, but %d were stored", i, n, least[i])
		}
	}
	if len(logs) < 3 {
		t.Errorf("the log began anew only %d times", len(logs))
	}
	t.Logf("%d states of %d moments, %d logs", len(states), moments, len(logs))
}

// A raw copy of the file that somebody made during a session lacks what later logs of the
// session brought. Beside the last of them it is refused, also if the file has not grown.
func TestRawCopyBesideALaterLog(t *testing.T) {
	name := newFile(t)
	s, err := store.Open(t.Context(), name)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	r := rand.New(rand.NewPCG(1, 1))
	outages := func(n int) (some []rooms.Outage) {
		for range n {
			some = append(some, rooms.Outage{Platform: "chat", Server: fmt.Sprint(r.Uint64()), From: noon})
		}
		return some
	}
	all := outages(5000)
	must(t, s.ChangeOutages(t.Context(), all, nil))
	copies := []string{""}
	for len(copies) < 9 { // the last is the file as it is
		if now := string(left(t, name)[""]); now != copies[len(copies)-1] {
			copies = append(copies, now)
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		next := outages(50)
		must(t, s.ChangeOutages(t.Context(), next, all[:50]))
		copy(all, next)
	}
	killed := left(t, name)
	for i, raw := range copies[1:8] {
		name := killed.with(files{"": []byte(raw)}).lay(t)
		before := folder(t, filepath.Dir(name))
		s, err := store.Open(t.Context(), name)
		if err == nil {
			must(t, s.Close())
			t.Errorf("copy %d opens", i)
		} else if !errors.Is(err, store.ErrForeignLog) {
			t.Error(i, err)
		}
		if diff := cmp.Diff(before, folder(t, filepath.Dir(name))); err != nil && diff != "" {
			t.Errorf("the directory changed (-before +after):\n%.500s", diff)
		}
	}
	again := open(t, killed.lay(t))
	if found, err := again.Outages(t.Context()); err != nil || len(found) != len(all) {
		t.Errorf("%d of %d outages, %v", len(found), len(all), err)
	}
}

// A database of a newer release is refused before anything is written, also if a killed
// process has left the newer version in the log.
func TestLogFromTheFuture(t *testing.T) {
	name := newFile(t)
	session(t, name, 5)
	name = left(t, name).lay(t)
	var killed files
	sqlWhile(t, name, func() { killed = left(t, name) }, "INSERT INTO halfpoint_version (version_id, is_applied) VALUES (99, 1)")
	name = killed.lay(t)
	before := folder(t, filepath.Dir(name))
	if s, err := store.Open(t.Context(), name); !errors.Is(err, store.ErrNewer) {
		if err == nil {
			s.Close()
		}
		t.Errorf("error is %v", err)
	}
	if diff := cmp.Diff(before, folder(t, filepath.Dir(name))); diff != "" {
		t.Errorf("the directory changed (-before +after):\n%.500s", diff)
	}
}

// A database of a release without marks has no mark, and neither has its log.
func TestLogFromBeforeMarks(t *testing.T) {
	unmarked := func(n int) files {
		name := newFile(t)
		session(t, name, n)
		name = left(t, name).lay(t)
		sqlDo(t, name, "PRAGMA user_version = 0", "PRAGMA wal_checkpoint(TRUNCATE)")
		clean := left(t, name)[""]
		var killed files
		// A connection outside the store, as the older release would have been.
		sqlWhile(t, name, func() { killed = left(t, name) }, "INSERT INTO bookmark VALUES ('a', 'b')", "UPDATE event SET proof = proof || 'x'")
		killed[""] = clean
		return killed
	}
	mine, other := unmarked(5), unmarked(150)
	if n := played(t, mine.lay(t)); n != 4 {
		t.Errorf("%d events", n)
	}
	name := mine.with(files{"-wal": other["-wal"], "-shm": other["-shm"]}).lay(t)
	before := folder(t, filepath.Dir(name))
	if s, err := store.Open(t.Context(), name); !errors.Is(err, store.ErrForeignLog) {
		if err == nil {
			s.Close()
		}
		t.Errorf("error is %v", err)
	}
	if diff := cmp.Diff(before, folder(t, filepath.Dir(name))); diff != "" {
		t.Errorf("the directory changed (-before +after):\n%.500s", diff)
	}
}

// A log that another program began has salts of its own, such as that of a version without
// marks. It is the file's own all the same.
func TestLogOfAnotherProgramOpens(t *testing.T) {
	name := newFile(t)
	session(t, name, 5)
	name = left(t, name).lay(t)
	for what, statements := range map[string][]string{
		"it leaves the first page": {"UPDATE event SET proof = proof || 'x'"},
		"it writes the first page": {"CREATE TABLE x (y)", "DROP TABLE x"},
	} {
		var killed files
		sqlWhile(t, name, func() { killed = left(t, name) }, statements...)
		if n := played(t, killed.lay(t)); n != 4 {
			t.Errorf("%s: %d events", what, n)
		}
	}
}

// While another program reads, the mark does not get into the file. What a killed process
// leaves then opens, and the next round of pruning brings the mark there.
func TestMarkWhileAnotherProgramReads(t *testing.T) {
	name := newFile(t)
	session(t, name, 5)
	db, err := store.Look(name)
	must(t, err)
	defer db.Close()
	reading, err := db.BeginTx(t.Context(), nil)
	must(t, err)
	var n int
	must(t, reading.QueryRow("SELECT COUNT(*) FROM event").Scan(&n))
	s := open(t, name)
	mark := func() string { return string(left(t, name)[""][60:64]) }
	before := mark()
	m, _, err := s.Match(t.Context(), "g")
	must(t, err)
	must(t, s.Commit(t.Context(), turn(&m)))
	beside := left(t, name)
	log := string(beside["-wal"][16:20])
	if n := played(t, beside.lay(t)); n != 5 || mark() != before {
		t.Errorf("%d events, the mark was %x and is %x", n, before, mark())
	}
	must(t, reading.Rollback())
	_, err = s.Prune(t.Context(), noon, "", 1)
	must(t, err)
	f := left(t, name)
	if mark() == before || mark() != log {
		t.Errorf("the mark was %x and is %x, the log had %x", before, mark(), log)
	}
	if n := played(t, f.lay(t)); n != 5 {
		t.Errorf("%d events after the pruning", n)
	}
}

func TestRestore(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	name := newFile(t)
	_, backup := session(t, name, 3)
	killed, _ := session(t, name, 4)
	stale := backup.with(files{"-wal": killed["-wal"], "-shm": killed["-shm"]}) // a copy moved there by hand
	for what, c := range map[string]struct {
		old files
		was int // events before; -2: it does not open
	}{
		"a killed one": {killed, 6},
		"a stale log":  {stale, -2},
		"a wreck":      {files{"": []byte("wreck"), "-wal": []byte("wreck")}, -2},
		"nothing":      {files{}, -1},
	} {
		t.Run(what, func(t *testing.T) {
			name, from := c.old.lay(t), backup.lay(t)
			if len(c.old) == 0 {
				name = filepath.Join(t.TempDir(), "new.db")
			}
			must(t, os.WriteFile(name+".20261126T120000Z.replaced-wal", nil, 0o600)) // of one that was killed
			var moments []files
			steps := 0
			aside := name + ".20261126T120000Z.replaced-2"
			defer store.OnStep(func(string) {
				steps++
				// A kept database that lacks its log would be taken for a complete one.
				if f := left(t, aside); f[""] != nil && aside != "" && !bytes.Equal(f["-wal"], c.old["-wal"]) {
					t.Errorf("at step %d the old database is kept without its log", steps)
				}
				if f := left(t, name); len(moments) == 0 || !maps.EqualFunc(f, moments[len(moments)-1], bytes.Equal) {
					moments = append(moments, f)
				}
			})()
			_, kept, err := store.Restore(t.Context(), name, from, now, nil)
			must(t, err)
			if kept != "" && kept != aside {
				t.Errorf("kept is %q", kept)
			}
			aside = ""
			if n := played(t, name); n != 2 {
				t.Errorf("the restored database has %d events", n)
			}
			if c.old[""] == nil != (kept == "") {
				t.Errorf("kept is %q", kept)
			} else if kept != "" && (string(left(t, kept)[""]) != string(c.old[""]) || string(left(t, kept)["-wal"]) != string(c.old["-wal"])) {
				t.Error("what was replaced is not kept")
			}
			if diff := cmp.Diff(map[string][]byte(backup), map[string][]byte(left(t, from))); diff != "" {
				t.Error("the backup was changed")
			}
			isNew := false
			for i, f := range moments { // the process dies
				name := f.lay(t)
				if !isNew && c.was == -2 {
					if s, err := store.Open(t.Context(), name); err == nil {
						s.Close()
						isNew = true
					}
				}
				if isNew || c.was != -2 {
					n := played(t, name)
					if n != c.was && n != 2 || isNew && n != 2 {
						t.Errorf("killed at step %d: %d events", i, n)
					}
					isNew = n == 2
				}
			}
			if !isNew || steps < 6 {
				t.Errorf("%d steps, and the new one is there: %v", steps, isNew)
			}
			if c.was < 0 {
				return
			}
			_, _, err = store.Restore(t.Context(), name, kept, now, nil) // and back again
			must(t, err)
			if n := played(t, name); n != c.was {
				t.Errorf("back again, it has %d events", n)
			}
		})
	}
}

func TestRestoreRefuses(t *testing.T) {
	name := newFile(t)
	killed, backup := session(t, name, 3)
	other, _ := session(t, newFile(t), 3)
	newer := backup.lay(t)
	sqlDo(t, newer, "INSERT INTO halfpoint_version (version_id, is_applied) VALUES (99, 1)")
	diary := filepath.Join(t.TempDir(), "diary.db")
	sqlDo(t, diary, "CREATE TABLE diary (day TEXT)")
	bare := filepath.Join(t.TempDir(), "bare.db")
	sqlDo(t, bare, "CREATE TABLE diary (day TEXT)", "DROP TABLE diary")
	orphan := backup.lay(t)
	sqlDo(t, orphan, "PRAGMA foreign_keys = 0", "INSERT INTO event VALUES ('nowhere', 1, 1, '', '', '')")
	hole := slices.Clone(backup[""])
	clear(hole[len(hole)/2:][:store.PageSize])
	dir := filepath.Dir(name)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Link(name, link))
	fifo := filepath.Join(t.TempDir(), "none")
	before := folder(t, dir)
	for _, c := range []struct{ name, backup, says string }{
		{"nothing", fifo, "no such file"},
		{"a directory", t.TempDir(), "is a directory"},
		{"a device", "/dev/null", "is not a file"},
		{"an empty file", files{"": {}}.lay(t), "is empty"},
		{"a record", files{"": []byte("(;SZ[9];B[ee])")}.lay(t), "not a halfpoint database"},
		{"a few bytes", files{"": backup[""][:50]}.lay(t), "not a halfpoint database"},
		{"half of one", files{"": backup[""][:len(backup[""])/2]}.lay(t), "it is cut off: of "},
		{"one with a hole", files{"": hole}.lay(t), "not a halfpoint database"},
		{"a row too many", orphan, "a row of event refers to nothing"},
		{"another program's", diary, "not a halfpoint database, but another program's"},
		{"one without tables", bare, "without tables"},
		{"a newer one", newer, "written by a newer halfpoint"},
		{"one with the log of another", killed.with(files{"-wal": other["-wal"], "-shm": other["-shm"]}).lay(t), "does not belong"},
		{"the database itself", name, "is the database itself"},
		{"the database itself by another name", link, "is the database itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, kept, err := store.Restore(t.Context(), name, c.backup, time.Now(), nil)
			if err == nil || kept != "" || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.backup) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error is %v and should be one line with %q and the file", err, c.says)
			}
			if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
				t.Errorf("the directory changed (-before +after):\n%.500s", diff)
			}
		})
	}
	t.Run("while it is in use", func(t *testing.T) {
		s := open(t, name)
		if _, _, err := store.Restore(t.Context(), name, backup.lay(t), time.Now(), nil); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "stop it first") {
			t.Errorf("error is %v", err)
		}
		if _, _, err := store.Restore(t.Context(), link, backup.lay(t), time.Now(), nil); !errors.Is(err, store.ErrInUse) {
			t.Errorf("by another name: error is %v", err)
		}
		must(t, s.Commit(context.WithoutCancel(t.Context()), opening(match.GameID("h"), "room")))
	})
}

// A superuser may restore the database of another user.
func TestRestoredFileHasTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only a superuser can give files away")
	}
	name := newFile(t)
	_, backup := session(t, name, 1)
	must(t, os.Chown(name, 65534, 65534))
	_, _, err := store.Restore(t.Context(), name, backup.lay(t), time.Now(), nil)
	must(t, err)
	if uid := owner(t, name); uid != 65534 {
		t.Errorf("it belongs to %d", uid)
	}
}
