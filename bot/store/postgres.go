package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// This file holds everything that is specific to PostgreSQL.

//go:embed migrations/postgres/*.sql
var startOnPostgres embed.FS

// startVersion is the version of the tables with which PostgreSQL begins. All later
// migrations are those of SQLite.
const startVersion = 25

// oldestPostgres is the oldest version that is still maintained, as PostgreSQL counts.
const oldestPostgres = 14_00_00

// pgAnswer is how long the store waits for PostgreSQL: to connect, for a free connection, and
// for each answer. People wait that long for theirs. Costly work may take longer.
var pgAnswer = 5 * time.Second

const (
	pgCostly  = time.Minute
	pgPatient = time.Hour // what a command does while nobody waits for the bot
)

// A change waits pgLock for others that are in its way, and is tried again, in vain at most so
// many times and no longer than pgAnswer.
var (
	pgLock  = 2 * time.Second
	pgTries = 20
)

// writers is how many changes a process makes at a time on PostgreSQL. Most of their time they
// wait for its disk.
const writers = 8

// connections is how many connections a process has at most: besides those of the store and of
// Matrix, one for the units and one for hints.
const connections = writers + readers + 1 + adapterConns + 2

// almostPostgres returns an error if the name of a database was meant for one on PostgreSQL. The
// error does not show the name, which may hold a password.
func almostPostgres(name string) error {
	for _, like := range []string{"postgres:", "postgresql:", "postgres=", "host=", "dbname="} {
		if strings.HasPrefix(strings.ToLower(name), like) {
			return errors.New("the address of a PostgreSQL is like postgres://halfpoint@db.example.org/halfpoint, and the name of a file must not begin like that")
		}
	}
	return nil
}

// IsPostgres reports whether the name of a database is the address of one on PostgreSQL.
func IsPostgres(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// Redacted returns the name of a database without a password, for people to read.
func Redacted(name string) string {
	if !IsPostgres(name) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		return "postgres://…"
	}
	if q := u.Query(); q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// openPostgres opens a database on PostgreSQL. Other processes may write there, too.
func openPostgres(ctx context.Context, address string) (_ *Store, err error) {
	s, newest := &Store{address: address, hints: make(chan struct{}, 1)}, &timeline{}
	s.newest = newest
	defer func() {
		if err == nil {
			return
		}
		var refused *pgconn.ConnectError
		if errors.As(err, &refused) { // has a line for each host
			err = fmt.Errorf("open %s: %s", Redacted(address), strings.Join(strings.Fields(refused.Error()), " "))
			if code(refused) == "53300" {
				err = fmt.Errorf("%w; each halfpoint keeps up to %d connections open", err, connections)
			}
		} else {
			err = fmt.Errorf("open %s: %w", Redacted(address), err)
		}
		err = errors.Join(err, s.Close())
	}()
	if err := bringUp(ctx, address, newest); err != nil {
		return nil, err
	}
	for _, pool := range []struct {
		db     **sql.DB
		conns  int
		answer time.Duration
	}{{&s.write, writers, pgAnswer}, {&s.read.DB, readers, pgAnswer}, {&s.costly, 1, pgCostly}} {
		if *pool.db, err = (pgPool{answer: pool.answer, conns: pool.conns, newest: newest}).open(address); err != nil {
			return nil, err
		}
		if err := (*pool.db).PingContext(ctx); err != nil { // there must be as many connections as that
			return nil, err
		}
	}
	s.read.patience = pgAnswer
	s.changes = &transactor{db: s.write, watcher: &s.watcher}
	return s, nil
}

// bringUp brings the tables of a database up to date. Of several processes one does it, and the
// others wait for that.
func bringUp(ctx context.Context, address string, newest *timeline) error {
	pool := pgPool{answer: pgPatient, conns: 1, newest: newest}
	look, err := pool.open(address)
	if err != nil {
		return err
	}
	defer look.Close()
	if err := suitable(ctx, look); err != nil {
		return err
	}
	if ready, err := serves(ctx, look); ready || err != nil {
		return err
	}
	if err := look.Close(); err != nil { // a role may have few connections
		return err
	}
	pool.alone = true
	alone, err := pool.open(address)
	if err != nil {
		return err
	}
	defer alone.Close()
	if ready, err := serves(ctx, alone); ready || err != nil { // another process was first
		return err
	}
	for {
		err := migrate(ctx, alone)
		if c := code(err); c != "55P03" && c != "40P01" {
			return err
		}
		if err := backoff.Sleep(ctx, pgLock); err != nil { // others go on meanwhile
			return err
		}
	}
}

// serves reports whether the tables can serve this program as they are. Those of a newer version
// say which older programs they serve; see CONTRIBUTING.md.
func serves(ctx context.Context, db *sql.DB) (ready bool, err error) {
	current, newer := inspect(ctx, db)
	if !errors.Is(newer, ErrNewer) {
		return current, newer
	}
	known, err := newestMigration()
	if err != nil {
		return false, err
	}
	var oldest int64
	if err := db.QueryRowContext(ctx, "SELECT n FROM counter WHERE name = 'oldest'").Scan(&oldest); err != nil {
		return false, fmt.Errorf("look which programs the tables serve: %w", err)
	}
	if oldest > known {
		return false, newer
	}
	return true, nil
}

// Newer reports whether the tables, on PostgreSQL, are of a newer halfpoint, beside which this one
// can work.
func (s *Store) Newer(ctx context.Context) (newer bool, err error) {
	if s.address == "" {
		return false, nil
	}
	_, err = inspect(ctx, s.read.DB)
	if errors.Is(err, ErrNewer) {
		return true, nil
	}
	return false, err
}

// A transactor makes each change in a transaction of its own, many at a time. Other processes do
// the same: a change that was in the way of another one is made again.
//
// All changes lock rows in the same order, as far as that is possible: the people whom they name,
// the request, the game or event, what belongs to it, and the counter of messages last.
type transactor struct {
	db      *sql.DB
	watcher *watcher
	mu      sync.RWMutex // changes under way hold it for reading
	closed  bool
}

// change makes a change; once it has begun it does not end with ctx.
func (t *transactor) change(ctx context.Context, write func(context.Context, transaction) error) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return errClosed
	}
	began := time.Now()
	for tries := 1; ; tries++ {
		again, err := t.try(ctx, write)
		if again && tries < pgTries && time.Since(began) < pgAnswer {
			continue
		}
		t.watcher.tell(1, began, failure([]error{err}))
		return err
	}
}

