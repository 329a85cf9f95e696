package store

import (
	"database/sql"
	"fmt"
	"net/url"
)

// besides is how many connections an adapter has for its tables, and how long
// one of them waits for the bot to have written, in milliseconds.
const (
	besides      = 4
	besidesWaits = "busy_timeout(5000)"
)

// Beside opens the same database once more, for tables of an adapter's own: the
// keys of its device, what it has read. The caller closes it, before the store.
// In memory it is a database of its own.
func (s *Store) Beside() (*sql.DB, error) {
	if s.path == "" {
		return connect(Memory+"?"+settings.Encode(), 1)
	}
	own := url.Values{"_txlock": {"immediate"}, "_pragma": {besidesWaits, "foreign_keys(1)", "synchronous(FULL)", "secure_delete(1)"}}
	db, err := s.connect(own, besides)
	if err != nil {
		return nil, fmt.Errorf("open the database once more: %w", err)
	}
	return db, nil
}
