package outbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// asked commits a step whose posts the asker shows.
func (w *world) asked(request string, posts ...match.OutboxPost) []Post {
	for i := range posts {
		posts[i].Asker = true
	}
	return w.commit(request, nothing, posts...)
}

// An asker may take its time for each of its posts.
func TestAskerShowsOneAfterAnother(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		posts := w.asked("1", notice("n1", 1), board("b1", 1))
		for _, p := range posts {
			time.Sleep(60 * time.Second)
			must(t, w.process.out.Settle(context.Background(), p, ""))
		}
		if len(posts) != 2 || len(w.tries) != 2 { // both were worded
			t.Errorf("the outbox sends posts, too: %v", w.tries)
		}
	})
}

// If it cannot be stored that a post was shown, the outbox looks for it and shows what
// comes after it.
func TestReleaseAfterFailedSettle(t *testing.T) {
	inWorld(t, func(w *world) {
		w.failOnce("settle n1")
		w.begin()
		posts := w.asked("1", notice("n1", 1), board("b1", 1))
		err := w.process.out.Settle(context.Background(), posts[0], "")
		w.process.out.Release(context.Background(), posts[0], err)
		if got := w.after(3 * time.Minute); got != "n1@5.3 b1@5.6" {
			t.Error(got)
		}
	})
}

// A board that was never sent, because the post before it failed, is not shown once there
// is a newer one.
func TestReleasedBoardIsSuperseded(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		posts := w.asked("1", notice("n1", 1), board("b1", 1))
		w.process.out.Release(context.Background(), posts[0], errors.New("the line is broken"))
		w.commit("2", nothing, board("b2", 2))
		w.process.out.Reread()
		if got := w.after(3 * time.Minute); got != "n1@5.3 b2@5.6" {
			t.Error(got)
		}
	})
}

// A post that was parked, and passed to its asker, is looked for if the process is killed
// before it is stored that it was shown.
func TestParkedAndShown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fates = map[string][]string{"n1": {"forbidden"}}
		w.at = func(_ int, what string) (string, string) {
			if what != "show b1" {
				return "", ""
			}
			w.at = nil
			return "after", "killed"
		}
		w.begin()
		w.commit("1", nothing, notice("n1", 1))
		time.Sleep(50 * time.Millisecond)
		p := w.now()
		for _, post := range w.asked("2", board("b1", 1)) {
			if _, _, err := p.Deliver(context.Background(), post); !errors.Is(err, errKilled) {
				t.Errorf("the asker shows it: %v", err)
			}
		}
		time.Sleep(time.Second)
		w.now().unpark()
		if got := w.after(time.Minute); got != "b1@0.6 n1@1.9" || w.tries["b1"] != 2 {
			t.Errorf("%s, b1 sent %d times", got, w.tries["b1"])
		}
	})
}

// After an asker's time is over the outbox shows the post, and the asker can no longer
// change when that is.
func TestSettleFailsTooLate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.fates = map[string][]string{"n1": {"fails"}}
		w.failOnce("settle n1")
		w.begin()
		posts := w.asked("1", notice("n1", 1))
		time.Sleep(deliverFor + 100*time.Millisecond)
		if w.process.out.Settle(context.Background(), posts[0], "") == nil {
			t.Error("it does not fail")
		}
		if got := w.after(time.Minute); got != "n1@85.6" {
			t.Error(got)
		}
	})
}

// An asker may release what it has settled, which then has no effect.
func TestReleaseAfterSettle(t *testing.T) {
	inWorld(t, func(w *world) {
		w.begin()
		out := w.process.out
		for _, post := range w.asked("1", notice("n1", 1)) {
			r, owes, err := w.process.Deliver(context.Background(), post)
			must(t, err)
			must(t, out.Settle(context.Background(), post, r, owes...))
			out.Release(context.Background(), post, errors.New("the line is broken"))
		}
		w.commit("2", nothing, notice("n2", 2))
		if got, want := w.after(time.Minute), "n1@0.3 n2@0.6"; got != want {
			t.Errorf("%s, not %s", got, want)
		}
	})
}
