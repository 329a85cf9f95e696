package bot_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A lister counts the matches that queries return, and notes the queries whose cost
// depends on how many games the room has.
type lister struct {
	bot.Store
	mu       sync.Mutex
	returned int
	all      []bot.Query
}

func (l *lister) Matches(ctx context.Context, q bot.Query) ([]match.Match, error) {
	ms, err := l.Store.Matches(ctx, q)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.returned += len(ms)
	if q.Number == 0 && q.Player == "" && q.Where.Thread == "" && !(q.Any && q.Limit > 0 && q.Limit <= 2) {
		l.all = append(l.all, q)
	}
	return ms, err
}

// A turn looks at no more games, however many others its room has.
func TestATurnLooksAtFewGames(t *testing.T) {
	looked := func(games int, flat bool) (returned int) {
		st := &lister{Store: newStore(t)}
		k := newTalkOn(st)
		for i := range games {
			k.ask(t, fmt.Sprint("player", i), "/new aga 5x5 opponent:me")
		}
		k.ask(t, "ada", "/new aga 5x5 opponent:me")
		last := games + 1
		if flat { // two seats for all
			for ; last < 2*games; last++ {
				k.ask(t, "ada", "/new aga 5x5 opponent:me")
			}
		}
		k.posts(t)
		st.returned, st.all = 0, nil
		turn := func(line string) {
			t.Helper()
			r, err := k.request("ada", line)
			must(t, err)
			r.Flat = flat
			if a, err := own(k.bot.Ask(t.Context(), r)); err != nil || a.Refused {
				t.Fatalf("%s: %q %v", line, a.Text, err)
			}
			if posts := k.posts(t); len(posts) == 0 {
				t.Fatalf("%s shows nothing", line)
			}
		}
		turn("/place A1")
		turn(fmt.Sprint("/place B2 game:", last))
		turn("/place C3")
		turn("/undo")
		if flat {
			r, err := k.request("ada", "/place D4")
			must(t, err)
			r.Flat = true
			if _, ok, why, err := k.bot.Bare(t.Context(), r, "D4"); err != nil || !ok {
				t.Fatal(ok, why, err)
			}
		}
		for _, q := range st.all {
			t.Errorf("a turn in a room of %d games looks at all of them: %+v", games, q)
		}
		return st.returned
	}
	for _, flat := range []bool{false, true} {
		if few, many := looked(3, flat), looked(19, flat); many > few {
			t.Errorf("flat %v: turns look at %d games in a room of 3, and at %d in a room of 19", flat, few, many)
		}
	}
}
