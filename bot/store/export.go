package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// # Exports
//
// An export is all that a store holds, as lines of JSON (UTF-8):
//
//	{"halfpoint":"export","version":12}                          first
//	{"game":{"id":"g1","rules":"two-button@1", …,"deadline":0}}  for each row
//	{"end":{"person":2, …,"outage":0}}                          last: how many rows of each table
//
// A row is {table: {column: value}} with every column of the table, its texts and
// whole numbers as they are in the database (see migrations). A row comes after the
// rows to which it refers. Export writes tables and columns in the order of the list
// below and rows in the order of their keys, so that equal stores have equal exports.
// Import requires only that rows come after those to which they refer.
//
// When the tables change, exports get a new version, and the list of tables names the
// new columns. For a column that an earlier export lacks, the import uses 0 or an empty
// text, as the migration does.

const (
	exportName    = "export"
	exportVersion = 12
)

// oldestOnPostgres is the oldest version of exports that can be imported into PostgreSQL. Of
// those before, SQLite's migrations have to change rows.
const oldestOnPostgres = 7

// outageMigration moves outages out of bookmarks, and does nothing where there are none.
//
//go:embed migrations/00014_outage.sql
var outageMigration string

// triedMigration brings the column tried and sets it.
//
//go:embed migrations/00016_tried.sql
var triedMigration string

// deletedMigration brings the state of games that were deleted up to date.
//
//go:embed migrations/00017_deleted.sql
var deletedMigration string

// maxLine is the longest line of an export, in bytes.
const maxLine = 16 << 20

// A table describes a table in an export.
type table struct {
	name    string
	key     string // what orders its rows
	since   int    // version of exports
	columns []column
}

type column struct {
	name   string
	number bool // else a text
	since  int  // version of exports
}

// tables lists all tables; those to which others refer come first.
var tables = []table{
	newTable("person", "id", "id platform platform_id name"),
	newTable("preference", "person", "person body"),
	newTable("game", "id", "id rules setup opener invited opened# state black white to_move seq# result changed# clock deadline#", "rated#", "", "", "", "", "", "", "page", "contest round# tbl#", "head"),
	newTable("game_channel", "game, platform, channel", "game platform channel thread number# state"),
	newTable("event", "game, seq", "game seq# at# actor body proof"),
	newTable("due", "game, kind, at", "game kind at# seq#"),
	newTable("inbox", "request", "request at# answer", "", "platform channel"),
	newTable("post", "id", "id game platform channel thread n# kind seq# private# body state due# attempt# receipt why", "", "", "", "", "", "tried#", "person"),
	newTable("room_wait", "platform, channel", "platform channel due#"), // of older databases; nothing reads it
	newTable("room_parked", "platform, channel, thread", "platform channel thread why"),
	newTable("room_setting", "platform, channel", "", "platform channel body"),
	newTable("server", "platform, server", "", "", "platform server body gone#"),
	newTable("server_channel", "platform, channel", "", "", "platform channel server"),
	newTable("holder", "platform, platform_id", "", "", "", "platform platform_id looks secret since#"),
	newTable("bookmark", "adapter", "adapter value"),
	newTable("message", "n", "n# key room at# sender body game seq# kind removed#", "extra", "", "", "", "", "", "person"),
	newTable("decoration", "platform, kind, key", "", "", "", "", "platform kind key n# channel thread game seq# follows target data not_before# not_after# sleeps# attempt#"),
	newTable("outage", "platform, server, started", "", "", "", "", "", "platform server started# ended#"),
	newTable("link", "secret", "", "", "", "", "", "", "", "", "", "secret person platform channel name at#"),
	newTable("record", "slug", "", "", "", "", "", "", "", "", "", "slug platform channel person browser name shared# visited# size# body"),
	newTable("contest", "id", "", "", "", "", "", "", "", "", "", "id page platform channel thread number# title state seq# opened# changed#"),
	newTable("contest_event", "contest, seq", "", "", "", "", "", "", "", "", "", "contest seq# at# actor person body"),
	newTable("contest_person", "person, contest", "", "", "", "", "", "", "", "", "", "person contest"),
	newTable("act", "n", "", "", "", "", "", "", "", "", "", "", "", "n# platform channel server at# person what"),
	newTable("draft", "person, platform, channel", "", "", "", "", "", "", "", "", "", "person platform channel at# text"),
}

