package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/store/storetest"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// open opens a store and closes it at the end of the test.
func open(t testing.TB, name string) *store.Store {
	t.Helper()
	s, err := store.Open(context.WithoutCancel(t.Context()), name)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "half point#1?.db") }

// folder returns the names and contents of the files of a directory.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		files[e.Name()] = string(data)
	}
	return files
}

func TestFile(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Storage { return open(t, newFile(t)) })
}

// The database after each of these tests can be exported.
func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Storage {
		s := open(t, store.Memory)
		t.Cleanup(func() {
			for text, n := range store.Prepared(t, s) {
				// SQLite prepares a savepoint twice more when it is first made, and never later.
				if n > 0 && !strings.HasPrefix(text, "SAVEPOINT") {
					t.Errorf("SQLite prepared this %d times again:\n%s", n, text)
				}
			}
			reimported(t, s)
		})
		return s
	})
}

func TestFileKeepsEverything(t *testing.T) {
	name := newFile(t)
	storetest.Reopen(t, func(t *testing.T) storetest.Storage { return open(t, name) })
}

func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	storetest.Run(t, func(t *testing.T) storetest.Storage {
		s := open(t, server.Database(t))
		store.Rehearse(s)
		return s
	})
}

func TestPostgresKeepsEverything(t *testing.T) {
	address := pgtest.Start(t).Database(t)
	storetest.Reopen(t, func(t *testing.T) storetest.Storage { return open(t, address) })
}
