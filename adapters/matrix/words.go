package matrix

import (
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/bot"
)

// What the adapter itself says: what only Matrix has.
const (
	wordTooMuch  = "Not so fast, please: wait a few seconds."
	wordEdited   = "What was done stays done: to take it back there is {/undo}."
	wordUnread   = "I could not read what you wrote: its key has not reached me. If it was for me, I will do it as soon as the key comes; you can also write it again."
	wordGoesOn   = "Game {0} goes on here."
	wordLate     = "This homeserver lets me write only now and then, so this board comes late."
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
