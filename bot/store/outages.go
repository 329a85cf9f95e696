package store

import (
	"context"

	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// Outages returns all stored outages, in the order of their beginning.
func (s *Store) Outages(ctx context.Context) (_ []rooms.Outage, err error) {
	defer annotate(&err, "find the outages")
	return list(ctx, s.read, func(scan scanner) (o rooms.Outage, err error) {
		var started, ended int64
		err = scan(&o.Platform, &o.Server, &started, &ended)
		o.From, o.To = moment(started), timed(ended)
		return o, err
	}, "SELECT platform, server, started, ended FROM outage ORDER BY started, platform, server")
}

// ChangeOutages stores outages, or their ends, and deletes others. Platform, server and
// beginning identify an outage. Repeating a call has no effect.
func (s *Store) ChangeOutages(ctx context.Context, put, drop []rooms.Outage) (err error) {
	defer annotate(&err, "note outages")
	return s.change(ctx, func(ctx context.Context, tx transaction) error {
		for _, o := range drop {
			_, err := tx.ExecContext(ctx, "DELETE FROM outage WHERE platform = $1 AND server = $2 AND started = $3", o.Platform, o.Server, millis(o.From))
			if err != nil {
				return err
			}
		}
		for _, o := range put {
			_, err := tx.ExecContext(ctx, `
				INSERT INTO outage (platform, server, started, ended) VALUES ($1, $2, $3, $4)
				ON CONFLICT (platform, server, started) DO UPDATE SET ended = excluded.ended`,
				o.Platform, o.Server, millis(o.From), timer(o.To))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
