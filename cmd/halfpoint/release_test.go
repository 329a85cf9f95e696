package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/store/storetest"
)

// Undelivered posts in databases of earlier versions can be listed before anything else opens
// them. They can be exported, and imported again; what an earlier version has exported comes
// to the same.
func TestEarlierVersions(t *testing.T) {
	for name, games := range map[string]int{"web": 3, "discord": 1, "matrix": 2, "encrypted": 2, "unchained": 6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			must := func(args ...string) string {
				t.Helper()
				status, says := halfpoint(args...)
				if status != 0 {
					t.Fatalf("halfpoint %v: %d %s", args, status, says)
				}
				return says
			}
			saved := "../../bot/store/testdata/release/" + name
			database := storetest.Unpack(t, saved+".db.gz")
			if got := must("undelivered", "--database", database); got != "No undelivered posts, no unprocessed events.\n" {
				t.Errorf("undelivered: %s", got)
			}
			file, copied := filepath.Join(t.TempDir(), "export"), filepath.Join(t.TempDir(), "copy.db")
			must("export", "--database", database, "-o", file)
			must("import", "--database", copied, file)
			first, again := must("export", "--database", database), must("export", "--database", copied)
			if n := strings.Count(first, `{"game":{"id"`); n != games || first != again {
				t.Errorf("%d games, not %d; the same again: %t", n, games, first == again)
			}
			if name == "unchained" {
				old := filepath.Join(t.TempDir(), "old.db")
				must("import", "--database", old, storetest.Unpack(t, saved+".jsonl.gz"))
				if must("export", "--database", old) != first {
					t.Error("the export of then is another")
				}
			}
		})
	}
}
