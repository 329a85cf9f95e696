//go:build unix

package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/contest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Processes that start at once on an empty database all find its tables: one makes them, and the
// others wait for that, but not longer than they are told.
func TestOneBringsTheTablesUp(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Start(t).Database(t)
	alone, err := pgPool{answer: pgPatient, conns: 1, alone: true}.open(address)
	must(t, err)
	must(t, alone.PingContext(ctx)) // another process is at it
	waits := make(chan bool)
	defer OnStep(func(step string) {
		if step == "lock" {
			waits <- true
		}
	})()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := Open(ctx, address)
			if err != nil {
				t.Error(err)
				return
			}
			err = s.SetBookmark(ctx, "a", "1")
			if err = errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
		<-waits
	}
	given, up := context.WithCancel(ctx)
	all.Go(func() {
		if s, err := Open(given, address); !errors.Is(err, context.Canceled) {
			t.Errorf("one that was given up: %v, %v", s, err)
		}
	})
	<-waits
	up()
	must(t, alone.Close())
	all.Wait()
}

// A migration that has to wait for somebody who reads a table, as a dump does for as long as it
// takes, holds nobody up for long: others read and write the table meanwhile.
func TestMigrationWaitsWithoutHoldingUp(t *testing.T) {
	ctx := t.Context()
	address := pgtest.Start(t).Database(t)
	s := opened(t, address)
	must(t, s.SetBookmark(ctx, "a", "1"))
	for _, step := range []string{"ALTER TABLE holder DROP COLUMN kept", "DELETE FROM " + versionTable + " WHERE version_id >= 28"} { // as the tables were before that
		_, err := s.write.ExecContext(ctx, step)
		must(t, err)
	}
	reader, err := s.costly.BeginTx(ctx, nil)
	must(t, err)
	_, err = reader.ExecContext(ctx, "LOCK TABLE holder IN ACCESS SHARE MODE")
	must(t, err)
	up := make(chan error, 1)
	go func() {
		later, err := Open(ctx, address)
		if err == nil {
			err = later.Close()
		}
		up <- err
	}()
	for waits := false; !waits; {
		must(t, s.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'holder'::regclass AND NOT granted)").Scan(&waits))
	}
	if _, err := s.write.ExecContext(ctx, "UPDATE holder SET since = since"); err != nil {
		t.Fatal("while the migration waits:", err)
	}
	if len(up) > 0 {
		t.Fatal("it does not wait")
	}
	must(t, reader.Rollback())
	must(t, <-up)
	if current, err := inspect(ctx, s.read.DB); !current || err != nil {
		t.Error("the tables are not up to date:", err)
	}
}

// twoOn opens a database on PostgreSQL twice, as two processes would.
func twoOn(t *testing.T) (a, b *Store) {
	t.Helper()
	address := pgtest.Start(t).Database(t)
	return opened(t, address), opened(t, address)
}

// Two processes write at the same time. One that was cut off goes on by itself.
func TestTwoProcessesWrite(t *testing.T) {
	ctx := t.Context()
	a, b := twoOn(t)
	for n, s := range []*Store{a, b, a} {
		must(t, s.SetBookmark(ctx, "a", fmt.Sprint(n)))
		must(t, errors.Join(a.Ping(ctx), b.Ping(ctx)))
	}
	_, err := b.read.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	must(t, err)
	must(t, a.SetBookmark(ctx, "a", "3"))
	got, err := b.Bookmark(ctx, "a")
	wants(t, "the bookmark", "3", got, err)
}

// openingOf is the step that opens a game of Ada's.
func openingOf(ada match.PersonID, id, channel string) *match.Step {
	return &match.Step{Request: "open:" + id, At: time.UnixMilli(1), New: true, People: []match.PersonID{ada}, Match: &match.Match{
		ID: match.GameID(id), Rules: "two-button@1", Setup: rules.Setup{W: 9, H: 9}, Opener: ada, Where: match.Room{Platform: "web", Channel: channel},
		Opened: time.UnixMilli(1), Standing: match.Standing{State: match.Going, Black: ada, Changed: time.UnixMilli(1)}}}
}

