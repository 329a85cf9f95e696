package render

import (
	"strings"
	"unicode"
)

// maxName is how many letters of a name are shown.
const maxName = 32

// clean makes a name fit to be shown: one line, no control, formatting or
// private characters, so nothing that turns the direction of the text around
// it, no towers of accents, at most maxName letters. It gives instead when
// nothing is left.
func clean(name, instead string) string {
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
		if len(out) >= maxName {
			out[maxName-1] = '…'
			break
		}
		if space {
			out, space = append(out, ' '), false
		}
		out = append(out, r)
	}
	if len(out) > maxName {
		out = append(out[:maxName-1], '…')
	}
	if len(out) == 0 {
		return instead
	}
	return string(out)
}

// isolated wraps a name that is written from right to left so that what
// follows it stays in its place.
func isolated(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
	}) {
		return "\u2068" + name + "\u2069"
	}
	return name
}
