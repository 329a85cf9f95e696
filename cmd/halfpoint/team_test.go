package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/units"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// A process whose machine has slept through its lease holds nothing any more, as soon as it wakes up.
func TestSleepEndsLeases(t *testing.T) {
	const lease = time.Hour
	address := pgtest.Start(t).Database(t)
	st, err := store.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var clock atomic.Int64 // which stands still otherwise
	log := slog.New(slog.DiscardHandler)
	team, err := join(t.Context(), st, bot.Settings{Database: address, Lease: int(lease.Seconds())}, func() time.Duration { return time.Duration(clock.Load()) }, log)
	if err != nil {
		t.Fatal(err)
	}
	defer team.work(log, func() {})()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err = team.Hold(ctx, "web", func(context.Context, *units.Held) error {
		before := team.Holds("web")
		clock.Add(int64(lease))
		if after := team.Holds("web"); !before || after {
			t.Errorf("it holds the unit before the sleep: %t, after it: %t", before, after)
		}
		cancel()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
