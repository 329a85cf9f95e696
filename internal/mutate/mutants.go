package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A mutant is one change of one file.
type mutant struct {
	file     string // slash-separated, from the root of the module
	line     int
	in       string // the function or variable that holds the change
	from, to string // the changed lines, as one line each
	nth      int    // among the mutants that look the same in the same place, from 1
	text     []byte // the whole file after the change
	fn       *function
}

// String returns what identifies the mutant wherever the rest of its file moves.
func (m mutant) String() string {
	head := m.file + " " + m.in
	if m.nth > 1 {
		head += " #" + strconv.Itoa(m.nth)
	}
	return head + "\n- " + m.from + "\n" + strings.TrimRight("+ "+m.to, " ")
}

// place returns the file and the line.
func (m mutant) folder() string { return path.Dir(m.file) }

func (m mutant) place() string { return m.file + ":" + strconv.Itoa(m.line) }

// rank orders mutants by chance. A change elsewhere in the code leaves it as it is.
func (m mutant) rank(seed string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(seed + "\n" + m.String()))
	return h.Sum64()
}

// swaps are the operators that take each other's place.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.QUO,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// mutants returns every mutant of the Go files in the folders, without tests and
// the files that skip names.
func mutants(root string, folders []string, skip map[string]bool) (all []mutant, err error) {
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			file := path.Join(folder, filepath.Base(name))
			if strings.HasSuffix(file, "_test.go") || skip[file] {
				continue
			}
			src, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			of, err := mutate(file, src)
			if err != nil {
				return nil, err
			}
			all = append(all, of...)
		}
	}
	return all, nil
}

// mutate returns the mutants of a file. They keep its lines where they are, so that
// a change without effect compiles to the same program.
func mutate(file string, src []byte) ([]mutant, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	m := &mutator{file: file, src: src, set: set, seen: map[string]int{}}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			m.in = d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				m.in = strings.TrimPrefix(m.source(d.Recv.List[0].Type), "*") + "." + m.in
			}
			m.fn = m.function(d)
			m.walk(d)
		case *ast.GenDecl:
			m.fn = nil
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					m.in = v.Names[0].Name
					m.walk(v)
				}
			}
		}
	}
	slices.SortStableFunc(m.all, func(a, b mutant) int { return a.line - b.line })
	return m.all, nil
}

type mutator struct {
	file, in string
	fn       *function
	src      []byte
	set      *token.FileSet
	seen     map[string]int
	all      []mutant
}

func (m *mutator) offset(p token.Pos) int { return m.set.Position(p).Offset }

func (m *mutator) source(n ast.Node) string {
	return string(m.src[m.offset(n.Pos()):m.offset(n.End())])
}

// replace adds the mutant with other text between two positions.
func (m *mutator) replace(pos, end token.Pos, text string) {
	from, to := m.offset(pos), m.offset(end)
	text += strings.Repeat("\n", max(0, bytes.Count(m.src[from:to], []byte("\n"))-strings.Count(text, "\n")))
	start := bytes.LastIndexByte(m.src[:from], '\n') + 1
	stop := to + bytes.IndexByte(append(m.src[to:len(m.src):len(m.src)], '\n'), '\n')
	one := func(parts ...string) string {
		line := []rune(strings.Join(strings.Fields(strings.Join(parts, "")), " "))
		if len(line) > 200 {
			line = append(line[:199], '…')
		}
		return string(line)
	}
	next := mutant{
		file: m.file, line: m.set.Position(pos).Line, in: m.in,
		from: one(string(m.src[start:stop])),
		to:   one(string(m.src[start:from]), text, string(m.src[to:stop])),
		text: slices.Concat(m.src[:from], []byte(text), m.src[to:]),
		fn:   m.fn,
	}
	key := next.String()
	m.seen[key]++
	next.nth = m.seen[key]
	m.all = append(m.all, next)
}

