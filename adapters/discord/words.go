package discord

import (
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/bot"
)

// What the adapter itself says: what only Discord has.
const (
	wordDone        = "Done. The board is on its way."
	wordSee         = "See {0}"
	wordFailed      = "Something went wrong on my side. Please try again."
	wordInterrupted = "I was interrupted here. Please look whether it was done, and try again if not."
	wordTooMuch     = "Not so fast, please: wait a few seconds."
	wordBusy        = "Too much at once: please try again in a moment."
	wordNothing     = "There is nothing to choose from now. You may type {0} instead."
	wordChoose      = "Choose, or type {0}"
	wordFormTitle   = "Game {0}"
	wordForm        = "Answer"
	wordThread      = "Game {0}"
	wordThreadOf    = "Game {0}: {1} – {2}"
	wordStatus      = "Game {0}: {1}"
	wordNoFiles     = "I may not attach files here, so the board is in letters. A moderator can allow {0} to me in the channel's settings, under Permissions."
	wordNoRecord    = "I may not attach files here. A moderator can allow {0} to me in the channel's settings, under Permissions."
	wordNoThreads   = "I could not open a thread for this game, so it stays here. A moderator can allow {0} to me in the channel's settings, under Permissions."
	wordThreadGone  = "The thread of this game is no longer there, so it goes on here."
	wordArchived    = "When this thread is archived it takes no commands: write anything here to wake it."
	wordLocked      = "It is done, but I may not show it: the thread of the game is locked. A moderator can open it again; until then {0} shows you the game."
	wordSilenced    = "It is done, but I may not show it where the game is. A moderator can allow {0} to me in the channel's settings, under Permissions; until then {1} shows you the game."
	wordGone        = "It is done, but I cannot show it: where the game was is no longer there. {0} shows you the game."
	wordMissing     = "To play here I need these permissions: {0}. A moderator can give them to me in the channel's settings, under Permissions."
	wordClosed      = "Game {0} waits for you. I cannot write to you directly; once you allow it, tell me with {/remind}."
	wordMenuInvite  = "Challenge to Go"
	wordMenuShow    = "Show as a Go board"
	wordNoRecordIn  = "The file could not be read."
)

// locales are those in which Discord shows commands; discordgo lacks Indonesian.
var locales = []discordgo.Locale{"id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl", "no", "pl", "pt-BR",
	"ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th", "zh-CN", "ja", "zh-TW", "ko"}

// localized gives something in every locale for whose language the bot has other
// words than the English ones.
func localized(english string, in func(tag string) string) map[discordgo.Locale]string {
	var out map[discordgo.Locale]string
	for _, tag := range bot.Languages() {
		words := in(tag)
		if words == english {
			continue
		}
		for _, locale := range locales {
			if base, _, _ := strings.Cut(string(locale), "-"); base != tag {
				continue
			}
			if out == nil {
				out = map[discordgo.Locale]string{}
			}
			out[locale] = words
		}
	}
	return out
}
