package store

import (
	"context"
	"strconv"
	"time"
)

const (
	turnMark    = "turn:"   // begins the keys of the bookmarks that say when the next turn is
	longestWait = time.Hour // for a turn; one further away stems from a clock that has been set back
)

// Turn takes the next turn of a name, of which there is one in each span of time for all processes
// on the database, and returns how long it is until then, by the clock of the database.
func (s *Store) Turn(ctx context.Context, name string, every time.Duration) (wait time.Duration, err error) {
	defer annotate(&err, "take a turn of %s", name)
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		// From here on others wait for this transaction.
		value, err := single[string](ctx, tx, `
			INSERT INTO bookmark (adapter, value) VALUES ($1, '')
			ON CONFLICT (adapter) DO UPDATE SET value = bookmark.value RETURNING value`, turnMark+name)
		if err != nil {
			return err
		}
		now := time.Now().UnixMilli() // SQLite is on this machine
		if s.address != "" {
			if now, err = single[int64](ctx, tx, "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"); err != nil {
				return err
			}
		}
		next, err := strconv.ParseInt(value, 10, 64)
		if err != nil || next < now || next > now+longestWait.Milliseconds() {
			next = now
		}
		wait = time.Duration(next-now) * time.Millisecond
		_, err = tx.ExecContext(ctx, "UPDATE bookmark SET value = $1 WHERE adapter = $2", strconv.FormatInt(next+every.Milliseconds(), 10), turnMark+name)
		return err
	})
	return wait, err
}
