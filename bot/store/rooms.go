package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/halfpoint-go/halfpoint/bot"
)

const roomSettings = `
	SELECT COALESCE(r.body, '{}'), COALESCE(s.server, ''), COALESCE(s.body, '{}'), COALESCE(s.gone, 0)
	FROM (SELECT CAST($1 AS TEXT) AS platform, CAST($2 AS TEXT) AS channel) here
		LEFT JOIN room_setting r ON r.platform = here.platform AND r.channel = here.channel
		LEFT JOIN server_channel c ON c.platform = here.platform AND c.channel = here.channel
		LEFT JOIN server s ON s.platform = c.platform AND s.server = c.server`

// RoomSettings gives what has been chosen for a channel, and the server that it
// belongs to; Room is always set, without a thread.
func (s *Store) RoomSettings(ctx context.Context, where bot.Room) (set bot.RoomSettings, of bot.Server, err error) {
	defer annotate(&err, "find the settings of %s", where.Channel)
	var own, theirs string
	var gone int64
	if err = s.read.QueryRowContext(ctx, roomSettings, where.Platform, where.Channel).Scan(&own, &of.ID, &theirs, &gone); err != nil {
		return set, of, err
	}
	set, err = decodeRoom(own)
	set.Room = bot.Room{Platform: where.Platform, Channel: where.Channel}
	if of.ID == "" || err != nil {
		return set, of, err
	}
	of, err = server(where.Platform, of.ID, theirs, gone)
	return set, of, err
}

// server makes a server of a row.
func server(platform, id, body string, gone int64) (s bot.Server, err error) {
	s = bot.Server{Platform: platform, ID: id, Left: timed(gone)}
	s.Settings, err = decodeRoom(body)
	s.Settings.Room.Platform, s.Settings.Server = platform, id
	return s, err
}

// putRoomSettings keeps what has been chosen for a channel, or for a server.
func putRoomSettings(ctx context.Context, tx *sql.Tx, set bot.RoomSettings) error {
	body, err := encodeRoom(set)
	if err != nil {
		return err
	}
	if set.Server != "" {
		_, err = tx.ExecContext(ctx, `
			INSERT INTO server (platform, server, body, gone) VALUES ($1, $2, $3, 0)
			ON CONFLICT (platform, server) DO UPDATE SET body = excluded.body`, set.Room.Platform, set.Server, body)
		return err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO room_setting (platform, channel, body) VALUES ($1, $2, $3)
		ON CONFLICT (platform, channel) DO UPDATE SET body = excluded.body`, set.Room.Platform, set.Room.Channel, body)
	return err
}

// Belongs keeps to which server a channel belongs.
func (s *Store) Belongs(ctx context.Context, where bot.Room, server string) (err error) {
	defer annotate(&err, "keep the server of %s", where.Channel)
	if where.Platform == "" || where.Channel == "" || server == "" {
		return errors.New("there is no such channel")
	}
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO server (platform, server, body, gone) VALUES ($1, $2, '{}', 0)
			ON CONFLICT (platform, server) DO NOTHING`, where.Platform, server)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO server_channel (platform, channel, server) VALUES ($1, $2, $3)
			ON CONFLICT (platform, channel) DO UPDATE SET server = excluded.server`, where.Platform, where.Channel, server)
		return err
	})
}

// Rooms gives what has been chosen for each channel of a server for which
// something has, in the order of their ids.
func (s *Store) Rooms(ctx context.Context, platform, server string) (sets []bot.RoomSettings, err error) {
	defer annotate(&err, "find the channels of server %s", server)
	rows, err := s.read.QueryContext(ctx, `
		SELECT r.channel, r.body FROM server_channel c JOIN room_setting r ON r.platform = c.platform AND r.channel = c.channel
		WHERE c.platform = $1 AND c.server = $2 ORDER BY r.channel`, platform, server)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var channel, body string
		if err := rows.Scan(&channel, &body); err != nil {
			return nil, err
		}
		set, err := decodeRoom(body)
		if err != nil {
			return nil, err
		}
		set.Room = bot.Room{Platform: platform, Channel: channel}
		sets = append(sets, set)
	}
	return sets, rows.Err()
}
