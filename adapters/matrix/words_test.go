package matrix

import (
	"strings"
	"testing"
	"unicode"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The adapter's own texts exist in every language of the bot.
func TestWordsInEveryLanguage(t *testing.T) {
	for _, tag := range bot.Languages()[1:] {
		for _, english := range []string{wordTooMuch, wordEdited, wordUnread, wordInClear, wordTyped, wordGoesOn, wordLate, wordStatus, wordDirectly, wordKept, wordSpace, wordWrite, wordManyRooms} {
			if words := bot.Translated(tag, english); words == english {
				t.Errorf("%s: %q is not translated", tag, english)
			}
		}
	}
	m := message.Text(message.Content{Text: "…", Board: "A", Number: 3, Lang: "de", Link: "https://go.example.org/g/x/3", Controls: []match.Control{{Command: "pass"}}})
	for _, want := range []string{"Brett öffnen", "Du kannst: ⏭️ !pass", "Partie 3: das Brett in Buchstaben"} {
		if !strings.Contains(m.FormattedBody, want) {
			t.Errorf("%q is not in %q", want, m.FormattedBody)
		}
	}
}

// A notice is shown without the line that calls people, and with all its other lines.
func TestWordsWithoutCalls(t *testing.T) {
	bob, eve := outbox.User{Platform: Name, ID: "@bob:example.org", Name: "Bob & Co"}, outbox.User{Platform: Name, ID: "@eve:example.org", Name: "Eve"}
	for _, said := range []string{"Anna withdraws game 1.", "Anna withdraws game 1.\nIt does not count."} {
		for _, called := range [][]outbox.User{nil, {bob}, {bob, eve}} {
			m := message.Text(message.Content{Text: said, Notify: called})
			if got := withoutCalls(m.Body, m.FormattedBody); got != said {
				t.Errorf("%q is shown as %q", m.Body, got)
			}
		}
	}
	const person = `<a href="https://matrix.to/#/@bob:example.org">Bob</a>`
	for _, said := range []string{"Bob, Anna declines.\nIt does not count.", "Anna declines.\nIt does not count for Bob.", "Bob"} {
		formatted := strings.NewReplacer("Bob", person, "\n", "<br>").Replace(said)
		if got := withoutCalls(said, formatted); got != said {
			t.Errorf("%q is shown as %q", said, got)
		}
	}
}

// What the adapter says itself is in the language of the room, also after a restart and
// before the first board; or in that of the person, if they have chosen one.
func TestWordsInTheLanguageOfTheRoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go-Klub"}, "Anna", "Bob")
		anna, bob := people[0], people[1]
		anna.asks("", "!settings language:de")
		bob.asks("", "!settings language:ja whose:mine")
		c.restart()
		answer := func(who *guest, typed string, is func(string) bool) {
			e := who.asks("", typed)
			who.AwaitMessage(who.at, c.user.ID, "the answer to "+typed, func(m *matrixtest.Message) bool { return m.ReplyTo == e && is(m.Text()) })
		}
		answer(anna, "!plase E5", func(text string) bool { return strings.Contains(text, "Meintest du") })
		answer(anna, "!sgf 1 2 3", func(text string) bool { return strings.Contains(text, "Tippe") })
		answer(bob, "!plase E5", func(text string) bool {
			return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) })
		})
		done := anna.asks("", "!new 9x9")
		c.dealt(anna.at, anna.Edits(anna.at, done, "!new 13x13"))
		anna.reads("Befehl")
	})
}
