package sgf

import (
	"bytes"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

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

// of returns the values of some properties, none if the node does not have them.
func (n node) of(names ...string) iter.Seq[value] {
	return func(yield func(value) bool) {
		for _, v := range n {
			if slices.Contains(names, v.name) && !yield(v) {
				return
			}
		}
	}
}

// values returns the texts of a property.
func (n node) values(name string) (texts [][]byte) {
	for v := range n.of(name) {
		texts = append(texts, v.text)
	}
	return texts
}

// has reports whether the node has a value of one of the properties.
func (n node) has(names ...string) bool {
	return slices.ContainsFunc(n, func(v value) bool { return slices.Contains(names, v.name) })
}

// readLimited reads a whole record, but of one that is too large no more than it takes to
// know that. It takes one buffer: as large as a file or a text, or as the limit for readers
// that do not know how much they have, of which memory only what they fill is used.
func readLimited(r io.Reader) ([]byte, error) {
	size := int64(MaxSize)
	switch r := r.(type) {
	case interface{ Len() int }:
		size = int64(r.Len())
	case interface{ Stat() (fs.FileInfo, error) }:
		if s, err := r.Stat(); err == nil && s.Mode().IsRegular() {
			size = s.Size()
		}
	}
	data := bytes.NewBuffer(make([]byte, 0, min(size, MaxSize)+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(r, MaxSize+1)); err != nil {
		return nil, err
	}
	if data.Len() > MaxSize {
		return nil, ErrTooLarge
	}
	return data.Bytes(), nil
}

// known are the properties of all versions of SGF and of some programs. True are those that Read
// keeps; it passes over the others where a node has them, as comments, times and the numbers of an engine.
var known = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq("AN AR BL BM BS BT C CA CH CP CR DD DM DO EL EX FF FG GB GC GW HO IT KGSDE KGSSB KGSSW KTV L LB LN LT LZOP M MA MN MULTIGOGM N OB OM ON OP OV OW PM RG SBKV SC SE SI SL SO ST TC TM TR UC US V VW WL WS WT") {
		names[name] = false
	}
	for name := range strings.FieldsSeq("AP GM SZ KM RU HA PL RE PB PW BR WR GN EV RO PC DT OT AB AW AE TB TW B W XT XD XS KO HD TE RD") {
		names[name] = true
	}
	return names
}()

// Repairs of parse.
const (
	cutShort     = "the record ends before its brackets close"
	noProperty   = "a value without a property is passed over"
	noNode       = "the first node does not begin with a semicolon"
	textBefore   = "text before the record is passed over"
	textBetween  = "text between values is passed over"
	textAfter    = "text after the main line is passed over"
	movesAfter   = "moves after the main line are passed over"
	noMoves      = "the first variation has no moves: another may be the game"
	passedNames  = "unknown properties, and those without a value, are passed over: {0}"
	maxPassed    = 12 // names of properties that are listed
	passedLength = 20 // letters of each that are shown
)

const (
	space       = " \t\r\n\v\f"
	nameLetters = lineLetters + "0123456789" // of properties
)

// begin returns where the first record of a text begins; -1 if it holds none. It begins with a bracket, a semicolon and a
// property before the next bracket, which a smile does not have. Sina leaves out the semicolon. A record that is empty or
// cut short has no property, and is none if one with properties follows.
func begin(text []byte) int {
	outer, empty := -1, -1 // the first of several opening brackets in a row; an empty record
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '(')
		if n < 0 {
			break
		}
		i += n
		n = bytes.IndexAny(text[i+1:], "()[")
		if n < 0 {
			n = len(text) - i - 1
		}
		rest := text[i+1+n:]
		head := bytes.TrimLeft(text[i+1:i+1+n], space)
		node := bytes.Trim(head, space+";")
		if outer < 0 {
			outer = i
		}
		i += 1 + n
		switch value := bytes.HasPrefix(rest, []byte("[")); {
		case len(node) == 0 && bytes.HasPrefix(rest, []byte("(")):
			continue
		case value && len(node) > 0 && strings.IndexByte(nameLetters, node[len(node)-1]) >= 0 && (head[0] == ';' || known[string(node)]):
			return outer
		case empty < 0 && len(head) > 0 && head[0] == ';' && (len(node) == 0 || len(rest) == 0 && len(node) <= 2):
			empty = outer
		}
		outer = -1
	}
	return empty
}

// A parser reads the main line of a record.
type parser struct {
	line    []node
	values  []value // of all nodes
	open    bool    // the last node of line still takes values
	name    string  // of the property that values belong to, "" if none, "?" if Read passes it over
	turns   int
	before  int // turns before the last variation
	repairs []Repair
	passed  []string // names of properties that are unknown or have no value
}

// repair notes what is passed over, once for each move.
func (p *parser) repair(what string) {
	r := Repair{What: says(what)}
	if what == textBetween {
		r.Move = p.turns
	}
	same := func(before Repair) bool { return before.Move == r.Move && before.What.Text == what }
	if len(p.repairs) < maxRepairs && !slices.ContainsFunc(p.repairs[max(0, len(p.repairs)-3):], same) {
		p.repairs = append(p.repairs, r)
	}
}

