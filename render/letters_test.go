package render

import "unicode"

// CanDraw reports whether the fonts of pictures have every letter and sign of a
// text: what they lack is left out of pictures or shown as "□".
func CanDraw(text string) bool {
	for _, r := range text {
		if !unicode.IsSpace(r) && letter(glyphKey{weight: medium, size: 24, letter: r}) == nil {
			return false
		}
	}
	return true
}

// AllLayouts returns the names that Options.Layout takes.
func AllLayouts() []string { return append(Layouts(), "card") }