// newTable makes a table from the columns that each version of exports added; # follows
// the name of a column of numbers.
func newTable(name, key string, versions ...string) table {
	t := table{name: name, key: key}
	for i, columns := range versions {
		for _, c := range strings.Fields(columns) {
			c, number := strings.CutSuffix(c, "#")
			t.columns = append(t.columns, column{c, number, i + 1})
		}
	}
	t.since = t.columns[0].since
	return t
}

// names returns the names of the columns.
func (t table) names() string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// An exportHead is the first line of an export.
type exportHead struct {
	Halfpoint string `json:"halfpoint"`
	Version   int    `json:"version"`
}

// A BadExport is an error in an export.
type BadExport struct {
	Line int // from 1
	Why  string
}

// Error names the line.
func (e *BadExport) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// ErrNotEmpty means that an import found something in the store.
var ErrNotEmpty = errors.New("database is not empty")

// Export writes everything that the store holds at one moment, without what is stored
// meanwhile. It blocks nothing but other costly reads, and writes of a store in memory. It replaces invalid
// UTF-8 by U+FFFD.
func (s *Store) Export(ctx context.Context, w io.Writer) (err error) {
	defer annotate(&err, "export")
	tx, err := asItIs(ctx, s.costly)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	_, err = export(ctx, tx, w, nil)
	return err
}

// Export writes everything that the database called name holds at one moment. Another
// process may have the database open: Export reads a copy of it, as Backup makes one; on
// PostgreSQL none is needed. See Store.Export.
func Export(ctx context.Context, name string, w io.Writer, progress Progress) (s Summary, err error) {
	defer annotate(&err, "export %s", Redacted(name))
	path, err := existing(name)
	if err != nil {
		return s, err
	}
	db, release, err := asStored(ctx, path, progress)
	if err != nil {
		return s, err
	}
	defer release()
	return export(ctx, db, w, progress)
}

// ExportTo is Export to a new file. It is on the disk when ExportTo returns; after an error,
// and if the process dies, there is no file.
func ExportTo(ctx context.Context, name, target string, progress Progress) (s Summary, err error) {
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		return s, fmt.Errorf("export to %s: is a directory; name a new file in it", target)
	}
	p, err := Create(target)
	if err != nil {
		return s, fmt.Errorf("export to %s: %w", target, err)
	}
	defer p.Discard()
	if s, err = Export(ctx, name, p, progress); err != nil {
		return s, err
	}
	s.File = target
	if err := p.Publish(); err != nil {
		return s, fmt.Errorf("export to %s: %w", target, err)
	}
	return s, nil
}

// export writes a database that nobody changes meanwhile.
func export(ctx context.Context, db reader, w io.Writer, progress Progress) (s Summary, err error) {
	out := &exporter{w: bufio.NewWriter(w), progress: progress}
	out.enc = json.NewEncoder(&out.line)
	out.enc.SetEscapeHTML(false)
	if progress != nil {
		for _, t := range tables {
			var n int
			if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.name).Scan(&n); err != nil {
				return s, fmt.Errorf("%s: %w", t.name, err)
			}
			out.all += n
		}
	}
	if err := s.count(ctx, db); err != nil {
		return s, err
	}
	if err := out.write(exportHead{exportName, exportVersion}); err != nil {
		return s, err
	}
	end := row{}
	for _, t := range tables {
		n, err := out.table(ctx, db, t)
		if err != nil {
			return s, fmt.Errorf("%s: %w", t.name, err)
		}
		end = append(end, field{t.name, n})
	}
	if err := out.write(row{{"end", end}}); err != nil {
		return s, err
	}
	s.Version, s.Bytes = exportVersion, out.bytes
	return s, diskFull(out.w.Flush())
}

// An exporter writes an export.
type exporter struct {
	w         *bufio.Writer
	line      bytes.Buffer
	enc       *json.Encoder // into line
	bytes     int64
	rows, all int
	progress  Progress
}

// write writes a line.
func (e *exporter) write(v any) error {
	e.line.Reset()
	if err := e.enc.Encode(v); err != nil {
		return err
	}
	if e.line.Len() > maxLine {
		return fmt.Errorf("a row is longer than %d bytes", maxLine)
	}
	n, err := e.w.Write(e.line.Bytes())
	e.bytes += int64(n)
	return diskFull(err)
}

