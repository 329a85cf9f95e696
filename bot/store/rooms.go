package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/halfpoint-go/halfpoint/bot"
)

// RoomSettings gives what has been chosen for a channel; Room is always set,
// without a thread.
func (s *Store) RoomSettings(ctx context.Context, where bot.Room) (set bot.RoomSettings, err error) {
	defer annotate(&err, "find the settings of %s", where.Channel)
	var body string
	err = s.read.QueryRowContext(ctx,
		"SELECT body FROM room_setting WHERE platform = $1 AND channel = $2", where.Platform, where.Channel).Scan(&body)
	if err == nil {
		set, err = decodeRoom(body)
	} else if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	set.Room = bot.Room{Platform: where.Platform, Channel: where.Channel}
	return set, err
}

// putRoomSettings keeps what has been chosen for a channel.
func putRoomSettings(ctx context.Context, tx *sql.Tx, set bot.RoomSettings) error {
	body, err := encodeRoom(set)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO room_setting (platform, channel, body) VALUES ($1, $2, $3)
		ON CONFLICT (platform, channel) DO UPDATE SET body = excluded.body`, set.Room.Platform, set.Room.Channel, body)
	return err
}
