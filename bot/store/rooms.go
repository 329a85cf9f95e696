package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// known finds a person and a channel: its settings, its server, its language, and
// whether posts are parked there.
const known = `
	SELECT COALESCE(p.id, ''), COALESCE(p.name, ''), COALESCE(f.body, '{}'), i.answer,
		COALESCE(r.body, '{}'), COALESCE(s.server, ''), COALESCE(s.body, '{}'), COALESCE(s.gone, 0), COALESCE(l.value, ''),
		EXISTS (SELECT 1 FROM post WHERE post.state = 'parked' AND post.platform = here.platform AND post.channel = here.channel),
		EXISTS (SELECT 1 FROM bookmark WHERE bookmark.adapter = here.seal)
	FROM (SELECT CAST($1 AS TEXT) AS platform, CAST($2 AS TEXT) AS channel, CAST($3 AS TEXT) AS lang,
			CAST($4 AS TEXT) AS of_person, CAST($5 AS TEXT) AS platform_id, CAST($6 AS TEXT) AS request, CAST($7 AS TEXT) AS seal) here
	LEFT JOIN room_setting r ON r.platform = here.platform AND r.channel = here.channel
	LEFT JOIN server_channel c ON c.platform = here.platform AND c.channel = here.channel
	LEFT JOIN server s ON s.platform = c.platform AND s.server = c.server
	LEFT JOIN bookmark l ON l.adapter = here.lang
	LEFT JOIN person p ON p.platform = here.of_person AND p.platform_id = here.platform_id
	LEFT JOIN preference f ON f.person = p.id
	LEFT JOIN inbox i ON i.request = here.request`

// Channel returns what is stored about a channel.
func (s *Store) Channel(ctx context.Context, where match.Room) (rooms.Channel, error) {
	k, err := s.Known(ctx, outbox.User{}, where, "")
	return k.Channel, err
}

// Known returns what is stored about a person, a channel and a request.
func (s *Store) Known(ctx context.Context, who outbox.User, where match.Room, request string) (k rooms.Known, err error) {
	defer annotate(&err, "look up who asks, and where")
	var prefs, own, of, theirs string
	var gone int64
	answer, err := first(ctx, s.read, func(scan scanner) (answer sql.NullString, err error) {
		err = scan(&k.Person, &k.Name, &prefs, &answer, &own, &of, &theirs, &gone, &k.Channel.Lang, &k.Channel.Parked, &k.Channel.Sealed)
		return answer, err
	}, known, where.Platform, where.Channel, rooms.LangMark(where), who.Platform, who.ID, request, rooms.SealMark(where))
	if err != nil {
		return k, err
	}
	if k.Prefs, err = decodePreferences(prefs); err != nil {
		return k, err
	}
	k.Prefs.Person = k.Person
	if answer.Valid {
		if answer.Valid, err = s.stands(ctx, request); err != nil {
			return k, err
		}
	}
	if answer.Valid {
		r, err := decodeReply(answer.String)
		if err != nil {
			return k, err
		}
		k.Answer = &r
	}
	c := &k.Channel
	if c.Settings, err = decodeRoom(own); err != nil {
		return k, err
	}
	c.Settings.Room = match.Room{Platform: where.Platform, Channel: where.Channel}
	if of != "" {
		c.Server, err = server(where.Platform, of, theirs, gone)
	}
	return k, err
}

// server reads a server from a row.
func server(platform, id, body string, gone int64) (s rooms.Server, err error) {
	s = rooms.Server{Platform: platform, ID: id, Left: timed(gone)}
	s.Settings, err = decodeRoom(body)
	s.Settings.Room.Platform, s.Settings.Server = platform, id
	return s, err
}

// putRoomSettings stores the settings of a channel, or of a server. It returns ErrConflict if they
// were not these, if that is known.
func (s *Store) putRoomSettings(ctx context.Context, tx transaction, set match.RoomSettings, was *match.RoomSettings) error {
	body, err := encodeRoom(set)
	if err != nil {
		return err
	}
	insert, of, id := "INSERT INTO room_setting (platform, channel, body) VALUES ($1, $2, '{}') ON CONFLICT DO NOTHING", "room_setting WHERE platform = $1 AND channel = $2", set.Room.Channel
	if set.Server != "" {
		insert, of, id = "INSERT INTO server (platform, server, body, gone) VALUES ($1, $2, '{}', 0) ON CONFLICT DO NOTHING", "server WHERE platform = $1 AND server = $2", set.Server
	}
	if _, err := tx.ExecContext(ctx, insert, set.Room.Platform, id); err != nil {
		return err
	}
	if was != nil {
		text, err := single[string](ctx, tx, "SELECT body FROM "+of+s.locks("FOR UPDATE"), set.Room.Platform, id)
		if err != nil {
			return err
		}
		is, err := decodeRoom(text)
		if err == nil {
			err = alike(encodeRoom, is, *was)
		}
		if err != nil {
			return fmt.Errorf("the settings of a room: %w", err)
		}
	}
	table, where, _ := strings.Cut(of, " ")
	_, err = tx.ExecContext(ctx, "UPDATE "+table+" SET body = $3 "+where, set.Room.Platform, id, body)
	return err
}

// Belongs stores to which server a channel belongs.
func (s *Store) Belongs(ctx context.Context, where match.Room, server string) (err error) {
	defer annotate(&err, "keep the server of %s", where.Channel)
	if where.Platform == "" || where.Channel == "" || server == "" {
		return errors.New("platform, channel or server is empty")
	}
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
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

// Rooms returns the settings of the channels of a server that have any, in the order of
// their ids.
func (s *Store) Rooms(ctx context.Context, platform, server string) (sets []match.RoomSettings, err error) {
	defer annotate(&err, "find the channels of server %s", server)
	return list(ctx, s.read, func(scan scanner) (match.RoomSettings, error) {
		var channel, body string
		if err := scan(&channel, &body); err != nil {
			return match.RoomSettings{}, err
		}
		set, err := decodeRoom(body)
		set.Room = match.Room{Platform: platform, Channel: channel}
		return set, err
	}, `
		SELECT r.channel, r.body FROM server_channel c JOIN room_setting r ON r.platform = c.platform AND r.channel = c.channel
		WHERE c.platform = $1 AND c.server = $2 ORDER BY r.channel`, platform, server)
}