// table writes the rows of a table and returns their number.
func (e *exporter) table(ctx context.Context, db querier, t table) (n int, err error) {
	rows, err := db.QueryContext(ctx, "SELECT "+t.names()+" FROM "+t.name+" ORDER BY "+t.key)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values := make([]any, len(t.columns))
	fields := make(row, len(t.columns))
	for i, c := range t.columns {
		if values[i] = new(string); c.number {
			values[i] = new(int64)
		}
		fields[i] = field{c.name, values[i]}
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(values...); err != nil {
			return n, err
		}
		for _, v := range values {
			if text, ok := v.(*string); ok {
				*text = strings.ToValidUTF8(*text, "\ufffd")
			}
		}
		if err := e.write(row{{t.name, fields}}); err != nil {
			return n, err
		}
		if e.rows++; e.rows%1000 == 1 {
			e.progress.at("exporting", e.rows, e.all)
			passed("rows")
		}
	}
	return n, rows.Err()
}

// A row is a JSON object whose fields are in order.
type row []field

type field struct {
	name  string
	value any
}

// MarshalJSON writes the fields in order.
func (r row) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, f := range r {
		b.WriteByte("{,"[min(i, 1)])
		if err := enc.Encode(f.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(f.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Import fills an empty store with an export. After an error, which may be a *BadExport,
// the store is still empty. Until r ends, nothing else is stored.
func (s *Store) Import(ctx context.Context, r io.Reader) (err error) {
	err = s.once(ctx, func(kept context.Context, tx transaction) error {
		for _, t := range tables {
			_, err := single[int](kept, tx, "SELECT 1 FROM "+t.name+" LIMIT 1")
			if err == nil {
				return ErrNotEmpty
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		oldest, together := 1, 1
		if s.address != "" {
			oldest, together = oldestOnPostgres, rowsTogether
		}
		return importAll(kept, tx, r, oldest, together, ctx.Err)
	})
	if bad := (*BadExport)(nil); !errors.As(err, &bad) { // which names the line itself
		annotate(&err, "import")
	}
	return err
}

// Import makes a database called name from an export. Nothing may be there yet but, on
// PostgreSQL, an empty database; if the
// write-ahead log of a deleted database is, Import keeps it under another name, and returns
// that without its "-wal". The database is complete and on the disk when Import returns. Import
// believes nothing in it: it proves every game, as Check does, and imports damaged ones too, since the
// bot refuses turns in these alone. After an error, which may be a *BadExport, and if the process dies, there is none.
func Import(ctx context.Context, name string, r io.Reader, now time.Time, progress Progress) (s Summary, kept string, err error) {
	defer func() {
		if bad := (*BadExport)(nil); !errors.As(err, &bad) && !errors.Is(err, ErrInUse) {
			annotate(&err, "import into %s", Redacted(name))
		}
	}()
	if IsPostgres(name) {
		s, err = importPostgres(ctx, name, r, progress)
		return s, "", err
	}
	path, release, err := alone(name)
	if err != nil {
		return s, "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	if _, err := os.Lstat(path); err == nil {
		return s, "", errors.New("file already exists; name a new database")
	}
	p, err := Create(path)
	if err != nil {
		return s, "", err
	}
	defer p.Discard() // if it has not been renamed
	if err := p.fill(ctx, r, progress, &s); err != nil {
		return s, "", diskFull(err)
	}
	s.File = name
	kept, err = p.replace(path, now)
	return s, kept, err
}

// fill makes a database from an export in the part.
func (p *Part) fill(ctx context.Context, r io.Reader, progress Progress, s *Summary) error {
	// If this fails, nobody needs what the file was before.
	fast := url.Values{"mode": {"rw"}, "_pragma": slices.Concat(settings["_pragma"], []string{"journal_mode(OFF)", "synchronous(OFF)"})}
	db, err := connect(fileAddress(p.Name(), fast), 1)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := migrate(ctx, db); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := importAll(ctx, simple{tx}, r, 1, 1, ctx.Err); err != nil {
		return err
	}
	if err := errors.Join(tx.Commit(), db.Close()); err != nil {
		return err
	}
	return settle(ctx, p.Name(), progress, s, func(db *sql.DB) (err error) {
		if s.Damage, err = damage(ctx, db, progress); err != nil {
			return err
		}
		return setMark(ctx, db, replacing)
	})
}

// rowsTogether and bytesTogether are how many rows an import stores by one statement at most, and from
// how many bytes of them on no more are added, where each statement is a round trip.
const (
	rowsTogether  = 500
	bytesTogether = 1 << 20
)

// importAll fills empty tables with an export of at least the oldest version, so many rows together,
// unless stop returns an error meanwhile.
func importAll(ctx context.Context, tx transaction, r io.Reader, oldest, together int, stop func() error) error {
	in := &importer{tx: tx, oldest: oldest, together: together, lines: bufio.NewScanner(r), rows: map[string]int{}}
	in.lines.Buffer(nil, maxLine+1)
	for {
		done, err := in.next(ctx)
		if done || err != nil {
			if earlier := in.flush(ctx); earlier != nil {
				return earlier
			}
		}
		if done && err == nil && in.version < 4 { // as the migration that brought holders does
			_, err = tx.ExecContext(ctx, `INSERT INTO holder (platform, platform_id, looks, secret, since)
				SELECT platform, platform_id, '', '', 0 FROM person WHERE platform = 'web' AND platform_id LIKE 'name:%'`)
		}
		if done && err == nil && in.version < 6 {
			_, err = tx.ExecContext(ctx, outageMigration)
		}
		if done && err == nil && in.version < 7 {
			_, set, _ := strings.Cut(triedMigration, ";")
			_, err = tx.ExecContext(ctx, set+deletedMigration)
		}
		if done && err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE counter SET n = (SELECT COALESCE(MAX(n), 0) FROM message) WHERE name = 'message'")
		}
		if done || err != nil {
			return err
		}
		if err := stop(); err != nil {
			return err
		}
		if in.line%1000 == 1 {
			passed("rows")
		}
	}
}

// An importer reads an export.
type importer struct {
	tx      transaction
	lines   *bufio.Scanner
	line    int
	version int
	oldest  int            // version
	rows    map[string]int // how many of each table

	together int    // how many rows are stored by one statement at most
	pending  []aRow // rows of one table that are to be stored
	bytes    int    // of them
}

// aRow is a row that is to be stored.
type aRow struct {
	table  table
	line   int
	values []any
}

// bad returns the error for this line. Formats shorten what they quote from it.
func (in *importer) bad(format string, args ...any) error {
	return &BadExport{in.line, fmt.Sprintf(format, args...)}
}

// next imports the next line and reports whether it was the last.
func (in *importer) next(ctx context.Context) (done bool, err error) {
	in.line++
	more := in.lines.Scan()
	switch err := in.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return false, in.bad("it is longer than %d bytes", maxLine)
	case err != nil: // this line may be half of one
		return false, err
	case !more && in.line == 1:
		return false, in.bad("this is not an export of halfpoint")
	case !more:
		return false, in.bad("the end is missing")
	}
	line := in.lines.Bytes()
	if in.line == 1 {
		return false, in.head(line)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil && !json.Valid(line) {
		return false, in.bad("it is not JSON: %v", err)
	}
	if len(object) != 1 {
		return false, in.bad("it should be one row")
	}
	for name, content := range object {
		if name == "end" {
			return true, in.end(content)
		}
		i := slices.IndexFunc(tables, func(t table) bool { return t.name == name && t.since <= in.version })
		if i < 0 {
			return false, in.bad("there is no table %.40q", name)
		}
		err = in.row(ctx, tables[i], content)
	}
	return false, err
}

// head reads the first line.
func (in *importer) head(line []byte) error {
	var head exportHead
	if err := json.Unmarshal(line, &head); err != nil || head.Halfpoint != exportName || head.Version < 1 {
		return in.bad("this is not an export of halfpoint")
	}
	if head.Version > exportVersion {
		return in.bad("%v: version %d, this program reads %d", ErrNewer, head.Version, exportVersion)
	}
	if head.Version < in.oldest {
		return in.bad("version %d is too old for PostgreSQL: import it into a new file, and then the export of that into PostgreSQL", head.Version)
	}
	in.version = head.Version
	return nil
}

// row reads a row, and stores it or lets it wait for others.
func (in *importer) row(ctx context.Context, t table, content []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return in.bad("%s must be an object", t.name)
	}
	var values []any
	for _, c := range t.columns {
		if c.since > in.version {
			values = append(values, c.empty())
			continue
		}
		content, ok := fields[c.name]
		if !ok {
			return in.bad("%s lacks %s", t.name, c.name)
		}
		delete(fields, c.name)
		value, err := c.read(content)
		if err != nil {
			return in.bad("%s of %s: %v", c.name, t.name, err)
		}
		values = append(values, value)
	}
	if len(fields) > 0 {
		return in.bad("%s has no %.40q", t.name, slices.Sorted(maps.Keys(fields))[0])
	}
	if len(in.pending) > 0 && in.pending[0].table.name != t.name {
		if err := in.flush(ctx); err != nil {
			return err
		}
	}
	in.rows[t.name]++
	in.pending, in.bytes = append(in.pending, aRow{t, in.line, values}), in.bytes+len(content)
	if len(in.pending) < in.together && in.bytes < bytesTogether {
		return nil
	}
	return in.flush(ctx)
}

// flush stores the pending rows.
func (in *importer) flush(ctx context.Context) error {
	rows := in.pending
	in.pending, in.bytes = nil, 0
	if len(rows) > 1 {
		if stored, err := in.storeTogether(ctx, rows); stored || err != nil {
			return err
		}
	}
	for _, r := range rows {
		if err := in.store(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// inserting returns the statement that inserts some rows of a table, but for those that are there.
func inserting(t table, rows int) string {
	values := make([]string, rows)
	for i := range values {
		values[i] = "(" + placeholders(1+i*len(t.columns), len(t.columns)) + ")"
	}
	return "INSERT INTO " + t.name + " (" + t.names() + ") VALUES " + strings.Join(values, ", ") + " ON CONFLICT DO NOTHING"
}

// storeTogether stores rows of a table by one statement. If that fails, it stores none and reports
// false: stored one after the other they show which of them is bad.
func (in *importer) storeTogether(ctx context.Context, rows []aRow) (stored bool, err error) {
	if _, err := in.tx.ExecContext(ctx, "SAVEPOINT rows_together"); err != nil {
		return false, err
	}
	var values []any
	for _, r := range rows {
		values = append(values, r.values...)
	}
	result, err := in.tx.ExecContext(ctx, inserting(rows[0].table, len(rows)), values...)
	if err == nil {
		n, err := result.RowsAffected()
		if err != nil {
			return false, err
		}
		stored = int(n) == len(rows)
	}
	end := "ROLLBACK TO rows_together"
	if stored {
		end = "RELEASE rows_together"
	}
	_, err = in.tx.ExecContext(ctx, end)
	return stored, err
}

// store stores a row.
func (in *importer) store(ctx context.Context, r aRow) error {
	err := put(ctx, in.tx, r.table.name, inserting(r.table, 1), r.values...)
	switch {
	case errors.Is(err, bot.ErrConflict):
		return &BadExport{r.line, fmt.Sprintf("this %s was there before", r.table.name)}
	case violates(err):
		return &BadExport{r.line, fmt.Sprintf("what this %s refers to is not there", r.table.name)}
	case err != nil:
		return fmt.Errorf("line %d: %w", r.line, err)
	}
	return nil
}

// empty returns the value of the column in rows from before the column existed.
func (c column) empty() any {
	if c.number {
		return 0
	}
	return ""
}

// read reads a value of the column.
func (c column) read(content []byte) (any, error) {
	if c.number {
		n, err := strconv.ParseInt(string(content), 10, 64)
		if err != nil {
			return nil, errors.New("must be a whole number")
		}
		return n, nil
	}
	var text *string
	if err := json.Unmarshal(content, &text); err != nil || text == nil {
		return nil, errors.New("must be a text")
	}
	return *text, nil
}

// end reads the last line and checks that the number of rows is right.
func (in *importer) end(content []byte) error {
	var want map[string]int
	if err := json.Unmarshal(content, &want); err != nil {
		return in.bad("the counts must be whole numbers")
	}
	for _, t := range tables {
		if t.since > in.version {
			continue
		}
		if n, ok := want[t.name]; !ok || n != in.rows[t.name] {
			return in.bad("it counts %d rows of %s, and there are %d", n, t.name, in.rows[t.name])
		}
		delete(want, t.name)
	}
	if len(want) > 0 {
		return in.bad("it counts tables that are not there")
	}
	if in.line++; in.lines.Scan() {
		return in.bad("something follows the end")
	}
	return in.lines.Err()
}
