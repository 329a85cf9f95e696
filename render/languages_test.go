package render_test

import (
	"regexp"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// The letters of all words that are said in pictures can be drawn.
func TestLettersOfEveryLanguage(t *testing.T) {
	holes := regexp.MustCompile(`\{\d\}`)
	for _, l := range text.Languages() {
		for _, words := range []map[string]string{l.Picture, l.Sentences} {
			for _, text := range words {
				if !render.CanDraw(holes.ReplaceAllString(text, "")) {
					t.Errorf("%s: %q cannot be drawn", l.Tag, text)
				}
			}
		}
	}
}
