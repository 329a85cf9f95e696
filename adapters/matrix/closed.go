package matrix

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A challenge that was declined, withdrawn or has run out is over: its opening
// says so instead of what can be pressed, and the bot's reactions go.

// closes reports whether a post says that a challenge is over.
func closes(p outbox.Post) bool {
	return p.Kind == match.Notice && p.Unplayed && p.Under != "" && !p.Private
}

// lookTries is how often a notice is looked for that is not found.
const lookTries = 5

// opened decrypts an event that the bot has sent, if it is encrypted; nil if it
// cannot be read, for a device has said it that was lost.
func (a *Adapter) opened(ctx context.Context, dev *device.Device, at id.RoomID, e *event.Event) (*event.Event, error) {
	if e.RoomID = at; e.Type.Type != event.EventEncrypted.Type || dev.Crypto == nil {
		return e, nil
	}
	clear, err := dev.Crypto.Decrypt(ctx, e)
	if errors.As(err, new(e2ee.ErrNoKey)) || errors.As(err, new(e2ee.ErrUnreadable)) {
		a.log.Info("what the bot has said cannot be read", "room", at, "event", e.ID, "error", err)
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("decrypt what the bot has said: %w", err)
	}
	return clear, nil
}

// words gives what one of the bot's notices says, without whom it calls; empty if
// it cannot be read any more. The homeserver is asked: names are not kept here. What
// has just been sent it may not find yet, so that the first attempts fail then.
func (a *Adapter) words(ctx context.Context, dev *device.Device, at id.RoomID, notice id.EventID, attempt int) (string, error) {
	e, err := dev.Client.GetEvent(ctx, at, notice)
	if errors.Is(err, mautrix.MNotFound) && attempt < lookTries {
		return "", fmt.Errorf("ask for a notice: %v", err)
	} else if refusedBy(err) {
		a.log.Info("what was said of a challenge cannot be asked for", "room", at, "error", err)
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("ask for a notice: %w", err)
	}
	if e, err = a.opened(ctx, dev, at, e); err != nil || e == nil {
		return "", err
	}
	body, _ := e.Content.Raw["body"].(string)
	mentions, _ := e.Content.Raw["m.mentions"].(map[string]any)
	if calls, _ := mentions["user_ids"].([]any); len(calls) > 0 {
		body = body[:max(0, strings.LastIndexByte(body, '\n'))]
	}
	return body, nil
}

// pressed gives the bot's own reactions to a message.
func pressed(ctx context.Context, dev *device.Device, at id.RoomID, on id.EventID) (own []*event.Event, err error) {
	answer, err := dev.Client.GetRelations(ctx, at, on, &mautrix.ReqGetRelations{RelationType: event.RelAnnotation, EventType: event.EventReaction,
		Dir: mautrix.DirectionForward, Limit: looked}) // the bot's are the first
	if err != nil {
		return nil, fmt.Errorf("ask for reactions: %w", err)
	}
	for _, e := range answer.Chunk {
		if e.Sender == dev.Client.UserID && e.Unsigned.RedactedBecause == nil {
			own = append(own, e)
		}
	}
	return own, nil
}