// try makes a change once. If it failed, nothing of it was stored and it may succeed another time,
// try reports again.
func (t *transactor) try(ctx context.Context, write func(context.Context, transaction) error) (again bool, err error) {
	wait, cancel := context.WithTimeout(ctx, pgAnswer)
	defer cancel()
	c, err := t.db.Conn(wait)
	if err != nil {
		return false, err
	}
	defer c.Close()
	ctx = context.WithoutCancel(ctx)
	tx := &piped{conn: c}
	defer tx.rollback(ctx)
	if err = write(ctx, tx); err == nil && len(tx.queue) > 0 {
		err = tx.ready(ctx)
	}
	if err = cmp.Or(tx.failed, err); err != nil {
		return repeatable(err) || !refused(err) && drop(c, err), err
	}
	err = tx.commit(ctx)
	return repeatable(err), err
}

// Each statement of a transaction sees what others have done.
const (
	beginning = "BEGIN ISOLATION LEVEL READ COMMITTED"
	ending    = "COMMIT"
)

// piped is a transaction that sends in one message what need not wait for an answer. It begins with
// its first statement.
type piped struct {
	conn   *sql.Conn
	begun  bool
	queue  []write
	failed error // of a write that was queued; nothing else happens then
}

func (t *piped) later(_ context.Context, w write) error {
	t.queue = append(t.queue, w)
	return t.failed
}

func (t *piped) now(ctx context.Context, w write) error {
	if t.failed != nil {
		return t.failed
	}
	return t.send(ctx, w)
}

// ready sends what is queued, or begins the transaction.
func (t *piped) ready(ctx context.Context) error {
	if t.failed == nil && (!t.begun || len(t.queue) > 0) {
		t.send(ctx) //nolint:errcheck // failed has it
	}
	return t.failed
}

func (t *piped) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	return t.conn.ExecContext(ctx, query, args...)
}

func (t *piped) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := t.ready(ctx); err != nil {
		return nil, err
	}
	return t.conn.QueryContext(ctx, query, args...)
}

// send sends what is queued and then last, and returns the first error.
func (t *piped) send(ctx context.Context, last ...write) error {
	all := t.queue
	if !t.begun {
		all = append([]write{{query: beginning}}, all...)
	}
	queued := len(all)
	t.begun, t.queue = true, nil
	ran, err := t.run(ctx, append(all, last...))
	if err != nil && ran < queued {
		t.failed = err
	}
	return err
}

