package sgf

import (
	"bytes"
	"io"
	"io/fs"
	"regexp"
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

// known are the properties of all versions of SGF and of some programs: by name, those that
// Read keeps; as "", those that it passes over where a node has them, as comments, times and
// the numbers of an engine.
var known = func() map[string]string {
	names := map[string]string{}
	for name := range strings.FieldsSeq("AN AR BL BM BS BT C CA CH CP CR DD DM DO EL EX FF FG GB GC GW HO IT L LB LN LT M MA MN N OB OM ON OP OV OW PM RG SC SE SI SL SO ST TC TM TR UC US V VW WL WS WT") {
		names[name] = ""
	}
	for name := range strings.FieldsSeq("AP GM SZ KM KI RU HA PL RE PB PW BR WR GN EV RO PC DT OT AB AW AE TB TW B W XT XD XS KO HD TE RD") {
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

// Repairs of parse.
const (
	cutShort   = "the record ends before its brackets close"
	noProperty = "a value without a property is passed over"
	noNode     = "the first node does not begin with a semicolon"
	noBracket  = "the record does not begin with a bracket"
	textBefore = "text before the record is passed over"

	afterVariation = "moves after a variation are passed over"
	tooMany        = "the game goes on after a closing bracket, which is passed over"
	noMoves        = "the first variation has no moves: another may be the game"
	emptyVariation = "an empty variation is passed over"
	doubled        = "a second opening bracket in a row is passed over"
	textAfter      = "text after the record is passed over"
	movesAfter     = "moves after the record are passed over"
	textBetween    = "text after a variation is passed over"
	strayBracket   = "a closing bracket outside of a value is passed over"
	betweenValues  = "text between values is passed over"
)

// inText reports whether a repair is of where values end.
func (r Repair) inText() bool {
	return slices.Contains([]string{strayBracket, betweenValues, textAfter, movesAfter, textBetween, cutShort}, r.What.Text)
}

const space = " \t\r\n\v\f"

// parse returns the nodes of the main line of the first game in text: of several
// variations the first; what it had to repair; and what follows the game. It reads to the end
// of the main line; variations, and what stands outside the game, are passed over.
func parse(text []byte) (line []node, repairs []Repair, after []byte, err error) {
	i, flaw := begin(text)
	if i < 0 {
		return nil, nil, nil, ErrNoRecord
	}
	turns, depth, nodes := 0, 0, 0
	missing := 0 // opening brackets that the record lacks
	var names spellings
	last := map[string]int{} // the move of the last one of each kind
	repair := func(what string) {
		r := Repair{What: says(what)}
		if what == strayBracket || what == betweenValues {
			r.Move = turns
		}
		if move, told := last[what]; told && move == r.Move || len(repairs) == maxRepairs {
			return
		}
		last[what] = r.Move
		repairs = append(repairs, r)
	}
	if flaw != "" {
		repair(flaw)
	}
	if flaw == noBracket {
		missing = 1
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
	turn := none                   // the last one, B or W
	var (
		named   int // where the name of prop begins
		blank   int // brackets that were opened since the last value
		unmoved int // brackets that were opened since the last turn
	)
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			if depth > 0 && bytes.HasSuffix(bytes.TrimRight(text[:i], space), []byte("(")) {
				repair(doubled)
			}
			prop = none
			depth++
			blank++
			unmoved++
		case c == ')':
			rest := text[i+1:]
			if depth > 1 && blank > 0 {
				repair(emptyVariation)
				prop, open = none, false
				depth--
				blank--
				unmoved--
				continue
			}
			if after := bytes.TrimLeft(rest, space+")"); depth <= 1 && turns > 0 && isReply(after, turn) {
				repair(tooMany)
				continue
			}
			next := bytes.TrimLeft(rest, space+")")
			within := bytes.Count(rest[:len(rest)-len(next)], []byte(")")) < depth-1
			switch {
			case within && unmoved > 0 && bytes.HasPrefix(next, []byte("(")):
				repair(noMoves)
			case bytes.HasPrefix(bytes.TrimLeft(rest, space), []byte(";")):
				if depth > 1 {
					repair(afterVariation)
				} else {
					repair(movesAfter)
				}
			default:
				flaw := past(rest)
				if depth > 1 && !branches(rest) && (flaw == "" || flaw == textAfter) {
					flaw = textBetween
				}
				if flaw != "" {
					repair(flaw)
				}
			}
			if n := closing(text[i:], depth+missing); n != -1 {
				after = text[i+n:]
			} else if rest := text[i+max(closing(text[i:], depth), 0):]; isRoot(rest) {
				after = rest // what was opened is the first game
			}
			return line, append(repairs, names.repairs(turns)...), after, nil
		case c == ';':
			prop, open = none, false
			nodes++
		case c == ']':
			repair(strayBracket)
		case c == '[':
			n, flaw := endOf(text[i:])
			if n == -1 {
				return short(line, append(repairs, names.repairs(turns)...))
			}
			blank = 0
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
					return nil, nil, nil, ErrTooLong
				}
				if !open {
					line, open = append(line, nil), true
				}
				last := &line[len(line)-1]
				all = append(all, value{prop, text[i+1 : i+n-1]})
				*last = all[len(all)-len(*last)-1:]
				if len(prop) == 1 { // B or W
					turns++
					turn, unmoved = prop, 0
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
			} else if joined, n := names.spaced(text[i:]); joined != "" {
				prop, i = joined, i+n-1
			}
			for i+1 < len(text) && isDigit(text[i+1]) {
				if i++; i+1 == len(text) || !isDigit(text[i+1]) {
					prop = names.numbered(prop, text[named:i+1], turns+1)
				}
			}
			if prop == "" {
				prop = unknown
			}
			if i+1 < len(text) && !hasValue(text[i+1:]) {
				names.valueless(prop, text[named:i+1], nodes <= 1)
			}
		}
	}
	return short(line, append(repairs, names.repairs(turns)...))
}

// hasValue reports whether a value follows the name of a property, perhaps after something
// else than a name.
func hasValue(rest []byte) bool {
	for _, c := range rest {
		if c == '[' {
			return true
		}
		if isLetter(c) || c == ';' || c == '(' || c == ')' {
			return false
		}
	}
	return false
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
// its first turn or stone nothing.
func short(line []node, repairs []Repair) ([]node, []Repair, []byte, error) {
	if !slices.ContainsFunc(line, func(n node) bool { return n.has("B", "W", "AB", "AW") }) {
		return nil, nil, nil, ErrCutShort
	}
	return line, append(repairs, Repair{What: says(cutShort)}), nil, nil
}

// begin finds where the first record begins, and which flaw that has, if any; -1 if there is
// none. It begins at a bracket, a semicolon and a property; "(;-)" is none. Of what a mail or a
// copied text leaves out of that, the semicolon, the bracket or the property may be missing.
func begin(text []byte) (at int, flaw string) {
	bare, headless := -1, -1 // a bracket and a semicolon, a bracket and a property
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], '(')
		if n < 0 {
			break
		}
		i += n
		rest := trim(text[i+1:])
		node := bytes.TrimLeft(rest, space+";")
		switch name, ok := property(node[:min(len(node), maxName)]); {
		case len(rest) > len(node) && ok:
			if headless >= 0 && closing(text[headless:i], 0) == -1 { // a variation
				return headless, noNode
			}
			if bare >= 0 && bytes.Contains(text[bare:i], []byte("[")) && closing(text[bare:i], 0) == -1 {
				return bare, ""
			}
			open, before := unopened(text[:i]), header(text[:i])
			if open < 0 && !slices.Contains(rootNames, string(name)) {
				open = before
			}
			if open >= 0 {
				return open, noBracket
			}
			if bare >= 0 || before >= 0 {
				flaw = textBefore
			}
			return i, flaw
		case bytes.HasPrefix(rest, []byte(";")):
			if bare < 0 {
				bare = i
			}
		case ok && headless < 0:
			headless = i
		}
	}
	open := unopened(text)
	holds := func(i int) bool { return i >= 0 && i < open && closing(text[i:open], 0) == -1 }
	switch {
	case holds(headless) || open < 0 && headless >= 0:
		return headless, noNode
	case holds(bare) || open < 0 && bare >= 0 && !isSmile(text[bare:]):
		return bare, ""
	}
	return open, noBracket
}

