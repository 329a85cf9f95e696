//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// Whoever does not hold a unit any more stores nothing about its posts. Nobody takes a unit while
// its holder stores something, or one that was renewed since it was seen.
func TestLeases(t *testing.T) {
	ctx := t.Context()
	s := opened(t, pgtest.Start(t).Database(t))
	unitsOf := func() *Units {
		u, err := s.OpenUnits()
		must(t, err)
		t.Cleanup(func() { must(t, u.Close()) })
		return u
	}
	a, b := unitsOf(), unitsOf()
	_, err := b.db.ExecContext(ctx, "SET lock_timeout = '50ms'")
	must(t, err)
	where := match.Room{Platform: "web", Channel: publicRoom}
	must(t, s.Commit(ctx, &match.Step{Request: "r", At: time.UnixMilli(1), Where: where,
		Posts: []match.OutboxPost{{ID: "p", Game: "g", Where: where, Kind: match.Notice}}}))
	renews := func(want ...string) {
		t.Helper()
		stand, err := a.Renew(ctx, units.Process{ID: "a", Beat: 1}, []string{"a 1"})
		wants(t, "what stands", want, stand, err)
	}

	first, taken, err := a.Take(ctx, units.Row{Name: "web"}, "a 1", time.Minute)
	wants(t, "the first holder", true, taken, err)
	renews("a 1")
	_, taken, err = b.Take(ctx, first, "b 1", time.Minute)
	wants(t, "a unit that was renewed is taken", false, taken, err)

	must(t, s.change(ctx, func(ctx context.Context, tx transaction) error {
		err := errors.Join(s.guard(ctx, tx, "a 1"), tx.(*piped).ready(ctx))
		renews("a 1")
		rows, _, e := b.Look(ctx)
		must(t, e)
		if _, _, e := b.Take(ctx, rows[0], "b 1", time.Minute); code(e) != "55P03" {
			t.Errorf("a unit is taken while its holder stores something: %v", e)
		}
		return err
	}))
	rows, _, err := b.Look(ctx)
	must(t, err)
	second, taken, err := b.Take(ctx, rows[0], "b 1", time.Minute)
	wants(t, "the second holder", true, taken, err)
	wants(t, "its term", first.Term+1, second.Term, nil)

	renews()
	kept, err := a.Keep(ctx, "web", "a 1", "old")
	wants(t, "the former holder keeps a state", false, kept, err)
	must(t, a.Free(ctx, "web", "a 1"))
	line := func(key string) *outbox.Message { return &outbox.Message{Key: key, Room: publicRoom} }
	row := outbox.Row{Platform: "web", Kind: outbox.Clear, Key: "k", N: 1}
	for what, err := range map[string]error{
		"settles":   s.Settle(ctx, "p", "", line("late"), outbox.Decorations{Holder: "a 1"}, nil),
		"tries":     s.Change(ctx, match.OutboxPost{ID: "p", Holder: "a 1", Tried: true}, outbox.Waiting, ""),
		"decorates": s.Decorate(ctx, outbox.Decorations{Holder: "a 1", Put: []outbox.Row{row}}),
	} {
		if !errors.Is(err, outbox.ErrLost) {
			t.Errorf("the former holder %s: %v", what, err)
		}
	}
	waiting, err := s.Waiting(ctx)
	if len(waiting) != 1 || err != nil {
		t.Errorf("%d posts wait, %v", len(waiting), err)
	}
	decorations, err := s.Decorations(ctx)
	wants(t, "decorations", 0, len(decorations), err)
	must(t, s.Settle(ctx, "p", "", line("p"), outbox.Decorations{Holder: "b 1"}, nil))
	messages, err := s.After(ctx, 0, 10)
	if len(messages) != 1 || messages[0].Key != "p" || err != nil {
		t.Errorf("the transcript has %v, %v", messages, err)
	}
	rows, _, err = b.Look(ctx)
	must(t, err)
	wants(t, "the holder in the end", "b 1", rows[0].Holder, nil)
}

