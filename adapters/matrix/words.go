package matrix

import (
	"context"
	"fmt"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Texts of the adapter that only Matrix needs.
const (
	wordTooMuch   = "Not so fast, please: wait a few seconds."
	wordEdited    = "Editing a message does not change a finished command. To take it back, use {/undo}."
	wordUnread    = "I could not read your message: its key has not reached me. If it was a command, I will act on it as soon as the key arrives. You can also write it again."
	wordInClear   = "Your message was not encrypted, so I cannot tell whether you wrote it. Turn on encryption in this room or in your client, and send it again."
	wordTyped     = "Reactions are never encrypted, so I cannot tell whether this one is yours. Type {0} instead."
	wordGoesOn    = "Game {0} goes on here."
	wordLate      = "This homeserver limits how often I may write, so this board comes late."
	wordStatus    = "Game {0}: {1}"
	wordDirectly  = "I have sent it to you directly."
	wordKept      = "I am not allowed to remove my messages about this game here. A moderator can."
	wordSpace     = "I have left the space into which you invited me, because nobody can play there. Invite me into a room of it."
	wordNoEmoji   = "This bot cannot be verified by emoji. Your client checks by itself whether the bot's account has signed its device."
	wordManyRooms = "You have invited me into many rooms. I join one of them every half minute."
)

// language returns the language in which to answer an event: the sender's, as far as they
// have chosen one, or the room's.
func (a *Adapter) language(ctx context.Context, e *event.Event) (string, error) {
	return a.languageFor(ctx, e.Sender, a.room(e.RoomID).known.String())
}

// languageFor returns the language in which to tell somebody something in a room that the
// bot knows by an id; nobody: all.
func (a *Adapter) languageFor(ctx context.Context, who id.UserID, known string) (string, error) {
	service, _ := a.theService()
	lang, _, err := service.Here(ctx, bot.Request{Who: outbox.User{Platform: Name, ID: who.String()}, Where: match.Room{Platform: Name, Channel: known}})
	if err != nil {
		return "", fmt.Errorf("find out the language of an answer: %w", err)
	}
	return lang, nil
}

// tellOwn tells something of the adapter's own, as [Adapter.tell] does.
func (a *Adapter) tellOwn(ctx context.Context, dev *device.Device, e *event.Event, root id.EventID, word func(lang string) string) error {
	lang, err := a.language(ctx, e)
	if err != nil {
		return err
	}
	return a.tell(ctx, dev, e, root, outbox.Post{Text: word(lang), Private: true, Lang: lang})
}

// translated words a text of the adapter.
func translated(english string, args ...string) func(lang string) string {
	return func(lang string) string { return bot.Translated(lang, english, args...) }
}

// wrong returns the words of the refusal of a command that cannot be read.
func wrong(p command.Parsed) func(lang string) string {
	return func(lang string) string {
		if p.Err != nil {
			return bot.Explain(p.Err, lang)
		}
		return bot.Translated(lang, p.Problem)
	}
}
