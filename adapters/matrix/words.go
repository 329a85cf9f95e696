package matrix

import (
	"context"
	"fmt"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/command"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
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
	wordWrite     = "write messages" // the permission
	wordManyRooms = "You have invited me into many rooms. I join one of them every half minute."
)

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

// wrong returns the refusal of a command that cannot be read.
func wrong(p command.Parsed) bot.Text {
	if p.Err != nil {
		return text.Explain(p.Err)
	}
	return text.Adapters(p.Problem)
}
