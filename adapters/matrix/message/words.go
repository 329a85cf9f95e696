package message

import (
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
)

// What the adapter itself says in its messages.
const (
	wordBoard    = "The board in letters"
	wordBoardOf  = "Game {0}: the board in letters"
	wordControls = "You can: {0}"
	wordMore     = "…" // to be typed instead
	wordBetween  = " · "
)

// inWords says something of the adapter's own in the language of a BCP 47 tag.
func inWords(tag, english string, args ...string) string {
	return fill(bot.Translated(tag, english), args...)
}

// fill puts arguments into a text.
func fill(text string, args ...string) string {
	var pairs []string
	for i, a := range args {
		pairs = append(pairs, "{"+string(rune('0'+i))+"}", a)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
