package matrix

import (
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
	"github.com/halfpoint-go/halfpoint/bot"
)

// Texts of the adapter that only Matrix needs.
const (
	wordTooMuch  = "Not so fast, please: wait a few seconds."
	wordEdited   = "Editing a message does not change a finished command. To take it back, use {/undo}."
	wordUnread   = "I could not read your message: its key has not reached me. If it was a command, I will act on it as soon as the key arrives. You can also write it again."
	wordGoesOn   = "Game {0} goes on here."
	wordLate     = "This homeserver limits how often I may write, so this board comes late."
	wordStatus   = "Game {0}: {1}"
	wordDirectly = "I have sent it to you directly."
)

// says makes an answer of something of the adapter's own, in the language of the
// last board or notice of the room; as long as there was none, in English.
func (a *Adapter) says(at id.RoomID, english string) bot.Answer {
	lang, _ := a.langs.Load(at)
	tag, _ := lang.(string)
	return bot.Answer{Text: bot.Translated(tag, english), Private: true, Lang: tag}
}

// wrong is what to tell who typed a command that cannot be read, in the language of the room.
func (a *Adapter) wrong(at id.RoomID, p command.Parsed) bot.Answer {
	answer := a.says(at, p.Problem)
	if p.Err != nil {
		answer.Text = bot.Explain(p.Err, answer.Lang)
	}
	return answer
}