// Two processes that do the same at the same time are in each other's way, and nobody notices:
// games, events, posts, lines and notes of a room are numbered without gaps, nothing is done
// twice, and whoever reads line by line misses none.
func TestTwoProcessesAtOnce(t *testing.T) {
	const each = 20
	ctx := t.Context()
	a, b := twoOn(t)
	both := []*Store{a, b}
	ada, err := a.Person(ctx, outbox.User{Platform: "web", ID: "ada", Name: "Ada"})
	must(t, err)
	where := match.Room{Platform: "web", Channel: "room"}
	act := &match.Act{Where: where, What: text.Say("act.delete")}
	done := make(chan bool)
	var working sync.WaitGroup
	var mu sync.Mutex
	taken := map[string]int{} // how often a request was
	kept := map[string]bool{}
	for i, s := range both {
		for range 2 {
			working.Go(func() {
				for n := range each {
					id := fmt.Sprint("g", n) // as in the other process
					step := openingOf(ada, id, "room")
					step.Typed = &match.Typed{Room: "local", Text: id}
					step.Act = act
					step.Posts = []match.OutboxPost{{ID: id, Where: where, Kind: match.Answer, For: ada}}
					open := &contest.Step{Step: match.Step{Request: "event:" + id, At: step.At}, Opens: true,
						Contest: &contest.Contest{Head: contest.Head{ID: contest.ID("e-" + id), Where: where, Seq: 1, State: contest.SignUp}}, Log: []contest.Event{{Seq: 1, By: ada}}}
					for request, err := range map[string]error{step.Request: s.Commit(ctx, step), open.Request: s.CommitContest(ctx, open)} {
						if err != nil && !errors.Is(err, bot.ErrConflict) {
							t.Error(err)
						}
						mu.Lock()
						if err == nil {
							taken[request]++
						}
						mu.Unlock()
					}
					word, err1 := s.FirstBookmark(ctx, "secret", fmt.Sprint(i, n))
					_, err2 := s.Append(ctx, outbox.Message{Key: id, Room: "local", Text: id})
					if err := errors.Join(err1, err2, s.DeleteRecord(ctx, "none", act)); err != nil {
						t.Error(err)
					}
					mu.Lock()
					kept[word] = true
					mu.Unlock()
				}
			})
		}
	}
	var heard []int64
	var reading sync.WaitGroup
	reading.Go(func() {
		for last := false; ; {
			after := int64(0)
			if len(heard) > 0 {
				after = heard[len(heard)-1]
			}
			lines, err := b.After(ctx, after, 1000)
			if err != nil {
				t.Error(err)
				return
			}
			for _, m := range lines {
				heard = append(heard, m.N)
			}
			if last {
				return
			}
			select {
			case <-done:
				last = true
			default:
			}
		}
	})
	working.Wait()
	close(done)
	reading.Wait()
	for request, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", request, n)
		}
	}
	upTo := func(n int) (all []int64) {
		for i := range n {
			all = append(all, int64(i+1))
		}
		return all
	}
	for query, n := range map[string]int{
		"SELECT number FROM game_channel ORDER BY number": each,
		"SELECT number FROM contest ORDER BY number":      each,
		"SELECT n FROM post ORDER BY n":                   each,
		"SELECT n FROM act ORDER BY n":                    5 * each, // with the step, and four times without one
		"SELECT n FROM message ORDER BY n":                2 * each,
	} {
		got, err := values[int64](ctx, a.read, query)
		wants(t, query, upTo(n), got, err)
	}
	wants(t, "heard line by line", upTo(2*each), heard, nil)
	wants(t, "how many secrets there are", 1, len(kept), nil)
}

