package store_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// However many exports are being read, slowly, a turn finds a connection, and is stored.
func TestTurnsDoNotWaitForCostlyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newFile(t))
		must(t, s.SetBookmark(t.Context(), "a", strings.Repeat("a", 1<<20)))
		step := opening("g", "room")
		must(t, s.Commit(t.Context(), step))
		step = turn(step.Match)
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		for range 8 {
			to, from := io.Pipe()
			context.AfterFunc(ctx, func() { to.Close() })
			go s.Export(ctx, from) // nobody reads it
			go s.MessagesOf(ctx, "ada", outbox.User{Platform: bot.LogPlatform, ID: "name:ada", Name: "Ada"})
			go s.EventsBy(ctx, "ada")
			go s.Matches(ctx, bot.Query{Player: "ada", Limit: 10_000})
			go s.Prune(ctx, noon, "", 500)
			go s.Erase(ctx, bot.Forgetting{Person: "bob"})
		}
		synctest.Wait()
		soon, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if _, _, err := s.Match(soon, "g"); err != nil {
			t.Errorf("the match is not read: %v", err)
		}
		if _, err := s.Matches(soon, bot.Query{Player: "ada"}); err != nil {
			t.Errorf("the matches are not listed: %v", err)
		}
		if _, err := s.Since(soon, "local", 0, 100); err != nil {
			t.Errorf("the page gets no messages: %v", err)
		}
		must(t, s.Commit(soon, step))
	})
}
