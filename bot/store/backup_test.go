//go:build unix

package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// backUp makes a backup of a database called to.
func backUp(t testing.TB, name, to string) {
	t.Helper()
	_, err := store.Backup(t.Context(), name, to, noon, nil)
	must(t, err)
}

func TestBackupWhilePlaying(t *testing.T) {
	name := newFile(t)
	d := newDuel(t, open(t, name))
	dir := t.TempDir()
	const copies = 8
	for i := range copies {
		before, copied, done := d.turns, filepath.Join(dir, fmt.Sprint("file:copy #", i, "?.db")), make(chan error, 1)
		go func() {
			_, err := store.Backup(t.Context(), name, copied, noon, nil)
			done <- err
		}()
	meanwhile:
		for {
			select {
			case err := <-done:
				must(t, err)
				break meanwhile
			default:
				d.play()
			}
		}
		if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of the copy is %v, %v", info.Mode(), err)
		}
		b := open(t, copied)
		d.consistent(b, before, d.turns)
		m, _, err := b.Match(t.Context(), "g0")
		must(t, err)
		must(t, b.Commit(t.Context(), turn(&m)))
		must(t, b.Close())
	}
	if got := len(folder(t, dir)); got != copies {
		t.Errorf("there are %d files beside %d copies", got-copies, copies)
	}
}

// Beside the bot, a backup or an export keeps its lock for reading until it is complete: nobody writes into
// the pages that are still to be copied.
func TestBackupKeepsItsLock(t *testing.T) {
	for what, command := range map[string]func(name string) error{
		"backup": func(name string) error {
			_, err := store.Backup(t.Context(), name, filepath.Join(t.TempDir(), "copy.db"), noon, nil)
			return err
		},
		"export": func(name string) error {
			_, err := store.Export(t.Context(), name, io.Discard, nil)
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			name := newFile(t)
			must(t, imported(t, name).Close())
			start(t, "write and hold", name).out.Scan()
			tries := 0
			defer store.OnStep(func(step string) {
				if step != "copy" && step != "pages" {
					return
				}
				tries++
				other := start(t, "empty the log", name)
				other.out.Scan()
				if says := other.out.Text(); says != "busy" {
					t.Errorf("at the step %q another process says %q", step, says)
				}
				other.kill()
			})()
			if err := command(name); err != nil || tries < 2 {
				t.Errorf("%d tries, %v", tries, err)
			}
		})
	}
}

// writeAndHold opens a database, writes something that only the log has then, says so, and
// keeps it open until it is told to end.
func writeAndHold(ctx context.Context, file string) error {
	s, err := store.Open(ctx, file)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.SetBookmark(ctx, "a", "in the log"); err != nil {
		return err
	}
	fmt.Println("written")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// emptyLog tries to empty the write-ahead log of a database, and says whether somebody reads it.
func emptyLog(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", "file:"+url.PathEscape(file))
	if err != nil {
		return err
	}
	defer db.Close()
	var busy, pages, copied int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied); err != nil {
		return err
	}
	fmt.Println([]string{"empty", "busy"}[busy])
	return nil
}

// A copy that is not a whole database of this version is no backup.
func TestBackupIsChecked(t *testing.T) {
	for what, statement := range map[string]string{
		"not ours":      "DROP TABLE halfpoint_version",
		"no migrations": "DELETE FROM halfpoint_version",
		"from newer":    "INSERT INTO halfpoint_version (version_id, is_applied) VALUES (99, 1)",
		// The quick check finds a value that its column does not allow.
		"damaged": `PRAGMA writable_schema = ON;
			UPDATE sqlite_schema SET sql = replace(sql, 'value   TEXT NOT NULL', 'value   TEXT CHECK (value <> ''s1'')') WHERE name = 'bookmark'`,
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "halfpoint.db")
			s := open(t, name)
			must(t, s.SetBookmark(t.Context(), "matrix", "s1"))
			sqlDo(t, name, statement)
			dir := t.TempDir()
			if _, err := store.Backup(t.Context(), name, filepath.Join(dir, "copy.db"), noon, nil); err == nil || !strings.Contains(err.Error(), "check the copy") {
				t.Errorf("error is %v", err)
			}
			if left := folder(t, dir); len(left) != 0 {
				t.Errorf("it left %d files", len(left))
			}
		})
	}
}