// Of two processes that make the next turn of a game one is too late.
func TestTwoProcessesOneTurn(t *testing.T) {
	ctx := t.Context()
	a, b := twoOn(t)
	ada, err := a.Person(ctx, outbox.User{Platform: "web", ID: "ada", Name: "Ada"})
	must(t, err)
	opened := openingOf(ada, "g", "room")
	must(t, a.Commit(ctx, opened))
	m := *opened.Match
	for seq := range 20 {
		errs := atOnce([]*Store{a, b}, func(i int, s *Store) error {
			next := m
			next.Seq++
			return s.Commit(ctx, &match.Step{Request: fmt.Sprint(i, seq), At: m.Changed, Match: &next, People: []match.PersonID{ada},
				Events: []match.Event{{Seq: next.Seq, By: ada, Body: match.ParseBody("comment 1 Hello")}}})
		})
		slices.SortFunc(errs, func(x, y error) int { return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
		if errs[0] != nil && errs[1] != nil || !errors.Is(errors.Join(errs...), bot.ErrConflict) {
			t.Fatalf("turn %d: %v", seq, errs)
		}
		m.Seq++
	}
	stored, events, err := b.Match(ctx, "g")
	wants(t, "events", []int{20, 20}, []int{stored.Seq, len(events)}, err)
}

// atOnce does something in each store at the same time.
func atOnce(stores []*Store, f func(i int, s *Store) error) []error {
	errs := make([]error, len(stores))
	var all sync.WaitGroup
	for i, s := range stores {
		all.Go(func() { errs[i] = f(i, s) })
	}
	all.Wait()
	return errs
}

// Of names that look alike and are claimed at the same moment in two processes one is held.
func TestTwoProcessesNamesAlike(t *testing.T) {
	a, b := twoOn(t)
	for n := range 20 {
		errs := atOnce([]*Store{a, b}, func(i int, s *Store) error {
			_, err := s.Hold(t.Context(), bot.Holder{Platform: "web", ID: fmt.Sprint(i, n), Looks: fmt.Sprint(n), Secret: fmt.Sprint(i)}, bot.Holder{})
			return err
		})
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), bot.ErrAlike) {
			t.Errorf("%d: %v", n, errs)
		}
	}
}

// Of two people who change the same settings at the same moment, for the first time and later, one
// is told.
func TestTwoProcessesOneSetting(t *testing.T) {
	a, b := twoOn(t)
	where := match.Room{Platform: "web", Channel: "room"}
	who, err := a.Person(t.Context(), outbox.User{Platform: "web", ID: "ada", Name: "Ada"})
	must(t, err)
	room, own := match.RoomSettings{}, match.Preferences{}
	for n := range 20 {
		var rooms [2]match.RoomSettings
		var owns [2]match.Preferences
		errs := atOnce([]*Store{a, b, a, b}, func(i int, s *Store) error {
			step := &match.Step{Request: fmt.Sprint(i, n)}
			if i < 2 {
				rooms[i] = match.RoomSettings{Room: where, Undo: 1 + 2*n + i}
				step.Room, step.RoomWas = &rooms[i], &room
			} else {
				owns[i-2] = match.Preferences{Person: who, Zone: fmt.Sprint(i, n)}
				step.Prefs, step.PrefsWas = &owns[i-2], &own
			}
			return s.Commit(t.Context(), step)
		})
		late := func(errs []error) (first int) {
			t.Helper()
			if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), bot.ErrConflict) {
				t.Fatalf("%d: %v", n, errs)
			}
			return slices.Index(errs, nil)
		}
		room, own = rooms[late(errs[:2])], owns[late(errs[2:])]
	}
}

// hurried makes stores that are opened from now on wait only a moment for others that are in
// their way.
func hurried(t *testing.T) {
	lock, tries := pgLock, pgTries
	pgLock, pgTries = 20*time.Millisecond, 2
	t.Cleanup(func() { pgLock, pgTries = lock, tries })
}

// begun begins a change that another process makes, and returns what ends it.
func begun(t *testing.T, s *Store, write func(context.Context, transaction) error) (end func()) {
	t.Helper()
	tx, err := s.write.BeginTx(t.Context(), nil)
	must(t, err)
	must(t, write(t.Context(), simple{tx}))
	return func() { t.Helper(); must(t, tx.Commit()) }
}

// Nobody is erased while a step is stored that names them: what it says of them goes with them.
// Nor does anybody count as a stranger meanwhile.
func TestErasedWhileAStepIsStored(t *testing.T) {
	hurried(t)
	ctx := t.Context()
	a, b := twoOn(t)
	ada, err := a.Person(ctx, outbox.User{Platform: "web", ID: "name:ada", Name: "Ada"})
	must(t, err)
	step := openingOf(ada, "g", "room")
	step.By, step.Typed = ada, &match.Typed{Room: "local", Text: "I am Ada"}
	end := begun(t, a, func(ctx context.Context, tx transaction) error {
		err := a.putAnswer(ctx, tx, step)
		if err == nil {
			_, err = newMatch(ctx, tx, step.Match)
		}
		return errors.Join(err, a.putRest(ctx, tx, step))
	})
	goes := bot.Forgetting{Person: ada, Who: outbox.User{Platform: "web", ID: "name:ada", Name: "Ada"}}
	if err := b.Erase(ctx, goes); code(err) != "55P03" {
		t.Errorf("somebody is erased whose step is being stored: %v", err)
	}
	for after := "person"; after != ""; {
		if after, err = b.Prune(ctx, time.Now(), after, 100); code(err) != "55P03" {
			t.Errorf("somebody who opens a game is a stranger: %v", err)
		}
	}
	if others, err := b.People(ctx, []match.PersonID{ada}); len(others) != 1 || err != nil {
		t.Errorf("they are %v, %v", others, err)
	}
	end()
	must(t, b.Erase(ctx, goes))
	lines, err := values[string](ctx, a.read, "SELECT body FROM message WHERE body <> ''")
	wants(t, "lines that are left", 0, len(lines), err)
	if err := a.Commit(ctx, openingOf(ada, "h", "room")); !errors.Is(err, bot.ErrConflict) {
		t.Errorf("somebody who was erased opens a game: %v", err)
	}
}

