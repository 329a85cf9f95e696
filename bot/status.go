package bot

import (
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/render"
)

// HowItStands returns the state of a game in at most three lines, for its status
// message: the players, the last turn and the next or who has accepted the count, the
// count or the result. It uses the words of the scene. Names are clean, the text is not
// escaped.
func HowItStands(s render.Scene) []string {
	lines := []string{"⚫ " + CleanName(s.Black.Name) + " – ⚪ " + CleanName(s.White.Name)}
	for _, words := range [][]string{append([]string{s.Told, s.Next}, s.Accepted()...), {s.Headline, s.Caption}} {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		if len(words) > 0 {
			lines = append(lines, strings.Join(words, " · "))
		}
	}
	return lines
}
