package bot

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A pruned store notes from where and when it is told to prune, since the bot was
// started. It fails the first time, and has a round of three steps.
type pruned struct {
	Store
	started time.Time
	from    []string
	at      []time.Duration
}

func (p *pruned) Prune(_ context.Context, now time.Time, after string, limit int) (string, error) {
	if limit < 1 || limit > 1000 || !now.Equal(time.Now()) {
		return "", errors.New("that is too much at once, or not now")
	}
	p.from, p.at = append(p.from, after), append(p.at, time.Since(p.started))
	if len(p.from) == 1 {
		return "", errors.New("the disk is busy")
	}
	return map[string]string{"": "a", "a": "b", "b": ""}[after], nil
}

func (p *pruned) Forgetting(context.Context) ([]Forgetting, error) { return nil, nil }

// The bot prunes its store once a day, in steps between which turns have it.
func TestPrunes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &pruned{started: time.Now()}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			New(st, Config{Log: slog.New(slog.DiscardHandler)}).prune(ctx)
		}()
		time.Sleep(49 * time.Hour)
		stop()
		<-done
		if diff := cmp.Diff([]string{"", "", "a", "b", "", "a", "b", "", "a", "b"}, st.from); diff != "" {
			t.Error(diff)
		}
		const retry, first, day = time.Minute, 2 * time.Minute, 24 * time.Hour
		want := []time.Duration{retry, first, first + time.Second, first + 2*time.Second}
		for range 2 {
			again := want[len(want)-1] + day
			want = append(want, again, again+time.Second, again+2*time.Second)
		}
		if diff := cmp.Diff(want, st.at); diff != "" {
			t.Error(diff)
		}
	})
}
