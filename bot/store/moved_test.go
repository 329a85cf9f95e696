//go:build unix

package store_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// While the file is not where it was, nothing is stored, or it would be stored
// into nothing. Nor does any connection make a new file there.
func TestMovedFile(t *testing.T) {
	moves := map[string]func(t *testing.T, name, aside string){
		"removed": func(*testing.T, string, string) {},
		"replaced": func(t *testing.T, name, aside string) {
			data, err := os.ReadFile(aside)
			must(t, err)
			must(t, os.WriteFile(name, data, 0o600))
		},
	}
	for how, replace := range moves {
		t.Run(how, func(t *testing.T) {
			name := newFile(t)
			s := open(t, name)
			step := opening("g", "room")
			must(t, s.Commit(t.Context(), step))
			next := turn(step.Match)

			aside := filepath.Join(t.TempDir(), "aside")
			must(t, os.Rename(name, aside))
			replace(t, name, aside)
			before := slices.Sorted(maps.Keys(folder(t, filepath.Dir(name))))
			if err := s.Commit(t.Context(), next); !errors.Is(err, store.ErrMoved) {
				t.Errorf("a turn: error is %v, want %v", err, store.ErrMoved)
			}
			if err := s.Ping(t.Context()); !errors.Is(err, store.ErrMoved) {
				t.Errorf("a ping: error is %v, want %v", err, store.ErrMoved)
			}
			db, err := s.OpenAdapterDB("matrix", nil)
			must(t, err)
			if err := db.PingContext(t.Context()); !errors.Is(err, store.ErrMoved) {
				t.Errorf("a connection of an adapter: error is %v, want %v", err, store.ErrMoved)
			}
			must(t, db.Close())
			if after := slices.Sorted(maps.Keys(folder(t, filepath.Dir(name)))); !slices.Equal(before, after) {
				t.Errorf("files before %q, after %q", before, after)
			}

			// Once it is back, all goes on.
			must(t, os.Rename(aside, name))
			must(t, s.Ping(t.Context()))
			must(t, s.Commit(t.Context(), next))
			backUp(t, name, name+".backup")
			copied := open(t, name+".backup")
			if m, _, err := copied.Match(t.Context(), "g"); err != nil || m.Seq != 1 {
				t.Errorf("the backup has %+v, %v", m, err)
			}
		})
	}
}

// What a backup left that was killed goes when the database is opened, and
// nothing else does.
func TestPartsOfBackupsAreRemoved(t *testing.T) {
	name := newFile(t)
	dir, base := filepath.Split(name)
	keep := []string{"other.db.20260101T000000Z.backup.1.part", base + ".20260101T000000Z.backup", base + ".part.txt", "x" + base + ".1.part"}
	for _, n := range append(keep, base+".20260101T000000Z.backup.123.part") {
		must(t, os.WriteFile(filepath.Join(dir, n), []byte("half"), 0o600))
	}
	must(t, os.Mkdir(filepath.Join(dir, base+".dir.part"), 0o700))
	s, err := store.Open(t.Context(), name)
	must(t, err)
	must(t, s.Close())
	var got []string
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := append(keep, base, base+".dir.part")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}
