package sgf

import "bytes"

// endOf returns the length of the value that begins with the bracket at the start of text,
// both brackets included: it ends with the first closing one that is not escaped. It returns -1 if there is
// none. The flaw is betweenValues if something comes after the value that cannot stand there.
func endOf(text []byte) (n int, flaw string) {
	for n = 1; n < len(text) && text[n] != ']'; n++ {
		if text[n] == '\\' {
			n++
		}
	}
	if n++; n > len(text) {
		return -1, ""
	}
	if !follows(text[n:]) {
		flaw = betweenValues
	}
	return n, flaw
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

// maxPast is how many bytes are looked at, at most, of what stands around a record.
const maxPast = 64 << 10

// past returns which flaw the text after the end of a record shows, if any: it closes a bracket
// that it has not opened, or it has moves in no variation and no other game, or what is no value.
func past(text []byte) (flaw string) {
	open := 0
	for i := 0; i < min(len(text), maxPast); i++ {
		switch text[i] {
		case '[':
			n, odd := endOf(text[i:])
			if n == -1 {
				return flaw
			}
			if odd != "" && flaw == "" {
				flaw = textAfter
			}
			i += n - 1
		case ']':
			return textAfter
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

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
