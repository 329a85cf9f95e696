package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// against compares every game of a backup with what has become of it. A game goes on from its
// state in the backup: its events are the first of those that it has now, whoever has computed proofs again.
func (c *checker) against(ctx context.Context, name string) error {
	path, err := existing(name)
	if err != nil {
		return err
	}
	name = Redacted(name)
	db, release, err := asStored(ctx, path, c.progress)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer release()
	damaged := map[match.GameID]bool{}
	for _, d := range c.report.Damage {
		damaged[d.Game] = true
	}
	var all int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM game").Scan(&all); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	after := ""
	for {
		c.progress.at("comparing games", c.report.Compared, all)
		games, err := list(ctx, db, scanState, statesFrom+" WHERE g.id > $1 ORDER BY g.id"+limited(gamesAtOnce), after)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(games) == 0 || games[len(games)-1].id <= after {
			return nil
		}
		for _, was := range games {
			c.report.Compared++
			if damaged[match.GameID(was.id)] {
				continue
			}
			seq, why, err := c.grown(ctx, db, was)
			if err != nil {
				return err
			}
			if why != "" {
				d := Damage{Game: match.GameID(was.id), Number: was.number, Seq: seq, Why: why}
				d.Where.Platform, d.Where.Channel = was.platform, was.channel
				c.found(d)
			}
		}
		after = games[len(games)-1].id
	}
}

// A state is how far a game was when a backup was made.
type state struct {
	id, platform, channel string
	number, seq           int
	began                 string // what never changes
	first, last           string // proofs of its first and last events
}

const (
	began      = `concat_ws(' | ', g.rules, g.setup, g.clock, g.opener, g.invited, g.opened, g.rated, g.contest, g.round, g.tbl)`
	statesFrom = `SELECT g.id, COALESCE(c.platform, ''), COALESCE(c.channel, ''), COALESCE(c.number, 0), g.seq, ` + began + `,
		COALESCE((SELECT proof FROM event WHERE game = g.id AND seq = 1), ''), COALESCE((SELECT proof FROM event WHERE game = g.id AND seq = g.seq), '')
		FROM game g LEFT JOIN game_channel c ON c.game = g.id`
	stateNow = "SELECT " + began + ", COALESCE((SELECT proof FROM event WHERE game = g.id AND seq = $2), '') FROM game g WHERE g.id = $1"
)

func scanState(scan scanner) (s state, err error) {
	err = scan(&s.id, &s.platform, &s.channel, &s.number, &s.seq, &s.began, &s.first, &s.last)
	return s, err
}

// grown returns why a game has not grown out of its state in a backup, and the first event that
// is another one; 0: the game itself is.
func (c *checker) grown(ctx context.Context, backup reader, was state) (seq int, why string, err error) {
	var began, last string
	err = c.db.QueryRowContext(ctx, stateNow, was.id, was.seq).Scan(&began, &last)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, "it is in the backup and here no longer: unless people deleted it, or the bot forgot its room, somebody has removed it", nil
	case err != nil:
		return 0, "", err
	case began != was.began:
		return 0, "rules, board, komi, clock or opener are others in the backup", nil
	case match.HasLink(was.first) && match.SameLink(was.last, last):
		return 0, "", nil // all events have links, and the last one proves the others
	}
	const query = "SELECT seq, at, actor, body, proof FROM event WHERE game = $1 AND seq <= $2 ORDER BY seq"
	then, err := list(ctx, backup, scanEvent, query, was.id, was.seq)
	if err != nil {
		return 0, "", err
	}
	now, err := list(ctx, c.db, scanEvent, query, was.id, was.seq)
	if err != nil {
		return 0, "", err
	}
	if seq = match.Differs(then, now); seq > 0 {
		why = "the backup has another one"
	}
	return seq, why, nil
}
