package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"

	"modernc.org/sqlite"
)

// Preparing a statement costs SQLite more than running it, and database/sql
// prepares the text of each call anew. So each connection keeps the statements
// that it has prepared, by their text, as PostgreSQL's driver pgx does by itself.
// The rest of this package hands over plain text.

// maxPrepared bounds how many statements a connection keeps. The bot has fewer
// texts than that; those that depend on the number of arguments push others out.
const maxPrepared = 128

// openPrepared opens a pool of connections that prepare each text once. Before
// each is made, all checks must succeed.
func openPrepared(dsn string, checks ...func() error) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(preparingConnector{c, checks}), nil
}

type preparingConnector struct {
	driver.Connector
	checks []func() error
}

// Connect opens a connection that keeps its prepared statements.
func (c preparingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	for _, check := range c.checks {
		if err := check(); err != nil {
			return nil, err
		}
	}
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &preparingConn{sqliteConn: inner.(sqliteConn), free: map[string]preparedStmt{}, ran: onStatement}, nil
}

// onStatement, unless it is nil, is called with the text of each statement that a
// connection opened from now on runs. Tests count with it.
var onStatement func(text string)

// sqliteConn is what the driver's connections can do, as far as database/sql and
// this package make use of it.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	Serialize() ([]byte, error)
	Deserialize([]byte) error
}

// preparedStmt is what the driver's statements can do.
type preparedStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A preparingConn is a connection and the statements it has prepared. Like every
// driver.Conn it is used by one goroutine at a time.
type preparingConn struct {
	sqliteConn
	free map[string]preparedStmt // those not in use
	ran  func(text string)       // may be nil
}

// ExecContext runs a statement, prepared before if there is such a one.
func (c *preparingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	stmt, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return c.sqliteConn.ExecContext(ctx, text, args)
	}
	result, err := stmt.ExecContext(ctx, args)
	c.keep(text, stmt)
	return result, err
}

// QueryContext runs a query, prepared before if there is such a one. While its
// rows are read the statement is in use; the same text then gets another.
func (c *preparingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	stmt, err := c.take(ctx, text)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return c.sqliteConn.QueryContext(ctx, text, args)
	}
	rows, err := stmt.QueryContext(ctx, args)
	if err != nil {
		c.keep(text, stmt)
		return nil, err
	}
	return &preparedRows{Rows: rows, conn: c, text: text, stmt: stmt}, nil
}

// take returns a statement for text that nobody uses, or nil if text is not of a
// kind that is kept.
func (c *preparingConn) take(ctx context.Context, text string) (preparedStmt, error) {
	if c.ran != nil {
		c.ran(text)
	}
	if stmt, ok := c.free[text]; ok {
		delete(c.free, text)
		return stmt, nil
	}
	if !repeats(text) {
		return nil, nil
	}
	stmt, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.(preparedStmt), nil
}

// repeats reports whether a text is of a kind that is run again and again. Those
// that change tables or settings are not; some settings even take effect when they
// are prepared.
func repeats(text string) bool {
	for word := range strings.FieldsSeq(text) {
		switch word {
		case "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SAVEPOINT", "RELEASE", "ROLLBACK":
			return true
		}
		return false
	}
	return false
}

// keep keeps a statement that is no longer in use.
func (c *preparingConn) keep(text string, stmt preparedStmt) {
	if _, ok := c.free[text]; ok { // the text was used twice at once
		stmt.Close()
		return
	}
	for other, old := range c.free {
		if len(c.free) < maxPrepared {
			break
		}
		old.Close()
		delete(c.free, other)
	}
	c.free[text] = stmt
}

// Close closes the statements and the connection.
func (c *preparingConn) Close() error {
	for _, stmt := range c.free {
		stmt.Close()
	}
	clear(c.free)
	return c.sqliteConn.Close()
}

// preparedRows are the rows of a prepared query.
type preparedRows struct {
	driver.Rows
	conn *preparingConn
	text string
	stmt preparedStmt
}

// Close ends the query, so that its statement can be used again.
func (r *preparedRows) Close() error {
	err := r.Rows.Close()
	if r.stmt != nil {
		r.conn.keep(r.text, r.stmt)
		r.stmt = nil
	}
	return err
}
