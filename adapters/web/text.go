package web

import (
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// A part of a text is words, or an address, or an instant, which the page writes as its
// reader would; then the text is what the bot calls it.
type part struct {
	Text string     `json:"text"`
	Time *time.Time `json:"time,omitempty"`
	Link bool       `json:"link,omitempty"` // the text is an address
}

// words returns a text of the bot in plain words.
func words(text string) string { return bot.Fill(text, bot.Format{}) }

// parts cuts a text of the bot at the instants and addresses in it; nil: there are none, and
// its plain words say it all.
func parts(text string) []part {
	const cut = "\x00" // which is in no text: what people type comes without control characters
	var found []part
	filled := bot.Fill(text, bot.Format{
		Time: func(t time.Time, words string) string {
			t = t.UTC()
			found = append(found, part{Text: words, Time: &t})
			return cut
		},
		Address: func(address string) string {
			found = append(found, part{Text: address, Link: true})
			return cut
		},
	})
	if found == nil {
		return nil
	}
	var out []part
	for i, piece := range strings.Split(filled, cut) {
		if i > 0 {
			out = append(out, found[i-1])
		}
		if piece != "" {
			out = append(out, part{Text: piece})
		}
	}
	return out
}
