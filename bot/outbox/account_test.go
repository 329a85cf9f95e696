package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// Decorations wait no longer because the bot believed a clock that was ahead.
func TestAccountAfterAClockWasAhead(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	a := NewAccount(0.2, 10)
	a.Spend(now.AddDate(1, 0, 0), 10)
	if a.Wait(now, 1, 0) == 0 {
		t.Error("what was spent is forgotten")
	}
	if wait := a.Wait(now.Add(time.Minute), 1, 0); wait > 0 {
		t.Errorf("a minute later they wait for %v", wait)
	}
}

// What was not sent costs nothing, so that a room which refuses posts does not hold up
// the decorations of others.
func TestUnsentCostsNothing(t *testing.T) {
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err   error
		waits bool
	}{
		{nil, true},
		{Forbidden{Permission: "write"}, true},
		{RetryAfter{Wait: time.Minute, Account: true}, true},
		{errors.New("connection reset"), true},
		{Forbidden{Permission: "write", Unasked: true}, false},
		{fmt.Errorf("in a thread: %w", RetryAfter{Wait: time.Minute}), false},
		{ErrStale, false},
	} {
		a := NewAccount(0.2, 10)
		for range 10 {
			a.Spend(now, 1)
			if unsent(c.err) {
				a.Spend(now, -1)
			}
		}
		if waits := a.Wait(now, 1, 0) > 0; waits != c.waits {
			t.Errorf("after ten times %v decorations wait: %v", c.err, waits)
		}
	}
}

// A slow chat answers after five seconds, always the same.
type slow struct{ answer error }

func (slow) Name() string { return "chat" }
func (s slow) Deliver(context.Context, Post) (Receipt, []Owes, error) {
	time.Sleep(5 * time.Second)
	return "", nil, s.answer
}

// A blankDisk stores nothing.
type blankDisk struct{ Rows }

func (blankDisk) Decorate(context.Context, Decorations) error { return nil }

// A platform that asks to wait is left alone from its answer on, and no other decoration
// that takes long shortens that.
func TestHoldBeginsWithTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Config{Rows: blankDisk{}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Decoration: func(context.Context, Row) (Post, error) { return Post{}, nil }})
		b.queue.accounts.Store("chat", NewAccount(1, 10))
		account := b.queue.accounts.of("chat")
		b.queue.Put(Row{Platform: "chat", Kind: Header, Key: "1", N: 1}, Row{Platform: "chat", Kind: Header, Key: "2", N: 2})
		first, _, _ := b.queue.Next(time.Now())
		second, _, _ := b.queue.Next(time.Now())
		b.decorateOne(t.Context(), []Platform{slow{RetryAfter{Wait: 8 * time.Second, Account: true}}}, first)
		if held := time.Until(account.held(time.Now())); held != 8*time.Second {
			t.Errorf("held for %v", held)
		}
		b.decorateOne(t.Context(), []Platform{slow{ErrStale}}, second)
		if held := time.Until(account.held(time.Now())); held != 3*time.Second {
			t.Errorf("five seconds later held for %v", held)
		}
	})
}
