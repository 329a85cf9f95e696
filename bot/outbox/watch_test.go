package outbox

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// What waits is counted by age until it is shown. A restart makes no post younger that
// nobody has tried to send.
func TestWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		ages := []time.Duration{10 * time.Second, time.Minute}
		waits := func(when string, oldest time.Duration, byAge ...int) {
			t.Helper()
			got := w.now().out.Waits(ages)["chat"]
			if !slices.Equal(got.ByAge, byAge) || got.Oldest != oldest {
				t.Errorf("%s: %v, the oldest %v; not %v and %v", when, got.ByAge, got.Oldest, byAge, oldest)
			}
		}
		fails := slices.Repeat([]string{"fails"}, 6)
		w.fates = map[string][]string{"n1": fails, "o1": fails}
		w.begin()
		waits("at the start", 0)
		w.commit("1", nothing, notice("n1", 1), board("b1", 1))
		time.Sleep(30 * time.Second)
		o1 := notice("o1", 1)
		o1.Game = "h"
		w.commit("2", nothing, o1)
		waits("one lane and another", 30*time.Second, 1, 2, 0)
		time.Sleep(42 * time.Second)
		waits("later", 72*time.Second, 0, 1, 2)
		w.now().stop()
		w.begin()
		waits("after a restart", 72*time.Second, 2, 0, 1)
		time.Sleep(5 * time.Minute)
		waits("in the end", 0)
	})
}

// A sluggishDisk takes two minutes to read what waits.
type sluggishDisk struct{ blankDisk }

func (sluggishDisk) Decorations(context.Context) ([]Row, error) { return nil, nil }
func (sluggishDisk) Waiting(context.Context) ([]match.OutboxPost, error) {
	time.Sleep(2 * time.Minute)
	return nil, nil
}

// A loop that hangs is busy; one that waits for work is not, however long.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Config{Rows: sluggishDisk{}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); b.Run(ctx) }()
		time.Sleep(90 * time.Second)
		if busy := b.Busy(); busy != 90*time.Second {
			t.Errorf("while it hangs: %v", busy)
		}
		time.Sleep(24 * time.Hour)
		if busy := b.Busy(); busy != 0 {
			t.Errorf("while it waits: %v", busy)
		}
		cancel()
		<-ended
	})
}
