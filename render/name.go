package render

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName is how many letters of a name are shown.
const maxName = 32

// clean makes a name fit to be shown: one line, no control, formatting or
// private characters, so nothing that turns the direction of the text around
// it, no towers of accents, at most maxName letters. It returns instead if
// the result is empty.
func clean(name, instead string) string { return cleaned(name, instead, maxName) }

// cleaned is clean with at most so many letters.
func cleaned(name, instead string, most int) string {
	var out []rune
	marks, space := 0, false
	for _, r := range name {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Z):
			space = len(out) > 0
			continue
		case r == unicode.ReplacementChar || unicode.In(r, unicode.C) || !unicode.IsPrint(r):
			continue
		case unicode.In(r, unicode.M):
			if marks++; marks > 2 || len(out) == 0 {
				continue
			}
		default:
			marks = 0
		}
		if len(out) >= most {
			out[most-1] = '…'
			break
		}
		if space {
			out, space = append(out, ' '), false
		}
		out = append(out, r)
	}
	if len(out) > most {
		out = append(out[:most-1], '…')
	}
	if len(out) == 0 {
		return instead
	}
	return string(out)
}

// rightToLeft are the scripts that are written from right to left, most of them
// with letters that change with their neighbours: no fonts here can set them.
var rightToLeft = []*unicode.RangeTable{
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko,
	unicode.Samaritan, unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya,
}

// isolated wraps a name that is written from right to left so that what
// follows it stays in its place.
func isolated(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, rightToLeft...) }) {
		return "\u2068" + name + "\u2069"
	}
	return name
}

// missing replaces letters that no font has.
const missing = '□'

// drawable returns what the fonts can show of a text, whatever it is. Emoji and
// other signs that they lack are left out, letters that they lack become "□",
// once for a run of them. If no letter or digit is left, it returns instead.
func drawable(s, instead string) string {
	any := false
	var out []rune
	for _, r := range norm.NFC.String(s) {
		switch has := letter(glyphKey{weight: medium, size: 24, letter: r}) != nil; {
		case unicode.In(r, unicode.M):
			// A mark of its own would stand beside its letter, not on it.
		case has && !unicode.In(r, rightToLeft...):
			out = append(out, r)
			any = any || r != missing && (unicode.IsLetter(r) || unicode.IsDigit(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if len(out) == 0 || out[len(out)-1] != missing {
				out = append(out, missing)
			}
		}
	}
	if !any {
		return instead
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// maxHandle is how many letters of a handle [WithHandle] shows.
const maxHandle = 20

var (
	bracketed = regexp.MustCompile(`\([^)]*(?:\)|$)`) // also cut off within the brackets
	lastOf    = regexp.MustCompile(`\(([^()]*)\)$`)
	square    = strings.NewReplacer("(", "[", ")", "]")
)

// needsHandle reports whether no letter of a name can be drawn, but for those in brackets, if
// there is anything else.
func needsHandle(name string) bool {
	name = clean(name, "")
	if outside := strings.TrimSpace(bracketed.ReplaceAllString(name, "")); outside != "" {
		name = outside
	}
	return name != "" && drawable(name, "") == ""
}

// WithHandle returns a person's name, with the handle by which their platform knows them
// in brackets if no letter of the name can be drawn, but for those in brackets of its own. The
// picture then shows the handle. Nobody can choose a name that passes for somebody else's handle.
func WithHandle(name, handle string) string {
	if !needsHandle(name) {
		return name
	}
	handle = square.Replace(drawable(clean(handle, ""), ""))
	if handle == "" {
		return square.Replace(name)
	}
	handle = " (" + cutRunes(handle, maxHandle) + ")"
	return cutRunes(name, maxName-utf8.RuneCountInString(handle)) + handle
}

// nameplate returns what the picture shows of a name: where [WithHandle] added a handle, that alone.
func nameplate(name, instead string) string {
	name = clean(name, instead)
	if handle := lastOf.FindStringSubmatch(name); handle != nil && needsHandle(name) {
		name = handle[1]
	}
	return drawable(name, instead)
}

// cutRunes returns the first n letters of a text.
func cutRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
