package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Of posts that were shown or superseded, and of answers that were dropped, the store keeps
// only that fact: the words of boards follow from the game, and with routes somebody could
// write in the bot's name. Of the others it keeps the words. The index of waiting posts names their state.
//
// Tried is set while a post may have been sent, and due is when it is sent again after an
// attempt that has failed.

// putPost stores a post. It sets its N, and Tried if no other post of its lane waits, or
// only those that the same asker shows (after). That of a sheet it does not set: it may wait
// before it is sent.
func putPost(ctx context.Context, tx transaction, p *match.OutboxPost, at time.Time, after bool) error {
	body, err := encodeBody(p)
	if err != nil {
		return err
	}
	var tried int64
	err = numbered(ctx, tx, write{query: `
		INSERT INTO post (id, game, platform, channel, thread, kind, seq, private, body, due, person, n, state, attempt, receipt, why, tried)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT),
			CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS TEXT), CAST($10 AS BIGINT), CAST($12 AS TEXT),
			(SELECT COALESCE(MAX(n), 0) + 1 FROM post WHERE platform = $3 AND channel = $4 AND game = $2), 'waiting', 0, '', '',
			CASE WHEN $6 <> $13 AND CAST($14 AS BIGINT) = 0 AND (CAST($11 AS BIGINT) = 1 OR NOT EXISTS (SELECT 1 FROM post WHERE state = 'waiting' AND platform = $3 AND channel = $4 AND game = $2 AND person = $12)) THEN 1 ELSE 0 END
		WHERE TRUE ON CONFLICT DO NOTHING RETURNING tried, n`,
		args: []any{p.ID, p.Game, p.Where.Platform, p.Where.Channel, p.Where.Thread, p.Kind, p.Seq, flag(p.Private), body, millis(at), flag(after),
			p.For, match.Sheet, flag(p.Elsewhere)},
		row: []any{&tried, &p.N},
	}, "SELECT 1 FROM post WHERE id = $1", p.ID)
	if err != nil {
		return fmt.Errorf("post %s: %w", p.ID, err)
	}
	p.Tried = tried != 0
	return nil
}

// Waiting returns the posts that wait, those of each lane in their order.
func (s *Store) Waiting(ctx context.Context) (_ []match.OutboxPost, err error) {
	defer annotate(&err, "read pending posts")
	return list(ctx, s.read, func(scan scanner) (p match.OutboxPost, err error) {
		var text string
		var due int64
		err = scan(&p.ID, &p.Game, &p.Where.Platform, &p.Where.Channel, &p.Where.Thread,
			&p.N, &p.Kind, &p.Seq, &p.Private, &p.For, &text, &p.Attempt, &due, &p.Tried)
		if err != nil {
			return p, err
		}
		if err := decodeBody(text, &p); err != nil {
			return p, fmt.Errorf("post %s: %w", p.ID, err)
		}
		p.Due = moment(due)
		p.Again = p.Again || strings.HasSuffix(p.ID, "-again") // earlier versions said it with the id
		return p, nil
	}, `
		SELECT id, game, platform, channel, thread, n, kind, seq, private, person, body, attempt, due, tried FROM post
		WHERE state = 'waiting' ORDER BY platform, channel, game, n`)
}

// Change stores the state of a post that waits, why it is that, and its Attempt, Tried and
// Due. If it is tried, older posts of its lane that it supersedes wait no longer. The error
// is ErrNotFound if it does not wait any more, and is not parked, and ErrLost if its Holder is
// not that of its unit any more.
func (s *Store) Change(ctx context.Context, o match.OutboxPost, is outbox.State, why string) (err error) {
	defer annotate(&err, "change post %s", o.ID)
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		if err := s.guard(ctx, tx, o.Holder); err != nil {
			return err
		}
		err := tx.later(ctx, write{args: []any{millis(o.Due), o.Attempt, flag(o.Tried), why, o.ID}, least: 1, less: bot.ErrNotFound,
			query: "UPDATE post SET due = $1, attempt = $2, tried = $3, why = $4 WHERE id = $5 AND state IN ('waiting', 'parked')"})
		if err == nil && o.Tried {
			err = supersede(ctx, tx, o)
		}
		if err == nil && is != outbox.Waiting {
			_, err = leave(ctx, tx, is, why, "id = $3", o.ID)
		}
		if err == nil && is == outbox.Refused && o.For != "" { // nobody tries an answer again
			err = tx.later(ctx, write{query: "UPDATE post SET body = '{}' WHERE id = $1 AND state = 'refused'", args: []any{o.ID}})
		}
		return err
	})
}

// supersede ends the waiting of older boards, statuses or sheets, once a newer one is tried
// that all may see.
func supersede(ctx context.Context, tx transaction, o match.OutboxPost) error {
	if !o.Supersedes() {
		return nil
	}
	return tx.later(ctx, write{args: []any{o.Where.Platform, o.Where.Channel, o.Game, o.Kind, o.N}, query: `
		UPDATE post SET state = 'superseded', body = '{}', why = ''
		WHERE state = 'waiting' AND platform = $1 AND channel = $2 AND game = $3 AND kind = $4 AND n < $5`})
}

