//go:build unix

package store_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// importFile makes a database from an export.
func importFile(t testing.TB, name, text string) (s store.Summary, kept string) {
	t.Helper()
	s, kept, err := store.Import(t.Context(), name, strings.NewReader(text), noon, nil)
	must(t, err)
	return s, kept
}

// A database gives the same export whether a process has it open, was killed or has closed it,
// and so do a backup and what is made from the export; and the latter plays on.
func TestExportOfAFile(t *testing.T) {
	name := newFile(t)
	s := imported(t, name)
	killed := left(t, name).lay(t)
	backup := filepath.Join(t.TempDir(), "backup")
	backUp(t, name, backup)
	before := left(t, name)
	exported := func(name string) string {
		t.Helper()
		var b bytes.Buffer
		sum, err := store.Export(t.Context(), name, &b, func(string, int, int) {})
		must(t, err)
		if sum.Games != 1 || sum.Bytes != int64(b.Len()) || sum.Version != 12 || sum.Last.UnixMilli() != 1700000001000 {
			t.Errorf("%+v", sum)
		}
		return b.String()
	}
	again := filepath.Join(t.TempDir(), "again.db")
	if sum, kept := importFile(t, again, smallExport); sum.Games != 1 || sum.File != again || sum.Version < 24 || kept != "" {
		t.Errorf("%+v, %q", sum, kept)
	}
	for what, name := range map[string]string{"running": name, "killed": killed, "a backup": backup, "imported": again} {
		if diff := cmp.Diff(smallExport, exported(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if !maps.EqualFunc(before, left(t, name), bytes.Equal) {
		t.Error("the open database has changed")
	}
	must(t, s.Close())
	target := filepath.Join(t.TempDir(), "a.jsonl")
	sum, err := store.ExportTo(t.Context(), name, target, nil)
	must(t, err)
	if data, err := os.ReadFile(target); string(data) != smallExport || err != nil || sum.File != target {
		t.Errorf("closed: %+v, %v\n%s", sum, err, data)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	b := open(t, again)
	m, _, err := b.Match(t.Context(), "g")
	must(t, err)
	must(t, b.Commit(t.Context(), turn(&m)))
	if _, err := store.Export(t.Context(), name, writerFunc(func([]byte) (int, error) { return 0, errBroken }), nil); !errors.Is(err, errBroken) {
		t.Errorf("a writer that fails: %v", err)
	}
}

// An export of a database that a process has open is of one moment, and holds no turn up.
func TestExportWhilePlaying(t *testing.T) {
	name := newFile(t)
	d := newDuel(t, open(t, name))
	for range 50 {
		d.play()
	}
	defer store.OnStep(func(step string) { // each turn changes what is still to be copied
		if step == "copy" || step == "pages" {
			d.play()
		}
	})()
	before := d.turns
	var b bytes.Buffer
	_, err := store.Export(t.Context(), name, writerFunc(func(p []byte) (int, error) {
		d.play()
		return b.Write(p)
	}), nil)
	must(t, err)
	if d.turns < before+5 {
		t.Errorf("only %d turns meanwhile", d.turns-before)
	}
	copied := open(t, store.Memory)
	must(t, copied.Import(t.Context(), &b))
	d.consistent(copied, before, before)
}

// Nothing is overwritten, and a failure leaves nothing behind.
func TestExportAndImportRefuse(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "halfpoint.db")
	s := imported(t, name)
	diary := filepath.Join(dir, "diary.db")
	sqlDo(t, diary, "CREATE TABLE diary (day TEXT)")
	newer := filepath.Join(dir, "newer.db")
	backUp(t, name, newer)
	sqlDo(t, newer, "INSERT INTO halfpoint_version (version_id, is_applied) VALUES (99, 1)")
	must(t, os.WriteFile(filepath.Join(dir, "half.db"), readFile(t, newer)[:20_000], 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "halfpoint.jsonl"), []byte(smallExport), 0o600))
	before := slices.Sorted(maps.Keys(folder(t, dir)))
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct{ from, to, says string }{
		{name, diary, "export to " + diary + ": file already exists"},
		{name, dir, "export to " + dir + ": is a directory; name a new file in it"},
		{name, in("no/a.jsonl"), "export to " + in("no/a.jsonl") + ": no such file or directory"},
		{in("no.db"), in("a.jsonl"), "export " + in("no.db") + ": " + in("no.db") + ": no such file or directory"},
		{diary, in("a.jsonl"), "export " + diary + ": not a halfpoint database, but another program's"},
		{newer, in("a.jsonl"), "export " + newer + ": written by a newer halfpoint"},
		{in("half.db"), in("a.jsonl"), "export " + in("half.db") + ": not a halfpoint database: it is cut off"},
	} {
		if _, err := store.ExportTo(t.Context(), c.from, c.to, nil); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s to %s: error is %v", c.from, c.to, err)
		}
	}
	for _, c := range []struct{ to, text, says string }{
		{name, smallExport, "another halfpoint is using " + name + "; stop it first"},
		{diary, smallExport, "import into " + diary + ": file already exists; name a new database"},
		{dir, smallExport, "import into " + dir + ": is a directory"},
		{in("no/a.db"), smallExport, "import into " + in("no/a.db") + ": directory: no such file"},
		{in("a.db"), strings.Replace(smallExport, `{"event":{"game":"g"`, `{"event":{"game":"h"`, 1), "line 6: what this event refers to is not there"},
		{in("a.db"), smallExport[:900], "line 8: it is not JSON: unexpected end of JSON input"},
	} {
		if _, _, err := store.Import(t.Context(), c.to, strings.NewReader(c.text), noon, nil); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("into %s: error is %v", c.to, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	endless := readerFunc(func(p []byte) (int, error) {
		cancel()
		return copy(p, "{\"halfpoint\":\"export\",\"version\":1}\n"), nil
	})
	if _, _, err := store.Import(ctx, in("a.db"), endless, noon, nil); err == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	if _, err := store.ExportTo(ctx, name, in("a.jsonl"), func(string, int, int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if diff := cmp.Diff(before, slices.Sorted(maps.Keys(folder(t, dir)))); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}

	// The log of a deleted database does not touch the new one.
	must(t, s.SetBookmark(t.Context(), "web", "later"))
	for suffix, data := range left(t, name) {
		if suffix != "" {
			must(t, os.WriteFile(in("a.db"+suffix), data, 0o600))
		}
	}
	_, kept := importFile(t, in("a.db"), smallExport)
	if _, err := os.Stat(kept + "-wal"); err != nil || !strings.HasSuffix(kept, ".replaced") {
		t.Errorf("kept %q: %v", kept, err)
	}
	if diff := cmp.Diff(smallExport, export(t, open(t, in("a.db")))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return data
}
