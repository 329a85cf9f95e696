package sgf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A charset makes text of the bytes of a record.
type charset func([]byte) string

// charsetOf returns the charset of a record: Latin-1 or UTF-8 if CA says so,
// otherwise UTF-8 if the whole record is that and Latin-1 if it is not.
func charsetOf(data []byte, ca string) charset {
	switch strings.ToLower(ca) {
	case "utf-8", "utf8":
		return utf8Text
	case "iso-8859-1", "iso8859-1", "latin-1", "latin1", "windows-1252", "cp1252":
		return latin1Text
	}
	if utf8.Valid(data) {
		return utf8Text
	}
	return latin1Text
}

func utf8Text(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// windows1252 is what Windows puts where Latin-1 has control characters.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

var fromWindows1252 = []rune(windows1252)

func latin1Text(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		if c >= 0x80 && c < 0xa0 {
			s.WriteRune(fromWindows1252[c-0x80])
		} else {
			s.WriteRune(rune(c))
		}
	}
	return s.String()
}

// simpleText returns the text of a value on one line: escapes resolved, line
// breaks and other blanks and controls made spaces, but for a line break after
// a backslash, which is none. It is cut to MaxText characters.
func simpleText(value string) string { return simpleTextOf(value, MaxText) }

func simpleTextOf(value string, most int) string {
	value = strings.NewReplacer("\r\n", "\n", "\n\r", "\n", "\r", "\n").Replace(value)
	var s strings.Builder
	escaped := false
	for _, c := range value {
		switch {
		case c == '\\' && !escaped:
			escaped = true
			continue
		case c == '\n' && escaped: // a soft line break
		case unicode.IsSpace(c) || unicode.IsControl(c):
			s.WriteByte(' ')
		default:
			s.WriteRune(c)
		}
		escaped = false
	}
	return oneLineOf(s.String(), most)
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

// escape writes text as a value, line breaks kept.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `]`, `\]`).Replace(s)
}

// cut returns the beginning of what a file says, on one line, for a message.
func cut[T string | []byte](s T, n int) string {
	return rules.Shorten(oneLine(string(s)), n)
}
