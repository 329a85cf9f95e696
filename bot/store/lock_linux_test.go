package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/store"
)

// The file is locked whatever it is called, and whether or not its lock file is
// still there.
func TestLockIsOnTheFile(t *testing.T) {
	name := newFile(t)
	link := filepath.Join(t.TempDir(), "link.db")
	inUse := func(s *store.Store, err error) {
		t.Helper()
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, store.ErrInUse) {
			t.Errorf("error is %v, want %v", err, store.ErrInUse)
		}
	}
	other := start(t, "hold", name)
	if got := other.line(t); got != "open" {
		t.Fatal(got)
	}
	must(t, os.Link(name, link))
	inUse(store.Open(t.Context(), link))
	must(t, os.Remove(name+".lock"))
	inUse(store.Open(t.Context(), name))
	other.kill()

	s := open(t, name)
	inUse(store.Open(t.Context(), link))
	must(t, os.Remove(name+".lock"))
	inUse(store.Open(t.Context(), name))
	must(t, s.Close())
	open(t, link)
}
