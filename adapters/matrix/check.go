package matrix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/device"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/render"
)

// Check tries a configuration on the homeserver. It returns what it found, a line
// each, and an error for what keeps the bot from working. If room is given, an id or
// an alias, it posts a board there and removes it again.
func Check(ctx context.Context, cfg Config, room string, board render.Scene) ([]string, error) {
	a, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if room == "" {
		return device.Check(ctx, a.deviceConfig(), nil)
	}
	return device.Check(ctx, a.deviceConfig(), func(ctx context.Context, client *mautrix.Client) ([]string, error) {
		return tryRoom(ctx, client, room, board)
	})
}

// tryRoom posts a board in a room and removes it.
func tryRoom(ctx context.Context, client *mautrix.Client, room string, board render.Scene) (lines []string, err error) {
	at := id.RoomID(room)
	if strings.HasPrefix(room, "#") {
		found, err := client.ResolveAlias(ctx, id.RoomAlias(room))
		if err != nil {
			return nil, fmt.Errorf("room %s: not found: %w", room, err)
		}
		at = found.RoomID
	}
	joined, err := client.JoinedRooms(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(joined.JoinedRooms, at) {
		return nil, fmt.Errorf("room %s: the bot is not in it; start halfpoint, then invite %s there", room, client.UserID)
	}
	lines = []string{fmt.Sprintf("room %s: the bot is in it", room)}
	var encryption event.EncryptionEventContent
	err = client.StateEvent(ctx, at, event.StateEncryption, "", &encryption)
	if err != nil && !errors.Is(err, mautrix.MNotFound) {
		return lines, fmt.Errorf("room %s: %w", room, err)
	}
	secret := err == nil
	var levels event.PowerLevelsEventContent
	if err := client.StateEvent(ctx, at, event.StatePowerLevels, "", &levels); err != nil && !errors.Is(err, mautrix.MNotFound) {
		return lines, fmt.Errorf("room %s: %w", room, err)
	}
	kinds := []event.Type{event.EventMessage, event.EventReaction, event.EventRedaction}
	if secret {
		kinds[0] = event.EventEncrypted
	}
	for _, kind := range kinds {
		if has, needs := levels.GetUserLevel(client.UserID), levels.GetEventLevel(kind); has < needs {
			return lines, fmt.Errorf("room %s: the bot may not send %s; raise its power level from %d to %d", room, kind.Type, has, needs)
		}
	}
	var b bytes.Buffer
	if err := render.PNG(&b, board, render.Options{}); err != nil {
		return lines, err
	}
	picture, err := uploadNow(ctx, &device.Device{Client: client}, secret, "halfpoint-check.png", "image/png", b.Bytes())
	if err != nil {
		return lines, fmt.Errorf("room %s: upload a picture: %w", room, err)
	}
	if secret {
		return append(lines, fmt.Sprintf("room %s: encrypted; the bot may write there and uploaded a picture. Only the running bot has keys to post it: try !board there", room)), nil
	}
	sent, err := client.SendMessageEvent(ctx, at, event.EventMessage, message.File(message.Content{Board: render.TextBoard(board)}, picture))
	if err != nil {
		return lines, fmt.Errorf("room %s: post a board: %w", room, err)
	}
	if _, err := client.RedactEvent(ctx, at, sent.EventID); err != nil {
		return lines, fmt.Errorf("room %s: remove the posted board: %w", room, err)
	}
	return append(lines, fmt.Sprintf("room %s: posted a board and removed it again", room)), nil
}
