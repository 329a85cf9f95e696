package discord

import (
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/bot"
)

// Texts of the adapter that only Discord needs.
const (
	wordDone        = "Done. The board is on its way."
	wordSee         = "See {0}"
	wordFailed      = "Something went wrong on my side. Please try again."
	wordInterrupted = "I stopped while handling this. Please check whether it worked, and try again if not."
	wordTooMuch     = "Not so fast, please: wait a few seconds."
	wordBusy        = "I am busy right now. Please try again in a moment."
	wordNothing     = "There is nothing to choose right now. You can type {0} instead."
	wordChoose      = "Choose, or type {0}"
	wordFormTitle   = "Game {0}"
	wordForm        = "Answer"
	wordThread      = "Game {0}"
	wordThreadOf    = "Game {0}: {1} – {2}"
	wordStatus      = "Game {0}: {1}"
	wordCancelled   = "cancelled" // what became of a game: in the name of its thread, and in its status message
	wordDeleted     = "deleted"
	wordNoFiles     = "I may not attach files here, so the board is in letters. A moderator can grant me {0} in the channel's settings, under Permissions."
	wordNoRecord    = "I may not attach files here. A moderator can grant me {0} in the channel's settings, under Permissions."
	wordNoThreads   = "I could not open a thread for this game, so it stays here. A moderator can grant me {0} in the channel's settings, under Permissions."
	wordThreadGone  = "The thread of this game was deleted, so the game continues here."
	wordArchived    = "When this thread is archived it takes no commands: write anything here to wake it."
	wordMention     = "To move, use {0} or mention me: {1} {2}"
	wordUnclear     = "I did not understand that. Mention me with a point to move, such as C3, or with pass, undo, accept or resign. {0} lists the commands."
	wordRole        = "You mentioned my role, and Discord does not show me what such messages say. Mention me instead, not the role with my name."
	wordHelp        = "Mention me with a point to move, such as C3, or with pass, undo, accept or resign. {0} lists the commands."
	wordOpen        = "Open a game with {0}. {1} lists the commands."
	wordUse         = "Please use {0} for that."
	wordType        = "To move, use {0} or type a point: {1}"
	wordLocked      = "Done, but I may not show it: the thread of the game is locked. A moderator can unlock it. Until then, {0} shows you the game."
	wordSilenced    = "Done, but I may not show it in the game's channel. A moderator can grant me {0} in the channel's settings, under Permissions. Until then, {1} shows you the game."
	wordGone        = "Done, but I cannot show it: the game's channel or thread was deleted. {0} shows you the game."
	wordMissing     = "To play here I need these permissions: {0}. A moderator can give them to me in the channel's settings, under Permissions."
	wordNoBots      = "Bots cannot play. Challenge a person, or open a game that anyone can join: {0}"
	wordNotMe       = "I look after games, but I do not play. Challenge a person, or open a game that anyone can join: {0}"
	wordClosed      = "Game {0} is waiting for you. I cannot send you direct messages. Once you allow them, tell me with {/remind}."
	wordMenuInvite  = "Challenge to Go"
	wordMenuShow    = "Show as a Go board"
	wordNoRecordIn  = "The file could not be read."
	wordTooLarge    = "The file is too large: at most {0} MB."
	wordFile        = "A file instead: an SGF record, or a diagram"
	wordDiagram     = "Diagram or SGF record"
	wordEvent       = "Organise an event"
	wordEventTitle  = "What is it called?"
	wordEventSeats  = "How many people can play?"
	wordEventUntil  = "Until when can people sign up?"
	wordEventGroup  = "How many players does a group have? 4 to 8"
	wordEventRounds = "How many rounds are there?"
	wordEventDays   = "How many days does it, or each round, take?"
	wordPage        = "Open the board"
	wordTree        = "All other commands: join, take back, resign, mark dead stones, settings, help …"
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
