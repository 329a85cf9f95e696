package sgf

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A node is the values of one node, in order, of the properties that Read knows.
type node []value

// A value belongs to a property. Its text is as it stands in the file, escapes included.
type value struct {
	name string
	text []byte
}

// color returns whose turn, stone or territory the value is, by the last letter of the
// property: B, AB and TB are Black's; AE is nobody's.
func (v value) color() rules.Color {
	switch v.name[len(v.name)-1] {
	case 'B':
		return rules.Black
	case 'W':
		return rules.White
	}
	return rules.None
}

// values returns the values of a property, none if the node does not have it.
func (n node) values(name string) (texts [][]byte) {
	for _, v := range n {
		if v.name == name {
			texts = append(texts, v.text)
		}
	}
	return texts
}

// has reports whether the node has a value of one of the properties.
func (n node) has(names ...string) bool {
	return slices.ContainsFunc(n, func(v value) bool { return slices.Contains(names, v.name) })
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

// known are the names of the properties that Read keeps. Where a node has one of the others,
// as comments, times and the numbers of an engine, it is passed over.
var known = func() map[string]string {
	names := map[string]string{}
	for name := range strings.FieldsSeq("AP GM SZ KM RU HA PL RE PB PW BR WR GN EV RO PC DT OT AB AW AE TB TW B W XT XD XS KO HD TE RD") {
		names[name] = name
	}
	return names
}()

// ofLetter is known for names of one letter, as those of moves are: looking there is quicker.
var ofLetter = func() (names [256]string) {
	for c := range names {
		names[c] = known[string(ident([]byte{byte(c)}))]
	}
	return names
}()

// plain are the properties whose values have no brackets within them.
var plain = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("B W AB AW AE TB TW SZ KM HA PL GM") {
		names[name] = true
	}
	return names
}()

// Repairs of parse.
const (
	cutShort   = "the record ends before its brackets close"
	noProperty = "a value without a property is passed over"
	noNode     = "the first node does not begin with a semicolon"

	afterVariation = "moves after a variation are passed over"
	notEscaped     = "brackets within a text are not escaped: where it ends is guessed"
	betweenValues  = "text between values is passed over"
)

const space = " \t\r\n\v\f"

// parse returns the nodes of the main line of the first game in text: of several
// variations the first; and what it had to repair. It reads to the end of the main
// line; variations, and what stands outside the game, are passed over.
func parse(text []byte) (line []node, repairs []Repair, err error) {
	i, complete := begin(text)
	if i < 0 {
		return nil, nil, ErrNoRecord
	}
	turns, depth, nodes := 0, 0, 0
	var names spellings
	repair := func(what string) {
		r := Repair{What: says(what)}
		if what == notEscaped || what == betweenValues {
			r.Move = turns
		}
		same := func(x Repair) bool { return x.Move == r.Move && x.What.Text == what }
		if n := len(repairs); n < maxRepairs && !slices.ContainsFunc(repairs[max(0, n-4):], same) {
			repairs = append(repairs, r)
		}
	}
	if !complete {
		repair(noNode)
	}
	const (
		none    = ""  // no property yet
		unknown = "?" // one that is passed over
		usual   = 300 // nodes and values of a game
	)
	line = make([]node, 0, usual)
	all := make([]value, 0, usual) // of all nodes
	open := false                  // the last node of line still takes values
	prop := none                   // the property that values belong to
	named := 0                     // where its name begins
	ends := newEnds()
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			prop = none
			depth++
		case c == ')':
			rest := text[i+1:]
			switch {
			case bytes.HasPrefix(bytes.TrimLeft(rest, space), []byte(";")):
				repair(afterVariation)
			case depth > 1 && !branches(rest), ends.past(rest):
				repair(notEscaped)
			}
			return line, append(repairs, names.repairs(turns)...), nil
		case c == ';':
			prop, open = none, false
			nodes++
		case c == ']':
			repair(notEscaped)
		case c == '[':
			n, flaw := ends.value(text[i:], prop)
			if n < 0 {
				return short(line, append(repairs, names.repairs(turns)...))
			}
			if prop != none && !endsName(text[:i]) {
				repair(betweenValues)
			}
			if names.name != nil && prop != none {
				prop = names.of(prop, text[i+1:i+n-1], nodes <= 1)
			}
			switch prop {
			case unknown:
				if turns == 0 && nodes > 1 {
					names.unmoved(text[named:i], text[i+1:i+n-1])
				}
			case none:
				repair(noProperty)
			default:
				if len(all) == maxValues {
					return nil, nil, ErrTooLong
				}
				if !open {
					line, open = append(line, nil), true
				}
				last := &line[len(line)-1]
				all = append(all, value{prop, text[i+1 : i+n-1]})
				*last = all[len(all)-len(*last)-1:]
				if len(prop) == 1 { // B or W
					turns++
				}
			}
			if flaw != "" {
				repair(flaw)
			}
			i += n - 1
		case isLetter(c):
			named = i
			for i+1 < len(text) && isLetter(text[i+1]) {
				i++
			}
			if prop, names.name = ofLetter[c], nil; i > named {
				prop = names.find(text[named : i+1])
			}
			for i+1 < len(text) && isDigit(text[i+1]) {
				if i++; i+1 == len(text) || !isDigit(text[i+1]) {
					prop = names.numbered(prop, text[named:i+1], turns+1)
				}
			}
			if prop == "" {
				prop = unknown
			}
		}
	}
	return short(line, append(repairs, names.repairs(turns)...))
}

// endsName reports whether the name or the value of a property ends a text, but for space.
func endsName(text []byte) bool {
	for i := len(text) - 1; ; i-- {
		if c := text[i]; c > ' ' {
			return isLetter(c) || isDigit(c) || c == ']'
		}
	}
}

// short returns what there is of a record that ends too early: of one that ends before
// its first turn nothing.
func short(line []node, repairs []Repair) ([]node, []Repair, error) {
	if !slices.ContainsFunc(line, func(n node) bool { return n.has("B", "W") }) {
		return nil, nil, ErrCutShort
	}
	return line, append(repairs, Repair{What: says(cutShort)}), nil
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
			if headless >= 0 && closing(text[headless:i]) < 0 { // a variation
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

// closing returns the length of the game or variation that begins with the bracket at the
// start of text; -1 if it does not end.
func closing(text []byte) int {
	depth, ends := 0, newEnds()
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '[':
			n, _ := ends.value(text[i:], "")
			if n < 0 {
				return -1
			}
			i += n - 1
		}
	}
	return -1
}

// more reports whether another game follows the first one in text.
func more(text []byte) bool {
	at, _ := begin(text)
	n := closing(text[at:])
	if n < 0 {
		return false
	}
	_, complete := begin(text[at+n:])
	return complete
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