// A line that is being stored holds up the others, so that they appear in their order.
func TestLinesInTheirOrder(t *testing.T) {
	hurried(t)
	a, b := twoOn(t)
	end := begun(t, a, func(ctx context.Context, tx transaction) error {
		_, err := putMessage(ctx, tx, outbox.Message{Room: "local"})
		return err
	})
	if m, err := b.Append(t.Context(), outbox.Message{Room: "local"}); code(err) != "55P03" {
		t.Errorf("line %d appears before the one before it: %v", m.N, err)
	}
	end()
	m, err := b.Append(t.Context(), outbox.Message{Room: "local"})
	wants(t, "the number", int64(2), m.N, err)
}

// A stranger who opens a game while the strangers are deleted stays, and a game is not deleted
// without the turn that somebody makes at that moment.
func TestDeletedWhileAStepIsStored(t *testing.T) {
	ctx := t.Context()
	a, b := twoOn(t)
	for n := range 20 {
		ada, err := a.Person(ctx, outbox.User{Platform: "web", ID: fmt.Sprint(n), Name: "Ada"})
		must(t, err)
		server, channel := fmt.Sprint("s", n), fmt.Sprint("c", n)
		must(t, a.Belongs(ctx, match.Room{Platform: "web", Channel: channel}, server))
		theirs := openingOf(ada, fmt.Sprint("there", n), channel)
		must(t, a.Commit(ctx, theirs))
		end := begun(t, a, func(ctx context.Context, tx transaction) error {
			step := openingOf(ada, fmt.Sprint("g", n), "room")
			err := a.putAnswer(ctx, tx, step)
			if err == nil {
				_, err = newMatch(ctx, tx, step.Match)
			}
			next := *theirs.Match
			next.Seq++
			return errors.Join(err, changeMatch(ctx, tx, &next, nil, 0), putEvents(ctx, tx, next.ID, []match.Event{{Seq: 1, At: time.UnixMilli(1), By: ada}}))
		})
		var deleting sync.WaitGroup
		deleting.Go(func() {
			if err := b.ForgetServer(ctx, "web", server); err != nil {
				t.Error(err)
			}
		})
		deleting.Go(func() {
			if _, err := b.Prune(ctx, time.Now(), "person", 100); err != nil {
				t.Error(err)
			}
		})
		for range 50 { // meanwhile
			_, err := a.Bookmark(ctx, "a")
			must(t, err)
		}
		end()
		deleting.Wait()
		left, err := values[string](ctx, a.read, "SELECT id FROM person WHERE id = $1 UNION SELECT id FROM game WHERE id LIKE 'there%'", ada)
		wants(t, "who and what is left", []string{string(ada)}, left, err)
	}
}

