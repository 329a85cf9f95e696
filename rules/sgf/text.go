package sgf

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/halfpoint-go/halfpoint/rules"
)

// simpleText returns the text of a value on one line: escapes resolved, line
// breaks and other blanks and controls made spaces, but for a line break after
// a backslash, which is none. It is cut to MaxText characters.
func simpleText(value string) string { return simpleTextOf(value, MaxText) }

// lineBreaks makes one of each kind of line break that SGF knows.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\n\r", "\n", "\r", "\n")

// escapes match a backslash and what it escapes: a line break after it is none.
var escapes = regexp.MustCompile(`(?s)\\(?:\n|(.)|$)`)

func simpleTextOf(value string, most int) string {
	if len(value) <= 2 && strings.Trim(value, lineLetters) == "" {
		return value // a point, as most values are
	}
	return oneLineOf(escapes.ReplaceAllString(lineBreaks.Replace(value), "$1"), most)
}

// oneLine returns s on one line without blanks around it, and of no more than
// MaxText characters.
func oneLine(s string) string { return oneLineOf(s, MaxText) }

func oneLineOf(s string, most int) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd"))
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > most {
		s = strings.TrimSpace(string(r[:most]))
	}
	return s
}

// escape writes text as a value, line breaks kept. SGF lets an opening bracket stand as it is,
// but many programs guess where a text ends that has brackets within it.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`).Replace(s)
}

// cut returns the beginning of what a file says, on one line, for a message.
func cut[T string | []byte](s T, n int) string {
	return rules.Shorten(oneLine(string(s)), n)
}

// narrow returns text with wide letters, digits and signs, "２" and "＋", as those of ASCII.
func narrow(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= '！' && c <= '～':
			return c - '！' + '!'
		case c == '\u3000':
			return ' '
		}
		return c
	}, s)
}
