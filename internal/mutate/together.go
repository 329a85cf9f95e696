package main

// To build a program takes longer than most mutants live. So many of them share one: each is
// a copy of its function, and the function hands over to the copy that is chosen when the
// program starts.

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// choice is the environment variable that selects the mutant in a program that holds
// several: its number, from 1.
const choice = "HALFPOINT_MUTANT"

// A function is one that can be in a program several times.
type function struct {
	src  []byte // the file that holds it
	from int    // where it begins, all in bytes of the file
	name int    // where its name ends
	body int    // where its first statement may stand
	to   int
	call string // calls the copy whose name ends in %[1]d
}

// function returns a function or method; nil if it cannot call a copy of itself.
func (m *mutator) function(d *ast.FuncDecl) *function {
	if d.Body == nil || d.Type.TypeParams != nil || d.Name.Name == "init" {
		return nil
	}
	args := []string{}
	for _, p := range d.Type.Params.List {
		dots := ""
		if _, ok := p.Type.(*ast.Ellipsis); ok {
			dots = "..."
		}
		if len(p.Names) == 0 {
			return nil
		}
		for _, n := range p.Names {
			if n.Name == "_" {
				return nil
			}
			args = append(args, n.Name+dots)
		}
	}
	call := d.Name.Name + "ʹ%[1]d(" + strings.Join(args, ", ") + ")"
	if d.Recv != nil {
		if len(d.Recv.List[0].Names) == 0 || d.Recv.List[0].Names[0].Name == "_" {
			return nil
		}
		call = d.Recv.List[0].Names[0].Name + "." + call
	}
	if d.Type.Results != nil {
		call = "return " + call
	} else {
		call += "; return"
	}
	return &function{m.src, m.offset(d.Pos()), m.offset(d.Name.End()), m.offset(d.Body.Lbrace) + 1, m.offset(d.End()), call}
}

// together returns the text of a file that holds several mutants, by number: each in a copy
// of its function behind the others, to which the function itself hands over. first are the
// lines where the copies begin.
func together(mutants map[int]mutant, order []int) (text []byte, first []int) {
	var src []byte
	over := map[int]string{} // by the place where a function hands over
	var copies bytes.Buffer
	for _, n := range order {
		m := mutants[n]
		fn := m.fn
		src = fn.src
		over[fn.body] += fmt.Sprintf("if mutantʹ == %[1]d { "+fn.call+" }; ", n)
		first = append(first, bytes.Count(src, []byte("\n"))+bytes.Count(copies.Bytes(), []byte("\n"))+2)
		fmt.Fprintf(&copies, "\n%sʹ%d%s", src[fn.from:fn.name], n, m.text[fn.name:fn.to+len(m.text)-len(src)])
	}
	for i, b := range src {
		if s := over[i]; s != "" {
			text = append(text, " "+s...)
		}
		text = append(text, b)
	}
	return append(text, copies.Bytes()...), first
}

// position matches what the compiler says of a line.
var position = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// buildAll builds the tests of a folder with those mutants of a list that have the indices.
// broken are those that do not compile. Without a binary they must be tried one by one.
//
// An import that a mutant needs no more is no error here: then the mutant counts as noticed
// if its copy is.
func (t *trial) buildAll(folder string, list []mutant, indices []int) (binary string, broken map[int]bool) {
	broken = map[int]bool{}
	if len(indices) == 0 {
		return "", broken
	}
	f, err := os.CreateTemp(t.dir, "*.test")
	if err != nil {
		return "", broken
	}
	f.Close()
	for {
		numbers, byNumber := map[string][]int{}, map[int]mutant{}
		for _, i := range indices {
			if m := list[i]; !broken[i] {
				numbers[m.file] = append(numbers[m.file], i+1)
				byNumber[i+1] = m
			}
		}
		texts := map[string][]byte{folder + "/chosen_mutant.go": []byte(`package ` + path.Base(folder) + `

import ("os"; "strconv")

var mutantʹ, _ = strconv.Atoi(os.Getenv("` + choice + `"))
`)}
		first := map[string][]int{}
		for file, of := range numbers {
			texts[file], first[file] = together(byNumber, of)
		}
		out, err := t.build(folder, f.Name(), texts)
		if err == nil {
			if _, out, err = t.test(folder, f.Name(), 0, 0); err == nil {
				return f.Name(), broken
			}
		}
		before := len(broken)
		for _, at := range position.FindAllStringSubmatch(string(out), -1) {
			file := path.Join(folder, filepath.Base(at[1]))
			line, _ := strconv.Atoi(at[2])
			for n := len(first[file]) - 1; n >= 0; n-- {
				if line >= first[file][n] {
					broken[numbers[file][n]-1] = true
					break
				}
			}
		}
		if len(broken) == before {
			fmt.Fprintf(os.Stderr, "mutants of %s are tried one by one:\n%s", folder, out)
			return "", map[int]bool{}
		}
	}
}
