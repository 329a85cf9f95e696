package matrix

import (
	"context"
	"errors"
	"fmt"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// This file takes away what the bot has said of a game that was deleted: its opening and
// what stands in the thread below it, except that the game was deleted. What people have
// said is theirs. Where there are no threads nothing tells which messages these are.

// allPosts begins the data of a decoration that takes away all that the bot has said of a
// game; the notice of its deletion follows.
const allPosts = "posts "

// eraseFor is how long it is tried. A homeserver with stock limits takes twelve messages a
// minute.
const eraseFor = 7 * 24 * time.Hour

// erases returns what removes the messages in the thread that shows the notice of a game's
// deletion and, after an upgrade of the room, in its thread of the old room. What else was
// still to be done for the openings is dropped.
func (a *Adapter) erases(ctx context.Context, notice, in outbox.Receipt, p outbox.Post) (owes []outbox.Owes, err error) {
	roots := []outbox.Receipt{in}
	if p.Under != string(in) {
		roots = append(roots, outbox.Receipt(p.Under))
	}
	service, _ := a.theService()
	for _, root := range roots {
		for _, kind := range []string{outbox.Header, outbox.Reaction} {
			if err := service.Owe(ctx, p.Where, outbox.Owes{Kind: kind, Key: string(root), Done: true}); err != nil {
				return nil, err
			}
		}
		owes = append(owes, outbox.Owes{Kind: outbox.Clear, Key: allPosts + string(root), Target: root, Data: allPosts + string(notice), NotAfter: a.cfg.Now().Add(eraseFor)})
	}
	return owes, nil
}

// erase takes away one of the bot's messages in a thread from before a notice. Its error is
// [outbox.ErrMore] until the root, which comes last, is gone.
func (a *Adapter) erase(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, notice string, p outbox.Post) error {
	room, last := readReceipt(notice)
	until, err := a.event(ctx, dev, room, last)
	if err != nil {
		return fmt.Errorf("get the notice of a deletion: %w", err)
	}
	err = a.eraseOldest(ctx, dev, at, root, until.Timestamp)
	if !refusedBy(err) || room != at {
		return err
	}
	a.log.Warn("messages of a deleted game not removed: the homeserver refuses it", "room", at, "error", err)
	lang, err := a.languageFor(ctx, "", p.Where.Channel)
	if err != nil {
		return err
	}
	m := message.Text(message.Content{Text: bot.Translated(lang, wordKept), Lang: lang})
	message.InThread(m, root, last)
	_, err = a.sendOnce(ctx, dev, at, m, "kept "+root.String(), true)
	return err
}

// eraseOldest takes away an edit of the bot's oldest message in a thread from before a time,
// in milliseconds, or the message itself if it has none.
func (a *Adapter) eraseOldest(ctx context.Context, dev *device.Device, at id.RoomID, root id.EventID, before int64) error {
	posts, err := own(ctx, dev, at, root, event.RelThread)
	if err != nil {
		return err
	}
	for _, e := range append(posts, &event.Event{ID: root}) {
		if e.ID != root && e.Timestamp >= before {
			continue
		}
		edits, err := own(ctx, dev, at, e.ID, event.RelReplace)
		if err != nil {
			return err
		}
		for _, e := range append(edits, e) {
			switch err := a.redact(ctx, dev, at, e.ID, "erase "+e.ID.String()); {
			case errors.Is(err, mautrix.MNotFound):
			case err != nil:
				return fmt.Errorf("remove a message: %w", err)
			case e.ID != root:
				return outbox.ErrMore
			}
		}
	}
	return nil
}

// own returns the bot's messages that relate to an event in a way.
func own(ctx context.Context, dev *device.Device, at id.RoomID, to id.EventID, how event.RelationType) (list []*event.Event, err error) {
	for from := ""; ; {
		answer, err := dev.Client.GetRelations(ctx, at, to, &mautrix.ReqGetRelations{RelationType: how, Dir: mautrix.DirectionForward, From: from, Limit: page})
		if errors.Is(err, mautrix.MNotFound) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("get the messages of a game: %w", err)
		}
		for _, e := range answer.Chunk {
			if e.Sender == dev.Client.UserID && e.Unsigned.RedactedBecause == nil {
				list = append(list, e)
			}
		}
		if from == answer.NextBatch || answer.NextBatch == "" {
			return list, nil
		}
		from = answer.NextBatch
	}
}
