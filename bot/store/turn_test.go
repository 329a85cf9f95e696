package store_test

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// A turn should not cross the database more often than it must. Whoever makes it
// cheaper lowers these numbers; whoever raises them should know why.
const (
	statementsToAsk  = 11 // from the request to its answer
	statementsToShow = 10 // from there until its board is shown and settled
)

func TestStatementsOfATurn(t *testing.T) {
	var ran statements
	defer store.OnStatement(ran.add)()
	s := open(t, store.Memory)
	service := bot.New(s, bot.Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Deliveries: 1})
	show := &screen{}
	n := 0
	ask := func(who, command string, args map[string]string) {
		t.Helper()
		n++
		a, err := service.Ask(t.Context(), bot.Request{ID: fmt.Sprint("chat:", n), Command: command, Args: args,
			Who: bot.Who{Platform: "bench", ID: who, Name: who}, Where: bot.Room{Platform: "bench", Channel: "room"}})
		if err != nil || a.Private {
			t.Fatalf("%q, %v", a.Text, err)
		}
	}
	flush := func() {
		t.Helper()
		must(t, service.Flush(t.Context(), show))
	}
	ask("ada", "new", map[string]string{"rules": "two-button", "size": "19x19"})
	ask("bob", "join", nil)
	flush()
	for turn := range 6 {
		ran.clear()
		ask([]string{"ada", "bob"}[turn%2], "place", map[string]string{"at": fmt.Sprint("D", turn+4)})
		asked := ran.clear()
		flush()
		shown := ran.clear()
		if turn < 2 { // reads what later turns remember
			continue
		}
		if len(asked) != statementsToAsk {
			t.Fatalf("turn %d: %d statements until the answer, want %d:\n%s", turn, len(asked), statementsToAsk, strings.Join(asked, "\n"))
		}
		if len(shown) != statementsToShow {
			t.Fatalf("turn %d: %d statements until the board is settled, want %d:\n%s", turn, len(shown), statementsToShow, strings.Join(shown, "\n"))
		}
	}
}

// statements are those that stores run, but for the frames of transactions.
type statements struct {
	mu   sync.Mutex
	list []string
}

func (s *statements) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.Join(strings.Fields(text), " ")
	if !strings.HasPrefix(text, "SAVEPOINT") && !strings.HasPrefix(text, "RELEASE") {
		s.list = append(s.list, text)
	}
}

// clear returns the statements since it was last called.
func (s *statements) clear() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}
