package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// Servers returns the known servers of a platform, in the order of their ids.
func (s *Store) Servers(ctx context.Context, platform string) (servers []rooms.Server, err error) {
	defer annotate(&err, "find the servers of %s", platform)
	return list(ctx, s.read, func(scan scanner) (rooms.Server, error) {
		var id, body string
		var gone int64
		if err := scan(&id, &body, &gone); err != nil {
			return rooms.Server{}, err
		}
		return server(platform, id, body, gone)
	}, "SELECT server, body, gone FROM server WHERE platform = $1 ORDER BY server", platform)
}

// Left stores when the bot left a server; zero: it is there.
func (s *Store) Left(ctx context.Context, platform, server string, since time.Time) (err error) {
	defer annotate(&err, "note that server %s was left", server)
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		return put(ctx, tx, "server", "UPDATE server SET gone = $1 WHERE platform = $2 AND server = $3", timer(since), platform, server)
	})
}

// A server is deleted in portions, so that other changes can come in between: the number
// of rows of the inbox, games or people in one change.
const (
	forgetRows  = 200
	forgetGames = 5
)

// Queries for the rows of a server.
const (
	gamesOf = `SELECT g.game FROM server_channel c JOIN game_channel g ON g.platform = c.platform AND g.channel = c.channel
		WHERE c.platform = $1 AND c.server = $2 ORDER BY g.game`
	channelsOf = "SELECT channel FROM server_channel WHERE platform = $1 AND server = $2 ORDER BY channel"
	// Requests without a stored place belong to the server only if the bot made them
	// itself: "flag:GAME:…".
	requestsOf = `SELECT request FROM inbox WHERE
		EXISTS (SELECT 1 FROM server_channel c WHERE c.platform = inbox.platform AND c.channel = inbox.channel AND c.platform = $1 AND c.server = $2)
		OR inbox.channel = '' AND EXISTS (
			SELECT 1 FROM server_channel c JOIN game_channel g ON g.platform = c.platform AND g.channel = c.channel
			WHERE c.platform = $1 AND c.server = $2 AND inbox.request LIKE '%:' || g.game || ':%')`
	recordsIn  = "SELECT slug FROM record WHERE platform = $1 AND channel IN (SELECT channel FROM server_channel WHERE platform = $1 AND server = $2)"
	linksIn    = "SELECT secret FROM link WHERE platform = $1 AND channel IN (SELECT channel FROM server_channel WHERE platform = $1 AND server = $2)"
	contestsIn = "SELECT id FROM contest WHERE platform = $1 AND channel IN (SELECT channel FROM server_channel WHERE platform = $1 AND server = $2) ORDER BY id"
	dropActs   = `DELETE FROM act WHERE platform = $1 AND (server = $2 AND server <> ''
		OR channel IN (SELECT channel FROM server_channel WHERE platform = $1 AND server = $2))`
	strangersOf = "SELECT id FROM person WHERE platform = $1 AND " + strangers + " ORDER BY id"
)

// ForgetServer deletes a server: the games and events of its channels with their posts and
// timed actions, the answers to requests made there, the positions shown there, the browsers
// that were linked there, its settings, what moderators did there, and people who then are in no
// game or event and have no settings. If it fails, another call finishes the work.
func (s *Store) ForgetServer(ctx context.Context, platform, server string) (err error) {
	defer annotate(&err, "forget server %s", server)
	for _, of := range []struct {
		which   string // a query for ids
		size    int    // of a portion
		removes []string
	}{
		{requestsOf, forgetRows, []string{"DELETE FROM inbox WHERE request IN ids"}},
		{contestsIn, forgetGames, s.removes("contest", removeContests...)}, // first: they would open games
		{gamesOf, forgetGames, s.removes("game", removeGames...)},
		{recordsIn, forgetRows, []string{"DELETE FROM record WHERE slug IN ids"}},
		{linksIn, forgetRows, []string{"DELETE FROM link WHERE secret IN ids"}},
	} {
		ids, err := values[string](ctx, s.costly, of.which, platform, server)
		if err != nil {
			return err
		}
		if err := s.forEach(ctx, ids, of.size, of.removes...); err != nil {
			return err
		}
	}
	if err := s.exec(ctx, dropActs, platform, server); err != nil { // first: moderators are no strangers
		return err
	}
	lonely, err := values[string](ctx, s.costly, strangersOf, platform)
	if err != nil {
		return err
	}
	if err := s.forEach(ctx, lonely, forgetRows, s.removes("person", removeStrangers)...); err != nil {
		return err
	}
	channels, err := values[string](ctx, s.read, channelsOf, platform, server)
	if err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		for _, channel := range channels {
			for _, table := range []string{"post", "decoration", "room_wait", "room_parked", "room_setting", "draft", "server_channel"} {
				if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE platform = $1 AND channel = $2", platform, channel); err != nil {
					return err
				}
			}
			mark := rooms.LangMark(match.Room{Platform: platform, Channel: channel})
			if _, err := tx.ExecContext(ctx, "DELETE FROM bookmark WHERE adapter = $1", mark); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM server WHERE platform = $1 AND server = $2", platform, server)
		return err
	})
}

// removeGames deletes games with their posts and timed actions.
var removeGames = []string{"DELETE FROM due WHERE game IN ids", "DELETE FROM post WHERE game IN ids", "DELETE FROM event WHERE game IN ids",
	"DELETE FROM game_channel WHERE game IN ids", "DELETE FROM game WHERE id IN ids"}

// removeContests deletes events with their posts and timed actions.
var removeContests = []string{"DELETE FROM due WHERE game IN ids", "DELETE FROM post WHERE game IN ids", "DELETE FROM contest_person WHERE contest IN ids",
	"DELETE FROM contest_event WHERE contest IN ids", "DELETE FROM contest WHERE id IN ids"}

// removes returns statements that delete rows of a table with what belongs to them. On PostgreSQL
// they begin with one that waits for the changes of these rows that are under way, so that the
// others see what those have done.
func (s *Store) removes(table string, statements ...string) []string {
	if s.address == "" {
		return statements
	}
	return append([]string{"SELECT 1 FROM " + table + " WHERE id IN ids ORDER BY id FOR UPDATE"}, statements...)
}

// removeStrangers deletes people who are still strangers: since the search for them, some
// may have opened a game or done something in one.
const removeStrangers = "DELETE FROM person WHERE id IN ids AND " + strangers

// forEach runs statements, each of which contains "IN ids" once, for portions of the ids,
// with each portion in a change of its own.
func (s *Store) forEach(ctx context.Context, ids []string, size int, statements ...string) error {
	return portions(ctx, s, ids, size, func(ctx context.Context, tx transaction, some []string) error {
		for _, statement := range statements {
			statement = strings.Replace(statement, "IN ids", "IN ("+placeholders(1, len(some))+")", 1)
			if _, err := tx.ExecContext(ctx, statement, anys(some)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// portions makes a change for each portion.
func portions[T any](ctx context.Context, s *Store, all []T, size int, do func(context.Context, transaction, []T) error) error {
	for some := range slices.Chunk(all, size) {
		if err := s.change(ctx, func(ctx context.Context, tx transaction) error { return do(ctx, tx, some) }); err != nil {
			return err
		}
	}
	return nil
}

func anys[T any](texts []T) []any {
	args := make([]any, len(texts))
	for i, t := range texts {
		args[i] = t
	}
	return args
}
