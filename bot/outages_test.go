package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
)

// timed begins so many games with a day for each turn, one person's turn in all.
func timed(t *testing.T, k *talk, games int) {
	t.Helper()
	k.bot = bot.New(k.store, bot.Config{Log: silent, Now: k.clock, Games: bot.GameLimits{Person: 1000, Channel: 1000}})
	for i := range games {
		k.say(t, "ada", fmt.Sprintf("/new aga 5x5 clock:1d opponent:bob%d", i))
		k.say(t, fmt.Sprint("bob", i), fmt.Sprint("/join ", i+1))
	}
	k.wait(t, time.Minute)
}

// credits gives how many credits each game has, and by how much its deadline is
// later than that.
func (k *talk) credits(t *testing.T, than map[bot.GameID]time.Time) (n map[bot.GameID]int, by map[bot.GameID]time.Duration) {
	t.Helper()
	n, by = map[bot.GameID]int{}, map[bot.GameID]time.Duration{}
	ms, err := k.store.Matches(t.Context(), bot.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		m, events, err := k.store.Match(t.Context(), m.ID) // at one time: games are being credited meanwhile
		if err != nil {
			t.Fatal(err)
		}
		n[m.ID] = 0
		for _, e := range events {
			if strings.HasPrefix(e.Body, "credit ") {
				n[m.ID]++
			}
		}
		by[m.ID] = m.Deadline.Sub(than[m.ID])
	}
	return n, by
}

func (k *talk) deadlines(t *testing.T) map[bot.GameID]time.Time {
	t.Helper()
	at := map[bot.GameID]time.Time{}
	ms, err := k.store.Matches(t.Context(), bot.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		at[m.ID] = m.Deadline
	}
	return at
}

// A dying is a store that takes so many steps before the process dies.
type dying struct {
	bot.Store
	left *int
}

var errDead = errors.New("dead")

func (d dying) Take(ctx context.Context, s *bot.Step) error {
	if *d.left--; *d.left < 0 {
		return errDead
	}
	return d.Store.Take(ctx, s)
}

// However often the bot dies while it credits an outage, each game is credited in
// the end with all the time it was away, and with no time twice.
func TestDyingWhileCrediting(t *testing.T) {
	const games = 12
	for survives := range games + 1 {
		k := newTalk(t)
		timed(t, k, games)
		before, began := k.deadlines(t), k.now
		for _, left := range []int{survives, survives / 2, 1000} {
			k.now = k.now.Add(2 * time.Hour)
			b := bot.New(dying{k.store, &left}, bot.Config{Log: silent, Now: k.clock})
			if _, err := b.Tick(t.Context()); err != nil && !errors.Is(err, errDead) {
				t.Fatal(err)
			}
		}
		n, by := k.credits(t, before)
		if len(by) != games {
			t.Fatal(len(by), "games")
		}
		for id, d := range by {
			if d != k.now.Sub(began) {
				t.Errorf("dead after %d steps: %s has %v more after %v, by %d credits", survives, id, d, k.now.Sub(began), n[id])
			}
		}
		if mark, err := k.store.Bookmark(t.Context(), "bot:outages"); err != nil || mark != "" {
			t.Errorf("%q is left, %v", mark, err)
		}
		again, _ := k.credits(t, before)
		if _, err := bot.New(k.store, bot.Config{Log: silent, Now: k.clock}).Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after, _ := k.credits(t, before); fmt.Sprint(after) != fmt.Sprint(again) {
			t.Error("a later look credits again")
		}
	}
}

// A halting is a store that does not find the games with a deadline before it may,
// so that games are credited only if somebody touches them.
type halting struct {
	bot.Store
	gate chan struct{}
}

func (h halting) Running(ctx context.Context, platform, server string, after bot.GameID, limit int) ([]bot.GameID, error) {
	select {
	case <-h.gate:
		return h.Store.Running(ctx, platform, server, after, limit)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An early bird asks as soon as the bot runs its adapters.
type earlyBird struct {
	*channel
	run func(ctx context.Context, desk bot.Desk)
}

func (e *earlyBird) Run(ctx context.Context, desk bot.Desk) error {
	e.run(ctx, desk)
	<-ctx.Done()
	return nil
}

// The bot opens before it has credited an outage. Whoever asks meanwhile finds
// their own game credited, sees its new deadline, and loses it neither by a
// request of their own nor because the bot looks.
func TestOpensBeforeCrediting(t *testing.T) {
	const games = 5
	k := newTalk(t)
	timed(t, k, games)
	before := k.deadlines(t)
	k.now = k.now.Add(30 * time.Hour) // longer than the day that there is for a turn
	gate := make(chan struct{})
	var now atomic.Int64
	now.Store(k.now.UnixMilli())
	b := bot.New(halting{k.store, gate}, bot.Config{Log: silent, Now: func() time.Time { return time.UnixMilli(now.Load()).UTC() }})
	ask := func(ctx context.Context, desk bot.Desk, who, line string) string {
		r, err := k.request(who, line)
		if err != nil {
			t.Error(err)
		}
		a, err := desk.Ask(ctx, r)
		if err != nil {
			t.Error(err)
		}
		return a.Text
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := b.Run(ctx, &earlyBird{k.channel, func(ctx context.Context, desk bot.Desk) {
		defer cancel()
		if a := ask(ctx, desk, "ada", "/place C3 game:1"); a != "" {
			t.Errorf("Ada, who has time left, is told %q", a)
		}
		n, by := k.credits(t, before)
		credited := 0
		for id, n := range n {
			if n > 1 || n == 1 && by[id] < 30*time.Hour {
				t.Errorf("%s has %d credits, and %v more", id, n, by[id])
			}
			credited += n
		}
		if credited == 0 {
			t.Errorf("%d games are credited", credited)
		}
		if a := ask(ctx, desk, "ada", "/games"); strings.Count(a, "left") != games {
			t.Errorf("the games are listed as\n%s", a)
		}
		for id, n := range first(k.credits(t, before)) {
			if n != 1 {
				t.Errorf("%s is listed with %d credits", id, n)
			}
		}
		close(gate)
	}})
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range first(k.credits(t, before)) {
		if n != 1 {
			t.Errorf("%s has %d credits", id, n)
		}
	}
	ms, err := k.store.Matches(t.Context(), bot.Query{States: []bot.State{bot.Going}, Limit: 100})
	if err != nil || len(ms) != games {
		t.Errorf("%d games go on, %v", len(ms), err)
	}
}

func first[A, B any](a A, _ B) A { return a }
