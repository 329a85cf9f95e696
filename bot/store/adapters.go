package store

import (
	"database/sql"
	"fmt"
	"net/url"
)

// The number of connections of an adapter to its tables, and how long each waits for the
// bot's writes, in milliseconds.
const (
	adapterConns   = 4
	adapterTimeout = "busy_timeout(5000)"
)

// OpenAdapterDB opens the same database again, for an adapter's own tables: the keys
// of its device, the events that it has read. The caller closes it, before the store.
// For a store in memory it opens a separate database.
func (s *Store) OpenAdapterDB() (*sql.DB, error) {
	if s.address != "" {
		return pgPool{answer: pgAnswer, conns: adapterConns, newest: s.newest}.open(s.address)
	}
	if s.path == "" {
		return connect(Memory+"?"+settings.Encode(), 1)
	}
	own := url.Values{"_txlock": {"immediate"}, "_pragma": {adapterTimeout, logLimit, "foreign_keys(1)", "synchronous(FULL)", "secure_delete(1)"}}
	db, err := s.connect(own, adapterConns)
	if err != nil {
		return nil, fmt.Errorf("open the adapter's database: %w", err)
	}
	return db, nil
}
