package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"golang.org/x/text/language"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// languageOf returns the language in which the room speaks to a person: the one that they
// have chosen, or else that of their browser. It reads the store.
func (s *server) languageOf(ctx context.Context, who outbox.User, browser string) string {
	known, err := s.cfg.Log.Known(ctx, who, match.Room{Platform: platform, Channel: channel}, "")
	if err != nil && ctx.Err() == nil {
		s.log.Warn("reading what somebody has chosen failed, will speak the language of their browser", "error", err)
	}
	return cmp.Or(known.Prefs.Lang, browser)
}

// browserLanguage returns the language that was chosen in a browser, or else the preferred
// one of the browser that the bot speaks, or else its first; empty if it names none.
func browserLanguage(r *http.Request) string {
	if chosen := lookOf(r)["language"]; chosen != "" {
		return chosen
	}
	header := r.Header.Get("Accept-Language")
	if len(header) > 200 {
		return ""
	}
	wants, _, err := language.ParseAcceptLanguage(header)
	if err != nil || len(wants) == 0 {
		return ""
	}
	for _, tag := range wants {
		if base, _ := tag.Base(); slices.Contains(bot.Languages(), base.String()) {
			return base.String()
		}
	}
	return wants[0].String()
}

// A spoken is a language of the page: what it says, by the English words, and what buttons
// say, by their labels in other languages.
type spoken struct {
	Lang  string            `json:"lang"`
	Words map[string]string `json:"words,omitempty"`
	URL   string            `json:"url,omitempty"`   // where others reach the room, if the page cannot know that
	Seat  string            `json:"seat,omitempty"`  // where the browser may sit, if somebody else has the seat that it asked for
	Whose string            `json:"whose,omitempty"` // whose stream it is; empty: no other tab may share it
}

// pageLanguage returns the language of a page for somebody who prefers one: English where
// the bot does not speak it.
func pageLanguage(preferred string) string {
	if slices.Contains(bot.Languages(), preferred) {
		return preferred
	}
	return bot.Languages()[0]
}

// speak returns the words of the page for somebody who prefers a language, with the labels
// of buttons.
func speak(preferred string) spoken {
	tag := pageLanguage(preferred)
	words := bot.Labels(tag)
	if tag != bot.Languages()[0] {
		for _, english := range pageWords {
			words[english] = bot.Translated(tag, english)
		}
	}
	return spoken{Lang: tag, Words: words}
}