// Settle stores that a post was shown, with changes of decorations, the line of a room's
// log, if there is one, whose N is then the receipt, and that the next post is tried, if
// there is one. Settling twice has no further effect: the first receipt stays. A post that
// was parked meanwhile counts as shown, and its room is no longer parked. An answer does not
// change whether its room is parked.
func (s *Store) Settle(ctx context.Context, post string, r outbox.Receipt, line *outbox.Message, c outbox.Decorations, next *match.OutboxPost) (err error) {
	defer annotate(&err, "settle post %s", post)
	if line != nil {
		defer s.hint()
	}
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		if err := s.decorate(ctx, tx, c); err != nil {
			return err
		}
		if next != nil {
			err := tx.later(ctx, write{query: "UPDATE post SET tried = 1 WHERE id = $1 AND state = 'waiting'", args: []any{next.ID}})
			if err = errors.Join(err, supersede(ctx, tx, *next)); err != nil {
				return err
			}
		}
		if line != nil {
			kept, err := putMessage(ctx, tx, *line)
			if err != nil {
				return fmt.Errorf("store a message: %w", err)
			}
			r = outbox.Receipt(strconv.FormatInt(kept.N, 10))
		}
		var where match.Room
		var game match.GameID
		var parked bool
		err := tx.now(ctx, write{args: []any{r, post}, row: []any{&where.Platform, &where.Channel, &where.Thread, &game, &parked}, least: 1, less: sql.ErrNoRows,
			query: `
			UPDATE post SET state = 'settled', receipt = $1, body = '{}', why = '' WHERE id = $2 AND state <> 'settled'
			RETURNING platform, channel, thread, game, person = '' AND EXISTS (
				SELECT 1 FROM room_parked r WHERE r.platform = post.platform AND r.channel = post.channel)`})
		if errors.Is(err, sql.ErrNoRows) {
			_, err = single[string](ctx, tx, "SELECT id FROM post WHERE id = $1", post)
			if errors.Is(err, sql.ErrNoRows) {
				return bot.ErrNotFound
			}
			return err
		}
		if err != nil || !parked {
			return err
		}
		return tx.later(ctx, write{query: "DELETE FROM room_parked WHERE platform = $1 AND channel = $2 AND thread IN ($3, $4)",
			args: []any{where.Platform, where.Channel, where.Thread, parkedGame(game)}})
	})
}

// parkedGame returns the value of the column room_parked.thread for a game whose thread
// the adapter made.
func parkedGame(game match.GameID) string { return "game " + string(game) }

// Park pauses the pending posts of a room that cannot be reached, but not answers. It
// returns their ids and reports whether it is the first time, or the first since a post was
// shown there. Without a thread it parks the whole channel, or the posts of one game there.
func (s *Store) Park(ctx context.Context, where match.Room, game match.GameID, why string) (parked []string, first bool, err error) {
	defer annotate(&err, "park posts")
	err = s.change(ctx, func(ctx context.Context, tx transaction) (err error) {
		first = false
		parked, err = leave(ctx, tx, outbox.Parked, why, "person = '' AND platform = $3 AND channel = $4 AND ($5 = '' OR thread = $5) AND ($6 = '' OR game = $6)",
			where.Platform, where.Channel, where.Thread, game)
		if err != nil {
			return err
		}
		thread := where.Thread
		if game != "" {
			thread = parkedGame(game)
		}
		err = put(ctx, tx, "room",
			"INSERT INTO room_parked (platform, channel, thread, why) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
			where.Platform, where.Channel, thread, why)
		if errors.Is(err, bot.ErrConflict) {
			return nil
		}
		first = err == nil
		return err
	})
	return parked, first && err == nil, err
}

