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
	"github.com/halfpoint-go/halfpoint/bot/match"
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
func (k *talk) credits(t *testing.T, than map[match.GameID]time.Time) (n map[match.GameID]int, by map[match.GameID]time.Duration) {
	t.Helper()
	n, by = map[match.GameID]int{}, map[match.GameID]time.Duration{}
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

func (k *talk) deadlines(t *testing.T) map[match.GameID]time.Time {
	t.Helper()
	at := map[match.GameID]time.Time{}
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

func (d dying) Commit(ctx context.Context, s *match.Step) error {
	if *d.left--; *d.left < 0 {
		return errDead
	}
	return d.Store.Commit(ctx, s)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outages are ways in which nobody can reach the bot for two hours. In the end there
// is another bot, on a store.
var outages = map[string]func(t *testing.T, k *talk, st bot.Store) *bot.Bot{
	"the bot is away": func(_ *testing.T, k *talk, st bot.Store) *bot.Bot {
		k.now = k.now.Add(2 * time.Hour)
		return k.on(st)
	},
	"the platform is away": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Away(t.Context(), "chat"))
		k.now = k.now.Add(2 * time.Hour)
		k.alive(t)
		b := k.on(st)
		must(t, b.Back(t.Context(), "chat"))
		return b
	},
	"the platform, and for the second half the bot": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Away(t.Context(), "chat"))
		k.now = k.now.Add(time.Hour)
		k.alive(t)
		k.now = k.now.Add(time.Hour)
		b := k.on(st)
		must(t, b.Back(t.Context(), "chat"))
		return b
	},
	"the bot is not in the server": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Servers(t.Context(), "chat", nil))
		k.now = k.now.Add(2 * time.Hour)
		k.alive(t)
		b := k.on(st)
		must(t, b.Servers(t.Context(), "chat", []string{"guild"}))
		return b
	},
	"and that it is again is not stored at first": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Servers(t.Context(), "chat", nil))
		k.now = k.now.Add(time.Hour)
		k.alive(t)
		if err := k.on(absentMinded{st}).Servers(t.Context(), "chat", []string{"guild"}); !errors.Is(err, errDead) {
			t.Error(err)
		}
		k.now = k.now.Add(time.Hour)
		k.alive(t)
		b := k.on(st)
		must(t, b.Servers(t.Context(), "chat", []string{"guild"}))
		return b
	},
}

// on starts a bot on a store.
func (k *talk) on(st bot.Store) *bot.Bot {
	return bot.New(st, bot.Config{Log: silent, Now: k.clock})
}

// An absent-minded store keeps no change of whether the bot is in a server.
type absentMinded struct{ bot.Store }

func (absentMinded) Left(context.Context, string, string, time.Time) error { return errDead }