// Whether a write is run at once or waits for the next one, a change does the same.
func TestWritesOfAChange(t *testing.T) {
	set := func(key, value string) write {
		return write{what: key, args: []any{key, value}, query: "INSERT INTO bookmark (adapter, value) VALUES ($1, $2) ON CONFLICT (adapter) DO UPDATE SET value = excluded.value"}
	}
	missing := write{what: "missing", query: "UPDATE bookmark SET value = 'x' WHERE adapter = 'missing'", least: 1}
	lost := write{what: "lost", query: "SELECT 1 FROM bookmark WHERE adapter = 'missing'", row: []any{new(int)}, least: 1, less: outbox.ErrLost}
	wrong := write{what: "wrong", query: "INSERT INTO bookmark (adapter, value) SELECT adapter, NULL FROM bookmark"}
	broken := errors.New("broken")
	type step func(context.Context, transaction) error
	later := func(w write) step { return func(ctx context.Context, tx transaction) error { return tx.later(ctx, w) } }
	now := func(w write) step { return func(ctx context.Context, tx transaction) error { return tx.now(ctx, w) } }
	unless := func(err error, s step) step { // err is no error of the change
		return func(ctx context.Context, tx transaction) error {
			if got := s(ctx, tx); !errors.Is(got, err) {
				return fmt.Errorf("error is %w", got)
			}
			return nil
		}
	}
	sees := func(want string) step {
		return func(ctx context.Context, tx transaction) error {
			got, err := values[string](ctx, tx, "SELECT adapter FROM bookmark ORDER BY adapter")
			if all := strings.Join(got, " "); err == nil && all != want {
				err = fmt.Errorf("there is %q, want %q", all, want)
			}
			return err
		}
	}
	row := func(ctx context.Context, tx transaction) error {
		_, err := single[int](ctx, tx, "SELECT 1")
		return err
	}
	ends := func(err error) step { return func(context.Context, transaction) error { return err } }
	for what, c := range map[string]struct {
		does []step
		err  error  // errAny: any other
		left string // besides a
	}{
		"all later":                  {[]step{later(set("b", "1")), later(set("c", "1"))}, nil, "b c"},
		"later and now":              {[]step{later(set("b", "1")), now(set("c", "1")), later(set("d", "1"))}, nil, "b c d"},
		"nothing":                    {nil, nil, ""},
		"a query sees what is later": {[]step{later(set("b", "1")), sees("a b"), later(set("c", "1")), sees("a b c")}, nil, "b c"},
		"one of a kind sees it":      {[]step{later(set("b", "1")), row}, nil, "b"},
		"nothing to write":           {[]step{now(set("b", "1")), later(missing), later(set("c", "1"))}, bot.ErrConflict, ""},
		"a reason of its own":        {[]step{later(set("b", "1")), later(lost), later(missing)}, outbox.ErrLost, ""},
		"before a query":             {[]step{later(set("b", "1")), later(missing), row}, bot.ErrConflict, ""},
		"before another":             {[]step{later(missing), now(set("b", "1"))}, bot.ErrConflict, ""},
		"now, and it does not matter": {[]step{later(set("b", "1")), unless(bot.ErrConflict, now(missing)), later(set("c", "1"))},
			nil, "b c"},
		"a row, and it does not matter": {[]step{unless(outbox.ErrLost, now(lost)), later(set("c", "1"))}, nil, "c"},
		"the database refuses one":      {[]step{later(set("b", "1")), later(wrong), later(missing)}, errAny, ""},
		"the database refuses it now":   {[]step{later(set("b", "1")), now(wrong)}, errAny, ""},
		"the change breaks":             {[]step{now(set("b", "1")), later(set("c", "1")), ends(broken)}, broken, ""},
		"the change breaks at once":     {[]step{later(set("b", "1")), ends(broken)}, broken, ""},
	} {
		t.Run(what, func(t *testing.T) {
			onBoth(t, func(t *testing.T, s *Store) {
				ctx := t.Context()
				must(t, s.SetBookmark(ctx, "a", ""))
				for range 2 { // on a connection that was used before, too
					err := s.change(ctx, func(ctx context.Context, tx transaction) error {
						for _, do := range c.does {
							if err := do(ctx, tx); err != nil {
								return err
							}
						}
						return nil
					})
					if !errors.Is(err, c.err) && (err == nil || c.err != errAny || errors.Is(err, bot.ErrConflict)) {
						t.Fatalf("error is %v, want %v", err, c.err)
					}
					got, err := values[string](ctx, s.read, "SELECT adapter FROM bookmark WHERE adapter <> 'a' ORDER BY adapter")
					wants(t, "what is left", c.left, strings.Join(got, " "), err)
					if s.address != "" {
						open, err := single[int](ctx, s.read, "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'")
						wants(t, "open transactions", 0, open, err)
						wants(t, "connections", 1, s.write.Stats().OpenConnections, nil)
					}
					must(t, s.exec(ctx, "DELETE FROM bookmark WHERE adapter <> $1", "a"))
				}
			})
		})
	}
}

var errAny = errors.New("any error")

