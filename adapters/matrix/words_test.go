package matrix

import (
	"strings"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// The adapter's own texts exist in every language of the bot.
func TestWordsInEveryLanguage(t *testing.T) {
	for _, tag := range bot.Languages()[1:] {
		for _, english := range []string{wordTooMuch, wordEdited, wordUnread, wordGoesOn, wordLate, wordStatus, wordDirectly} {
			if words := bot.Translated(tag, english); words == english {
				t.Errorf("%s: %q is not translated", tag, english)
			}
		}
	}
	m := message.Text(message.Content{Text: "…", Board: "A", Number: 3, Lang: "de", Controls: []match.Control{{Command: "pass"}}})
	for _, want := range []string{"Du kannst: ⏭️ !pass", "Partie 3: das Brett in Buchstaben"} {
		if !strings.Contains(m.FormattedBody, want) {
			t.Errorf("%q is not in %q", want, m.FormattedBody)
		}
	}
	a := &Adapter{}
	room := id.RoomID("!a:example.org")
	if got := a.says(room, wordEdited); got.Text != bot.Translated("en", wordEdited) {
		t.Errorf("before anything was said there it says %q", got.Text)
	}
	a.langs.Store(room, "de")
	if got := a.says(room, wordEdited); got.Text != bot.Translated("de", wordEdited) || !got.Private {
		t.Errorf("it says %+v", got)
	}
	for typed, want := range map[string]string{"!plase E5": "Meintest du", "!sgf 1 2 3": "Tippe"} {
		p, ok := command.Parse(bot.Commands(), command.Typed{Body: typed, SelfName: "Halfpoint"})
		if got := a.wrong(room, p); !ok || !strings.Contains(got.Text, want) || !got.Private {
			t.Errorf("%s is answered %+v", typed, got)
		}
	}
}