// isSmile reports whether the bracket and the semicolon with which a text begins are not those
// of a record, by what stands after them: something that is no value before the game would end.
func isSmile(text []byte) bool {
	text = bytes.TrimLeft(text, space+"(;")
	at := bytes.IndexAny(text, "()[")
	return at > 0 && text[at] != '['
}

// isReply reports whether a text begins with a node in which the other player than the one of
// the last turn, B or W, moves.
func isReply(text []byte, turn string) bool {
	rest, ok := bytes.CutPrefix(text, []byte(";"))
	return ok && isMove(rest) && string(trim(rest)[:1]) != turn
}

// unescaped returns a text without the backslashes that some editors put before each bracket,
// and what it had to repair. It changes text.
func unescaped(text []byte) ([]byte, []Repair) {
	before, _, _ := bytes.Cut(text, []byte("["))
	name, escaped := bytes.CutSuffix(before, []byte(`\`))
	if !escaped || known[string(name[nameBefore(name):])] == "" {
		return text, nil
	}
	out := text[:0]
	for i, c := range text {
		if c != '\\' || i+1 == len(text) || text[i+1] != '[' && text[i+1] != ']' {
			out = append(out, c)
		}
	}
	return out, []Repair{{What: says("the backslashes before all brackets are left out")}}
}

// unquoted returns a text without the marks of a mail, "> ", before the lines of its record, and
// what it had to repair. It changes text.
func unquoted(text []byte) ([]byte, []Repair) {
	at, _ := begin(text)
	at = max(at, 0)
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	depth := bytes.Count(text[start:at], []byte(">"))
	if depth == 0 || len(bytes.Trim(text[start:at], "> \t")) > 0 {
		return text, nil
	}
	out, lines := text[:start], 0
	for line := range bytes.Lines(text[start:]) {
		rest := line
		for range depth {
			if after, quoted := bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(">")); quoted {
				rest = bytes.TrimPrefix(after, []byte(" "))
			}
		}
		if len(rest) < len(line) {
			lines++
		}
		out = append(out, rest...)
	}
	if lines < 2 {
		return out, nil
	}
	return out, []Repair{{What: says("the record is quoted: the marks before its lines are left out")}}
}

// unopened returns where a record begins that lacks its first bracket: with a property that
// Read knows, and the node of a move after it; -1 if there is none.
func unopened(text []byte) int {
	first := -1
	for i := 0; ; i++ {
		n := bytes.IndexByte(text[i:], '[')
		if n < 0 {
			return -1
		}
		i += n
		name := nameBefore(text[:i])
		if first < 0 && known[string(text[name:i])] != "" {
			first = name
		}
		before := bytes.TrimRight(text[:name], space)
		if isMove(text[name:]) && bytes.HasSuffix(before, []byte(";")) {
			return first
		}
	}
}

// rootNames are properties that stand in the first node of a record alone.
var rootNames = strings.Fields("AP CA FF GM SZ")

// isRoot reports whether a text begins with a bracket and a node that no variation begins with.
func isRoot(text []byte) bool {
	text = trim(text)
	name, ok := property(bytes.TrimLeft(text, space+"(;"))
	return ok && text[0] == '(' && slices.Contains(rootNames, string(name))
}

// headers match properties with which a text ends, from the start of a line.
var headers = regexp.MustCompile(`(?s)(?:^|\n)[ \t]*((?:[;\s]*[A-Z]{1,2}(?:\s*\[(?:[^\]\\]|\\.)*\])+)+[;\s]*)\z`)

// header returns where the properties begin that stand before the first bracket of a record,
// with which a text ends; -1 if it does not.
func header(text []byte) int {
	skipped := max(0, len(text)-maxPast)
	if m := headers.FindSubmatchIndex(text[skipped:]); m != nil {
		return skipped + m[2]
	}
	return -1
}

// closing returns the length of the game or variation that begins with the bracket at the
// start of text, or of what is left of it with a number of brackets open; -1 if it does not end.
func closing(text []byte, depth int) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '[':
			n, _ := endOf(text[i:])
			if n == -1 {
				return -1
			}
			i += n - 1
		}
	}
	return -1
}

// holdsGame reports whether a text holds another game.
func holdsGame(text []byte) bool {
	at, flaw := begin(text)
	if at < 0 || flaw != "" && flaw != textBefore {
		return false
	}
	_, ok := property(bytes.TrimLeft(text[at:], space+"(;"))
	return ok
}

func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }
