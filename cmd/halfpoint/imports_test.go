package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/halfpoint-go/halfpoint/"

// Imports point one way: cmd → adapters → bot → render, rules. The rule with the
// longest folder that holds a package says which packages of the module it may import,
// and whether it is pure: it asks neither the time nor for chance, and does no I/O.
// Package outbox is, but for waiting and logging, and rooms is, but for logging.
// Everybody may import the packages in their own folder, and what is made for tests of
// the tier.
var mayImport = map[string]struct {
	packages string
	pure     bool
	but      string // what it may use nevertheless
}{
	"rules":                {"", true, ""},
	"rules/sgf":            {"rules", true, ""},
	"render":               {"rules internal/lru", true, ""},
	"bot/text":             {"rules render", true, ""},
	"bot/clock":            {"rules bot/text", true, ""},
	"bot/match":            {"rules rules/sgf bot/text bot/clock", true, ""},
	"bot/contest":          {"rules bot/text bot/clock bot/match internal/pairing internal/standings", true, ""},
	"bot/outbox":           {"render bot/text bot/match internal/lru", true, "context log/slog time.AfterFunc time.NewTicker time.NewTimer"},
	"bot/rooms":            {"rules render bot/text bot/clock bot/match bot/outbox", true, "context log/slog"},
	"bot/units":            {"", false, ""},
	"bot":                  {"rules rules/sgf render bot/text bot/clock bot/match bot/contest bot/outbox bot/rooms bot/units internal/pairing internal/standings internal/audit", false, ""},
	"bot/store":            {"rules rules/sgf render bot bot/text bot/clock bot/match bot/contest bot/outbox bot/rooms bot/units internal/pairing internal/standings internal/audit", false, ""},
	"adapters":             {"rules rules/sgf render bot bot/text bot/match bot/contest bot/outbox bot/rooms bot/units adapters/intake adapters/memnet", false, ""},
	"adapters/adaptertest": {"rules rules/sgf render bot bot/text bot/match bot/contest bot/outbox internal/audit", false, ""}, // for tests
	// Clients of a platform know nothing of the game.
	"adapters/discord/rest":        {"", false, ""},
	"adapters/discord/gateway":     {"adapters/discord/rest", false, ""},
	"adapters/discord/interaction": {"adapters/discord/rest", false, ""},
	"adapters/matrix/device":       {"adapters/matrix/e2ee adapters/matrix/retry", false, ""},
	"cmd":                          {"rules rules/sgf render bot bot/text bot/match bot/outbox bot/units bot/store adapters/discord adapters/discord/rest adapters/matrix adapters/matrix/device adapters/terminal adapters/web internal/audit", false, ""},
	"internal":                     {"", false, ""},
	"internal/matching":            {"", true, ""},
	"internal/pairing":             {"internal/matching", true, ""},
	"internal/standings":           {"", true, ""},
	"internal/audit":               {"internal/pairing internal/standings", true, ""},
}

// leaves are what every package may import that is not pure.
var leaves = []string{"internal/backoff", "internal/lru", "internal/secret"}

// impure are the packages that no pure package imports, and of others what it does
// not use.
var impure = map[string][]string{
	"context": nil, "database/sql": nil, "net": nil, "os": nil, "crypto/rand": nil, "math/rand": nil, "log": nil, "log/slog": nil,
	"time": {"Now", "Since", "Until", "After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"},
	"math/rand/v2": {"Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64", "Perm", "Shuffle",
		"Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN"}, // those of a seeded Rand are methods
}

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata") {
			return err
		}
		files++
		local, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		for _, wrong := range wrongImports(path.Dir(filepath.ToSlash(local)), f) {
			t.Errorf("%s %s", local, wrong)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Fatal(files, err)
	}
}

// wrongImports returns what a file in the folder dir imports or uses against the rules.
func wrongImports(dir string, f *ast.File) (wrong []string) {
	folder := dir
	rule, ruled := mayImport[folder]
	for !ruled && folder != "." {
		folder = path.Dir(folder)
		rule, ruled = mayImport[folder]
	}
	if !ruled {
		return []string{"has no rule for its imports"}
	}
	packages, but := strings.Fields(rule.packages), strings.Fields(rule.but)
	names := map[string]string{} // paths by the names that they have in the file
	for _, spec := range f.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return []string{err.Error()}
		}
		if own, ok := strings.CutPrefix(full, module); ok {
			mine := folder == "adapters" && strings.HasPrefix(own+"/", path.Join(strings.Split(dir, "/")[:2]...)+"/")
			forTests := own == "internal/tier" && strings.HasSuffix(dir, "test") || strings.HasPrefix(dir, own+"/") && strings.HasSuffix(dir, "test")
			if !slices.Contains(packages, own) && !mine && !forTests && (rule.pure || !slices.Contains(leaves, own)) {
				wrong = append(wrong, "imports "+own)
			}
		} else if folder == "rules" || folder == "rules/sgf" {
			if first, _, _ := strings.Cut(full, "/"); strings.Contains(first, ".") && !(folder == "rules/sgf" && strings.HasPrefix(full, "golang.org/x/text/encoding")) {
				wrong = append(wrong, "imports "+full+", which is not of the standard library")
			}
		}
		if !rule.pure {
			continue
		}
		uses, known := impure[full]
		if known && uses == nil && !slices.Contains(but, full) || strings.HasPrefix(full, "net/") || strings.HasPrefix(full, "os/") {
			wrong = append(wrong, "imports "+full)
		}
		name := path.Base(full)
		if full == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = full
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(impure[names[x.Name]], s.Sel.Name) && !slices.Contains(but, names[x.Name]+"."+s.Sel.Name) {
				wrong = append(wrong, "uses "+names[x.Name]+"."+s.Sel.Name)
			}
		}
		return true
	})
	return wrong
}
