package store

import (
	"context"

	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Decorations returns all pending decorations, the oldest first.
func (s *Store) Decorations(ctx context.Context) (rows []outbox.Row, err error) {
	defer annotate(&err, "read decorations")
	return list(ctx, s.read, func(scan scanner) (r outbox.Row, err error) {
		var before, after int64
		err = scan(&r.Platform, &r.Kind, &r.Key, &r.N, &r.Channel, &r.Thread, &r.Game, &r.Seq, &r.Of, &r.Target, &r.Data,
			&before, &after, &r.Sleeps, &r.Attempt)
		r.NotBefore, r.NotAfter = timed(before), timed(after)
		return r, err
	}, `
		SELECT platform, kind, key, n, channel, thread, game, seq, follows, target, data, not_before, not_after, sleeps, attempt
		FROM decoration ORDER BY n`)
}

// Decorate stores changes of decorations. Storing them twice has no further effect.
func (s *Store) Decorate(ctx context.Context, c outbox.Decorations) (err error) {
	defer annotate(&err, "store decorations")
	return s.change(ctx, func(ctx context.Context, tx transaction) error { return s.decorate(ctx, tx, c) })
}

func (s *Store) decorate(ctx context.Context, tx transaction, c outbox.Decorations) error {
	if err := s.guard(ctx, tx, c.Holder); err != nil {
		return err
	}
	for _, r := range c.Gone {
		err := tx.later(ctx, write{what: r.Kind + " " + r.Key, args: []any{r.Platform, r.Kind, r.Key, r.N},
			query: "DELETE FROM decoration WHERE platform = $1 AND kind = $2 AND key = $3 AND n = $4"})
		if err != nil {
			return err
		}
	}
	for _, r := range c.Changed {
		err := tx.later(ctx, write{what: r.Kind + " " + r.Key, args: []any{timer(r.NotBefore), flag(r.Sleeps), r.Attempt, r.Platform, r.Kind, r.Key, r.N},
			query: "UPDATE decoration SET not_before = $1, sleeps = $2, attempt = $3 WHERE platform = $4 AND kind = $5 AND key = $6 AND n = $7"})
		if err != nil {
			return err
		}
	}
	for _, r := range c.Put {
		err := tx.later(ctx, write{what: r.Kind + " " + r.Key, query: `
			INSERT INTO decoration (platform, kind, key, n, channel, thread, game, seq, follows, target, data, not_before, not_after, sleeps, attempt)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
			ON CONFLICT (platform, kind, key) DO UPDATE SET n = excluded.n, channel = excluded.channel, thread = excluded.thread,
				game = excluded.game, seq = excluded.seq, follows = excluded.follows, target = excluded.target, data = excluded.data,
				not_before = excluded.not_before, not_after = excluded.not_after, sleeps = excluded.sleeps, attempt = excluded.attempt
			WHERE decoration.n <= excluded.n`, args: []any{r.Platform, r.Kind, r.Key, r.N, r.Channel, r.Thread, r.Game, r.Seq, r.Of, r.Target, r.Data,
			timer(r.NotBefore), timer(r.NotAfter), flag(r.Sleeps), r.Attempt}})
		if err != nil {
			return err
		}
	}
	return nil
}