// run sends writes in one message. It returns how many ran before the first that failed, and its
// error.
func (t *piped) run(ctx context.Context, all []write) (ran int, err error) {
	err = t.raw(func(conn postgresConn) error {
		var batch pgx.Batch
		for _, w := range all {
			args := make([]any, len(w.args))
			for i, arg := range w.args {
				v := driver.NamedValue{Value: arg}
				if err := conn.CheckNamedValue(&v); err != nil {
					return err
				}
				args[i] = v.Value
			}
			batch.Queue(w.query, args...)
		}
		results := conn.Conn.Conn().SendBatch(ctx, &batch)
		for ; ran < len(all); ran++ {
			if err := result(all[ran], results); err != nil {
				results.Close() //nolint:errcheck // what comes after an error is of no interest
				return err
			}
		}
		return results.Close()
	})
	return ran, err
}

// raw calls f with the connection and returns its error.
func (t *piped) raw(f func(postgresConn) error) (err error) {
	unusable := t.conn.Raw(func(c any) error {
		err = f(c.(postgresConn))
		return nil
	})
	return cmp.Or(err, unusable)
}

// result returns the error of the write whose result is the next.
func result(w write, results pgx.BatchResults) error {
	if w.row != nil {
		err := results.QueryRow().Scan(w.row...)
		if errors.Is(err, pgx.ErrNoRows) {
			return w.outcome(0, nil)
		}
		return w.outcome(1, err)
	}
	tag, err := results.Exec()
	return w.outcome(tag.RowsAffected(), err)
}

// commit ends the transaction, if it has begun and nothing is queued. After an error it may have
// been stored.
func (t *piped) commit(ctx context.Context) error {
	if !t.begun {
		return nil
	}
	return t.raw(func(conn postgresConn) error {
		tag, err := conn.Conn.Conn().Exec(ctx, ending)
		if err == nil && tag.String() != ending {
			err = pgx.ErrTxCommitRollback
		}
		return err
	})
}

// rollback ends the transaction if it has not ended. If that fails, the connection is not used again.
func (t *piped) rollback(ctx context.Context) {
	t.raw(func(conn postgresConn) error { //nolint:errcheck // as above
		c := conn.Conn.Conn()
		if c.IsClosed() || c.PgConn().TxStatus() == 'I' {
			return nil
		}
		_, err := c.Exec(ctx, "ROLLBACK")
		return err
	})
}

// repeatable reports whether an error says that a change was rolled back because of another
// one. What had no row before (23505) may have one now.
func repeatable(err error) bool {
	switch code(err) {
	case "40001", "40P01", "55P03", "23505":
		return true
	}
	return false
}

// drop drops the connection if an error means that it is, or should be, of no more use: the server
// is going down, or takes no more changes. It reports whether it did.
func drop(c *sql.Conn, err error) (dropped bool) {
	gone := c.Raw(func(conn any) error {
		switch code(err) {
		case "25006", "57P01", "57P02", "57P03":
			dropped = true
		default:
			dropped = conn.(postgresConn).Conn.Conn().IsClosed()
		}
		if dropped {
			return driver.ErrBadConn
		}
		return nil
	})
	return dropped || errors.Is(gone, sql.ErrConnDone) // a statement may have dropped it
}

func (t *transactor) reach(ctx context.Context) error {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return errClosed
	}
	return t.db.PingContext(ctx)
}

func (t *transactor) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// Lossy reports whether PostgreSQL, by the address, has standbys, and does not wait for any: one
// that is promoted could lack what was answered.
func (s *Store) Lossy(ctx context.Context) (lossy bool, err error) {
	defer annotate(&err, "look for the standbys of PostgreSQL")
	if s.address == "" {
		return false, nil
	}
	config, err := pgx.ParseConfig(s.address)
	if err != nil {
		return false, err
	}
	several := slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != config.Host || f.Port != config.Port })
	if !several {
		return false, nil
	}
	return single[bool](ctx, s.read, "SELECT current_setting('synchronous_standby_names') = '' OR current_setting('synchronous_commit') = 'local'")
}

// suitable returns an error if the server or the database cannot hold our tables.
func suitable(ctx context.Context, db *sql.DB) error {
	var version int
	var shown, encoding, schema string
	err := db.QueryRowContext(ctx, `SELECT CAST(current_setting('server_version_num') AS BIGINT), current_setting('server_version'),
		current_setting('server_encoding'), COALESCE(current_schema(), '')`).Scan(&version, &shown, &encoding, &schema)
	switch {
	case err != nil:
		return err
	case version < oldestPostgres:
		return fmt.Errorf("PostgreSQL %s is too old; use %d or later", shown, oldestPostgres/10000)
	case encoding != "UTF8":
		return fmt.Errorf("the encoding of the database is %s; make one with ENCODING 'UTF8'", encoding)
	case schema == "":
		return errors.New("the search_path names no schema that exists")
	}
	return nil
}

