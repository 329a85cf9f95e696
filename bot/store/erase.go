package store

import (
	"context"
	"database/sql"

	"github.com/halfpoint-go/halfpoint/bot"
)

// Erase forgets who a person is, what they have chosen and what they have said
// of games. Their id stays in games, posts and answers, and means nobody.
func (s *Store) Erase(ctx context.Context, p bot.Person) (err error) {
	defer annotate(&err, "erase person %s", p)
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, query := range []string{
			"DELETE FROM holder WHERE (platform, platform_id) IN (SELECT platform, platform_id FROM person WHERE id = $1)",
			"DELETE FROM person WHERE id = $1",
			"DELETE FROM preference WHERE person = $1",
			// What was said is in the notice that said it, too.
			"UPDATE post SET body = '{}' WHERE state <> 'waiting' AND body LIKE '%commented%' AND body LIKE '%' || $1 || '%'",
			"UPDATE event SET body = 'comment' WHERE actor = $1 AND body LIKE 'comment %'",
		} {
			if _, err := tx.ExecContext(ctx, query, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// EventsBy gives what a person has done, by game, in order.
func (s *Store) EventsBy(ctx context.Context, p bot.Person) (_ map[bot.GameID][]bot.Event, err error) {
	defer annotate(&err, "find what person %s has done", p)
	rows, err := s.read.QueryContext(ctx, "SELECT game, seq, at, body, proof FROM event WHERE actor = $1 ORDER BY game, seq", p)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	events := map[bot.GameID][]bot.Event{}
	for rows.Next() {
		var game bot.GameID
		var at int64
		e := bot.Event{By: p}
		if err := rows.Scan(&game, &e.Seq, &at, &e.Body, &e.Proof); err != nil {
			return nil, err
		}
		e.At = moment(at)
		events[game] = append(events[game], e)
	}
	return events, rows.Err()
}
