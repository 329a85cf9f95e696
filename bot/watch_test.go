package bot_test

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A fullDisk stores nothing once it is full. From the time slow on, unless that is zero,
// reading what is due takes two minutes.
type fullDisk struct {
	bot.Store
	full bool
	slow time.Time
}

func (d *fullDisk) Commit(ctx context.Context, s *match.Step) error {
	if d.full {
		return errors.New("the disk is full")
	}
	return d.Store.Commit(ctx, s)
}

func (d *fullDisk) DueBy(ctx context.Context, now time.Time, limit int) ([]match.Due, error) {
	if !d.slow.IsZero() && !time.Now().Before(d.slow) {
		time.Sleep(2 * time.Minute)
	}
	return d.Store.DueBy(ctx, now, limit)
}

// What people are refused is counted by reason and never by what they typed, whether the
// adapter shows the answer or leaves it to the bot; a request that is asked again is counted
// once, but for a fault.
func TestRefusalsAreCounted(t *testing.T) {
	for how, shows := range map[string]bool{"shown": true, "left": false} {
		disk := &fullDisk{Store: newStore(t)}
		k := newTalkOn(disk)
		asks := func(who, line string) {
			r := k.typed(t, who, line)
			r.Shows = shows
			if line == "/place C4" && who == "bob" { // a button of an old board
				r.Args["seq"] = "1"
			}
			for range 2 {
				k.bot.Ask(t.Context(), r) //nolint:errcheck // the disk may be full
			}
			k.posts(t)
		}
		for _, line := range []string{"/new aga 5x5 color:black", "/place Z99", "/adjudicate result:draw", "/place C3"} {
			asks("ada", line)
			if line == "/new aga 5x5 color:black" {
				asks("bob", "/join")
			}
		}
		asks("eve", "/place C4")
		asks("bob", "/place C4")
		asks("eve", "/place C4 game:77")
		disk.full = true
		asks("bob", "/place D4")
		got := k.bot.Counts()
		for refusal := range got.Refused {
			if refusal.Platform != "chat" {
				t.Errorf("%s: on %q", how, refusal.Platform)
			}
		}
		want := map[string]uint64{bot.RefusedElse: 2, bot.RefusedNotMay: 2, bot.RefusedOutdated: 1, bot.RefusedFailed: 2}
		reasons := map[string]uint64{}
		for refusal, n := range got.Refused {
			reasons[refusal.Reason] += n
		}
		if !maps.Equal(reasons, want) {
			t.Errorf("%s: refused %v, not %v", how, reasons, want)
		}
		if n := got.Requests["chat"]; n != 18 {
			t.Errorf("%s: %d requests", how, n)
		}
	}
}

// A loop that does not come back from the store is busy ever longer; one that waits until
// something is due is not.
func TestBusyLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fullDisk{Store: newStore(t), slow: time.Now().Add(time.Hour + 2*time.Second)}
		b := bot.New(disk, bot.Config{Log: silent})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); b.Watch(ctx) }()
		time.Sleep(time.Hour + time.Second)
		if busy := b.Busy()["timed actions"]; busy != 0 {
			t.Errorf("while it waits: %v", busy)
		}
		time.Sleep(100 * time.Second)
		if busy := b.Busy()["timed actions"]; busy < time.Minute || busy > 100*time.Second {
			t.Errorf("while it hangs: %v", busy)
		}
		cancel()
		<-ended
	})
}
