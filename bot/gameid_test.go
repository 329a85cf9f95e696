package bot_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// firstGame opens a game by a request whose id never changes, on a new store.
func firstGame(t *testing.T, c bot.Config, text string) match.Match {
	t.Helper()
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	k := &talk{store: st, bot: bot.New(st, c)}
	r, err := k.request("ada", text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.bot.Ask(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	ms, err := st.Matches(t.Context(), bot.Query{})
	if err != nil || len(ms) != 1 {
		t.Fatalf("%v, %v", ms, err)
	}
	return ms[0]
}

// Nobody can compute the id of a game from the request that opened it. A
// simulation that hands in its own source gets the same ids each time.
func TestGameIDsAreRandom(t *testing.T) {
	for _, text := range []string{"/new", "/new opponent:me", "/setup .O./.X./..."} {
		a, b := firstGame(t, bot.Config{}, text), firstGame(t, bot.Config{}, text)
		if a.ID == b.ID {
			t.Errorf("%s: the same request made the id %s twice", text, a.ID)
		}
		if len(a.ID) != 17 || strings.Trim(string(a.ID[1:]), "abcdefghijklmnopqrstuvwxyz234567") != "" {
			t.Errorf("%s: id %q should be g and 80 bits in base 32", text, a.ID)
		}
		seeded := func(seed byte) match.GameID {
			return firstGame(t, bot.Config{Rand: rand.NewChaCha8([32]byte{seed})}, text).ID
		}
		if a, b, c := seeded(1), seeded(1), seeded(2); a != b || a == c {
			t.Errorf("%s: one seed gives %s and %s, another %s", text, a, b, c)
		}
	}
}

// Nigiri comes from the same source as the id, and both colours occur.
func TestNigiriIsRandom(t *testing.T) {
	source := rand.NewChaCha8([32]byte{3})
	black := 0
	for range 64 {
		if m := firstGame(t, bot.Config{Rand: source}, "/new color:random"); m.Black != "" {
			black++
		}
	}
	if black < 16 || black > 48 {
		t.Errorf("Black %d of 64 times", black)
	}
}

// A request that is asked again, even at the same time, opens one game.
func TestAskingTwiceOpensOneGame(t *testing.T) {
	k := newTalk(t)
	r, err := k.request("ada", "/new")
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			if _, err := k.bot.Ask(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if ms, err := k.store.Matches(t.Context(), bot.Query{}); err != nil || len(ms) != 1 {
		t.Errorf("%d games, %v", len(ms), err)
	}
}

// If the source of randomness fails, no game is opened.
func TestNoRandomnessNoGame(t *testing.T) {
	st, err := store.Open(t.Context(), store.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	broken := errors.New("broken")
	k := &talk{store: st, bot: bot.New(st, bot.Config{Rand: failing{broken}})}
	r, err := k.request("ada", "/new")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.bot.Ask(t.Context(), r); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if ms, err := st.Matches(t.Context(), bot.Query{}); err != nil || len(ms) != 0 {
		t.Errorf("%d games, %v", len(ms), err)
	}
}

// failing is a reader that always fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
