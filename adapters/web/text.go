package web

import (
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// A part of a text is words, or an instant, which the page writes as its reader
// would; then the text is what the bot calls it.
type part struct {
	Text string     `json:"text"`
	Time *time.Time `json:"time,omitempty"`
}

// words returns a text of the bot in plain words.
func words(text string) string { return bot.Fill(text, bot.Format{}) }

// parts cuts a text of the bot at the instants that it means; none: it means
// none, and its plain words say it all.
func parts(text string) []part {
	const cut = "\x00" // which is in no text: what people type comes without control characters
	var instants []part
	filled := bot.Fill(text, bot.Format{Time: func(t time.Time, words string) string {
		t = t.UTC()
		instants = append(instants, part{words, &t})
		return cut
	}})
	if instants == nil {
		return nil
	}
	var out []part
	for i, piece := range strings.Split(filled, cut) {
		if i > 0 {
			out = append(out, instants[i-1])
		}
		if piece != "" {
			out = append(out, part{Text: piece})
		}
	}
	return out
}
