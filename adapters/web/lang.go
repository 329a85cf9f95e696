package web

import (
	"net/http"
	"slices"

	"golang.org/x/text/language"

	"github.com/halfpoint-go/halfpoint/bot"
)

// languageOf returns the preferred language of a browser that the bot speaks, or else
// its first; empty if it names none.
func languageOf(r *http.Request) string {
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
