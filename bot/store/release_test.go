package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/store"
	"github.com/halfpoint-go/halfpoint/bot/store/storetest"
)

// A database from before proofs were chained, and an export of it that was made then, hold the
// same games as then, and the games go on: one with a clock, one of a league, and one that is
// over, on which somebody comments once more. What is new is proved in the new way.
func TestBeforeChainedProofs(t *testing.T) {
	const saved = "testdata/release/unchained"
	want, err := os.ReadFile(saved + ".txt")
	must(t, err)
	for name, make := range map[string]func(*testing.T) string{
		"database": func(t *testing.T) string { return storetest.Unpack(t, saved+".db.gz") },
		"export": func(t *testing.T) string {
			export, err := os.Open(storetest.Unpack(t, saved+".jsonl.gz"))
			must(t, err)
			defer export.Close()
			file := filepath.Join(t.TempDir(), "halfpoint.db")
			s, err := store.Open(t.Context(), file)
			must(t, err)
			defer s.Close()
			must(t, s.Import(t.Context(), export))
			return file
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := make(t)
			tells := func(id, name string, questions ...string) string {
				return storetest.Tells(t, file, time.Date(2026, 11, 27, 9, 30, 0, 0, time.UTC), outbox.User{Platform: "web", ID: id, Name: name},
					match.Room{Platform: "web", Channel: "local"}, questions...)
			}
			got := tells("seat:black", "Black", "/games", "/board game:2", "/clock game:2", "/sgf game:2", "/sgf game:1", "/board game:3", "/event table")
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the games are others (−then +now):\n%s", diff)
			}
			before := verified(t, file)
			said := tells("seat:black", "Black", "/place B3 game:2") + tells("name:carol", "Carol", "/place C3 game:4") + tells("seat:white", "White", "/comment game:1 thank you")
			more := 0
			for id, events := range verified(t, file) {
				more += len(events) - len(before[id])
			}
			if len(before) != 6 || more != 3 {
				t.Errorf("%d games, %d new events:\n%s", len(before), more, said)
			}
		})
	}
}

// verified returns the events of all games of a database, whose proofs it checks.
func verified(t *testing.T, file string) map[match.GameID][]match.Event {
	t.Helper()
	s, err := store.Open(t.Context(), file)
	must(t, err)
	defer s.Close()
	ms, err := s.Matches(t.Context(), bot.Query{})
	must(t, err)
	all := map[match.GameID][]match.Event{}
	for _, m := range ms {
		_, events, err := s.Match(t.Context(), m.ID)
		must(t, err)
		if old, err := match.Verify(m, events); err != nil || !old {
			t.Errorf("game %d: %v; written by an earlier version: %t", m.Number, err, old)
		}
		all[m.ID] = events
	}
	return all
}
