package sgf

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// A node is the properties of one node, in order, each name once.
type node []property

// A property has its values as they stand in the file, escapes included.
type property struct {
	name   string
	values [][]byte
}

// values returns the values of a property, none if the node does not have it.
func (n node) values(name string) [][]byte {
	for _, p := range n {
		if p.name == name {
			return p.values
		}
	}
	return nil
}

// has reports whether the node has one of the properties.
func (n node) has(names ...string) bool {
	return slices.ContainsFunc(n, func(p property) bool { return slices.Contains(names, p.name) })
}

// readLimited reads a whole record, but of one that is too large no more than
// it takes to know that.
func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSize {
		return nil, ErrTooLarge
	}
	return data, nil
}

// parse returns the nodes of the main line of the first game in data: of several
// variations the first. Brackets are checked to the end of that game, and what
// stands outside it is ignored.
func parse(data []byte) ([]node, error) {
	i := begin(data)
	if i < 0 {
		return nil, ErrNoRecord
	}
	if bytes.Count(data[:i], []byte("(")) > MaxDepth && len(bytes.Trim(data[:i], "( \t\r\n")) == 0 {
		return nil, ErrTooDeep
	}
	var line []node
	depth, main := 0, true // main: no variation has closed yet
	prop := -1             // the property that values belong to
	for i < len(data) {
		switch c := data[i]; {
		case c == '(':
			if depth++; depth > MaxDepth {
				return nil, ErrTooDeep
			}
			prop = -1
			i++
		case c == ')':
			main, prop = false, -1
			if depth--; depth == 0 {
				return line, nil
			}
			i++
		case c == ';':
			if prop = -1; main {
				line = append(line, nil)
			}
			i++
		case c == '[':
			n := valueEnd(data[i:])
			if n < 0 {
				return nil, ErrCutShort
			}
			if main {
				if prop < 0 {
					return nil, fmt.Errorf("a value without a property: %q", cut(data[i:i+n], 20))
				}
				last := line[len(line)-1]
				last[prop].values = append(last[prop].values, data[i+1:i+n-1])
			}
			i += n
		case isLetter(c):
			start := i
			for i < len(data) && isLetter(data[i]) {
				i++
			}
			if main {
				line[len(line)-1], prop = line[len(line)-1].named(ident(data[start:i]))
			}
		default: // blanks, and what has no business there
			i++
		}
	}
	return nil, ErrCutShort
}

// named returns the node with a property of that name and where it is.
func (n node) named(name string) (node, int) {
	for i := range n {
		if n[i].name == name {
			return n, i
		}
	}
	return append(n, property{name: name}), len(n)
}

// begin finds the first "(;", blanks between allowed; -1 if there is none.
func begin(data []byte) int {
	for i := 0; i < len(data); i++ {
		at := bytes.IndexByte(data[i:], '(')
		if at < 0 {
			return -1
		}
		i += at
		if rest := bytes.TrimLeft(data[i+1:min(len(data), i+100)], " \t\r\n\v\f"); len(rest) > 0 && rest[0] == ';' {
			return i
		}
	}
	return -1
}

// valueEnd returns the length of the value that begins with the bracket at the
// start of data, both brackets included; -1 if it does not end.
func valueEnd(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return -1
}

// ident returns the capital letters of a name: before FF[4] it was legal to write
// the others of "White" in small ones.
func ident(name []byte) string {
	return string(slices.DeleteFunc(slices.Clone(name), func(c byte) bool { return c >= 'a' && c <= 'z' }))
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
