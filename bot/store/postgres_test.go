//go:build unix

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// opened opens a database on PostgreSQL and closes it at the end of the test.
func opened(t *testing.T, address string) *Store {
	t.Helper()
	s, err := Open(context.WithoutCancel(t.Context()), address)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// PostgreSQL begins with the tables, keys and indexes that SQLite's migrations have made.
func TestStartOnPostgres(t *testing.T) {
	provider, err := migrator(memory(t).write)
	must(t, err)
	newest, err := newestMigration()
	must(t, err)
	if files := provider.ListSources(); files[len(files)-1].Version != newest {
		t.Fatalf("SQLite's tables end with %v", files[len(files)-1])
	}
	plain := strings.NewReplacer("(", "", ")", "", "::text", "", `"substring"`, "substr", "\n", "", "\t", "")
	shape := func(s *Store, columns, keys, indexes string) (all []string) {
		t.Helper()
		for _, query := range []string{columns, keys, indexes} {
			some, err := values[string](t.Context(), s.read, query)
			must(t, err)
			for _, line := range some {
				all = append(all, plain.Replace(line))
			}
		}
		slices.Sort(all)
		return all
	}
	const ours = " NOT IN ('" + versionTable + "', 'sqlite_sequence')"
	want := shape(memory(t), `
		SELECT t.name || ' ' || c.name || ' ' || replace(c.type, 'INTEGER', 'BIGINT') || ' ' || COALESCE(c.dflt_value, '')
		FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name`+ours, `
		SELECT t.name || ' unique ' || (SELECT group_concat(name, ', ') FROM pragma_index_info(i.name))
		FROM sqlite_schema t JOIN pragma_index_list(t.name) i WHERE t.type = 'table' AND i.origin <> 'c' AND t.name`+ours+` UNION
		SELECT t.name || ' unique ' || c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name`+ours+` AND c.pk = 1 AND (SELECT MAX(pk) FROM pragma_table_info(t.name)) = 1 UNION
		SELECT t.name || ' ' || f."from" || ' refers to ' || f."table" || ' ' || f."to" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f`, `
		SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`)
	got := shape(opened(t, pgtest.Start(t).Database(t)), `
		SELECT table_name || ' ' || column_name || ' ' || upper(data_type) || ' ' || COALESCE(column_default, '')
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name`+ours, `
		SELECT conrelid::regclass || CASE contype WHEN 'f' THEN ' ' || conkey.names || ' refers to ' || confrelid::regclass || ' ' || confkey.names
			ELSE ' unique ' || conkey.names END
		FROM pg_constraint,
			LATERAL (SELECT string_agg(attname, ', ' ORDER BY n) AS names FROM unnest(conkey) WITH ORDINALITY AS k (num, n) JOIN pg_attribute ON attrelid = conrelid AND attnum = num) AS conkey,
			LATERAL (SELECT string_agg(attname, ', ') AS names FROM unnest(confkey) AS num JOIN pg_attribute ON attrelid = confrelid AND attnum = num) AS confkey
		WHERE connamespace = current_schema()::regnamespace AND contype IN ('p', 'u', 'f') AND conrelid::regclass::text`+ours, `
		SELECT replace(replace(indexdef, ' USING btree', ''), 'public.', '') FROM pg_indexes
		WHERE schemaname = current_schema() AND indexname NOT IN (SELECT conname FROM pg_constraint)`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-SQLite +PostgreSQL:\n%s", diff)
	}
}

// An export moves a club from SQLite to PostgreSQL and back. Nothing changes on the way, also
// not the order.
func TestMoveToPostgresAndBack(t *testing.T) {
	ctx := t.Context()
	from := memory(t)
	for _, key := range []string{"b", "B", "a", "ä", "_", "碁", "a b"} { // people sort these otherwise
		must(t, from.SetBookmark(ctx, key, key))
	}
	var want, there, back bytes.Buffer
	must(t, from.Export(ctx, &want))
	address := pgtest.Start(t).Database(t)
	s, kept, err := Import(ctx, address, bytes.NewReader(want.Bytes()), time.Time{}, nil)
	if err != nil || kept != "" || s.Games != 0 || len(s.Damage) != 0 || s.Version == 0 {
		t.Fatalf("%+v, %q, %v", s, kept, err)
	}
	_, err = Export(ctx, address, &there, nil)
	must(t, err)
	to := memory(t)
	must(t, to.Import(ctx, bytes.NewReader(there.Bytes())))
	must(t, to.Export(ctx, &back))
	for what, got := range map[string]string{"on PostgreSQL": there.String(), "back": back.String()} {
		if diff := cmp.Diff(want.String(), got); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
	}
	if _, _, err := Import(ctx, address, bytes.NewReader(want.Bytes()), time.Time{}, nil); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second import: %v", err)
	}
	old := strings.NewReader(`{"halfpoint":"export","version":6}` + "\n")
	if _, _, err := Import(ctx, pgtest.Start(t).Database(t), old, time.Time{}, nil); err == nil || !strings.Contains(err.Error(), "too old for PostgreSQL") {
		t.Errorf("an old export: %v", err)
	}
}