// lockClass distinguishes our locks from those of other programs.
const lockClass = 0x68616c66

// lockPostgres makes a connection the only one of its kind in its database and schema. It waits
// until it is. Then it waits for tables so briefly that those who wait behind it, as everybody does
// who would read one that is to be changed, do not give up.
func lockPostgres(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, "SELECT set_config('lock_timeout', '0', false)")
	passed("lock")
	if err == nil {
		_, err = c.Exec(ctx, "SELECT pg_advisory_lock($1, hashtext(current_schema()))", int32(lockClass))
	}
	if err == nil {
		_, err = c.Exec(ctx, "SELECT set_config('lock_timeout', $1, false)", fmt.Sprint((pgLock / 4).Milliseconds()))
	}
	return err
}

// readPostgres returns what a database on PostgreSQL holds at one moment, until release.
func readPostgres(ctx context.Context, address string) (_ reader, release func(), err error) {
	db, err := pgPool{answer: pgPatient, conns: 1, standby: true}.open(address)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	tables, current, err := inspected(ctx, db)
	switch {
	case err != nil:
		return nil, nil, err
	case tables == 0:
		return nil, nil, errors.New("is a database without tables")
	case !current:
		return nil, nil, errors.New("its tables are of an earlier version; halfpoint brings them up to date when it starts")
	}
	tx, err := asItIs(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	return tx, func() {
		tx.Rollback() //nolint:errcheck // it has changed nothing
		db.Close()    //nolint:errcheck // nor was anything written
	}, nil
}

// importPostgres is Import into an empty database on PostgreSQL.
func importPostgres(ctx context.Context, address string, r io.Reader, progress Progress) (s Summary, err error) {
	st, err := openPostgres(ctx, address)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if err := st.Import(ctx, r); err != nil {
		return s, err
	}
	s.File = Redacted(address)
	if s.Version, err = newestMigration(); err != nil {
		return s, err
	}
	if s.Damage, err = damage(ctx, st.costly, progress); err != nil {
		return s, err
	}
	return s, s.count(ctx, st.costly)
}

// once makes a change that takes long and cannot be made again, and during which nobody else
// changes anything.
func (s *Store) once(ctx context.Context, write func(context.Context, transaction) error) error {
	if s.address == "" {
		return s.change(ctx, write)
	}
	db, err := pgPool{answer: pgPatient, conns: 1, newest: s.newest}.open(s.address)
	if err != nil {
		return err
	}
	defer db.Close()
	begun, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer begun.Rollback() //nolint:errcheck // if it was not committed
	tx := simple{begun}
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	for _, statement := range []string{"SET LOCAL idle_in_transaction_session_timeout = 0", "LOCK TABLE " + strings.Join(names, ", ") + " IN EXCLUSIVE MODE"} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if err := write(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// code returns the SQLSTATE of an error of PostgreSQL, empty for others.
func code(err error) string {
	if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// A pgPool says what a pool of connections is for.
type pgPool struct {
	answer  time.Duration // how long each connection waits for an answer
	conns   int           // at most so many
	alone   bool          // each has the lock; see lockPostgres
	standby bool          // it may be a standby's, which can only be read and may lag behind
	newest  *timeline     // of the servers to which a store has connected; may be nil

	lease Lease // on a unit, without which nothing can be changed; nil: everything can
	unit  string
}

// A timeline is a number that PostgreSQL raises when a standby is promoted. A primary with a
// lower one is an old primary that somebody has started again: it lacks what has happened since.
type timeline struct{ atomic.Int64 }

// open opens the pool. It connects when it is used.
func (p pgPool) open(address string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = pgAnswer
	}
	if !p.standby {
		config.ValidateConnect = p.primary
	}
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3}}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return impatient{c, p.answer}, nil
	}
	begin := func(context.Context, *pgx.Conn) error { return nil }
	if p.alone {
		begin = lockPostgres
	}
	var connector driver.Connector = postgresConnector{stdlib.GetConnector(*config), begin}
	if p.lease != nil {
		connector = guardedConnector{connector, p.unit, p.lease}
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(p.conns)
	db.SetMaxIdleConns(p.conns)
	return db, nil
}

// primary returns an error for a server that takes no changes, and for an old primary. Of
// several the next is tried.
func (p pgPool) primary(ctx context.Context, c *pgconn.PgConn) error {
	if pgconn.ValidateConnectTargetSessionAttrsReadWrite(ctx, c) != nil {
		return errors.New("it can only be read, as a standby can; halfpoint needs the primary")
	}
	if p.newest == nil {
		return nil
	}
	// A database that only speaks PostgreSQL's language may not know these functions.
	answer := c.ExecParams(ctx, "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)", nil, nil, nil, nil).Read()
	if answer.Err != nil || len(answer.Rows) != 1 {
		return nil
	}
	is, err := strconv.ParseInt(string(answer.Rows[0][0]), 16, 64)
	if err != nil {
		return nil
	}
	for {
		newest := p.newest.Load()
		switch {
		case is < newest:
			return fmt.Errorf("it is an old primary, of timeline %d; there was a newer one, of %d", is, newest)
		case p.newest.CompareAndSwap(newest, is):
			return nil
		}
	}
}

// An impatient connection waits only so long for an answer: a database that hangs would
// otherwise hold up everybody without a word.
type impatient struct {
	net.Conn
	limit time.Duration
}

// onRoundTrip, unless it is nil, is called for each message to PostgreSQL. Tests count with it.
var onRoundTrip func()

// Write writes a message.
func (c impatient) Write(b []byte) (int, error) {
	if onRoundTrip != nil {
		onRoundTrip()
	}
	return c.Conn.Write(b)
}

// Read reads what has arrived, or waits for it.
func (c impatient) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

type postgresConnector struct {
	driver.Connector
	begin func(context.Context, *pgx.Conn) error
}

// sessionSettings are for every connection. What was answered must be on the disk; a process
// that is stopped in a transaction must not stop others for long; and the server is to notice
// soon that a machine is gone. Times are in milliseconds and, of TCP, in seconds.
const sessionSettings = `SELECT set_config('lock_timeout', $1, false), set_config('idle_in_transaction_session_timeout', '5000', false),
	set_config('synchronous_commit', COALESCE(NULLIF(current_setting('synchronous_commit'), 'off'), 'on'), false),
	set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false),
	set_config('tcp_user_timeout', '20000', false)`

// Connect opens a connection.
func (c postgresConnector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := postgresConn{inner.(*stdlib.Conn)}
	_, err = conn.Conn.Conn().Exec(ctx, sessionSettings, fmt.Sprint(pgLock.Milliseconds()))
	if err == nil {
		err = c.begin(ctx, conn.Conn.Conn())
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

type postgresConn struct{ *stdlib.Conn }

// CheckNamedValue converts an argument. Texts of PostgreSQL are valid UTF-8 without zeros:
// what somebody typed otherwise gets a U+FFFD there.
func (c postgresConn) CheckNamedValue(v *driver.NamedValue) error {
	value, err := driver.DefaultParameterConverter.ConvertValue(v.Value)
	if err != nil {
		return c.Conn.CheckNamedValue(v) // of a type that only the driver knows
	}
	if text, ok := value.(string); ok {
		value = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	}
	v.Value = value
	return nil
}

// onPostgres reports whether a database is one on PostgreSQL.
func onPostgres(db *sql.DB) bool {
	_, ok := db.Driver().(*stdlib.Driver)
	return ok
}

// dialectOf returns in which dialect goose writes for a database, and its migrations.
func dialectOf(db *sql.DB) (goose.Dialect, fs.FS, error) {
	shared, err := fs.Sub(migrations, "migrations")
	if err != nil || !onPostgres(db) {
		return goose.DialectSQLite3, shared, err
	}
	start, err := fs.Sub(startOnPostgres, "migrations/postgres")
	return goose.DialectPostgres, startThen{start, shared}, err
}

// startThen are the migrations on PostgreSQL: the start, and the shared ones after it.
type startThen struct{ start, shared fs.FS }

// Open opens a migration.
func (s startThen) Open(name string) (fs.File, error) {
	if f, err := s.start.Open(name); err == nil {
		return f, nil
	}
	return s.shared.Open(name)
}

// Glob returns the names of migrations.
func (s startThen) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(s.start, pattern)
	if err != nil {
		return nil, err
	}
	shared, err := fs.Glob(s.shared, pattern)
	for _, name := range shared {
		if v, err := goose.NumericComponent(name); err == nil && v > startVersion {
			names = append(names, name)
		}
	}
	return names, err
}
