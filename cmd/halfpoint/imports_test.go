package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "github.com/halfpoint-go/halfpoint/"

// Imports point one way: cmd → adapters → bot → render, rules. What a package
// may import of this module is what stands to its right.
func TestImportsPointOneWay(t *testing.T) {
	may := map[string][]string{
		"rules":        {},
		"rules/sgf":    {"rules"},
		"render":       {"rules"},
		"bot/text":     {"rules", "render"},
		"bot/clock":    {"bot/text", "rules"},
		"bot/match":    {"bot/clock", "bot/text", "rules", "rules/sgf"},
		"bot/outbox":   {"bot/match", "bot/text", "render"},
		"bot":          {"bot/clock", "bot/match", "bot/outbox", "bot/text", "rules", "rules/sgf", "render"},
		"bot/store":    {"bot", "bot/clock", "bot/match", "bot/outbox", "bot/text", "rules", "rules/sgf", "render"},
		"adapters/":    {"bot", "bot/text", "rules", "rules/sgf", "render"},
		"internal/":    {},
		"cmd/":         {"*"},
		"bot/store/st": {"bot", "bot/clock", "bot/match", "bot/outbox", "bot/store", "bot/text", "rules", "rules/sgf", "render"}, // storetest
	}
	out, err := exec.Command("go", "list", "-tags", "goolm", "-f", `{{.ImportPath}}: {{join .Imports " "}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		pkg, imports, _ := strings.Cut(line, ": ")
		pkg = strings.TrimPrefix(pkg, module)
		best := ""
		for prefix := range may {
			if (pkg == prefix || strings.HasSuffix(prefix, "/") && strings.HasPrefix(pkg, prefix) || prefix == "bot/store/st" && strings.HasPrefix(pkg, prefix)) && len(prefix) > len(best) {
				best = prefix
			}
		}
		if best == "" {
			t.Errorf("%s has no place among the packages", pkg)
			continue
		}
		for _, imported := range strings.Fields(imports) {
			name, ours := strings.CutPrefix(imported, module)
			if !ours {
				if (pkg == "rules" || pkg == "rules/sgf") && strings.Contains(imported, ".") {
					t.Errorf("%s imports %s: only the standard library may be imported there", pkg, imported)
				}
				continue
			}
			ok := len(may[best]) == 1 && may[best][0] == "*"
			for _, m := range may[best] {
				ok = ok || m == name
			}
			// An adapter may be made of several packages.
			if adapter := strings.Split(pkg, "/"); adapter[0] == "adapters" {
				ok = ok || strings.HasPrefix(name, "adapters/"+adapter[1]+"/") || name == "adapters/lanes" || name == "adapters/memnet" // which know no platform
			}
			// Packages that support tests ask for the tier.
			ok = ok || name == "internal/tier" && strings.HasSuffix(pkg, "test")
			if !ok {
				t.Errorf("%s imports %s", pkg, name)
			}
		}
	}
	// What rules and render may not do at all, however indirectly.
	for pkg, never := range map[string][]string{
		"rules":  {"time", "math/rand", "net", "os/exec", "database/sql"},
		"render": {"math/rand", "net", "os/exec", "database/sql"},
	} {
		out, err := exec.Command("go", "list", "-f", `{{join .Imports " "}}`, module+pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range strings.Fields(string(out)) {
			for _, n := range never {
				if imported == n {
					t.Errorf("%s imports %s", pkg, n)
				}
			}
		}
	}
}

// What is random in rules comes from a seed that the caller gives.
func TestRulesAreNotRandom(t *testing.T) {
	files, err := filepath.Glob("../../rules/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	seeded := map[string]bool{"rand.New": true, "rand.NewPCG": true, "rand.Rand": true}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, use := range regexp.MustCompile(`\brand\.[A-Z]\w*`).FindAllString(string(text), -1) {
			if !seeded[use] {
				t.Errorf("%s uses %s", name, use)
			}
		}
	}
}
