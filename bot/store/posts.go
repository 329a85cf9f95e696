package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// The states of a post. The index of waiting posts names the first.
//
//	waiting     pending; it cannot be claimed before it is due
//	settled     shown
//	superseded  never shown, because a newer one says the same and more
//	parked      not shown, because its room cannot be reached
//	refused     not shown, because the platform refuses it
//
// Of posts that were shown or superseded the store keeps only that fact: their words
// follow from the game, and with their routes somebody could write in the bot's name. Of
// the others it keeps the words.
//
// Posts of one game in one channel are in order: only the oldest pending one can be
// claimed, so that no other overtakes it. A post with a claim stays pending until the
// claim ends, even if it is superseded: it may be arriving at this moment, and later
// posts must come after it.

// putPost stores a post that is due at once. If its For is set, and no other posts of its
// game wait in its channel than those that the same asker holds, putPost claims it until
// the time claim.
func putPost(ctx context.Context, tx *sql.Tx, p *match.OutboxPost, at, claim time.Time, after bool) error {
	if p.For == "" {
		claim = time.Time{}
	}
	body, err := encode(storedBody{Texts: p.Texts, Notify: p.Notify, Reply: p.Reply})
	if err != nil {
		return err
	}
	err = tx.QueryRowContext(ctx, `
		INSERT INTO post (id, game, platform, channel, thread, kind, seq, private, body, due,
			n, state, attempt, receipt, why)
		SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT),
			CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS TEXT), CASE WHEN free THEN CAST($11 AS BIGINT) ELSE CAST($10 AS BIGINT) END,
			(SELECT COALESCE(MAX(n), 0) + 1 FROM post WHERE platform = $3 AND channel = $4 AND game = $2),
			'waiting', CASE WHEN free THEN 1 ELSE 0 END, '', CASE WHEN free THEN 'clean' ELSE '' END
		FROM (SELECT CAST($11 AS BIGINT) > 0
			AND (CAST($12 AS BIGINT) = 1 OR NOT EXISTS (SELECT 1 FROM post WHERE state = 'waiting' AND platform = $3 AND channel = $4 AND game = $2)) AS free) AS lane
		WHERE TRUE ON CONFLICT DO NOTHING RETURNING attempt`,
		p.ID, p.Game, p.Where.Platform, p.Where.Channel, p.Where.Thread, p.Kind, p.Seq, flag(p.Private), body, millis(at), timer(claim), flag(after)).
		Scan(&p.Attempt)
	p.Unsent = true
	if errors.Is(err, sql.ErrNoRows) {
		err = bot.ErrConflict
	}
	if err != nil {
		return fmt.Errorf("post %s: %w", p.ID, err)
	}
	return nil
}

