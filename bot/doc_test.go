package bot

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The path of a turn in the documentation of this package names functions that are there.
func TestPathOfATurn(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(string(doc), "# The path of a turn")
	path, _, _ = strings.Cut(path, "# Packages")
	folder, named := "", 0
	for _, m := range regexp.MustCompile(`(?m)^//\t(\S*) +(?:(\w+)\.)?(\w+) {2,}\S`).FindAllStringSubmatch(path, -1) {
		if m[1] != "" {
			folder = m[1]
		}
		head := "func " + m[3] + "("
		if m[2] != "" {
			head = `func \(\w+ \*?` + m[2] + `\) ` + m[3] + `\(`
		} else {
			head = regexp.QuoteMeta(head)
		}
		if !declares(t, filepath.Join("..", filepath.FromSlash(folder)), regexp.MustCompile("(?m)^"+head)) {
			t.Errorf("%s has no %s.%s", folder, m[2], m[3])
		}
		named++
	}
	for _, m := range regexp.MustCompile(`\b(Adapter|server|Terminal)\.(\w+)\b`).FindAllStringSubmatch(path[strings.Index(path, "On the other platforms"):], -1) {
		folder := map[string]string{"Adapter": "matrix", "server": "web", "Terminal": "terminal"}[m[1]]
		if !declares(t, filepath.Join("..", "adapters", folder), regexp.MustCompile(`(?m)^func \(\w+ \*?`+m[1]+`\) `+m[2]+`\(`)) {
			t.Errorf("%s has no %s", folder, m[0])
		}
	}
	if named < 10 || named > 25 {
		t.Errorf("the path has %d functions", named)
	}
}

// declares reports whether a file of a folder matches.
func declares(t *testing.T, folder string, head *regexp.Regexp) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, "_test.go") && head.Match(source) {
			return true
		}
	}
	return false
}
