package bot_test

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

// mayImport says which packages of the module each package may import, and
// whether it is pure: it asks neither the time nor for chance, and does no I/O.
// Package outbox is, but for waiting and logging.
var mayImport = map[string]struct {
	packages string
	pure     bool
	but      string // what it may use nevertheless
}{
	"rules":      {"", true, ""},
	"rules/sgf":  {"rules", true, ""},
	"render":     {"rules", true, ""},
	"bot/text":   {"rules render", true, ""},
	"bot/clock":  {"rules bot/text", true, ""},
	"bot/match":  {"rules rules/sgf bot/text bot/clock", true, ""},
	"bot/outbox": {"render bot/text bot/match", true, "context log/slog time.AfterFunc time.NewTicker time.NewTimer"},
	"bot":        {"rules rules/sgf render bot/text bot/clock bot/match bot/outbox", false, ""},
	"bot/store":  {"rules bot bot/text bot/clock bot/match bot/outbox", false, ""},
}

// impure are the packages that no pure package imports, and of others what it does
// not use.
var impure = map[string][]string{
	"context": nil, "database/sql": nil, "net": nil, "os": nil, "crypto/rand": nil, "math/rand": nil, "log": nil, "log/slog": nil,
	"time": {"Now", "Since", "Until", "After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"},
	"math/rand/v2": {"Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64", "Perm", "Shuffle",
		"Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN"}, // those of a seeded Rand are methods
}

func TestImports(t *testing.T) {
	for dir, rule := range mayImport {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range wrongImports(f, strings.Fields(rule.packages), rule.pure, strings.Fields(rule.but)) {
				t.Errorf("%s %s", name, wrong)
			}
		}
	}
}

// Every package below bot has a rule.
func TestImportsAreRuled(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() == "storetest" || d.Name() == "testdata" {
			return err
		}
		files, err := filepath.Glob(filepath.Join(name, "*.go"))
		if _, ruled := mayImport[path.Join("bot", filepath.ToSlash(name))]; len(files) > 0 && !ruled {
			t.Errorf("say what bot/%s may import", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wrongImports(f *ast.File, packages []string, pure bool, but []string) (wrong []string) {
	names := map[string]string{} // paths by the names that they have in the file
	for _, spec := range f.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return []string{err.Error()}
		}
		if own, ok := strings.CutPrefix(full, module); ok && !slices.Contains(packages, own) {
			wrong = append(wrong, "imports "+own)
		}
		if !pure {
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
