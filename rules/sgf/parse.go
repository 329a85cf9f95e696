package sgf

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode"
)

// A node is the properties of one node that Read knows, in order, each name once but for turns.
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

// known are the properties that Read keeps. Where a node has one of the others, as
// comments, times and the numbers of an engine, it is passed over.
var known = map[string]bool{
	"AP": true, "GM": true, "SZ": true, "KM": true, "RU": true, "HA": true, "PL": true, "RE": true,
	"PB": true, "PW": true, "BR": true, "WR": true, "GN": true, "EV": true, "RO": true, "PC": true, "DT": true, "OT": true,
	"AB": true, "AW": true, "AE": true, "TB": true, "TW": true, "B": true, "W": true, "XT": true, "XD": true, "XS": true,
}

// Repairs of parse.
const (
	cutShort   = "the record ends before its brackets close"
	noProperty = "a value without a property is passed over"
	noNode     = "the first node does not begin with a semicolon"

	afterVariation = "moves after a variation are passed over"
)

const space = " \t\r\n\v\f"

// parse returns the nodes of the main line of the first game in text: of several
// variations the first; and what it had to repair. It reads to the end of the main
// line; variations, and what stands outside the game, are passed over.
func parse(text []byte) (line []node, repairs []string, err error) {
	i, complete := begin(text)
	if i < 0 {
		return nil, nil, ErrNoRecord
	}
	repair := func(what string) {
		if !slices.Contains(repairs, what) {
			repairs = append(repairs, what)
		}
	}
	if !complete {
		repair(noNode)
	}
	const (
		none = iota - 2 // no property yet
		unknown
	)
	values, open := 0, false // of properties and their values; open: the last node of line still takes properties
	prop := none             // the property that values belong to
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			prop = none
		case c == ')':
			if bytes.HasPrefix(bytes.TrimLeft(text[i+1:], space), []byte(";")) {
				repair(afterVariation)
			}
			return line, repairs, nil
		case c == ';':
			prop, open = none, false
		case c == '[':
			n := valueEnd(text[i:])
			if n < 0 {
				return short(line, repairs)
			}
			switch {
			case prop == none:
				repair(noProperty)
			case prop >= 0:
				if values++; values > maxValues {
					return nil, nil, ErrTooLong
				}
				last := line[len(line)-1]
				last[prop].values = append(last[prop].values, text[i+1:i+n-1])
			}
			i += n - 1
		case isLetter(c):
			start := i
			for i+1 < len(text) && isLetter(text[i+1]) {
				i++
			}
			name := ident(text[start : i+1])
			if prop = unknown; known[name] {
				if values++; values > maxValues {
					return nil, nil, ErrTooLong
				}
				if !open {
					line, open = append(line, nil), true
				}
				line[len(line)-1], prop = line[len(line)-1].named(name)
			}
		}
	}
	return short(line, repairs)
}

// short returns what there is of a record that ends too early: of one that ends before
// its first turn nothing.
func short(line []node, repairs []string) ([]node, []string, error) {
	if !slices.ContainsFunc(line, func(n node) bool { return n.has("B", "W") }) {
		return nil, nil, ErrCutShort
	}
	return line, append(repairs, cutShort), nil
}

// named returns the node with a property of that name and where it is. Turns keep their
// order: after one of White a B is another property than before it.
func (n node) named(name string) (node, int) {
	turn := name == "B" || name == "W"
	for i := range n {
		if n[i].name == name && (!turn || !n[i+1:].has("B", "W")) {
			return n, i
		}
	}
	return append(n, property{name: name}), len(n)
}

// begin finds where the first record begins: at a bracket and a node or, if there is none
// outside it, at a bracket and a property, which is not complete; -1 if there is neither.
func begin(text []byte) (at int, complete bool) {
	headless := -1
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], '(')
		if n < 0 {
			return headless, false
		}
		i += n
		rest := bytes.TrimLeft(text[i+1:], space)
		if bytes.HasPrefix(rest, []byte(";")) {
			if headless >= 0 && isOpen(text[headless:i]) { // a variation
				return headless, false
			}
			return i, true
		}
		name := bytes.TrimLeftFunc(rest[:min(len(rest), 10)], unicode.IsLetter)
		if headless < 0 && len(name) < min(len(rest), 10) && bytes.HasPrefix(name, []byte("[")) {
			headless = i
		}
	}
}

// isOpen reports whether the bracket at the start of text is closed nowhere in it.
func isOpen(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return false
			}
		case '[':
			n := valueEnd(text[i:])
			if n < 0 {
				return true
			}
			i += n - 1
		}
	}
	return true
}

// valueEnd returns the length of the value that begins with the bracket at the
// start of text, both brackets included; -1 if it does not end.
func valueEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		n := bytes.IndexAny(text[i:], `\]`)
		if n < 0 {
			return -1
		}
		if i += n; text[i] == ']' {
			return i + 1
		}
		i++ // what is escaped
	}
	return -1
}

// ident returns the name of a property: its capital letters, since before FF[4] it was
// legal to write the others of "White" in small ones, or all of one that has none.
func ident(name []byte) string {
	small := func(c byte) bool { return c >= 'a' }
	if !slices.ContainsFunc(name, small) {
		return string(name)
	}
	if capitals := slices.DeleteFunc(slices.Clone(name), small); len(capitals) > 0 {
		return string(capitals)
	}
	return strings.ToUpper(string(name))
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
