package discord

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// everyWord is all that the adapter says of its own.
var everyWord = []string{wordDone, wordSee, wordFailed, wordInterrupted, wordTooMuch, wordBusy, wordNothing, wordChoose, wordFormTitle, wordForm, wordThread,
	wordThreadOf, wordStatus, wordNoFiles, wordNoRecord, wordNoThreads, wordThreadGone, wordArchived, wordLocked, wordSilenced, wordGone, wordMissing, wordClosed, wordMenuInvite, wordMenuShow, wordNoRecordIn, wordTooLarge, wordFile, wordDiagram, wordTree, wordMention, wordType, wordUnclear, wordHelp, wordUse, wordNoBots, wordNotMe, wordRole}

// Each text of the adapter exists in every language, with the same arguments.
func TestWordsInEveryLanguage(t *testing.T) {
	holes := regexp.MustCompile(`\{\d\}`)
	for _, tag := range bot.Languages()[1:] {
		for _, english := range everyWord {
			words := bot.Translated(tag, english)
			want, got := holes.FindAllString(english, -1), holes.FindAllString(words, -1)
			slices.Sort(want)
			slices.Sort(got)
			if words == english || !slices.Equal(want, got) {
				t.Errorf("%s: %q is said as %q", tag, english, words)
			}
		}
		for _, m := range menus {
			if n := utf8.RuneCountInString(bot.Translated(tag, m.name)); n > 32 {
				t.Errorf("%s: the entry of a menu %q has %d letters, and 32 are the most", tag, bot.Translated(tag, m.name), n)
			}
		}
	}
	if got := localized("a", func(tag string) string { return map[string]string{"en": "a", "de": "b", "ja": "a"}[tag] }); len(got) != 1 || got["de"] != "b" {
		t.Errorf("localized as %v", got)
	}
}

// Commands are registered with what they are in every language, by names that
// are the same in all; another translation makes another list.
func TestLocalizedCommands(t *testing.T) {
	commands := project(bot.Commands(), false)
	for _, c := range commands {
		for _, tag := range bot.Languages()[1:] {
			tag := discordgo.Locale(tag)
			said := func(english string) bool { return !slices.Contains(text.BestLanguage(string(tag)).Missing, english) }
			if c.Description != "" && said(c.Description) && (c.Descriptions[tag] == "" || c.Descriptions[tag] == c.Description || c.Names != nil) {
				t.Errorf("/%s is %q in %s, names %v", c.Name, c.Descriptions[tag], tag, c.Names)
			}
			if c.Description == "" && c.Names[tag] == "" {
				t.Errorf("%q has no name in %s", c.Name, tag)
			}
			for words, o := range eachOption(c.Name, c.Options) {
				if o.Descriptions[tag] == "" && said(o.Description) {
					t.Errorf("/%s has no description in %s", words, tag)
				}
			}
		}
		for _, texts := range []map[discordgo.Locale]string{c.Names, c.Descriptions} {
			for locale := range texts {
				if !slices.Contains(locales, locale) {
					t.Errorf("/%s: there is no locale %q", c.Name, locale)
				}
			}
		}
	}
	for _, c := range commands {
		for words, o := range eachOption(c.Name, c.Options) {
			if words != "go room adjudicate as" {
				continue
			}
			if got := o.Choices[1].NameLocalizations["de"]; got != "Schwarz gewinnt" {
				t.Errorf("a choice is called %q", got)
			}
		}
	}
	other := project(bot.Commands(), false)
	other[0].Descriptions = map[discordgo.Locale]string{"de": "anders"}
	if string(canonical(other)) == string(canonical(commands)) {
		t.Error("nobody would notice another translation")
	}
}

// Everybody in a room reads the room's language, and what is for one person
// alone is in theirs.
func TestTwoLanguagesInOneRoom(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		c.guild.Locale("de")
		c.alice.Locale("ja")
		if m := c.ok(c.alice.Slash(c.room, "place", opt("at", "D4"))); !strings.Contains(m.Content, "ここにはまだ対局がありません") || m.To != "Alice" {
			t.Errorf("Alice is told %q", m.Content)
		}
		if m := c.ok(c.bob.Slash(c.room, "place", opt("at", "D4"))); !strings.HasPrefix(m.Content, "There is no game here yet") {
			t.Errorf("Bob is told %q", m.Content)
		}
		m := c.ok(c.alice.Slash(c.room, "new", opt("rules", "aga"), opt("size", "5x5")))
		if !strings.HasPrefix(m.Content, "Alice eröffnet Partie 1") || len(m.Controls) != 1 || m.Controls[0].Label != "Mitspielen" {
			t.Errorf("everybody is told %q, %+v", m.Content, m.Controls)
		}
	})
}

// The picture of a room has its alternative text in the language of the room, and
// the picture that one person asked for in theirs.
func TestAltTextIsRead(t *testing.T) {
	inClub(t, func(t *testing.T, c *club) {
		thread := c.begin(t)
		c.guild.Locale("de") // in the middle of the game
		c.bob.Locale("ja")
		m := c.ok(c.alice.Slash(thread, "place", opt("at", "C3")))
		if len(m.Attachments) != 1 || !strings.HasPrefix(m.Attachments[0].Alt, "Zug 1: Schwarz C3. Weiß am Zug.") {
			t.Errorf("%q, %+v", m.Content, m.Attachments)
		}
		m = c.ok(c.bob.Slash(thread, "board"))
		if len(m.Attachments) != 1 || !strings.HasPrefix(m.Attachments[0].Alt, "1手目：黒C3。白の番。") {
			t.Errorf("%q, %+v", m.Content, m.Attachments)
		}
	})
}