func (m *mutator) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				m.returnEarly(n.Type, n.Body)
			}
		case *ast.FuncLit:
			m.returnEarly(n.Type, n.Body)
		case *ast.IfStmt:
			m.replace(n.Cond.Pos(), n.Cond.End(), "!("+m.source(n.Cond)+")")
		case *ast.ForStmt:
			if n.Cond != nil {
				m.replace(n.Cond.Pos(), n.Cond.End(), "false && ("+m.source(n.Cond)+")")
			}
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok && !hasString(n) {
				m.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
			}
		case *ast.ArrayType: // another length of an array changes nothing, or does not compile
			return false
		case *ast.BasicLit:
			m.number(n)
		case *ast.BlockStmt:
			m.drop(n.List)
		case *ast.CaseClause:
			m.drop(n.Body)
		case *ast.IncDecStmt:
			m.replace(n.TokPos, n.TokPos+2, swaps[n.Tok].String())
		case *ast.AssignStmt:
			if other, ok := swaps[n.Tok]; ok && !hasString(n) {
				m.replace(n.TokPos, n.TokPos+2, other.String())
			}
		}
		return true
	})
}

// number adds 1 to an integer and takes 1 away. Numbers of two digits are limits and codes of
// characters, of which one more or less is no other program.
func (m *mutator) number(n *ast.BasicLit) {
	v, err := strconv.ParseInt(n.Value, 0, 64)
	if n.Kind != token.INT || err != nil || v > 9 {
		return
	}
	m.replace(n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
	if v > 0 {
		m.replace(n.Pos(), n.End(), strconv.FormatInt(v-1, 10))
	}
}

// logs matches a statement that only writes to a log, for operators.
var logs = regexp.MustCompile(`^([a-z]\.)*([lL]og)\.(Debug|Info|Warn|Error)\(`)

// drop leaves out each statement that can be left out and does more than log.
func (m *mutator) drop(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt:
			if logs.MatchString(m.source(s)) {
				continue
			}
		case *ast.BranchStmt, *ast.IncDecStmt, *ast.DeferStmt:
		default:
			continue
		}
		m.replace(s.Pos(), s.End(), "")
	}
}

// returnEarly lets a function return zeros at once.
func (m *mutator) returnEarly(t *ast.FuncType, body *ast.BlockStmt) {
	var zeros []string
	if t.Results != nil {
		for _, r := range t.Results.List {
			for range max(1, len(r.Names)) {
				zeros = append(zeros, "*new("+m.source(r.Type)+")")
			}
		}
	}
	early := "return"
	if len(zeros) > 0 {
		early += " " + strings.Join(zeros, ", ")
	}
	m.replace(body.Lbrace, body.Lbrace+1, "{ if true { "+early+" };")
	if len(zeros) == 1 && zeros[0] == "*new(bool)" {
		m.replace(body.Lbrace, body.Lbrace+1, "{ if true { return true };")
	}
}

func hasString(n ast.Node) (has bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			has = true
		}
		_, call := n.(*ast.CallExpr)
		_, index := n.(*ast.IndexExpr)
		return !call && !index
	})
	return has
}

// explained reads the mutants that may survive: paragraphs of a mutant and the
// reason. Lines that begin with # are comments.
func explained(text string) (map[string]string, error) {
	reasons := map[string]string{}
	var paragraph []string
	for line := range strings.Lines(text + "\n\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			paragraph = append(paragraph, line)
		case len(paragraph) > 0:
			if len(paragraph) < 4 || !strings.HasPrefix(paragraph[1], "- ") || !strings.HasPrefix(paragraph[2]+" ", "+ ") {
				return nil, fmt.Errorf("not a mutant and a reason: %q", paragraph)
			}
			key := strings.Join(paragraph[:3], "\n")
			if reasons[key] != "" {
				return nil, fmt.Errorf("explained twice: %s", key)
			}
			reasons[key] = strings.Join(paragraph[3:], " ")
			paragraph = nil
		}
	}
	return reasons, nil
}
