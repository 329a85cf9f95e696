package store

import (
	"context"
	"database/sql"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A person's comments on games, and the posts of these comments. The ids of posts contain
// the game and the number of the event that they follow, not counting credits of time,
// which older versions counted.
const (
	noTurn     = "substr(body, 1, 5) <> 'turn '" // exactly as in the index of events by their actors
	commentsBy = "SELECT DISTINCT game FROM event WHERE actor = $1 AND " + noTurn + " AND body LIKE 'comment %'"
	noticesBy  = `SELECT game || '-' || seq || '-before' FROM event WHERE actor = $1 AND ` + noTurn + ` AND body LIKE 'comment%'
		UNION ALL
		SELECT game || '-t' || (seq - (SELECT COUNT(*) FROM event c WHERE c.game = event.game AND c.seq < event.seq AND c.body LIKE 'credit %')) || '-before'
		FROM event WHERE actor = $1 AND ` + noTurn + ` AND body LIKE 'comment%'`
	saidBy = "SELECT id FROM post WHERE state <> 'waiting' AND body <> '{}' AND id IN (" + noticesBy + ")"
	// Only the players make turns.
	eventsBy = `SELECT game, seq, at, body, proof FROM event WHERE actor = $1 AND ` + noTurn + `
		UNION ALL
		SELECT game, seq, at, body, proof FROM event WHERE actor = $1 AND NOT (` + noTurn + `) AND game IN (
			SELECT id FROM game WHERE opener = $1 UNION SELECT id FROM game WHERE black = $1 UNION SELECT id FROM game WHERE white = $1)
		ORDER BY game, seq`
)

// Unname deletes a person's name, so that no later text uses it. Their games go on until
// they are erased.
func (s *Store) Unname(ctx context.Context, p match.PersonID) (err error) {
	defer annotate(&err, "take the name off person %s", p)
	return s.exec(ctx, "UPDATE person SET name = '' WHERE id = $1", p)
}

// Erase deletes what is stored about a person, known as who: their name and platform id,
// their settings, their comments on games, and their messages in the local room. In
// other people's messages there instead replaces the name. The person's id stays in
// games, posts and answers, and no longer refers to anybody.
//
// It changes a few rows at a time, so that other changes can come in between. It deletes
// the person last: after an error another call finishes the work. Deleted data is
// overwritten with zeros, also in the write-ahead log.
func (s *Store) Erase(ctx context.Context, p match.PersonID, who outbox.User, instead string) (err error) {
	defer annotate(&err, "erase person %s", p)
	sp, err := s.speaker(ctx, p, who)
	if err != nil {
		return err
	}
	if err := s.unsay(ctx, p, sp, who, instead); err != nil {
		return err
	}
	err = s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, query := range []string{
			"DELETE FROM holder WHERE (platform, platform_id) IN (SELECT platform, platform_id FROM person WHERE id = $1)",
			"DELETE FROM person WHERE id = $1",
			"DELETE FROM preference WHERE person = $1",
		} {
			if _, err := tx.ExecContext(ctx, query, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.unsay(ctx, p, sp, who, instead); err != nil { // messages written meanwhile
		return err
	}
	return s.scrub(ctx)
}

// unsay erases a person's messages in the transcript, then their comments on games: the
// notices of those first, because the events identify them. It empties answers that
// quote the name but keeps their keys, so that requests are still not repeated.
func (s *Store) unsay(ctx context.Context, p match.PersonID, sp *speaker, who outbox.User, instead string) error {
	names := map[string]bool{form(bot.CleanName(who.Name)): true}
	if sp != nil {
		if err := s.hush(ctx, sp, instead); err != nil {
			return err
		}
		names = sp.forms
	}
	for name := range names {
		quoted, err := encode(name)
		if err != nil {
			return err
		}
		requests, err := values[string](ctx, s.read, "SELECT request FROM inbox WHERE answer LIKE '%' || $1 || '%'", quoted[1:len(quoted)-1])
		if err != nil {
			return err
		}
		if err := s.forEach(ctx, requests, forgetRows, "UPDATE inbox SET answer = '{}' WHERE request IN ids"); err != nil {
			return err
		}
	}
	posts, err := values[string](ctx, s.read, saidBy, p)
	if err != nil {
		return err
	}
	if err := s.forEach(ctx, posts, forgetRows, "UPDATE post SET body = '{}' WHERE id IN ids"); err != nil {
		return err
	}
	games, err := values[string](ctx, s.read, commentsBy, p)
	if err != nil {
		return err
	}
	return portions(ctx, s, games, forgetRows, func(ctx context.Context, tx *sql.Tx, some []string) error {
		_, err := tx.ExecContext(ctx, `UPDATE event SET body = 'comment' WHERE actor = $1 AND body LIKE 'comment %'
			AND game IN (`+placeholders(2, len(some))+")", append([]any{p}, anys(some)...)...)
		return err
	})
}

// EventsBy returns the events that a person caused, by game, in order.
func (s *Store) EventsBy(ctx context.Context, p match.PersonID) (_ map[match.GameID][]match.Event, err error) {
	defer annotate(&err, "find what person %s has done", p)
	events := map[match.GameID][]match.Event{}
	_, err = list(ctx, s.read, func(scan scanner) (game match.GameID, err error) {
		var at int64
		e := match.Event{By: p}
		err = scan(&game, &e.Seq, &at, &e.Body, &e.Proof)
		e.At = moment(at)
		events[game] = append(events[game], e)
		return game, err
	}, eventsBy, p)
	return events, err
}
