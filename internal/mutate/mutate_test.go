package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMutate(t *testing.T) {
	src := []byte(`package p

var table = [3]string{0: "a" + "b", 10: "c"}

func (b *B) f(n int) (int, error) {
	for i := range n {
		if n < 3 &&
			i == 0 {
			n++
			continue
		}
		n = g(n)
	}
	return n, nil
}

func g(n int) bool { return !(n > 1) }
`)
	want := `p.go:3 table | var table = [3]string{1: "a" + "b", 10: "c"}
p.go:5 B.f | func (b *B) f(n int) (int, error) { if true { return *new(int), *new(error) };
p.go:7 B.f | if !(n < 3 && i == 0) {
p.go:7 B.f | if n < 3 ||
p.go:7 B.f | if n <= 3 &&
p.go:7 B.f | if n < 4 &&
p.go:7 B.f | if n < 2 &&
p.go:8 B.f | i != 0 {
p.go:8 B.f | i == 1 {
p.go:9 B.f |
p.go:9 B.f | n--
p.go:10 B.f |
p.go:12 B.f |
p.go:17 g | func g(n int) bool { if true { return *new(bool) }; return !(n > 1) }
p.go:17 g | func g(n int) bool { if true { return true }; return !(n > 1) }
p.go:17 g | func g(n int) bool { return !(n >= 1) }
p.go:17 g | func g(n int) bool { return !(n > 2) }
p.go:17 g | func g(n int) bool { return !(n > 0) }
`
	all, err := mutate("p.go", src)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, m := range all {
		got.WriteString(strings.TrimRight(m.place()+" "+m.in+" | "+m.to, " ") + "\n")
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, m.text, 0); err != nil {
			t.Errorf("%s\n%v", m, err)
		}
		if bytes.Count(m.text, []byte("\n")) != bytes.Count(src, []byte("\n")) {
			t.Errorf("lines move:\n%s", m.text)
		}
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// Mutants that share a program stand behind its other functions, one line each here.
func TestTogether(t *testing.T) {
	src := []byte(`package p

func (b *B) f(n int, more ...int) (int, error) { return n + 1, nil }

func g(_ int) { h(1) }

func h(n int) { k(n) }
`)
	want := `package p

func (b *B) f(n int, more ...int) (int, error) { if mutantʹ == 1 { return b.fʹ1(n, more...) }; if mutantʹ == 2 { return b.fʹ2(n, more...) };  return n + 1, nil }

func g(_ int) { h(1) }

func h(n int) { if mutantʹ == 4 { hʹ4(n); return };  k(n) }

func (b *B) fʹ1(n int, more ...int) (int, error) { if true { return *new(int), *new(error) }; return n + 1, nil }
func (b *B) fʹ2(n int, more ...int) (int, error) { return n - 1, nil }
func hʹ4(n int) { if true { return }; k(n) }`
	all, err := mutate("p.go", src)
	if err != nil {
		t.Fatal(err)
	}
	chosen, order := map[int]mutant{}, []int{1, 2, 4}
	for _, m := range all {
		switch m.to {
		case "func (b *B) f(n int, more ...int) (int, error) { if true { return *new(int), *new(error) }; return n + 1, nil }":
			chosen[1] = m
		case "func (b *B) f(n int, more ...int) (int, error) { return n - 1, nil }":
			chosen[2] = m
		case "func h(n int) { if true { return }; k(n) }":
			chosen[4] = m
		}
		if m.in == "g" && m.fn != nil {
			t.Error("g cannot hand over what it does not name")
		}
	}
	text, lines := together(chosen, order)
	if string(text) != want || !slices.Equal(lines, []int{9, 10, 11}) {
		t.Errorf("got, from lines %v,\n%s\nwant\n%s", lines, text, want)
	}
}

// Mutants that look the same in the same function are told apart, and a sample stays
// what it is where another function changes.
func TestWhatIdentifiesAMutant(t *testing.T) {
	const f = "func f(n int) {\n\tn++\n\tn++\n}\n"
	ranks := func(src string) (of []uint64) {
		all, err := mutate("p.go", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if m.in == "f" {
				of = append(of, m.rank("seed"))
			}
		}
		return of
	}
	alone := ranks("package p\n\n" + f)
	if sorted := slices.Compact(slices.Sorted(slices.Values(alone))); len(sorted) != 5 {
		t.Errorf("%d mutants of 5 are told apart", len(sorted))
	}
	if among := ranks("package p\n\nfunc before() {}\n\n" + f); !slices.Equal(alone, among) {
		t.Error("another function changes the ranks")
	}
}

func TestExplained(t *testing.T) {
	got, err := explained("# a comment\n\np.go f\n- n++\n+\nit is\nso\n")
	if err != nil || len(got) != 1 || got["p.go f\n- n++\n+"] != "it is so" {
		t.Error(got, err)
	}
	for _, bad := range []string{"p.go f\n- n++\n+ n--\n", "p.go f\n+ n--\n- n++\nit is so\n", "p.go f\n- n++\n+\nso\n\np.go f\n- n++\n+\nso\n"} {
		if got, err := explained(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

// What is explained is still there to be explained.
func TestExplainedMutantsExist(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := mutants(root, targets, judge)
	if err != nil || len(all) < 300 {
		t.Fatal(len(all), err)
	}
	text, err := os.ReadFile(filepath.Join(root, ".ci", "mutate.explained"))
	if err != nil {
		t.Fatal(err)
	}
	may, err := explained(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		delete(may, m.String())
	}
	for key := range may {
		t.Errorf("no such mutant:\n%s", key)
	}
	for file := range judge {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
			t.Error(err)
		}
	}
}