// What is read on a connection that broke is read on another one. A change whose connection breaks
// before it is committed is made again.
func TestConnectionBreaks(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, pgtest.Start(t).Database(t))
	must(t, err)
	defer s.Close() //nolint:errcheck // connections that are broken
	hold := func(do func(*sql.Conn) error) {
		var held []*sql.Conn
		for range readers {
			c, err := s.read.Conn(ctx)
			must(t, err)
			held = append(held, c)
		}
		for _, c := range held {
			must(t, errors.Join(do(c), c.Close()))
		}
	}
	hold(func(c *sql.Conn) error { return c.PingContext(ctx) }) // those that were not used for a second are tried first
	hold(func(c *sql.Conn) error {
		return c.Raw(func(c any) error { return c.(postgresConn).Conn.Conn().PgConn().Conn().Close() })
	})
	last, err := s.Last(ctx)
	wants(t, "the newest message", int64(0), last, err)
	const more = "UPDATE bookmark SET value = value || '2'"
	for how, do := range map[string]func(context.Context, transaction) error{
		"now":   func(ctx context.Context, tx transaction) error { return put(ctx, tx, "", more) },
		"later": func(ctx context.Context, tx transaction) error { return putLater(ctx, tx, "", more) },
		"exec":  func(ctx context.Context, tx transaction) error { _, err := tx.ExecContext(ctx, more); return err },
		"query": func(ctx context.Context, tx transaction) error {
			_, err := values[string](ctx, tx, more+" RETURNING value")
			return err
		},
	} {
		for _, between := range []bool{false, true} {
			must(t, s.SetBookmark(ctx, "a", "0"))
			tries := 0
			must(t, s.change(ctx, func(ctx context.Context, tx transaction) error {
				tries++
				if between {
					must(t, put(ctx, tx, "", "UPDATE bookmark SET value = '1'"))
				}
				if tries == 1 {
					must(t, tx.(*piped).raw(func(c postgresConn) error { return c.Conn.Conn().PgConn().Conn().Close() }))
				}
				return do(ctx, tx)
			}))
			got, err := s.Bookmark(ctx, "a")
			wants(t, fmt.Sprint(how, " between others: ", between), map[bool]string{false: "02", true: "12"}[between], got, err)
			wants(t, "tries", 2, tries, nil)
		}
	}
}

// Two changes that wait for each other are both made in the end.
func TestDeadlock(t *testing.T) {
	ctx := t.Context()
	a, _ := twoOn(t)
	must(t, errors.Join(a.SetBookmark(ctx, "a", "1"), a.SetBookmark(ctx, "b", "1")))
	set := func(tx transaction, key string) error {
		return put(ctx, tx, key, "UPDATE bookmark SET value = value || '2' WHERE adapter = $1", key)
	}
	begun, err := a.write.BeginTx(ctx, nil)
	must(t, err)
	other := simple{begun}
	_, err = other.ExecContext(ctx, "SET LOCAL deadlock_timeout = '1min'") // it is not the one that gives way
	must(t, errors.Join(err, set(other, "b")))
	tries := 0
	ended := make(chan error, 1)
	must(t, a.change(ctx, func(ctx context.Context, tx transaction) error {
		tries++
		if err := set(tx, "a"); err != nil {
			return err
		}
		if tries == 1 {
			go func() { ended <- errors.Join(set(other, "a"), other.Commit()) }()
		}
		return set(tx, "b")
	}))
	must(t, <-ended)
	got, err := values[string](ctx, a.read, "SELECT value FROM bookmark ORDER BY adapter")
	wants(t, "both", []string{"122", "122"}, got, err)
	if tries < 2 {
		t.Error("nobody was in its way")
	}
}

// A crossing changer changes another game, too, at the end of each change, and the first time not
// before another one is as far.
type crossing struct {
	*transactor
	both  *sync.WaitGroup
	tries *atomic.Int64
	other string
}

func (c crossing) change(ctx context.Context, write func(context.Context, transaction) error) error {
	first := true
	return c.transactor.change(ctx, func(ctx context.Context, tx transaction) error {
		c.tries.Add(1)
		_, err := tx.ExecContext(ctx, "SET LOCAL deadlock_timeout = '10ms'")
		if err := errors.Join(err, write(ctx, tx), tx.(*piped).ready(ctx)); err != nil {
			return err
		}
		if first {
			first = false
			c.both.Done()
			c.both.Wait()
		}
		_, err = tx.ExecContext(ctx, "UPDATE game SET changed = changed WHERE id = $1", c.other)
		return err
	})
}

