package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A refuser shows everything but the boards of the games that it refuses.
type refuser struct {
	refuses string // a text that those boards hold; "" refuses none
	shown   []string
}

func (h *refuser) Name() string { return "hall" }

func (h *refuser) Run(ctx context.Context, _ bot.Service) error {
	<-ctx.Done()
	return nil
}

func (h *refuser) Deliver(_ context.Context, p outbox.Post) (outbox.Receipt, []outbox.Owes, error) {
	if p.Kind == match.Show && h.refuses != "" && strings.Contains(p.Text, h.refuses) {
		return "", nil, fmt.Errorf("%w: no such picture", outbox.ErrRefused)
	}
	h.shown = append(h.shown, p.ID)
	return outbox.Receipt("m-" + p.ID), nil, nil
}

// Posts that were given up are listed, also while the program runs, and a retry shows
// them unless a newer post has been shown.
func TestUndelivered(t *testing.T) {
	database := filepath.Join(t.TempDir(), "game.db")
	clock := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	h := &refuser{refuses: "ame"} // Game
	n := 0
	open := func() (*store.Store, func(command string, args map[string]string), func()) {
		t.Helper()
		st, err := store.Open(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		b := bot.New(st, bot.Config{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return clock }})
		ask := func(command string, args map[string]string) {
			t.Helper()
			n++
			_, err := b.Ask(t.Context(), bot.Request{ID: fmt.Sprint("hall:", n), Who: outbox.User{Platform: "hall", ID: "anna", Name: "Anna"},
				Where: match.Room{Platform: "hall", Channel: "club"}, Command: command, Args: args})
			if err != nil {
				t.Fatal(err)
			}
		}
		flush := func() {
			t.Helper()
			h.shown = nil
			for range 4 {
				if err := b.Flush(t.Context(), h); err != nil {
					t.Fatal(err)
				}
				clock = clock.Add(time.Minute)
			}
		}
		return st, ask, flush
	}
	undelivered := func(want int, args ...string) string {
		t.Helper()
		status, says := halfpoint(append([]string{"undelivered", "--database", database}, args...)...)
		if status != want {
			t.Fatalf("%q ends with %d: %s", args, status, says)
		}
		return says
	}

	st, ask, flush := open()
	if got := undelivered(0); got != "No undelivered posts, no unprocessed events.\n" {
		t.Errorf("at first it says %q", got)
	}
	for range 2 {
		ask("new", map[string]string{"opponent": "me", "size": "5x5"})
	}
	flush()
	list := undelivered(0)
	given := regexp.MustCompile(`(?m)^given up +(\S+) +hall +club +".*no such picture"$`).FindAllStringSubmatch(list, -1)
	if len(given) != 2 || strings.Count(list, "\n") != 2 {
		t.Fatalf("it lists\n%s", list)
	}
	first, second := given[0][1], given[1][1]
	if got := undelivered(1, "--again", first); !strings.Contains(got, "another halfpoint is using") {
		t.Errorf("while it runs it says %q", got)
	}

	h.refuses = ""
	ask("place", map[string]string{"at": "C3", "game": "2"})
	flush()
	if game, _, _ := strings.Cut(first, "-"); strings.HasPrefix(h.shown[0], game) {
		first, second = second, first
	}
	st.Close()
	if got := undelivered(1, "--again", second, "--again", "nothing"); !strings.Contains(got, store.ErrOvertaken.Error()) || !strings.Contains(got, "not found") {
		t.Errorf("of what was overtaken it says %q", got)
	}
	if got := undelivered(0, "--again", first); got != "" {
		t.Errorf("it says %q", got)
	}
	st, _, flush = open()
	defer st.Close()
	flush()
	if len(h.shown) != 1 || h.shown[0] != first {
		t.Errorf("%q are shown, not %q", h.shown, first)
	}
	if got := undelivered(0); strings.Contains(got, first) || !strings.Contains(got, second) {
		t.Errorf("at last it says %q", got)
	}
}
