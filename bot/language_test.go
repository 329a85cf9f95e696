package bot

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// mostSummary is the most characters of the description of a command or a choice, of
// the platform that has the least room.
const mostSummary = 100

// Commands are told of in every language, in as many letters as platforms have
// room for, and choices of one option can be told apart.
func TestCommandsInEveryLanguage(t *testing.T) {
	said := map[string]bool{}
	for _, c := range Commands() {
		said[c.Summary] = true
		for _, o := range c.Options {
			said[o.Summary] = true
			for _, ch := range o.Choices {
				said[ch.Label] = true
			}
		}
	}
	for _, l := range text.Languages() {
		if l == text.English {
			continue
		}
		for english := range said {
			if says := l.Commands[english]; (says == "") != slices.Contains(l.Missing, english) || utf8.RuneCountInString(says) > mostSummary || strings.ContainsAny(says, "{}") {
				t.Errorf("%s: %q is said as %q", l.Tag, english, says)
			}
		}
		for english := range l.Commands {
			if !said[english] {
				t.Errorf("%s: no command says %q", l.Tag, english)
			}
		}
		for _, c := range CommandsIn(l.Tag) {
			for _, o := range c.Options {
				labels := map[string]bool{}
				for _, ch := range o.Choices {
					if labels[ch.Label] {
						t.Errorf("%s: /%s %s offers %q twice", l.Tag, c.Name, o.Name, ch.Label)
					}
					labels[ch.Label] = true
				}
			}
		}
	}
}

// Every answer that people can share says first who shares it.
func TestSharedAnswersSayWho(t *testing.T) {
	for _, c := range Commands() {
		if slices.ContainsFunc(c.Options, func(o Option) bool { return o.Name == shareOption.Name }) {
			if key := "shared." + c.Name; text.English.Say(say(key, "Ada", "1")) == key {
				t.Errorf("nothing is said for %s", key)
			}
		}
	}
}
