package text

import (
	"strings"
	"unicode"
)

// MaxName is the longest name that is shown, in characters.
const MaxName = 40

// CleanName returns a name as others may see it: without control characters and
// marks that turn the direction of the text around it, at most [MaxName] characters
// long, and isolated from that text if it is written from right to left. It is
// empty if nothing is left.
func CleanName(name string) string {
	var b strings.Builder
	n, space, rtl := 0, false, false
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case r == joiner && i > 0 && i+1 < len(runes) && emoji(runes[i-1]) && emoji(runes[i+1]):
		case !unicode.IsGraphic(r), r == unicode.ReplacementChar, strings.ContainsRune(blank, r):
			continue
		}
		if n >= MaxName || space && n+1 >= MaxName {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
			n++
		}
		rtl = rtl || unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
		b.WriteRune(r)
		n++
	}
	if rtl {
		return "\u2068" + b.String() + "\u2069"
	}
	return b.String()
}

// joiner combines two emoji into one; blank are letters that show nothing.
const (
	joiner = '\u200d'
	blank  = "\u115f\u1160\u2800\u3164\uffa0"
)

// emoji reports whether a joiner is allowed beside a character. Between letters it would
// be invisible, and two different names would look the same.
func emoji(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk) || r == '\ufe0f' || r == '♀' || r == '♂'
}

// Typed returns what somebody typed without control characters, which have a meaning in
// texts; lines keeps the ends of lines.
func Typed(s string, lines bool) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && (r != '\n' || !lines) {
			return -1
		}
		return r
	}, s)
}