// A backup of a database is the same whether a process has it open, has been killed, or
// has closed it; and what cannot be written, or is there already, stays as it is.
func TestBackup(t *testing.T) {
	name := newFile(t)
	s := imported(t, name)
	want := export(t, s)
	killed := left(t, name).lay(t)
	dir := t.TempDir()
	backUp(t, name, filepath.Join(dir, "running.db"))
	backUp(t, killed, filepath.Join(dir, "killed.db"))
	must(t, s.Close())
	before := folder(t, filepath.Dir(name))[filepath.Base(name)]
	sum, err := store.Backup(t.Context(), name, filepath.Join(dir, "closed.db"), noon, nil)
	must(t, err)
	if diff := cmp.Diff(before, folder(t, filepath.Dir(name))[filepath.Base(name)]); diff != "" {
		t.Error("the database has changed")
	}
	if info, err := os.Stat(sum.File); err != nil || sum.Bytes != info.Size() || sum.Games != 1 || sum.Version < 23 {
		t.Errorf("%+v, %v", sum, err)
	}
	copies := folder(t, dir)
	for path, says := range map[string]string{
		filepath.Join(dir, "closed.db"):     "file already exists",
		dir + "/no/":                        "no such directory",
		filepath.Join(dir, "no", "copy.db"): "directory: no such file or directory",
		name:                                "file already exists",
		name + "-wal":                       "this name belongs to the database",
	} {
		must(t, errors.Join(os.RemoveAll(name+"-wal"), os.RemoveAll(name+"-shm"))) // of our own reading
		if _, err := store.Backup(t.Context(), name, path, noon, nil); err == nil || err.Error() != "back up to "+path+": "+says {
			t.Errorf("to %s: error is %v", path, err)
		}
	}
	for what, from := range map[string]string{"a missing one": filepath.Join(dir, "no.db"), "a directory": dir, "a text": files{"": []byte("Dear diary,")}.lay(t), "an empty file": files{"": nil}.lay(t)} {
		if _, err := store.Backup(t.Context(), from, filepath.Join(dir, "copy.db"), noon, nil); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("of %s: error is %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	late := func(string, int, int) { cancel() }
	if _, err := store.Backup(ctx, name, filepath.Join(dir, "late.db"), noon, late); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: error is %v", err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(copies)), slices.Sorted(maps.Keys(folder(t, dir)))); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	for copied := range copies {
		b, err := store.Open(t.Context(), filepath.Join(dir, copied))
		must(t, err)
		if diff := cmp.Diff(want, export(t, b)); diff != "" {
			t.Errorf("%s: (-store +copy):\n%.3000s", copied, diff)
		}
		must(t, b.Close())
	}
}

// In a directory each backup has a name of its own, also of two at once, and the oldest go.
// Backups from a time when the clock was ahead neither count nor go.
func TestBackupsInADirectory(t *testing.T) {
	name, dir := newFile(t), t.TempDir()
	must(t, open(t, name).Close())
	base := filepath.Base(name)
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	made := ""
	backup := func() {
		t.Helper()
		sum, err := store.Backup(t.Context(), name, dir, now, nil)
		must(t, err)
		made = sum.File
		now = now.Add(24 * time.Hour)
	}
	is := func(want ...string) {
		t.Helper()
		for i := range want {
			want[i] = base + "." + want[i]
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(folder(t, dir)))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	other := filepath.Join(dir, base+".txt.backup")
	must(t, os.WriteFile(other, nil, 0o600))
	now = now.AddDate(1, 0, 0) // a wrong clock
	backup()
	now = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for range 3 {
		backup()
	}
	now = now.Add(-24 * time.Hour)
	backup() // in the same second as the one before
	is("20261126T120000Z.backup", "20261127T120000Z.backup", "20261128T120000Z.backup", "20261128T120000Z.backup-2", "20271126T120000Z.backup", "txt.backup")
	removed, ahead, err := store.RemoveBackups(name, made, 2)
	if len(removed) != 2 || len(ahead) != 1 || err != nil {
		t.Errorf("removed %q, left alone %q, %v", removed, ahead, err)
	}
	is("20261128T120000Z.backup", "20261128T120000Z.backup-2", "20271126T120000Z.backup", "txt.backup")
	now = now.Add(-72 * time.Hour) // it jumps back
	backup()
	removed, ahead, err = store.RemoveBackups(name, made, 1)
	if len(removed) != 0 || len(ahead) != 3 || err != nil {
		t.Errorf("removed %q, left alone %q, %v", removed, ahead, err)
	}
}

// Two backups at once do not disturb each other, and a start of the bot disturbs neither.
func TestBackupsAtOnce(t *testing.T) {
	name, dir := newFile(t), t.TempDir()
	must(t, imported(t, name).Close())
	inside := false
	defer store.OnStep(func(step string) {
		if step != "check" || inside {
			return
		}
		inside = true
		backUp(t, name, filepath.Join(dir, "copy.db"))
		_, err := store.Backup(t.Context(), name, filepath.Dir(name), noon, nil)
		must(t, err)
		s, err := store.Open(t.Context(), name)
		must(t, err)
		must(t, s.Close())
	})()
	_, err := store.Backup(t.Context(), name, filepath.Join(dir, "copy.db"), noon, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "file already exists") {
		t.Errorf("the slower one: %v", err)
	}
	if sum, err := store.Backup(t.Context(), name, filepath.Dir(name), noon, nil); err != nil || !strings.HasSuffix(sum.File, ".backup-2") {
		t.Errorf("beside the database: %+v, %v", sum, err)
	}
	if got := slices.Sorted(maps.Keys(folder(t, dir))); len(got) != 1 {
		t.Errorf("files %q", got)
	}
}

// A backup, an export or an import that is killed at any step is either complete or not there.
// The next one removes what it left.
func TestKilledAtAnyStep(t *testing.T) {
	name := newFile(t)
	must(t, imported(t, name).Close())
	text := filepath.Join(t.TempDir(), "small.jsonl")
	must(t, os.WriteFile(text, []byte(smallExport), 0o600))
	for what, c := range map[string]struct {
		from  string
		again func(target string)
		whole func(target string) string // its export
	}{
		"back up": {name, func(to string) { backUp(t, name, to) }, func(to string) string {
			s := open(t, to)
			defer s.Close()
			return export(t, s)
		}},
		"export": {name, func(to string) {
			_, err := store.ExportTo(t.Context(), name, to, nil)
			must(t, err)
		}, func(to string) string { return string(readFile(t, to)) }},
		"import": {text, func(to string) { importFile(t, to, smallExport) }, func(to string) string {
			s := open(t, to)
			defer s.Close()
			return export(t, s)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			for step := 1; ; step++ {
				dir := t.TempDir()
				target := filepath.Join(dir, "new")
				c2 := startWith(t, what, c.from, target, fmt.Sprint(step))
				c2.out.Scan()
				ended := c2.out.Text() == "done"
				c2.kill()
				if _, err := os.Stat(target); err != nil {
					c.again(target)
				}
				if got := c.whole(target); got != smallExport {
					t.Errorf("killed at step %d: it has\n%s", step, got)
				}
				if got := slices.Sorted(maps.Keys(folder(t, dir))); !ended && len(got) > 2 {
					t.Errorf("killed at step %d: files %q", step, got)
				}
				if ended {
					if step < 5 {
						t.Errorf("only %d steps", step)
					}
					break
				}
			}
			for file := range folder(t, filepath.Dir(name)) {
				if strings.HasSuffix(file, ".part") {
					t.Errorf("%s is left beside the database", file)
				}
			}
		})
	}
}

// dies returns a part that runs a command, and dies at a step of it.
func dies(command func(ctx context.Context, from, to string) error) func(context.Context, string) error {
	return func(ctx context.Context, from string) error {
		target, at, n := os.Args[2], os.Args[3], 0
		store.OnStep(func(string) {
			if n++; fmt.Sprint(n) == at {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		})
		err := command(ctx, from, target)
		fmt.Println("done")
		return err
	}
}

func backUpAndDie(ctx context.Context, from, to string) error {
	_, err := store.Backup(ctx, from, to, noon, nil)
	return err
}

func exportAndDie(ctx context.Context, from, to string) error {
	_, err := store.ExportTo(ctx, from, to, nil)
	return err
}

func importAndDie(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = store.Import(ctx, to, f, noon, nil)
	return err
}
