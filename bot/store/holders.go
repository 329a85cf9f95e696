package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

const holdersFrom = "SELECT platform, platform_id, looks, secret, since, kept FROM holder "

func scanHolder(scan scanner) (h bot.Holder, err error) {
	var kept int64
	err = scan(&h.Platform, &h.ID, &h.Looks, &h.Secret, &h.Since, &kept)
	h.Kept = timed(kept)
	return h, err
}

// holder returns the holder of a name or seat, or ErrNotFound.
func holder(ctx context.Context, db querier, platform, id string) (h bot.Holder, err error) {
	h, err = first(ctx, db, scanHolder, holdersFrom+"WHERE platform = $1 AND platform_id = $2", platform, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = bot.ErrNotFound
	}
	return h, err
}

// Holder returns the holder of a name or seat, or ErrNotFound.
func (s *Store) Holder(ctx context.Context, platform, id string) (h bot.Holder, err error) {
	defer annotate(&err, "find the holder of %s", id)
	return holder(ctx, s.read, platform, id)
}

// Hold makes h the holder if there is none, or if the present holder has the secret of
// seen, and is kept as that was. It returns the holder after that; or ErrAlike, if there was
// none and somebody with another secret holds a name that looks like that of h.
func (s *Store) Hold(ctx context.Context, h, seen bot.Holder) (now bot.Holder, err error) {
	defer annotate(&err, "hold %s", h.ID)
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		// Whoever comes later waits until this one holds the name, or not.
		_, err := tx.ExecContext(ctx, "INSERT INTO counter (name, n) VALUES ('holder', 1) ON CONFLICT (name) DO UPDATE SET n = counter.n + 1")
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO holder (platform, platform_id, looks, secret, since, kept)
			SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS BIGINT)
			WHERE NOT EXISTS (SELECT 1 FROM holder WHERE platform = $1 AND looks = $3 AND looks <> '' AND secret <> $4)
				OR EXISTS (SELECT 1 FROM holder WHERE platform = $1 AND platform_id = $2)
			ON CONFLICT (platform, platform_id) DO UPDATE SET looks = excluded.looks, secret = excluded.secret, since = excluded.since, kept = excluded.kept
			WHERE holder.secret = $7 AND holder.kept = $8`,
			h.Platform, h.ID, h.Looks, h.Secret, h.Since, timer(h.Kept), seen.Secret, timer(seen.Kept))
		if err != nil {
			return err
		}
		now, err = holder(ctx, tx, h.Platform, h.ID)
		if errors.Is(err, bot.ErrNotFound) {
			err = bot.ErrAlike
		}
		return err
	})
	return now, err
}

// KeepHolder changes how long a holder is kept, and reports whether h is the holder.
func (s *Store) KeepHolder(ctx context.Context, h bot.Holder) (kept bool, err error) {
	defer annotate(&err, "keep %s", h.ID)
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		result, err := tx.ExecContext(ctx, "UPDATE holder SET kept = $1 WHERE platform = $2 AND platform_id = $3 AND secret = $4", timer(h.Kept), h.Platform, h.ID, h.Secret)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		kept = n > 0
		return err
	})
	return kept, err
}

// Release lets anybody hold a name or seat again, and makes the other browsers of its holder
// nobody. There need not be a holder. It stores what a moderator did by that, if that is not nil.
func (s *Store) Release(ctx context.Context, platform, id string, act *match.Act) (err error) {
	defer annotate(&err, "release %s", id)
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		for _, query := range []string{
			"DELETE FROM link WHERE person IN (SELECT id FROM person WHERE platform = $1 AND platform_id = $2)",
			"DELETE FROM holder WHERE platform = $1 AND platform_id = $2",
		} {
			if _, err := tx.ExecContext(ctx, query, platform, id); err != nil {
				return err
			}
		}
		return putAct(ctx, tx, act)
	})
}

// Opened counts the unfinished games that were opened under the names that belong to a
// secret. Those of a seat do not count: others may have sat there before. Seats have no looks.
func (s *Store) Opened(ctx context.Context, platform, secret string) (n int, err error) {
	defer annotate(&err, "count the games of a browser")
	return single[int](ctx, s.read, `
		SELECT COUNT(*) FROM holder
		JOIN person ON person.platform = holder.platform AND person.platform_id = holder.platform_id
		JOIN game ON game.opener = person.id AND game.state IN ('open', 'going', 'sandbox')
		WHERE holder.platform = $1 AND holder.secret = $2 AND holder.secret <> '' AND holder.looks <> ''`, platform, secret)
}
