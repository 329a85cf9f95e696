package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Servers gives the servers of a platform that are known, in the order of their
// ids.
func (s *Store) Servers(ctx context.Context, platform string) (servers []bot.Server, err error) {
	defer annotate(&err, "find the servers of %s", platform)
	rows, err := s.read.QueryContext(ctx, "SELECT server, body, gone FROM server WHERE platform = $1 ORDER BY server", platform)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, body string
		var gone int64
		if err := rows.Scan(&id, &body, &gone); err != nil {
			return nil, err
		}
		of, err := server(platform, id, body, gone)
		if err != nil {
			return nil, err
		}
		servers = append(servers, of)
	}
	return servers, rows.Err()
}

// Left keeps since when the bot is not in a server; zero: it is there.
func (s *Store) Left(ctx context.Context, platform, server string, since time.Time) (err error) {
	defer annotate(&err, "note that server %s was left", server)
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return put(ctx, tx, "server", "UPDATE server SET gone = $1 WHERE platform = $2 AND server = $3", timer(since), platform, server)
	})
}

// Forgetting is done in portions, so that others have their turn between: so many
// rows of the inbox, games or people in one change.
const (
	forgetRows  = 200
	forgetGames = 5
)

// What is of a server.
const (
	gamesOf = `SELECT g.game FROM server_channel c JOIN game_channel g ON g.platform = c.platform AND g.channel = c.channel
		WHERE c.platform = $1 AND c.server = $2 ORDER BY g.game`
	channelsOf = "SELECT channel FROM server_channel WHERE platform = $1 AND server = $2 ORDER BY channel"
	// Of requests of which it is not known where they were made, those are that
	// the bot made itself: "flag:GAME:…".
	requestsOf = `SELECT request FROM inbox WHERE
		EXISTS (SELECT 1 FROM server_channel c WHERE c.platform = inbox.platform AND c.channel = inbox.channel AND c.platform = $1 AND c.server = $2)
		OR inbox.channel = '' AND EXISTS (
			SELECT 1 FROM server_channel c JOIN game_channel g ON g.platform = c.platform AND g.channel = c.channel
			WHERE c.platform = $1 AND c.server = $2 AND inbox.request LIKE '%:' || g.game || ':%')`
	strangersOf = "SELECT id FROM person WHERE platform = $1 AND " + strangers + " ORDER BY id"
)

// ForgetServer forgets a server: the games of its channels, their posts and what
// is due, what was answered there, what was chosen; and people who are now in no
// game and have chosen nothing. What fails in the middle is done by the next call.
func (s *Store) ForgetServer(ctx context.Context, platform, server string) (err error) {
	defer annotate(&err, "forget server %s", server)
	requests, err := s.column(ctx, requestsOf, platform, server)
	if err != nil {
		return err
	}
	err = s.portions(ctx, requests, forgetRows, func(ctx context.Context, tx *sql.Tx, some []string) error {
		return remove(ctx, tx, "inbox WHERE request IN", some)
	})
	if err != nil {
		return err
	}
	games, err := s.column(ctx, gamesOf, platform, server)
	if err != nil {
		return err
	}
	err = s.portions(ctx, games, forgetGames, func(ctx context.Context, tx *sql.Tx, some []string) error {
		for _, from := range []string{"due WHERE game IN", "post WHERE game IN", "event WHERE game IN", "game_channel WHERE game IN", "game WHERE id IN"} {
			if err := remove(ctx, tx, from, some); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	lonely, err := s.column(ctx, strangersOf, platform)
	if err != nil {
		return err
	}
	err = s.portions(ctx, lonely, forgetRows, removeStrangers)
	if err != nil {
		return err
	}
	channels, err := s.column(ctx, channelsOf, platform, server)
	if err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, channel := range channels {
			for _, table := range []string{"post", "decoration", "room_wait", "room_parked", "room_setting", "server_channel"} {
				if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE platform = $1 AND channel = $2", platform, channel); err != nil {
					return err
				}
			}
			mark := bot.LangMark(match.Room{Platform: platform, Channel: channel})
			if _, err := tx.ExecContext(ctx, "DELETE FROM bookmark WHERE adapter = $1", mark); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM server WHERE platform = $1 AND server = $2", platform, server)
		return err
	})
}

// removeStrangers forgets those who are still strangers: since they were looked
// for, some may have opened a game or done something in one.
func removeStrangers(ctx context.Context, tx *sql.Tx, some []string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM person WHERE id IN ("+placeholders(1, len(some))+") AND "+strangers, anys(some)...)
	return err
}

// column gives the texts that a query finds.
func (s *Store) column(ctx context.Context, query string, args ...any) (found []string, err error) {
	rows, err := s.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// portions makes a change for each portion of all.
func (s *Store) portions(ctx context.Context, all []string, size int, do func(context.Context, *sql.Tx, []string) error) error {
	for len(all) > 0 {
		some := all[:min(size, len(all))]
		all = all[len(some):]
		if err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error { return do(ctx, tx, some) }); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the rows whose column is among some.
func remove(ctx context.Context, tx *sql.Tx, from string, some []string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM "+from+" ("+placeholders(1, len(some))+")", anys(some)...)
	return err
}

func anys(texts []string) []any {
	args := make([]any, len(texts))
	for i, t := range texts {
		args[i] = t
	}
	return args
}
