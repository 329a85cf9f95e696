package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The column sender has the name of who typed a line, in those of earlier releases.
const (
	messageColumns = "n, key, room, at, person, sender, body, game, seq, kind, removed, extra"
	messagesFrom   = "SELECT " + messageColumns + " FROM message "
)

// messageWithKey finds a message by its key. The second condition is that of the index.
const messageWithKey = messagesFrom + "WHERE key = $1 AND key <> ''"

func scanMessage(scan scanner) (m outbox.Message, err error) {
	var at int64
	var extra string
	err = scan(&m.N, &m.Key, &m.Room, &at, &m.By, &m.From, &m.Text, &m.Game, &m.Seq, &m.Kind, &m.Removed, &extra)
	if err != nil {
		return outbox.Message{}, err
	}
	m.At = moment(at)
	err = decodeExtra(extra, &m)
	return m, err
}

// Append stores a message and sets its N. If there is a message with its key already,
// Append returns that message.
func (s *Store) Append(ctx context.Context, m outbox.Message) (kept outbox.Message, err error) {
	defer annotate(&err, "append message %s", m.Key)
	err = s.change(ctx, func(ctx context.Context, tx transaction) (err error) {
		kept, err = putMessage(ctx, tx, m)
		return err
	})
	s.hint()
	return kept, err
}

// putMessage stores a message and returns it with its N, or the message that has its
// key. Until the transaction ends no other message gets a number.
func putMessage(ctx context.Context, tx transaction, m outbox.Message) (outbox.Message, error) {
	extra, err := encodeExtra(m)
	if err != nil {
		return m, err
	}
	err = tx.now(ctx, write{what: "number a message", query: "UPDATE counter SET n = n + 1 WHERE name = 'message' RETURNING n", row: []any{&m.N}, least: 1, less: sql.ErrNoRows})
	if err != nil {
		return m, err
	}
	err = put(ctx, tx, "message", `
		INSERT INTO message (key, room, at, person, sender, body, game, seq, kind, removed, extra, n)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`,
		m.Key, m.Room, millis(m.At), m.By, m.From, m.Text, m.Game, m.Seq, m.Kind, flag(m.Removed), extra, m.N)
	if errors.Is(err, bot.ErrConflict) { // nobody else has got that number yet
		if _, err := tx.ExecContext(ctx, "UPDATE counter SET n = n - 1 WHERE name = 'message'"); err != nil {
			return m, err
		}
		return first(ctx, tx, scanMessage, messageWithKey, m.Key)
	}
	m.At = moment(millis(m.At))
	return m, err
}

// Message returns the message with a key, or ErrNotFound.
func (s *Store) Message(ctx context.Context, key string) (m outbox.Message, err error) {
	defer annotate(&err, "find message %s", key)
	m, err = first(ctx, s.read, scanMessage, messageWithKey, key)
	if errors.Is(err, sql.ErrNoRows) {
		err = bot.ErrNotFound
	}
	return m, err
}

// publicRoom is the room with nearly all messages. They are not in the index of rooms,
// but found by their numbers.
const publicRoom = "local"

// messagesOf returns the query for the newest messages of a room after one, at most limit.
func messagesOf(room string, limit int) string {
	where := "WHERE room = $1 AND n > $2"
	if room != publicRoom {
		where += " AND room <> '" + publicRoom + "'" // the condition of the index
	}
	return messagesFrom + where + " ORDER BY n DESC" + limited(limit)
}

// Since returns at most limit messages of a room with N above after, in order; if there
// are more, the newest.
func (s *Store) Since(ctx context.Context, room string, after int64, limit int) (messages []outbox.Message, err error) {
	defer annotate(&err, "read the messages of %s", room)
	messages, err = s.messages(ctx, messagesOf(room, limit), room, after)
	slices.Reverse(messages)
	return messages, err
}

// After returns at most limit messages of all rooms with N above after, in order; if
// there are more, the oldest.
func (s *Store) After(ctx context.Context, after int64, limit int) (messages []outbox.Message, err error) {
	defer annotate(&err, "read the messages after %d", after)
	return messagesAfter(ctx, s.read, after, limit)
}

// Boards returns the newest public board of each unfinished game of a room, as messages in
// order; if there are more than limit, the newest.
func (s *Store) Boards(ctx context.Context, room match.Room, limit int) (messages []outbox.Message, err error) {
	defer annotate(&err, "read the boards of %s", room.Channel)
	messages, err = s.messages(ctx, messagesFrom+`WHERE n IN (
			SELECT (SELECT CAST(receipt AS BIGINT) FROM post
				WHERE post.platform = $1 AND post.channel = $2 AND post.game = game_channel.game AND kind = $3 AND private = 0
					AND post.state = 'settled' AND receipt <> ''
				ORDER BY n DESC LIMIT 1)
			FROM game_channel WHERE platform = $1 AND channel = $2 AND state IN ('open', 'going', 'sandbox'))
		ORDER BY n DESC`+limited(limit), room.Platform, room.Channel, match.Show)
	slices.Reverse(messages)
	return messages, err
}

// Trim deletes the oldest messages of all rooms until the texts and files that are left
// take at most so many bytes.
func (s *Store) Trim(ctx context.Context, bytes int64) (err error) {
	defer annotate(&err, "trim the messages")
	var last int64
	err = s.costly.QueryRowContext(ctx, `
		SELECT n FROM (SELECT n, SUM(100 + octet_length(body) + octet_length(extra)) OVER (ORDER BY n DESC) AS size FROM message) AS sized
		WHERE size > $1 ORDER BY n DESC LIMIT 1`, bytes).Scan(&last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.exec(ctx, "DELETE FROM message WHERE n <= $1", last)
}

// Last returns the N of the newest message of all rooms; 0: there is none.
func (s *Store) Last(ctx context.Context) (n int64, err error) {
	defer annotate(&err, "find the newest message")
	return single[int64](ctx, s.read, "SELECT COALESCE(MAX(n), 0) FROM message")
}

func (s *Store) messages(ctx context.Context, query string, args ...any) (messages []outbox.Message, err error) {
	return list(ctx, s.read, scanMessage, query, args...)
}

func messagesAfter(ctx context.Context, db querier, after int64, limit int) ([]outbox.Message, error) {
	return list(ctx, db, scanMessage, messagesFrom+"WHERE n > $1 ORDER BY n"+limited(limit), after)
}
