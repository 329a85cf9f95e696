package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/halfpoint-go/halfpoint/bot/units"
)

// The number of connections of an adapter to its tables, and how long each waits for the
// bot's writes, in milliseconds.
const (
	adapterConns   = 4
	adapterTimeout = "busy_timeout(5000)"
)

// A Lease says as which holder and in which term this process holds a unit now, and whether it
// does.
type Lease func() (holder string, term int64, ok bool)

// OpenAdapterDB opens the same database again, for an adapter's own tables: the keys
// of its device, the events that it has read. The caller closes it, before the store.
// For a store in memory it opens a separate database.
//
// On PostgreSQL only the holder of the unit changes anything, with the lease that it has at that
// moment: other changes fail with [units.ErrLost]. The unit passes to another process only after
// the changes that have begun. A nil lease allows everything.
func (s *Store) OpenAdapterDB(unit string, lease Lease) (*sql.DB, error) {
	if s.address != "" {
		return pgPool{answer: pgAnswer, conns: adapterConns, newest: s.newest, unit: unit, lease: lease}.open(s.address)
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

// A guardedConnector makes connections on which only the holder of a unit changes anything.
type guardedConnector struct {
	driver.Connector
	unit  string
	lease Lease
}

// Connect opens a connection.
func (c guardedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &guardedConn{postgresConn: inner.(postgresConn), unit: c.unit, lease: c.lease}, nil
}

// A guardedConn begins each transaction with a lock that lasts as long as the transaction, and for
// which whoever takes the unit waits. A statement that is not in a transaction gets one, unless it
// only reads.
type guardedConn struct {
	postgresConn
	unit  string
	lease Lease
}

// BeginTx begins a transaction.
func (c *guardedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	holder, term, ok := c.lease()
	if !ok && !opts.ReadOnly {
		return nil, units.ErrLost
	}
	tx, err := c.postgresConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	if !opts.ReadOnly {
		var one int
		err = c.Conn.Conn().QueryRow(ctx, "SELECT 1 FROM unit WHERE name = $1 AND holder = $2 AND term = $3 FOR KEY SHARE", c.unit, holder, term).Scan(&one)
		if errors.Is(err, pgx.ErrNoRows) {
			err = units.ErrLost
		}
		if err != nil {
			return nil, errors.Join(err, tx.Rollback())
		}
	}
	return tx, nil
}

// in reports whether the connection is in a transaction.
func (c *guardedConn) in() bool { return c.Conn.Conn().PgConn().TxStatus() != 'I' }

// ExecContext changes something.
func (c *guardedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.in() {
		return c.postgresConn.ExecContext(ctx, query, args)
	}
	tx, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	result, err := c.postgresConn.ExecContext(ctx, query, args)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return result, tx.Commit()
}

// QueryContext reads something, or changes it and returns rows.
func (c *guardedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.in() || strings.HasPrefix(strings.TrimSpace(query), "SELECT") {
		return c.postgresConn.QueryContext(ctx, query, args)
	}
	tx, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return nil, err
	}
	rows, err := c.postgresConn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return guardedRows{rows, tx}, nil
}

// guardedRows are the rows of a transaction of their own.
type guardedRows struct {
	driver.Rows
	tx driver.Tx
}

// Close ends the transaction, whose changes count unless it has failed.
func (r guardedRows) Close() error {
	if err := r.Rows.Close(); err != nil {
		return errors.Join(err, r.tx.Rollback())
	}
	return r.tx.Commit()
}

// errPrepared is the error of preparing a statement, which nothing would guard.
var errPrepared = errors.New("statements of adapters are not prepared")

// Prepare returns an error.
func (c *guardedConn) Prepare(string) (driver.Stmt, error) { return nil, errPrepared }

// PrepareContext returns an error.
func (c *guardedConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return nil, errPrepared
}
