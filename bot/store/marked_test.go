//go:build unix

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a killed process leaves is its own, whichever connection has begun the log: one of
// an adapter, or the store's, and also where the log was emptied because a person was
// forgotten.
func TestLogOfAnyConnection(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "halfpoint.db")
	fine := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	opened := func(name string) *Store {
		t.Helper()
		s, err := Open(ctx, name)
		fine(err)
		return s
	}
	fine(opened(name).Close())
	s := opened(name)
	defer func() { fine(s.Close()) }()
	db, err := s.OpenAdapterDB("matrix", nil)
	fine(err)
	defer func() { fine(db.Close()) }()
	for k := range 12 {
		if k >= 4 {
			fine(s.scrub(ctx))
		}
		for n := range 2 {
			if (k+n)%2 == 0 {
				_, err := db.Exec("INSERT INTO matrix_mark (kind, key, value, at) VALUES ('a', $1, 'c', 1)", fmt.Sprint(k, n))
				fine(err)
			} else {
				fine(s.SetBookmark(ctx, "a", fmt.Sprint(k, n)))
			}
			killed := filepath.Join(t.TempDir(), "halfpoint.db")
			for _, suffix := range []string{"", logSuffix} {
				data, err := os.ReadFile(name + suffix)
				fine(err)
				fine(os.WriteFile(killed+suffix, data, 0o600))
			}
			again := opened(killed)
			value, err := again.Bookmark(ctx, "a")
			fine(err)
			if (k+n)%2 != 0 && value != fmt.Sprint(k, n) {
				t.Errorf("the copy lacks what was written last, it has %q", value)
			}
			fine(again.Close())
		}
	}
}
