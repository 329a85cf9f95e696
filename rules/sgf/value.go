package sgf

import "bytes"

// Some programs, and people who write records by hand, do not escape the brackets in a
// comment. Where such a comment ends can often be told, because they come in pairs, or
// because no property follows.

// ends finds where values end.
type ends struct {
	search int // bytes that may still be searched for the ends of values that are not escaped
}

// Limits of the search.
const (
	maxSearch = 8 << 20  // bytes, of a record
	maxWithin = 64 << 10 // bytes, of a value
)

// odds are the characters that say where a value with brackets within it ends.
var odds = [256]bool{'\\': true, '[': true, ']': true, '(': true, ')': true, ';': true}

func newEnds() *ends { return &ends{search: maxSearch} }

// value returns the length of the value that begins with the bracket at the start of
// text, both brackets included, and which flaw it has, if any; -1 if it does not end.
// The value is one of a property, "" if nobody knows which.
func (e *ends) value(text []byte, prop string) (n int, flaw string) {
	inner, rest, ok := bytes.Cut(text[1:], []byte("]"))
	if !ok {
		return -1, ""
	}
	if !bytes.Contains(inner, []byte("[")) && !bytes.Contains(inner, []byte(`\`)) && follows(rest) {
		return len(text) - len(rest), ""
	}
	return e.odd(text, plain[prop])
}

// odd is value for one with brackets or a backslash within it, or with something after it
// that cannot stand there.
//
// A record that is written as it should be is read as it should be: its value ends
// with the first bracket that is not escaped. Where more brackets were opened before that, or
// nothing can follow, the value goes on to the bracket that closes it, unless a move
// comes first.
func (e *ends) odd(text []byte, plain bool) (n int, flaw string) {
	first := 0            // length up to the first closing bracket
	depth, quoted := 0, 0 // brackets and parentheses that are open
	quotes := uint64(0)   // a bit for each open bracket, the innermost last: a property stands before it
	atFirst := func() (int, string) {
		switch {
		case !follows(text[first:]):
			return first, betweenValues
		case quotes&1 > 0: // it may speak of a record
			return first, notEscaped
		}
		return first, ""
	}
	for i := 1; i < len(text); i++ {
		for first == 0 && i+1 < len(text) && !odds[text[i]] {
			i++
		}
		if first != 0 {
			if e.search--; e.search < 0 {
				return first, notEscaped
			}
			if i-first > maxWithin {
				break
			}
		}
		switch text[i] {
		case '\\':
			if i++; first != 0 || i == len(text) || text[i] != ']' {
				break
			}
			if depth == 0 && goesOn(text[i+1:]) { // the backslash belongs to the text: C:\games\
				return i + 1, notEscaped
			}
			depth = max(0, depth-1)
			quotes >>= 1
		case '[':
			if depth++; first == 0 {
				quotes <<= 1
				if known[string(text[nameBefore(text[:i]):i])] != "" {
					quotes |= 1
				}
			}
		case ']':
			switch ends := follows(text[i+1:]); {
			case first == 0 && (plain || depth == 0 && ends):
				if !ends {
					flaw = betweenValues
				}
				return i + 1, flaw
			case depth == 0 && ends:
				return i + 1, notEscaped
			case first == 0:
				first = i + 1
			}
			depth = max(0, depth-1)
		case '(':
			if quoted == 0 && first != 0 && bytes.HasPrefix(trim(text[i+1:]), []byte(";")) {
				return atFirst()
			}
			quoted++
		case ')':
			quoted = max(0, quoted-1)
		case ';':
			if quoted == 0 && first != 0 && isMove(text[i+1:]) {
				return atFirst()
			}
		}
	}
	if first == 0 {
		return -1, ""
	}
	return atFirst()
}

// follows reports whether what stands after a value can stand there. That is also the name
// of a property without values, which GNU Go writes, and what some servers write for a
// line break, a backslash and a letter.
func follows(rest []byte) bool {
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == ';' || c == '(' || c == ')' || c == '[':
			return true
		case c == '\\' && i+1 < len(rest) && (rest[i+1] == 'r' || rest[i+1] == 'n'):
			i++
		case c > ' ':
			name, ok := property(rest[i:])
			if ok || len(name) == 0 || len(name) > 2 || !bytes.Equal(name, bytes.ToUpper(name)) {
				return ok
			}
		}
	}
	return true
}

// past returns which flaw the text after the end of a record shows, if any: it closes a bracket
// that it has not opened, because the record was cut off within a value, or it has moves in no
// variation and no other game, or what is no value.
func (e *ends) past(text []byte) (flaw string) {
	open := 0
	for i := 0; i < min(len(text), maxWithin); i++ {
		switch text[i] {
		case '[':
			n, odd := e.value(text[i:], "")
			if n == -1 {
				return flaw
			}
			if odd != "" && flaw == "" {
				flaw = textAfter
			}
			i += n - 1
		case ']':
			return notEscaped
		case '(':
			open++
		case ')':
			open = max(0, open-1)
		case ';':
			if open == 0 && isMove(text[i+1:]) {
				flaw = movesAfter
			}
		}
	}
	return flaw
}

// branches reports whether variations go on, or end, with a text.
func branches(text []byte) bool {
	text = trim(text)
	if rest, ok := bytes.CutPrefix(text, []byte("(")); ok {
		return bytes.HasPrefix(trim(rest), []byte(";"))
	}
	return len(text) == 0 || text[0] == ')'
}

// trim returns a text without the space at its start. bytes.TrimLeft takes longer for so
// little.
func trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] >= '\t' && text[0] <= '\r') {
		text = text[1:]
	}
	return text
}

// property returns the name with which a text begins, and reports whether it is that of a
// property: a value follows.
func property(text []byte) (name []byte, ok bool) {
	n := 0
	for n < len(text) && (isLetter(text[n]) || n > 0 && isDigit(text[n])) {
		n++
	}
	return text[:n], n > 0 && bytes.HasPrefix(trim(text[n:]), []byte("["))
}

// nameBefore returns where the name of a property begins with which a text ends.
func nameBefore(text []byte) int {
	n := len(text)
	for n > 0 && text[n-1] >= 'A' && text[n-1] <= 'Z' {
		n--
	}
	return n
}

// isMove reports whether a node that begins so has a move first.
func isMove(node []byte) bool {
	name, ok := property(trim(node))
	return ok && len(name) == 1 && (name[0] == 'B' || name[0] == 'W')
}

// goesOn reports whether a record goes on with a text: a property, in this node or the
// next, and a value of it that ends as one should.
func goesOn(text []byte) bool {
	name, ok := property(bytes.TrimLeft(text, space+"(;"))
	if !ok || known[string(name)] == "" {
		return false
	}
	text = text[bytes.IndexByte(text, '[')+1:]
	n := bytes.IndexAny(text, `[]\`)
	return n >= 0 && text[n] == ']' && follows(text[n+1:])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