// Claim returns the posts to deliver now: of each game and channel the oldest
// that is neither settled nor parked, if it is due. They are not returned again
// before until. A show or status that a newer one of the same game and channel
// supersedes is never returned; one that only some may see supersedes nothing.
// Those of the platforms in except are left alone.
func (s *Store) Claim(ctx context.Context, now, until time.Time, except ...string) (claimed []match.OutboxPost, err error) {
	defer annotate(&err, "claim posts")
	var some bool // usually there are none, and then no write is needed
	others := ""
	args := []any{millis(now)}
	if len(except) > 0 {
		others = " AND platform NOT IN (" + placeholders(2, len(except)) + ")"
		args = append(args, anys(except)...)
	}
	err = s.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM post WHERE state = 'waiting' AND due <= $1"+others+")", args...).Scan(&some)
	if err != nil || !some {
		return nil, err
	}
	err = s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE post SET state = 'superseded', body = '{}', why = ''
			WHERE state = 'waiting' AND due <= $1 AND `+superseded, millis(now))
		if err != nil {
			return err
		}
		found, err := duePosts(ctx, tx, others, args)
		if err != nil {
			return err
		}
		for _, p := range found {
			// Another process may have claimed it in between.
			err := put(ctx, tx, "post "+p.ID,
				"UPDATE post SET due = $1, attempt = attempt + 1, why = CASE WHEN "+neverSent+" THEN 'clean' ELSE '' END WHERE id = $2 AND due = $3 AND state = 'waiting'",
				millis(until), p.ID, p.due)
			if errors.Is(err, bot.ErrConflict) {
				continue
			}
			if err != nil {
				return err
			}
			p.Attempt++
			claimed = append(claimed, p.OutboxPost)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// While a post waits, why records whether it may have been sent already: "clean" during
// the first claim under which it may be sent, "unsent" if the holder released that claim
// and knows that the post was not sent.
const neverSent = `(attempt = 0 OR why = 'unsent')`

// superseded is the condition that a pending post need not be shown any more. A post that
// may have been sent is shown again, because its receipt is needed to remove its controls.
const superseded = `kind IN ('show', 'status') AND ` + neverSent + ` AND EXISTS (
	SELECT 1 FROM post newer WHERE newer.state = 'waiting'
		AND newer.platform = post.platform AND newer.channel = post.channel AND newer.game = post.game
		AND newer.n > post.n AND newer.kind = post.kind AND newer.private = 0)`

// A duePost is a post and the time at which it became due.
type duePost struct {
	match.OutboxPost
	due int64
}

// duePosts returns the oldest waiting post of each game and channel, if it is due, on
// the condition others. The time is the first of args.
func duePosts(ctx context.Context, tx *sql.Tx, others string, args []any) ([]duePost, error) {
	return list(ctx, tx, func(scan scanner) (p duePost, err error) {
		var text string
		err = scan(&p.ID, &p.Game, &p.Where.Platform, &p.Where.Channel, &p.Where.Thread,
			&p.Kind, &p.Seq, &p.Private, &text, &p.Attempt, &p.due, &p.Unsent)
		if err != nil {
			return p, err
		}
		var body storedBody
		if err := decode(text, &body); err != nil {
			return p, fmt.Errorf("post %s: %w", p.ID, err)
		}
		p.Texts, p.Notify, p.Reply = body.Texts, body.Notify, body.Reply
		return p, nil
	}, `
		SELECT id, game, platform, channel, thread, kind, seq, private, body, attempt, due, `+neverSent+` FROM post
		WHERE state = 'waiting' AND due <= $1`+others+`
			AND NOT EXISTS (
				SELECT 1 FROM post older WHERE older.state = 'waiting'
					AND older.platform = post.platform AND older.channel = post.channel AND older.game = post.game
					AND older.n < post.n)
		ORDER BY due, platform, channel, game`, args...)
}

// Settle stores that a post was shown, with changes of decorations, and the line of a
// room's log, if there is one, whose N is then the receipt. Settling twice has no further
// effect: the first receipt stays. A post that was parked meanwhile counts as shown, and
// its room is no longer parked.
func (s *Store) Settle(ctx context.Context, post string, r outbox.Receipt, line *outbox.Message, c outbox.Decorations) (err error) {
	defer annotate(&err, "settle post %s", post)
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := decorate(ctx, tx, c); err != nil {
			return err
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
		err := tx.QueryRowContext(ctx, `
			UPDATE post SET state = 'settled', receipt = $1, body = '{}', why = '' WHERE id = $2 AND state <> 'settled'
			RETURNING platform, channel, thread, game, EXISTS (
				SELECT 1 FROM room_parked r WHERE r.platform = post.platform AND r.channel = post.channel)`,
			r, post).Scan(&where.Platform, &where.Channel, &where.Thread, &game, &parked)
		if errors.Is(err, sql.ErrNoRows) {
			err = tx.QueryRowContext(ctx, "SELECT id FROM post WHERE id = $1", post).Scan(&post)
			if errors.Is(err, sql.ErrNoRows) {
				return bot.ErrNotFound
			}
			return err
		}
		if err != nil || !parked {
			return err
		}
		_, err = tx.ExecContext(ctx,
			"DELETE FROM room_parked WHERE platform = $1 AND channel = $2 AND thread IN ($3, $4)",
			where.Platform, where.Channel, where.Thread, parkedGame(game))
		return err
	})
}

// Later postpones a post, and with it the others of its game in that channel, and ends
// the claim on it. Unsent means that the post was not sent under this claim. Later does
// nothing if the claim of that attempt has ended.
func (s *Store) Later(ctx context.Context, post string, attempt int, until time.Time, unsent bool) (err error) {
	defer annotate(&err, "put post %s off", post)
	return s.exec(ctx, `
		UPDATE post SET due = $1, why = CASE WHEN why = 'clean' AND $4 = 1 THEN 'unsent' ELSE '' END
		WHERE id = $2 AND attempt = $3 AND state = 'waiting'`, millis(until), post, attempt, flag(unsent))
}

// Refuse gives up a post that cannot be shown, so that later ones can be. The post stays
// in the store, for "halfpoint undelivered". Refuse does nothing if the claim of that
// attempt has ended.
func (s *Store) Refuse(ctx context.Context, post string, attempt int, why string) (err error) {
	defer annotate(&err, "give up post %s", post)
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := leave(ctx, tx, "refused", why, "id = $3 AND attempt = $4", post, attempt)
		return err
	})
}

// parkedGame returns the value of the column room_parked.thread for a game whose thread
// the adapter made.
func parkedGame(game match.GameID) string { return "game " + string(game) }

// Park pauses the pending posts of a room that cannot be reached. It returns their ids
// and reports whether it is the first time, or the first since a post was shown there.
// Without a thread it parks the whole channel, or the posts of one game there.
func (s *Store) Park(ctx context.Context, where match.Room, game match.GameID, why string) (parked []string, first bool, err error) {
	defer annotate(&err, "park posts")
	err = s.change(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		parked, err = leave(ctx, tx, "parked", why, "platform = $3 AND channel = $4 AND ($5 = '' OR thread = $5) AND ($6 = '' OR game = $6)",
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
func leave(ctx context.Context, tx *sql.Tx, state, why, which string, args ...any) (ids []string, err error) {
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

// triedAgain finds the parked posts of a channel whose time has come, but none that
// would overtake an older one.
const triedAgain = `
	WITH parked AS (
		SELECT id, game, n,
			due + $4 * CASE WHEN attempt < 1 THEN 1 WHEN attempt > $5 THEN 1 << $5 ELSE 1 << (attempt - 1) END AS again
		FROM post
		WHERE state = 'parked' AND platform = $2 AND channel = $3 AND kind <> 'status'
			AND NOT EXISTS (
				SELECT 1 FROM post newer WHERE newer.state = 'settled'
					AND newer.platform = post.platform AND newer.channel = post.channel AND newer.game = post.game
					AND newer.n > post.n))
	SELECT id FROM parked WHERE NOT EXISTS (
		SELECT 1 FROM parked early WHERE early.game = parked.game AND early.n <= parked.n AND early.again > $6)`

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
	args := []any{millis(now), where.Platform, where.Channel, parkedFor.Milliseconds(), maxDoubled, parkedUntil}
	var ready int
	err = s.read.QueryRowContext(ctx, "SELECT COUNT(*) FROM ("+triedAgain+") AS ready", args...).Scan(&ready)
	if err != nil || ready == 0 {
		return false, err
	}
	err = s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := put(ctx, tx, "parked posts", "UPDATE post SET state = 'waiting', due = $1, why = 'unsent' WHERE id IN ("+triedAgain+")", args...)
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
func (s *Store) Shown(ctx context.Context, game match.GameID, where match.Room, kind string, private bool) (last, first outbox.Receipt, err error) {
	defer annotate(&err, "find the last %s of match %s", kind, game)
	err = s.read.QueryRowContext(ctx, `
		SELECT COALESCE((
			SELECT CASE kind WHEN $4 THEN receipt ELSE '' END FROM post
			WHERE platform = $1 AND channel = $2 AND game = $3 AND (kind = $4 OR $4 = $7 AND kind = $6 AND receipt <> '') AND state = 'settled'
				AND ($5 = '' OR thread = $5) AND private = $8
			ORDER BY n DESC LIMIT 1), ''),
		COALESCE((
			SELECT receipt FROM post
			WHERE platform = $1 AND channel = $2 AND game = $3 AND state = 'settled' AND receipt <> ''
			ORDER BY n LIMIT 1), '')`,
		where.Platform, where.Channel, game, kind, where.Thread, match.Remove, match.Status, flag(private)).Scan(&last, &first)
	return last, first, err
}

const gameUnder = "SELECT game FROM post WHERE platform = $1 AND receipt = $2 AND receipt <> '' LIMIT 1"

// GameUnder returns the game that the message with a receipt shows, or ErrNotFound.
func (s *Store) GameUnder(ctx context.Context, platform string, r outbox.Receipt) (game match.GameID, err error) {
	defer annotate(&err, "find the match of message %s", r)
	err = s.read.QueryRowContext(ctx, gameUnder, platform, r).Scan(&game)
	if errors.Is(err, sql.ErrNoRows) {
		return "", bot.ErrNotFound
	}
	return game, err
}
