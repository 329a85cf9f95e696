package store

import (
	"context"
	"database/sql"
	"errors"
)

// Bookmark returns an adapter's place in its stream of events, or "".
func (s *Store) Bookmark(ctx context.Context, adapter string) (value string, err error) {
	defer annotate(&err, "find the bookmark of %s", adapter)
	value, err = single[string](ctx, s.read, "SELECT value FROM bookmark WHERE adapter = $1", adapter)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// LookBookmark is Store.Bookmark in a database that comes from [Look]; empty also without tables.
func LookBookmark(ctx context.Context, db *sql.DB, key string) (value string, err error) {
	defer annotate(&err, "find the bookmark of %s", key)
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+tablesOf(onPostgres(db))+" AS t WHERE name = 'bookmark'").Scan(&tables); err != nil || tables == 0 {
		return "", err
	}
	found, err := values[string](ctx, db, "SELECT value FROM bookmark WHERE adapter = $1", key)
	if len(found) > 0 {
		value = found[0]
	}
	return value, err
}

// SetBookmark stores an adapter's place in its stream of events.
func (s *Store) SetBookmark(ctx context.Context, adapter, value string) (err error) {
	defer annotate(&err, "set the bookmark of %s", adapter)
	return s.exec(ctx, `
		INSERT INTO bookmark (adapter, value) VALUES ($1, $2)
		ON CONFLICT (adapter) DO UPDATE SET value = excluded.value`, adapter, value)
}

// FirstBookmark stores a bookmark unless there is one, and returns the one that there is then.
func (s *Store) FirstBookmark(ctx context.Context, key, value string) (kept string, err error) {
	defer annotate(&err, "set the bookmark of %s", key)
	err = s.change(ctx, func(ctx context.Context, tx transaction) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO bookmark (adapter, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", key, value)
		if err != nil {
			return err
		}
		kept, err = single[string](ctx, tx, "SELECT value FROM bookmark WHERE adapter = $1", key)
		return err
	})
	return kept, err
}