// An export is of one moment, although others write.
func TestExportFromPostgresIsOfOneMoment(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Start(t).Database(t)
	s := opened(t, address)
	must(t, s.SetBookmark(ctx, "a", "1"))
	defer OnStep(func(step string) {
		if step == "rows" {
			must(t, errors.Join(s.SetBookmark(ctx, "a", "2"), s.SetBookmark(ctx, "b", "2")))
		}
	})()
	_, err := s.Person(ctx, outbox.User{Platform: "web", ID: "1", Name: "Ada"}) // a row of a table before that of bookmarks
	must(t, err)
	var b bytes.Buffer
	_, err = Export(ctx, address, &b, nil)
	must(t, err)
	if text := b.String(); !strings.Contains(text, `{"bookmark":{"adapter":"a","value":"1"}}`) || strings.Contains(text, `"b"`) {
		t.Error(text)
	}
}

// PostgreSQL takes no zeros and no invalid UTF-8; people's texts come from anywhere.
func TestStrangeTextsOnPostgres(t *testing.T) {
	s := opened(t, pgtest.Start(t).Database(t))
	must(t, s.SetBookmark(t.Context(), "a", "not \xff UTF-8 <&> \u2028\u202e\x00\x01\"\\\n'"))
	got, err := s.Bookmark(t.Context(), "a")
	if want := "not \ufffd UTF-8 <&> \u2028\u202e\ufffd\x01\"\\\n'"; got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// What is wrong with a database is said before anything is changed in it.
func TestUnusablePostgres(t *testing.T) {
	server := pgtest.Start(t)
	sql := func(database string, statements ...string) string {
		t.Helper()
		db, err := pgPool{answer: pgAnswer, conns: 1}.open(database)
		must(t, err)
		defer db.Close()
		for _, s := range statements {
			_, err := db.ExecContext(t.Context(), s)
			must(t, err)
		}
		return database
	}
	guarded, newer := server.Database(t), server.Database(t)
	server.Exec(t, "CREATE ROLE lonely LOGIN CONNECTION LIMIT 2")
	server.Exec(t, "CREATE DATABASE lonely OWNER lonely")
	server.Exec(t, "CREATE ROLE guarded LOGIN PASSWORD 'right'")
	server.Exec(t, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'")
	must(t, opened(t, newer).Close())
	for what, c := range map[string]struct{ address, says string }{
		"a wrong password": {strings.Replace(guarded, "halfpoint@", "guarded:wr%3Fong@", 1), "password authentication failed"},
		"nobody there":     {"postgres://localhost:1/halfpoint?password=wr%3Fong", "connection refused"},
		"no address":       {"postgres://[/halfpoint", "cannot parse"},
		"no database":      {server.Address("nowhere"), `database "nowhere" does not exist`},
		"a standby":        {sql(server.Database(t), "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = on'; END $$"), "halfpoint needs the primary"},
		"another program":  {sql(server.Database(t), "CREATE TABLE cats (name TEXT)"), "another program's"},
		"a newer version":  {sql(newer, "INSERT INTO "+versionTable+" (version_id, is_applied) VALUES (9999, true)", "UPDATE counter SET n = 9998 WHERE name = 'oldest'"), "written by a newer halfpoint"},
		"two connections":  {strings.Replace(server.Address("lonely"), "halfpoint@", "lonely@", 1), `too many connections for role "lonely" (SQLSTATE 53300); each halfpoint keeps up to 19 connections open`},
		"half an address":  {"Postgres:halfpoint", "like postgres://halfpoint@db.example.org/halfpoint"},
		"a libpq string":   {"host=localhost dbname=halfpoint", "like postgres://halfpoint@db.example.org/halfpoint"},
		"no UTF-8":         {server.Address("latin"), "the encoding of the database is LATIN1"},
		"no schema":        {sql(server.Database(t), "DROP SCHEMA public"), "search_path"},
	} {
		s, err := Open(t.Context(), c.address)
		if err == nil {
			must(t, s.Close())
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "wr?ong") || strings.Contains(err.Error(), "wr%3Fong") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := Export(t.Context(), server.Database(t), &bytes.Buffer{}, nil); err == nil || !strings.Contains(err.Error(), "without tables") {
		t.Errorf("an empty database is exported: %v", err)
	}
}

// A program works with tables of a newer version if these say so, but exports none of them: it would
// leave out what it does not know.
func TestNewerTablesOnPostgres(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Start(t).Database(t)
	s := opened(t, address)
	newest, err := newestMigration()
	must(t, err)
	if newer, err := s.Newer(ctx); newer || err != nil {
		t.Errorf("newer before: %v, %v", newer, err)
	}
	for _, step := range []string{
		"ALTER TABLE bookmark ADD COLUMN later TEXT NOT NULL DEFAULT ''",
		fmt.Sprintf("UPDATE counter SET n = %d WHERE name = 'oldest'", newest),
		fmt.Sprintf("INSERT INTO %s (version_id, is_applied) VALUES (%d, true)", versionTable, newest+1),
	} {
		_, err := s.write.ExecContext(ctx, step)
		must(t, err)
	}
	if newer, err := s.Newer(ctx); !newer || err != nil {
		t.Errorf("newer: %v, %v", newer, err)
	}
	beside := opened(t, address)
	must(t, beside.SetBookmark(ctx, "a", "1"))
	u, err := beside.OpenUnits()
	must(t, err)
	defer u.Close()
	row, _, err := u.Take(ctx, units.Row{Name: "web"}, "a", time.Minute)
	must(t, err)
	stand, err := u.Renew(ctx, units.Process{ID: "a"}, []string{"a"})
	wants(t, "what an older process holds", []string{row.Holder}, stand, err)
	// A version after that takes something away.
	_, err = s.write.ExecContext(ctx, fmt.Sprintf("UPDATE counter SET n = %d WHERE name = 'oldest'", newest+1))
	must(t, err)
	if _, err := u.Renew(ctx, units.Process{ID: "a"}, []string{"a"}); !errors.Is(err, ErrNewer) {
		t.Errorf("an older process renews its units: %v", err)
	}
	if s, err := Open(ctx, address); !errors.Is(err, ErrNewer) {
		t.Errorf("an older process starts: %v, %v", s, err)
	}
	if _, err := Export(ctx, address, &bytes.Buffer{}, nil); !errors.Is(err, ErrNewer) {
		t.Errorf("the export of an older program: %v", err)
	}
}

// A migration only adds, so that the version before it works beside it. One that does more takes away
// what that version did not use any more, and says which the oldest is that did not.
func TestMigrationsOnlyAdd(t *testing.T) {
	adds := regexp.MustCompile(`^(CREATE TABLE \w+ \(|CREATE INDEX \w+ ON |ALTER TABLE \w+ ADD COLUMN \w+ \w+ NOT NULL DEFAULT |INSERT INTO )`)
	says := regexp.MustCompile(`^UPDATE counter SET n = \d+ WHERE name = 'oldest'$`)
	const first = 29 // to say which programs its tables serve
	for name, more := range map[string]bool{
		"CREATE TABLE a (\n\tb TEXT NOT NULL\n)": false, "CREATE INDEX a_b ON a (b)": false, "ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT ''": false,
		"CREATE UNIQUE INDEX a_b ON a (b)": true, "ALTER TABLE a ADD COLUMN b TEXT NOT NULL": true, "ALTER TABLE a DROP COLUMN b": true,
		"ALTER TABLE a RENAME TO b": true, "DROP TABLE a": true, "UPDATE a SET b = 1": true,
	} {
		if adds.MatchString(name) == more {
			t.Errorf("%s: does more than add is %v", name, !more)
		}
	}
	provider, err := migrator(memory(t).write)
	must(t, err)
	for _, source := range provider.ListSources() {
		if source.Version < first {
			continue
		}
		text, err := fs.ReadFile(migrations, "migrations/"+path.Base(source.Path))
		must(t, err)
		more, told := "", false
		for statement := range strings.SplitSeq(regexp.MustCompile(`(?m)--.*$`).ReplaceAllString(string(text), ""), ";") {
			statement = strings.TrimSpace(statement)
			if says.MatchString(statement) {
				told = true
			} else if statement != "" && !adds.MatchString(statement) {
				more = statement
			}
		}
		if more != "" && !told {
			t.Errorf("%s does more than add, and does not raise 'oldest':\n%s", source.Path, more)
		}
	}
}

// shortAnswers shortens how long stores that are opened from now on wait for PostgreSQL.
func shortAnswers(t *testing.T) {
	before := pgAnswer
	pgAnswer = 2 * time.Second
	t.Cleanup(func() { pgAnswer = before })
}

// A server that hangs holds nobody up: people get an answer, and turns go on afterwards.
func TestPostgresHangs(t *testing.T) {
	tier.Change(t) // most of it is waiting
	shortAnswers(t)
	ctx := t.Context()
	server := pgtest.Start(t)
	s := opened(t, server.Database(t))
	must(t, s.SetBookmark(ctx, "a", "1"))
	pids := []int{server.Postmaster(t).Pid}
	for _, db := range []querier{s.read, s.write} {
		pid, err := values[int](ctx, db, "SELECT pg_backend_pid()")
		must(t, err)
		pids = append(pids, pid...)
	}
	signal := func(sig syscall.Signal) {
		t.Helper()
		for _, pid := range pids {
			must(t, syscall.Kill(pid, sig))
		}
	}
	signal(syscall.SIGSTOP)
	defer func() {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGCONT) //nolint:errcheck // it goes on already, or has ended
		}
	}()
	changed := s.SetBookmark(ctx, "a", "2")
	_, read := s.Bookmark(ctx, "a")
	ready := s.Ping(ctx)
	signal(syscall.SIGCONT)
	if changed == nil || read == nil || ready == nil {
		t.Errorf("while it hangs: changed: %v, read: %v, ready: %v", changed, read, ready)
	}
	must(t, s.SetBookmark(ctx, "a", "3"))
	if got, err := s.Bookmark(ctx, "a"); got != "3" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// When the primary dies and its standby is promoted, the store goes on with that one by itself, and
// nothing that it has stored is lost. An old primary that comes back later is left alone.
func TestPromotedStandby(t *testing.T) {
	tier.Change(t)
	ctx := t.Context()
	first := pgtest.New(t)
	first.Exec(t, "CREATE DATABASE club")
	lonely := opened(t, first.Address("club"))
	second := first.Standby(t)
	must(t, lonely.Close())
	s := opened(t, first.Address("club")+","+second.Dir)
	lossy, err := s.Lossy(ctx)
	wants(t, "lossy", false, lossy, err)
	stored := map[string]bool{}
	store := func(key string) {
		t.Helper()
		for !stored[key] {
			must(t, ctx.Err())
			stored[key] = s.SetBookmark(ctx, key, key) == nil
		}
	}
	for n := range 50 {
		store(fmt.Sprint("before ", n))
	}
	crashed := make(chan bool)
	go func() {
		defer close(crashed)
		first.Crash(t)
		second.Exec(t, "SELECT pg_promote()")
	}()
	for n := range 200 {
		store(fmt.Sprint("meanwhile ", n))
	}
	<-crashed
	store("after")
	first.Revive(t)
	first.Exec(t, "ALTER SYSTEM RESET synchronous_standby_names") // it would wait for ever
	first.Exec(t, "SELECT pg_reload_conf()")
	second.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'club'")
	store("after all")
	there, err := values[string](ctx, s.read, "SELECT adapter FROM bookmark")
	must(t, err)
	for _, key := range there {
		delete(stored, key)
	}
	if len(stored) > 0 {
		t.Errorf("%d are lost, such as %q", len(stored), slices.Sorted(maps.Keys(stored))[0])
	}
	lossy, err = s.Lossy(ctx)
	wants(t, "with no standby left, lossy", true, lossy, err)
}

// A commit that waits for its standby, and is told not to, can be seen although no standby has
// it: whoever asks again learns nothing of it before it is safe.
func TestUnknownOutcome(t *testing.T) {
	tier.Change(t)
	shortAnswers(t)
	ctx := t.Context()
	first := pgtest.New(t)
	first.Exec(t, "CREATE DATABASE club")
	s := opened(t, first.Address("club"))
	second := first.Standby(t)
	must(t, s.SetBookmark(ctx, "a", "1"))
	second.Crash(t)
	step := &match.Step{Request: "r", At: time.UnixMilli(1), Answer: match.Reply{Private: true}}
	if err := s.Commit(ctx, step); err == nil {
		t.Error("nobody has waited for the standby")
	}
	first.Exec(t, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	_, err := s.read.ExecContext(ctx, "INSERT INTO inbox (request, at, answer) VALUES ('r', 1, '') ON CONFLICT DO NOTHING") // waits for the other
	must(t, err)
	there, err := values[string](ctx, s.read, "SELECT request FROM inbox")
	wants(t, "what can be seen", []string{"r"}, there, err)
	if _, ok, err := s.Answered(ctx, "r"); ok || err == nil {
		t.Errorf("what may be lost is acknowledged: %t, %v", ok, err)
	}
	if k, err := s.Known(ctx, outbox.User{}, match.Room{}, "r"); err == nil {
		t.Errorf("what may be lost is acknowledged: %+v", k.Answer)
	}
	second.Revive(t)
	if _, ok, err := s.Answered(ctx, "r"); !ok || err != nil {
		t.Errorf("what is safe is not acknowledged: %t, %v", ok, err)
	}
}

// An address is shown without its password.
func TestRedacted(t *testing.T) {
	for name, want := range map[string]string{
		"halfpoint.db":                  "halfpoint.db",
		"postgres://ada:secret@db/club": "postgres://ada:xxxxx@db/club",
		"postgresql://db/club?password=secret&sslmode=require": "postgresql://db/club?password=xxxxx&sslmode=require",
		"postgres://ada:sec%ret@db/club":                       "postgres://…",
	} {
		if got := Redacted(name); got != want {
			t.Errorf("%s becomes %s", name, got)
		}
		if got := Redacted(name); strings.Contains(got, "secret") {
			t.Error(got)
		}
	}
	if s := fmt.Sprint(IsPostgres("postgres.db"), IsPostgres("postgres://x"), IsPostgres("postgresql://x")); s != "false true true" {
		t.Error(s)
	}
}

// PostgreSQL gets rows of an import together, as each statement is a round trip. What is wrong with one
// of them is said of its line all the same, and then none is stored.
func TestImportRowsTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		from := memory(t)
		const rows = 5 * rowsTogether / 2
		for i := range rows {
			must(t, from.SetBookmark(ctx, fmt.Sprintf("%05d", i), "a 'value'"))
		}
		var b bytes.Buffer
		must(t, from.Export(ctx, &b))
		text := b.String()
		const second = rowsTogether + rowsTogether/2
		again := fmt.Sprintf(`{"bookmark":{"adapter":"%05d","value":"a 'value'"}}`+"\n", second)
		if strings.Count(text, again) != 1 {
			t.Fatalf("%q is not in %.300s", again, text)
		}
		line := strings.Count(text[:strings.Index(text, again)], "\n") + 2
		for _, c := range []struct{ text, want string }{
			{strings.Replace(text, again, again+again, 1), fmt.Sprintf("line %d: this bookmark was there before", line)},
			{strings.Replace(text, again, again+`{"preference":{"person":"p","body":"{}"}}`+"\n"+`{"event":{"game":"g","seq":1,"at":0,"actor":"","body":"","proof":""}}`+"\n{", 1),
				fmt.Sprintf("line %d: what this event refers to is not there", line+1)},
		} {
			if err := s.Import(ctx, strings.NewReader(c.text)); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
		var trips atomic.Int64
		stop := OnRoundTrip(func() { trips.Add(1) })
		err := s.Import(ctx, strings.NewReader(text))
		stop()
		must(t, err)
		if n := trips.Load(); n > rows/10 || n < 1 && s.address != "" {
			t.Errorf("%d round trips", n)
		}
		var got bytes.Buffer
		must(t, s.Export(ctx, &got))
		if got.String() != text {
			t.Error("the import is not the export")
		}
	})
}
