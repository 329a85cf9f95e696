package store

import (
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

// pgAnswer is how long the store waits for PostgreSQL: to connect, for the lock of another
// process, and for each answer. People wait that long for theirs. Costly work may take longer.
var pgAnswer = 5 * time.Second

const (
	pgCostly  = time.Minute
	pgPatient = time.Hour // what a command does while nobody waits for the bot
)

// A process that has the lock says every pgBeat that it lives. A spare takes the lock away from
// one that has not for pgDead, because its machine has stopped it, for example. The spare
// measures that with its own clock.
var (
	pgBeat = 5 * time.Second
	pgDead = 20 * time.Second
)

// pgAgain is how long a spare waits between two tries, besides the time that it waits for the lock.
const pgAgain = time.Second

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

// openPostgres opens a database on PostgreSQL. One process at a time writes to it: the
// connection that writes holds a lock, which PostgreSQL releases with it.
func openPostgres(ctx context.Context, address string) (_ *Store, err error) {
	s, newest := &Store{address: address}, &timeline{}
	s.newest = newest
	defer func() {
		if err == nil {
			return
		}
		var refused *pgconn.ConnectError
		switch {
		case errors.Is(err, ErrInUse):
			err = fmt.Errorf("%w %s", ErrInUse, Redacted(address))
		case errors.As(err, &refused): // has a line for each host
			err = fmt.Errorf("open %s: %s", Redacted(address), strings.Join(strings.Fields(refused.Error()), " "))
		default:
			err = fmt.Errorf("open %s: %w", Redacted(address), err)
		}
		err = errors.Join(err, s.Close())
	}()
	patient, err := pgPool{answer: pgPatient, conns: 1, writes: true, newest: newest}.open(address)
	if err != nil {
		return nil, err
	}
	defer patient.Close()
	if err := suitable(ctx, patient); err != nil {
		return nil, err
	}
	current, err := inspect(ctx, patient)
	if err == nil && !current {
		err = migrate(ctx, patient)
	}
	if err != nil {
		return nil, err
	}
	if err := patient.Close(); err != nil { // before the next takes the lock
		return nil, err
	}
	if s.write, err = (pgPool{answer: pgAnswer, conns: 1, writes: true, newest: newest}).open(address); err != nil {
		return nil, err
	}
	if err := s.write.PingContext(ctx); err != nil {
		return nil, err
	}
	if s.read, err = (pgPool{answer: pgAnswer, conns: readers, newest: newest}).open(address); err != nil {
		return nil, err
	}
	if s.costly, err = (pgPool{answer: pgCostly, conns: 1, newest: newest}).open(address); err != nil {
		return nil, err
	}
	for _, db := range []*sql.DB{s.read, s.costly} { // there must be as many connections as that
		if err := db.PingContext(ctx); err != nil {
			return nil, err
		}
	}
	s.committer = startCommitter(s.write, func() error { return nil })
	s.beat = s.startBeat()
	return s, nil
}

// startBeat says every pgBeat that this process lives, until the function that it returns is
// called. If another process has the lock, whoever watches the commits is told.
func (s *Store) startBeat() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var beating sync.WaitGroup
	beating.Go(func() {
		every := time.NewTicker(pgBeat)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				err := s.write.PingContext(ctx)
				if watch := s.committer.watch.Load(); watch != nil && errors.Is(err, ErrInUse) {
					(*watch)(0, 0, err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); beating.Wait() }
}

// OpenWhenFree is Open, but while another process has the database on PostgreSQL it waits, and
// takes over when that one ends, is cut off, or does not move any more. It calls waits with the
// error of each try; not all of these are ErrInUse.
func OpenWhenFree(ctx context.Context, address string, waits func(error)) (*Store, error) {
	var other sign
	for spare := false; ; {
		s, err := Open(ctx, address)
		spare = spare || errors.Is(err, ErrInUse)
		if !spare || err == nil || errors.Is(err, ErrNewer) || errors.Is(err, ErrUnreadable) {
			return s, err
		}
		waits(err)
		if errors.Is(err, ErrInUse) {
			other.look(ctx, address) //nolint:errcheck // the next try will tell
		}
		if err := backoff.Sleep(ctx, pgAgain); err != nil {
			return nil, err
		}
	}
}

// A sign is the last sign of life of a process that has the lock.
type sign struct {
	pid  int64
	last string
	seen time.Time // when it was new
}

// look ends the connection of the process that has the lock, if there was no sign for pgDead.
// Whatever it does at the moment PostgreSQL finishes first.
func (s *sign) look(ctx context.Context, address string) error {
	db, err := pgPool{answer: pgAnswer, conns: 1}.open(address)
	if err != nil {
		return err
	}
	defer db.Close()
	is := sign{seen: time.Now()}
	err = db.QueryRowContext(ctx, `SELECT pid, CAST(backend_start AS TEXT) || CAST(state_change AS TEXT) || CASE state WHEN 'active' THEN CAST(clock_timestamp() AS TEXT) ELSE '' END
		FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted
			AND classid = CAST($1 AS BIGINT) AND objid = CAST(hashtext(current_schema()) AS BIGINT) & 4294967295
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lockClass).Scan(&is.pid, &is.last)
	if err != nil {
		return err
	}
	if is.pid != s.pid || is.last != s.last {
		*s = is
		return nil
	}
	if time.Since(s.seen) < pgDead {
		return nil
	}
	_, err = db.ExecContext(ctx, "SELECT pg_terminate_backend($1)", s.pid)
	return err
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
	err = s.read.QueryRowContext(ctx, "SELECT current_setting('synchronous_standby_names') = '' OR current_setting('synchronous_commit') = 'local'").Scan(&lossy)
	return lossy, err
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

// lockPostgres makes a connection the only one of its kind in its database and schema. A
// process that was killed a moment ago may still have the lock, so it waits a little.
func lockPostgres(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, "SELECT pg_advisory_lock($1, hashtext(current_schema()))", int32(lockClass))
	if code(err) == "55P03" { // it took longer than lock_timeout
		return ErrInUse
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
	writes  bool          // each has the lock; see lockPostgres
	standby bool          // it may be a standby's, which can only be read and may lag behind
	newest  *timeline     // of the servers to which a store has connected; may be nil
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
	if p.writes {
		begin = lockPostgres
	}
	db := sql.OpenDB(postgresConnector{stdlib.GetConnector(*config), begin})
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
	_, err = conn.Conn.Conn().Exec(ctx, sessionSettings, fmt.Sprint(pgAnswer.Milliseconds()*4/5)) // its answer comes before we give up
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