// leave moves pending posts into another state, by a condition on $3 and so on, and
// returns their ids. It deletes their routes, which will have expired when the posts are
// tried again.
func leave(ctx context.Context, tx transaction, state outbox.State, why, which string, args ...any) (ids []string, err error) {
	bodies := map[string]storedBody{}
	ids, err = list(ctx, tx, func(scan scanner) (id string, err error) {
		var text string
		var body storedBody
		if err := scan(&id, &text); err != nil {
			return id, err
		}
		if err := decode(text, &body); err != nil {
			return id, fmt.Errorf("post %s: %w", id, err)
		}
		bodies[id] = body
		return id, nil
	}, "UPDATE post SET state = $1, why = $2 WHERE state = 'waiting' AND "+which+" RETURNING id, body", append([]any{state, why}, args...)...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		body := bodies[id]
		if body.Reply == "" {
			continue
		}
		body.Reply = ""
		text, err := encode(body)
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE post SET body = $1 WHERE id = $2", text, id); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// parkedFor is the shortest time for which a post stays parked. It doubles with each
// attempt, up to maxDoubled times.
const (
	parkedFor  = time.Minute
	maxDoubled = 10
)

// doubled is by how much parkedFor grows with the attempts of a post: powers of 2, for which
// SQLite and PostgreSQL have nothing in common.
var doubled = func() string {
	text := "CASE WHEN attempt <= 1 THEN 1"
	for n := 2; n <= maxDoubled; n++ {
		text += fmt.Sprintf(" WHEN attempt = %d THEN %d", n, 1<<(n-1))
	}
	return fmt.Sprintf("%s ELSE %d END", text, 1<<maxDoubled)
}()

// triedAgain finds the parked posts of a channel whose time has come, but none that
// would overtake an older one.
var triedAgain = `
	WITH parked AS (
		SELECT id, game, n, due + CAST($3 AS BIGINT) * ` + doubled + ` AS again
		FROM post
		WHERE state = 'parked' AND platform = $1 AND channel = $2 AND kind <> 'status'
			AND NOT EXISTS (
				SELECT 1 FROM post newer WHERE newer.state = 'settled' AND newer.private = 0
					AND newer.platform = post.platform AND newer.channel = post.channel AND newer.game = post.game
					AND newer.n > post.n))
	SELECT id FROM parked WHERE NOT EXISTS (
		SELECT 1 FROM parked early WHERE early.game = parked.game AND early.n <= parked.n AND early.again > $4)`

// Unpark makes the parked posts of a channel due again, after a request from there, and
// reports whether there are any; at once if it is sure that the room can be reached again.
// Reminders stay parked, and so do posts after which
// newer ones have been shown.
func (s *Store) Unpark(ctx context.Context, where match.Room, now time.Time, sure bool) (some bool, err error) {
	defer annotate(&err, "take up parked posts")
	parkedUntil := millis(now)
	if sure {
		parkedUntil = math.MaxInt64
	}
	args := []any{where.Platform, where.Channel, parkedFor.Milliseconds(), parkedUntil}
	ready, err := single[int](ctx, s.read, "SELECT COUNT(*) FROM ("+triedAgain+") AS ready", args...)
	if err != nil || ready == 0 {
		return false, err
	}
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		some = false
		err := put(ctx, tx, "parked posts", "UPDATE post SET state = 'waiting', due = $5 WHERE id IN ("+triedAgain+")", append(args, millis(now))...)
		if errors.Is(err, bot.ErrConflict) {
			return nil
		}
		some = err == nil
		return err
	})
	return some && err == nil, err
}

// Shown returns the receipts of the last settled post of a kind, either public or
// private, and of the first post that has one. They are empty if there is none; the last
// is also empty if that post has been removed since.
func (s *Store) Shown(ctx context.Context, game match.GameID, where match.Room, kind string, private bool) (last, oldest outbox.Receipt, err error) {
	defer annotate(&err, "find the last %s of match %s", kind, game)
	last, err = first(ctx, s.read, func(scan scanner) (last outbox.Receipt, err error) {
		err = scan(&last, &oldest)
		return last, err
	}, `
		SELECT COALESCE((
			SELECT CASE kind WHEN $4 THEN receipt ELSE '' END FROM post
			WHERE platform = $1 AND channel = $2 AND game = $3 AND (kind = $4 OR $4 = $7 AND kind = $6 AND receipt <> '') AND state = 'settled'
				AND ($5 = '' OR thread = $5) AND private = $8 AND (kind <> $9 OR receipt <> '')
			ORDER BY n DESC LIMIT 1), ''),
		COALESCE((
			SELECT receipt FROM post
			WHERE platform = $1 AND channel = $2 AND game = $3 AND state = 'settled' AND receipt <> ''
			ORDER BY n LIMIT 1), '')`,
		where.Platform, where.Channel, game, kind, where.Thread, match.Remove, match.Status, flag(private), match.Sheet)
	return last, oldest, err
}

const gameUnder = "SELECT game FROM post WHERE platform = $1 AND receipt = $2 AND receipt <> '' AND game <> '' LIMIT 1"

// GameUnder returns the game that the message with a receipt shows, or ErrNotFound.
func (s *Store) GameUnder(ctx context.Context, platform string, r outbox.Receipt) (game match.GameID, err error) {
	defer annotate(&err, "find the match of message %s", r)
	game, err = single[match.GameID](ctx, s.read, gameUnder, platform, r)
	if errors.Is(err, sql.ErrNoRows) {
		return "", bot.ErrNotFound
	}
	return game, err
}

// Delivered returns which of some posts were shown.
func (s *Store) Delivered(ctx context.Context, posts []string) (_ map[string]bool, err error) {
	defer annotate(&err, "look which posts were shown")
	shown := map[string]bool{}
	if len(posts) == 0 {
		return shown, nil
	}
	var args []any
	for _, id := range posts {
		args = append(args, id)
	}
	ids, err := values[string](ctx, s.read, "SELECT id FROM post WHERE state = 'settled' AND id IN ("+placeholders(1, len(args))+")", args...)
	for _, id := range ids {
		shown[id] = true
	}
	return shown, err
}
