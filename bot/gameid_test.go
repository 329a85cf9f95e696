package bot_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// firstGame opens a game by a request whose id never changes, on a new store.
func firstGame(t *testing.T, c bot.Config, text string) match.Match {
	t.Helper()
	k := newTalk(t)
	k.bot = bot.New(k.store, c)
	k.ask(t, "ada", text)
	return k.matches(t, bot.Query{})[0]
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

// Where an old copy of the database is put back, and what was said since comes again, it
// opens the same games.
func TestGameIDsComeAgain(t *testing.T) {
	folder, k := t.TempDir(), newTalk(t)
	now, err := store.Open(t.Context(), filepath.Join(folder, "now"))
	must(t, err)
	defer now.Close()
	opens := func(st *store.Store, text string, number int) match.Match {
		t.Helper()
		r, err := k.request("ada", text)
		must(t, err)
		r.ID = "chat:" + text
		_, err = bot.New(st, bot.Config{}).Ask(t.Context(), r)
		must(t, err)
		ms, err := st.Matches(t.Context(), bot.Query{Number: number})
		must(t, err)
		if len(ms) != 1 {
			t.Fatalf("%d games have the number %d", len(ms), number)
		}
		return ms[0]
	}
	opens(now, "/new", 1)
	_, err = store.Backup(t.Context(), filepath.Join(folder, "now"), filepath.Join(folder, "copy"), time.Now(), nil)
	must(t, err)
	first := opens(now, "/new color:random", 2)
	old, err := store.Open(t.Context(), filepath.Join(folder, "copy"))
	must(t, err)
	defer old.Close()
	if again := opens(old, "/new color:random", 2); again.ID != first.ID || again.Black != first.Black {
		t.Errorf("game %s, Black %q, and again: %s, %q", first.ID, first.Black, again.ID, again.Black)
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
	must(t, err)
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			if _, err := k.bot.Ask(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	if ms := k.matches(t, bot.Query{}); len(ms) != 1 {
		t.Errorf("%d games", len(ms))
	}
}

// If the source of randomness fails, no game is opened.
func TestNoRandomnessNoGame(t *testing.T) {
	k := newTalk(t)
	broken := errors.New("broken")
	k.start(bot.Config{Rand: iotest.ErrReader(broken)})
	r, err := k.request("ada", "/new")
	must(t, err)
	if _, err := k.bot.Ask(t.Context(), r); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if ms := k.matches(t, bot.Query{}); len(ms) != 0 {
		t.Errorf("%d games", len(ms))
	}
}
