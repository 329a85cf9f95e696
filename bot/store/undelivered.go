package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// An UndeliveredPost is a post that was not shown.
type UndeliveredPost struct {
	ID      string
	Game    match.GameID
	Where   match.Room
	GivenUp bool   // for good, after some attempts; otherwise the next request from its room tries it again
	Why     string // the platform's reason
}

// Undelivered returns the posts that were given up or parked, by room and in their
// order, but no answers. db comes from [Look], so another process may be using the database.
func Undelivered(ctx context.Context, db *sql.DB) (_ []UndeliveredPost, err error) {
	defer annotate(&err, "look for posts that were not shown")
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+tablesOf(onPostgres(db))+" AS t WHERE name = 'post'").Scan(&tables); err != nil || tables == 0 {
		return nil, err
	}
	return list(ctx, db, func(scan scanner) (p UndeliveredPost, err error) {
		err = scan(&p.ID, &p.Game, &p.Where.Platform, &p.Where.Channel, &p.Where.Thread, &p.GivenUp, &p.Why)
		return p, err
	}, `
		SELECT id, game, platform, channel, thread, state = 'refused', why FROM post
		WHERE state IN ('refused', 'parked') AND kind <> 'answer' ORDER BY platform, channel, game, n`)
}

// ErrOvertaken means that something newer of the game has been shown since.
var ErrOvertaken = errors.New("a newer post of its game has been shown since")

// Retry makes a post due again that was given up, at once and as if for the first time;
// but not an answer, whose words are gone. It returns ErrNotFound if there is no such post, and ErrOvertaken if a newer one was
// shown in its room: people would take an old board for the newest.
func (s *Store) Retry(ctx context.Context, post string) (err error) {
	defer annotate(&err, "try post %s again", post)
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		newer, err := single[int](ctx, tx, `
			SELECT (SELECT COUNT(*) FROM post newer WHERE newer.state = 'settled' AND newer.private = 0 AND newer.platform = post.platform
				AND newer.channel = post.channel AND newer.game = post.game AND newer.n > post.n)
			FROM post WHERE id = $1 AND state = 'refused' AND kind <> 'answer'`, post)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return fmt.Errorf("%w among undelivered posts", bot.ErrNotFound)
		case err != nil:
			return err
		case newer > 0:
			return ErrOvertaken
		}
		_, err = tx.ExecContext(ctx, "UPDATE post SET state = 'waiting', due = 0, attempt = 0, why = '' WHERE id = $1", post)
		return err
	})
}