// Of two turns of two processes that wait for each other one is made again as a whole. Each is there
// once.
func TestDeadlockOfTurns(t *testing.T) {
	ctx := t.Context()
	a, b := twoOn(t)
	ada, err := a.Person(ctx, outbox.User{Platform: "web", ID: "ada", Name: "Ada"})
	must(t, err)
	games := []string{"g", "h"}
	var steps []*match.Step
	for _, game := range games {
		opened := openingOf(ada, game, "room")
		must(t, a.Commit(ctx, opened))
		next := *opened.Match
		next.Seq++
		steps = append(steps, &match.Step{Request: "turn:" + game, At: next.Changed, Match: &next, People: []match.PersonID{ada},
			Events: []match.Event{{Seq: 1, By: ada, Body: match.ParseBody("comment 1 Hello")}},
			Posts:  []match.OutboxPost{{ID: "p" + game, Game: next.ID, Where: next.Where, Kind: match.Notice}}})
	}
	var both sync.WaitGroup
	both.Add(2)
	var tries atomic.Int64
	errs := atOnce([]*Store{a, b}, func(i int, s *Store) error {
		s.changes = crossing{&transactor{db: s.write, watcher: &s.watcher}, &both, &tries, games[1-i]}
		return s.Commit(ctx, steps[i])
	})
	must(t, errors.Join(errs...))
	if tries.Load() < 3 {
		t.Error("nobody was in the other's way")
	}
	for query, n := range map[string]int{
		"SELECT id FROM game WHERE seq = 1":                    2,
		"SELECT game FROM event":                               2,
		"SELECT id FROM post":                                  2,
		"SELECT request FROM inbox WHERE request LIKE 'turn%'": 2,
	} {
		got, err := values[string](ctx, a.read, query)
		wants(t, query, n, len(got), err)
	}
}

// While all connections with which a process changes anything are in use, another change fails in
// time, and is not made. Asked again later it is made once. Reads fail in time, too.
func TestAllConnectionsInUse(t *testing.T) {
	ctx := t.Context()
	s := opened(t, pgtest.Start(t).Database(t))
	var held []*sql.Conn
	hold := func(n int, db *sql.DB) {
		for range n {
			c, err := db.Conn(ctx)
			must(t, err)
			held = append(held, c)
		}
	}
	hold(writers, s.write)
	hold(readers, s.read.DB)
	s.read.patience = 20 * time.Millisecond
	for what, read := range map[string]func() error{
		"a value": func() error { _, err := s.Bookmark(ctx, "a"); return err },
		"rows":    func() error { _, err := s.Waiting(ctx); return err },
	} {
		if err := read(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s is read: %v", what, err)
		}
	}
	before := pgAnswer
	pgAnswer = 20 * time.Millisecond
	step := &match.Step{Request: "r", At: time.UnixMilli(1), Answer: match.Reply{Private: true}}
	err := s.Commit(ctx, step)
	pgAnswer = before
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	for _, c := range held {
		must(t, c.Close())
	}
	_, done, err := s.Answered(ctx, "r")
	wants(t, "it was done", false, done, err)
	must(t, s.Commit(ctx, step))
	if err := s.Commit(ctx, step); !errors.Is(err, bot.ErrConflict) {
		t.Errorf("it is done again: %v", err)
	}
}

// A change that is made again is told of by what it does then.
func TestMadeAgain(t *testing.T) {
	ctx := t.Context()
	a, b := twoOn(t)
	where := match.Room{Platform: "web", Channel: "room"}
	must(t, a.Commit(ctx, &match.Step{Request: "r", Posts: []match.OutboxPost{{ID: "p", Where: where, Kind: match.Notice}}}))
	meanwhile := func(do func() error) {
		a.changes = rehearsing{&transactor{db: a.write, watcher: &a.watcher}, func() { must(t, do()) }}
	}
	meanwhile(func() error {
		_, _, err := b.Park(ctx, where, "", "gone")
		return err
	})
	parked, first, err := a.Park(ctx, where, "", "gone")
	wants(t, "parked, first", "[] false", fmt.Sprint(parked, first), err)
	meanwhile(func() error {
		_, err := b.Unpark(ctx, where, time.UnixMilli(9), true)
		return err
	})
	some, err := a.Unpark(ctx, where, time.UnixMilli(9), true)
	wants(t, "something to take up", false, some, err)
}