// However often the bot dies while it credits an outage, each game is credited in
// the end with all the time in which nobody could play, and with no time twice. That
// it can be reached again is known without touching a game.
func TestDyingWhileCrediting(t *testing.T) {
	const games = 4
	for name, outage := range outages {
		t.Run(name, func(t *testing.T) {
			for survives := range games + 1 {
				k := newTalk(t)
				k.server = "guild"
				timed(t, k, games)
				before, began := k.deadlines(t), k.now
				for _, left := range []int{survives, survives / 2, 1000} {
					was := left
					b := outage(t, k, dying{k.store, &left})
					if left != was {
						t.Errorf("%d games are credited at once", was-left)
					}
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
				if left, err := k.store.Outages(t.Context()); err != nil || len(left) > 0 {
					t.Errorf("%v are left, %v", left, err)
				}
				if _, err := k.on(k.store).Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				if after, _ := k.credits(t, before); fmt.Sprint(after) != fmt.Sprint(n) {
					t.Error("a later look credits again")
				}
			}
		})
	}
}

// A stubborn is a store that refuses the first step of a game, or panics over it.
type stubborn struct {
	bot.Store
	game   *match.GameID // the first that comes
	panics bool
	tries  *int
}

func (s stubborn) Commit(ctx context.Context, step *match.Step) error {
	if step.Match == nil {
		return s.Store.Commit(ctx, step)
	}
	if *s.game == "" {
		*s.game = step.Match.ID
	}
	if *s.game == step.Match.ID && *s.tries > 0 {
		if *s.tries--; s.panics {
			panic("over a game")
		}
		return errDead
	}
	return s.Store.Commit(ctx, step)
}

// A game that cannot be credited keeps no other waiting. If it may be at another
// time, it is.
func TestOneGameIsNotCredited(t *testing.T) {
	for _, panics := range []bool{false, true} {
		k := newTalk(t)
		k.server = "guild"
		timed(t, k, 4)
		before := k.deadlines(t)
		var bad match.GameID
		tries := 1
		b := outages["the platform is away"](t, k, stubborn{k.store, &bad, panics, &tries})
		if _, err := b.Tick(t.Context()); !panics && !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		if n, _ := k.credits(t, before); len(n) != 4 || n[bad] != 0 || sum(n) != 3 {
			t.Errorf("panics %v: credited at first: %v, but for %s", panics, n, bad)
		}
		if _, err := b.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := 4
		if panics {
			want = 3
		}
		if n, _ := k.credits(t, before); sum(n) != want {
			t.Errorf("panics %v: credited in the end: %v", panics, n)
		}
	}
}

func sum(n map[match.GameID]int) (all int) {
	for _, one := range n {
		all += one
	}
	return all
}

// A lost is a store that finds no games to credit in passing.
type lost struct{ bot.Store }

func (lost) Running(context.Context, string, string, match.GameID, int) ([]match.GameID, error) {
	return nil, errDead
}

// After an outage, whatever its kind, no flag falls on a game that has not been
// credited yet: neither by itself nor by a claim, nor is it shown as fallen. A game
// that began after the outage is not credited.
func TestNoFlagBeforeCrediting(t *testing.T) {
	for name, outage := range outages {
		for _, first := range []string{"tick", "/claim game:1", "/clock game:1", "/games"} {
			if name == "the bot is away" && first != "tick" { // see TestOpensBeforeCrediting
				continue
			}
			t.Run(name+", then "+first, func(t *testing.T) {
				k := newTalk(t)
				k.server = "guild"
				k.lines(t, "ada> /new aga 5x5 clock:1h30m", "bob> /join", "bob> /new aga 5x5 clock:3d")
				before := k.deadlines(t)
				k.bot = outage(t, k, lost{k.store})
				ask := func(who, text string) string {
					r, err := k.request(who, text)
					must(t, err)
					a, err := k.bot.Ask(t.Context(), r)
					must(t, err)
					return a.Text
				}
				ask("ada", "/join 2")
				if first == "tick" {
					if _, err := k.bot.Tick(t.Context()); !errors.Is(err, errDead) {
						t.Error(err)
					}
					ask("ada", "/place C3 game:1")
				} else if a := ask("bob", first); first != "/claim game:1" && !strings.Contains(a, "1 hour 29 minutes") {
					t.Errorf("%s is answered with %q", first, a)
				}
				k.bot = k.on(k.store)
				if _, err := k.bot.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				n, by := k.credits(t, before)
				for _, m := range k.matches(t, bot.Query{}) {
					if m.State != match.Going || m.Number == 1 && by[m.ID] < 2*time.Hour || m.Number == 2 && n[m.ID] > 0 {
						t.Errorf("game %d is %s, with %v more and %d credits", m.Number, m.State, by[m.ID], n[m.ID])
					}
				}
			})
		}
	}
}

// A meddler is a store in which something happens when a match is read.
type meddler struct {
	bot.Store
	happens *func()
}

func (m meddler) Header(ctx context.Context, id match.GameID) (match.Match, error) {
	found, err := m.Store.Header(ctx, id)
	if do := *m.happens; do != nil {
		*m.happens = nil
		do()
	}
	return found, err
}

// Nor does a flag fall when a platform is back just after the game was read.
func TestBackWhileDeciding(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5 clock:1h30m", "bob> /join", "ada> /place C3")
	var back func()
	b := k.on(meddler{k.store, &back})
	must(t, b.Away(t.Context(), "chat"))
	k.now = k.now.Add(2 * time.Hour)
	k.alive(t)
	back = func() { must(t, b.Back(t.Context(), "chat")) }
	if _, err := b.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := k.matches(t, bot.Query{})[0]; back != nil || m.State != match.Going {
		t.Errorf("the game is %s, %s", m.State, m.Result)
	}
}

// A platform that is away for no longer than a pulse is credited nothing.
func TestShortPlatformOutage(t *testing.T) {
	k := newTalk(t)
	for _, c := range []struct {
		lasts time.Duration
		kept  int
	}{{20 * time.Second, 0}, {21 * time.Second, 1}} {
		must(t, k.bot.Away(t.Context(), "chat"))
		k.now = k.now.Add(c.lasts)
		must(t, k.bot.Back(t.Context(), "chat"))
		if kept, err := k.store.Outages(t.Context()); err != nil || len(kept) != c.kept {
			t.Errorf("of %v: %v, %v", c.lasts, kept, err)
		}
	}
}

// A halting is a store that does not find the games with a deadline before it may,
// so that games are credited only if somebody touches them.
type halting struct {
	bot.Store
	gate chan struct{}
}

func (h halting) Running(ctx context.Context, platform, server string, after match.GameID, limit int) ([]match.GameID, error) {
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
	run func(ctx context.Context, service bot.Service)
}

func (e *earlyBird) Run(ctx context.Context, service bot.Service) error {
	e.run(ctx, service)
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
	ask := func(ctx context.Context, service bot.Service, who, line string) string {
		r, err := k.request(who, line)
		if err != nil {
			t.Error(err)
		}
		a, err := service.Ask(ctx, r)
		if err != nil {
			t.Error(err)
		}
		return a.Text
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := b.Run(ctx, &earlyBird{k.channel, func(ctx context.Context, service bot.Service) {
		defer cancel()
		if a := ask(ctx, service, "ada", "/place C3 game:1"); a != "" {
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
		if a := ask(ctx, service, "ada", "/games"); strings.Count(a, "left") != games {
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
	ms, err := k.store.Matches(t.Context(), bot.Query{States: []match.State{match.Going}, Limit: 100})
	if err != nil || len(ms) != games {
		t.Errorf("%d games go on, %v", len(ms), err)
	}
}

func first[A, B any](a A, _ B) A { return a }