// parse returns the nodes of the main line of the first game in text, of several variations the first;
// what it had to repair; and the text that follows the game.
func parse(text []byte) (line []node, repairs []Repair, after []byte, err error) {
	i := begin(text)
	if i < 0 {
		return nil, nil, nil, ErrNoRecord
	}
	const usual = 300 // nodes and values of a game
	p := &parser{line: make([]node, 0, usual), values: make([]value, 0, usual)}
	if len(bytes.TrimLeft(text[:i], space)) > 0 {
		p.repair(textBefore)
	}
	if first := bytes.TrimLeft(text[i:], space+"("); first[0] != ';' {
		p.repair(noNode)
	}
	for depth := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			p.name, p.before = "", p.turns
			depth++
		case c == ')':
			after = p.follow(text[i:], depth)
			return p.line, p.said(), after, nil
		case c == ';':
			p.name, p.open = "", false
		case c == '[':
			n := endOf(text[i:])
			if n < 0 {
				i = len(text)
				break
			}
			if !p.value(text[i+1 : i+n-1]) {
				return nil, nil, nil, ErrTooLong
			}
			i += n - 1
		case isLetter(c):
			n := len(text[i:]) - len(bytes.TrimLeft(text[i:], nameLetters))
			p.property(text[i:i+n], text[i+n:])
			i += n - 1
		case bytes.HasPrefix(text[i:], []byte(`\r`)), bytes.HasPrefix(text[i:], []byte(`\n`)):
			i++ // Fox writes line breaks so
		case c > ' ':
			p.repair(textBetween)
		}
	}
	if !slices.ContainsFunc(p.line, func(n node) bool { return n.has("B", "W", "AB", "AW") }) {
		return nil, nil, nil, ErrCutShort
	}
	p.repair(cutShort)
	return p.line, p.said(), nil, nil
}

// property begins the property that has a name, and notes that name if Read does not know it: but not names of
// one or two capital letters, as programs give to properties of their own.
func (p *parser) property(name, rest []byte) {
	legal := ident(name)
	keep, is := known[string(legal)]
	p.name = "?"
	if keep {
		p.name = string(legal)
	}
	valueless := len(rest) > 0 && !bytes.HasPrefix(bytes.TrimLeft(rest, space), []byte("["))
	setup := p.name == "AB" || p.name == "AW" // GNU Go writes them without a value where there are no stones
	private := len(name) <= 2 && !slices.ContainsFunc(name, func(c byte) bool { return c < 'A' || c > 'Z' })
	if valueless && !(setup && p.turns == 0) || !is && !private {
		if name := string(name[:min(len(name), passedLength+1)]); len(p.passed) < maxPassed && !slices.Contains(p.passed, name) {
			p.passed = append(p.passed, name)
		}
	}
}

// ident returns the name of a property: its capital letters, since before FF[4] it was
// legal to write the others of "White" in small ones, or all of one that has none.
func ident(name []byte) []byte {
	small := func(c byte) bool { return c >= 'a' }
	if !slices.ContainsFunc(name, small) {
		return name
	}
	if capitals := slices.DeleteFunc(slices.Clone(name), small); len(capitals) > 0 && isLetter(capitals[0]) {
		return capitals
	}
	return bytes.ToUpper(name)
}

// value adds a value to the property that was read last, and reports whether there is room for it.
func (p *parser) value(text []byte) bool {
	switch p.name {
	case "?":
		return true
	case "":
		p.repair(noProperty)
		return true
	}
	if len(p.values) == maxValues {
		return false
	}
	if !p.open {
		p.line, p.open = append(p.line, nil), true
	}
	last := &p.line[len(p.line)-1]
	p.values = append(p.values, value{p.name, text})
	*last = p.values[len(p.values)-len(*last)-1:]
	if len(p.name) == 1 { // B or W
		p.turns++
	}
	return true
}

// said returns the repairs, with the names that were passed over.
func (p *parser) said() []Repair {
	if p.passed != nil {
		for i, name := range p.passed {
			p.passed[i] = cut(name, passedLength)
		}
		return append(p.repairs, Repair{What: says(passedNames, strings.Join(p.passed, ", "))})
	}
	return p.repairs
}

// follow notes what stands after the end of the main line that cannot stand there, and returns what
// follows the record: text begins with the bracket that ends the main line, within a number of open ones.
func (p *parser) follow(text []byte, depth int) (after []byte) {
	next := bytes.TrimLeftFunc(text, func(c rune) bool { return c <= ' ' || c == ')' })
	switch closed := bytes.Count(text[:len(text)-len(next)], []byte(")")); {
	case len(next) == 0:
	case next[0] == ';':
		p.repair(movesAfter)
	case next[0] != '(':
		p.repair(textAfter)
	case closed < depth && p.turns == p.before:
		p.repair(noMoves)
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[i+1:]
			}
		case '[':
			n := endOf(text[i:])
			if n < 0 {
				return nil
			}
			i += n - 1
		}
	}
	return nil
}

// endOf returns the length of the value that begins with the bracket at the start of text, both brackets included:
// it ends with the first closing one that is not escaped. It returns -1 if there is none.
func endOf(text []byte) int {
	for n := 1; n < len(text); n++ {
		switch text[n] {
		case ']':
			return n + 1
		case '\\':
			n++
		}
	}
	return -1
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
