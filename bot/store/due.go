package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

const forgetDue = "DELETE FROM due WHERE game = $1"

// putDue replaces the timed actions of a match.
func putDue(ctx context.Context, tx transaction, game match.GameID, due []match.Due) error {
	if err := tx.later(ctx, write{what: "drop timed actions", query: forgetDue, args: []any{game}}); err != nil {
		return err
	}
	return addDue(ctx, tx, game, due)
}

// forgetTimed deletes the timed actions that follow from the state of an event. The others stay
// until they are done, see [contest.Owed].
const forgetTimed = "DELETE FROM due WHERE game = $1 AND kind NOT LIKE '%:%'"

// addDue adds timed actions to those of a match or an event.
func addDue(ctx context.Context, tx transaction, game match.GameID, due []match.Due) error {
	if len(due) == 0 {
		return nil
	}
	var values []string
	args := []any{game}
	for _, d := range due {
		values = append(values, "($1, "+placeholders(len(args)+1, 3)+")")
		args = append(args, d.Kind, timer(d.At), d.Seq)
	}
	// The same kind and time twice is an error of the decision, not a conflict.
	return tx.later(ctx, write{what: "timed actions", query: "INSERT INTO due (game, kind, at, seq) VALUES " + strings.Join(values, ", "), args: args})
}

// owe adds the timed actions that an event does not have yet. If the event was forgotten, it
// adds none.
func owe(ctx context.Context, tx transaction, owes []match.Due) error {
	for _, d := range owes {
		err := tx.later(ctx, write{what: "timed actions of an event", args: []any{d.Game, d.Kind, timer(d.At), d.Seq}, query: `
			INSERT INTO due (game, kind, at, seq)
			SELECT id, CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS BIGINT) FROM contest WHERE id = $1
			ON CONFLICT DO NOTHING`})
		if err != nil {
			return err
		}
	}
	return nil
}

const dueBy = "SELECT game, kind, at, seq FROM due WHERE at <= $1 ORDER BY at, game, kind"

// DueBy returns at most limit timed actions that are due at or before now, the oldest
// first. Its cost does not depend on the number of matches.
func (s *Store) DueBy(ctx context.Context, now time.Time, limit int) (due []match.Due, err error) {
	defer annotate(&err, "find what is due")
	return list(ctx, s.read, func(scan scanner) (d match.Due, err error) {
		var at int64
		err = scan(&d.Game, &d.Kind, &at, &d.Seq)
		d.At = moment(at)
		return d, err
	}, dueBy+limited(limit), millis(now))
}

const nextDue = "SELECT MIN(at) FROM due"

// NextDue returns the time of the next timed action; zero if there is none.
func (s *Store) NextDue(ctx context.Context) (_ time.Time, err error) {
	defer annotate(&err, "find what is due next")
	at, err := single[sql.NullInt64](ctx, s.read, nextDue)
	return timed(at.Int64), err
}

const ahead = `SELECT id FROM (SELECT game AS id FROM due WHERE at > $1 UNION SELECT id FROM game WHERE deadline <> 0 AND deadline > $1) AS late
	WHERE id > $2 AND EXISTS (SELECT 1 FROM event WHERE game = id AND event.at > $1) ORDER BY id`

// Ahead returns the ids of the matches that have times later than t both in their log and
// among what is due, in order, beginning after an id, at most limit.
func (s *Store) Ahead(ctx context.Context, t time.Time, after match.GameID, limit int) (ids []match.GameID, err error) {
	defer annotate(&err, "find the matches of a clock that was ahead")
	return values[match.GameID](ctx, s.costly, ahead+limited(limit), millis(t), after)
}

const running = `SELECT id FROM game WHERE deadline <> 0 AND id > $2
	AND ($1 = '' OR EXISTS (SELECT 1 FROM game_channel WHERE game_channel.game = game.id AND platform = $1))
	ORDER BY id`

const runningIn = `SELECT game.id FROM server_channel c
		JOIN game_channel g ON g.platform = c.platform AND g.channel = c.channel JOIN game ON game.id = g.game
	WHERE c.platform = $1 AND c.server = $3 AND deadline <> 0 AND game.id > $2 ORDER BY game.id`

// Running returns the ids of the matches that have a deadline, in order, beginning after
// an id, at most limit: those of a platform, or only of a server of it, or of all
// platforms for "".
func (s *Store) Running(ctx context.Context, platform, server string, after match.GameID, limit int) (ids []match.GameID, err error) {
	defer annotate(&err, "find the matches with a deadline")
	query, args := running, []any{platform, after}
	if server != "" {
		query, args = runningIn, append(args, server)
	}
	return values[match.GameID](ctx, s.read, query+limited(limit), args...)
}
