package store

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// No statement binds the number of its LIMIT, or that of an offset: SQLite would prepare
// it at each call, and the kept statement would be of no use.
func TestLimitsAreLiteral(t *testing.T) {
	bound := regexp.MustCompile(`(LIMIT|OFFSET) *(["` + "`" + `] *\+|\$|\?|:)`)
	if !bound.MatchString("ORDER BY n LIMIT $1") || !bound.MatchString(`" LIMIT " + arg(n)`) || bound.MatchString(" LIMIT 1") {
		t.Fatal("the pattern finds nothing")
	}
	files := 0
	for _, pattern := range []string{"*.go", "../../adapters/*/*.go", "../../adapters/*/*/*.go"} {
		names, err := filepath.Glob(pattern)
		must(t, err)
		for _, name := range names {
			if filepath.Base(name) == "prepared_limit_test.go" {
				continue
			}
			files++
			data, err := os.ReadFile(name)
			must(t, err)
			for _, found := range bound.FindAllString(string(data), -1) {
				if found != `LIMIT " +` || filepath.Base(name) != "store.go" { // but [limited]
					t.Errorf("%s: %s: write the number with limited", name, found)
				}
			}
		}
	}
	if files < 50 {
		t.Errorf("only %d files", files)
	}
}
