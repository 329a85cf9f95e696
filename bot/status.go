package bot

import (
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/render"
)

// HowItStands says in at most three lines how a game stands, for the message under
// which it is played: who plays, what was done last and what is next, the count
// or the result. The words are those of the scene; names are clean, but nothing
// is escaped.
func HowItStands(s render.Scene) []string {
	lines := []string{"⚫ " + CleanName(s.Black.Name) + " – ⚪ " + CleanName(s.White.Name)}
	for _, words := range [][]string{{s.Told, s.Next}, {s.Headline, s.Caption}} {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		if len(words) > 0 {
			lines = append(lines, strings.Join(words, " · "))
		}
	}
	return lines
}