// An answer that only a former primary has is no answer: what the promoted standby does not have was
// never done.
func TestAnswerOfAFormerPrimary(t *testing.T) {
	ctx := t.Context()
	server := pgtest.Start(t)
	former, primary := opened(t, server.Database(t)), opened(t, server.Database(t))
	must(t, former.Commit(ctx, &match.Step{Request: "r", At: time.UnixMilli(1), Answer: match.Reply{Private: true}}))
	swap := func() { former.read, primary.read = primary.read, former.read }
	swap() // a connection to the former one is still there
	defer swap()
	if _, ok, err := primary.Answered(ctx, "r"); ok || err != nil {
		t.Errorf("it is acknowledged: %t, %v", ok, err)
	}
	if k, err := primary.Known(ctx, outbox.User{}, match.Room{}, "r"); k.Answer != nil || err != nil {
		t.Errorf("it is acknowledged: %+v, %v", k.Answer, err)
	}
}

// Processes on machines whose clocks are ten minutes apart go by the clock of the database.
func TestClocksApart(t *testing.T) {
	ctx := t.Context()
	s := opened(t, pgtest.Start(t).Database(t))
	var ahead [2]time.Duration // of the clock of the test
	for i, off := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		u, err := s.OpenUnits()
		must(t, err)
		t.Cleanup(func() { must(t, u.Close()) })
		began := time.Now()
		u.Wall = func() time.Time { return began.Add(off) }
		_, err = u.Renew(ctx, units.Process{ID: "a"}, nil)
		must(t, err)
		ahead[i] = u.Now().Sub(began)
	}
	if apart := (ahead[1] - ahead[0]).Abs(); apart > time.Minute {
		t.Errorf("they are %v apart", apart)
	}
}

// Of two decorations of the same message the newer one stays, whichever is stored last: a process
// that wakes up does not put an old board back.
func TestOlderDecoration(t *testing.T) {
	ctx := t.Context()
	s := opened(t, pgtest.Start(t).Database(t))
	row := func(n int64, data string) outbox.Row {
		return outbox.Row{Platform: "web", Kind: outbox.Header, Key: "k", N: n, Data: data}
	}
	must(t, s.Decorate(ctx, outbox.Decorations{Put: []outbox.Row{row(2, "new")}}))
	must(t, s.Decorate(ctx, outbox.Decorations{Put: []outbox.Row{row(1, "old")}, Gone: []outbox.Row{row(1, "")}, Changed: []outbox.Row{row(1, "old")}}))
	rows, err := s.Decorations(ctx)
	if len(rows) != 1 || rows[0].Data != "new" || err != nil {
		t.Errorf("there is %v, %v", rows, err)
	}
}

// Units that divide the same work differently are not held at the same time, also if they are taken
// at the same moment.
func TestUnitsThatExcludeEachOther(t *testing.T) {
	ctx := t.Context()
	s := opened(t, pgtest.Start(t).Database(t))
	var all []*Units
	for range 3 {
		u, err := s.OpenUnits()
		must(t, err)
		t.Cleanup(func() { must(t, u.Close()) })
		all = append(all, u)
	}
	taken := make([]units.Row, len(all))
	var takers sync.WaitGroup
	for i, u := range all {
		takers.Go(func() {
			for round := range 10 {
				row, is, err := u.Take(ctx, units.Row{Name: fmt.Sprintf("discord/%d/%d", round, i)}, fmt.Sprint(i, " ", round), time.Minute)
				if err != nil {
					t.Error(err)
				} else if is {
					taken[i] = row
				}
			}
		})
	}
	takers.Wait()
	if n := len(slices.DeleteFunc(taken, func(r units.Row) bool { return r.Term == 0 })); n != 1 {
		t.Errorf("%d divisions are held", n)
	}
	_, is, err := all[0].Take(ctx, units.Row{Name: "matrix"}, "a", time.Minute)
	wants(t, "other work is taken", true, is, err)
}
