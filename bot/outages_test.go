package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// timed begins so many games with a day for each turn, one person's turn in all.
func timed(t *testing.T, k *talk, games int) {
	t.Helper()
	for i := range games {
		k.say(t, "ada", fmt.Sprintf("/new aga 5x5 clock:1d opponent:bob%d", i))
		k.say(t, fmt.Sprint("bob", i), fmt.Sprint("/join ", i+1))
	}
	k.wait(t, time.Minute)
}

// credits returns how many credits each game has.
func (k *talk) credits(t *testing.T) map[match.GameID]int {
	t.Helper()
	n := map[match.GameID]int{}
	for _, m := range k.matches(t, bot.Query{}) {
		_, events, err := k.store.Match(t.Context(), m.ID)
		must(t, err)
		n[m.ID] = 0
		for _, e := range events {
			if strings.HasPrefix(e.Body.String(), "credit ") {
				n[m.ID]++
			}
		}
	}
	return n
}

func sum(n map[match.GameID]int) (all int) {
	for _, one := range n {
		all += one
	}
	return all
}

func (k *talk) deadlines(t *testing.T) map[match.GameID]time.Time {
	t.Helper()
	at := map[match.GameID]time.Time{}
	for _, m := range k.matches(t, bot.Query{}) {
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

// away lets time pass in which only the bot is there.
func (k *talk) away(t *testing.T, d time.Duration) {
	k.now = k.now.Add(d)
	k.alive(t)
}

// outages are ways in which nobody can reach the bot for two hours. In the end there
// is another bot, on a store.
var outages = map[string]func(t *testing.T, k *talk, st bot.Store) *bot.Bot{
	"the bot is away": func(_ *testing.T, k *talk, st bot.Store) *bot.Bot {
		k.now = k.now.Add(2 * time.Hour)
		return k.on(st)
	},
	"the platform is away": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Report(t.Context(), bot.Away{Platform: "chat"}))
		k.away(t, 2*time.Hour)
		b := k.on(st)
		must(t, b.Report(t.Context(), bot.Back{Platform: "chat"}))
		return b
	},
	"the platform, and for the second half the bot": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Report(t.Context(), bot.Away{Platform: "chat"}))
		k.away(t, time.Hour)
		k.now = k.now.Add(time.Hour)
		b := k.on(st)
		must(t, b.Report(t.Context(), bot.Back{Platform: "chat"}))
		return b
	},
	"the bot is not in the server": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Report(t.Context(), bot.Servers{Platform: "chat"}))
		k.away(t, 2*time.Hour)
		b := k.on(st)
		must(t, b.Report(t.Context(), bot.Servers{Platform: "chat", In: []string{"guild"}}))
		return b
	},
	"and that it is again is not stored at first": func(t *testing.T, k *talk, st bot.Store) *bot.Bot {
		must(t, k.on(k.store).Report(t.Context(), bot.Servers{Platform: "chat"}))
		k.away(t, time.Hour)
		if err := k.on(absentMinded{st}).Report(t.Context(), bot.Servers{Platform: "chat", In: []string{"guild"}}); !errors.Is(err, errDead) {
			t.Error(err)
		}
		k.away(t, time.Hour)
		b := k.on(st)
		must(t, b.Report(t.Context(), bot.Servers{Platform: "chat", In: []string{"guild"}}))
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
				want := k.deadlines(t)
				began := k.now
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
				for id := range want {
					want[id] = want[id].Add(k.now.Sub(began))
				}
				credits := k.credits(t)
				if diff := cmp.Diff(want, k.deadlines(t)); diff != "" || len(want) != games {
					t.Errorf("dead after %d steps: %v credits, deadlines\n%s", survives, credits, diff)
				}
				if left, err := k.store.Outages(t.Context()); err != nil || len(left) > 0 {
					t.Errorf("%v are left, %v", left, err)
				}
				k.bot = k.on(k.store)
				if k.tick(t); !cmp.Equal(credits, k.credits(t)) {
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
		var bad match.GameID
		tries := 1
		b := outages["the platform is away"](t, k, stubborn{k.store, &bad, panics, &tries})
		if _, err := b.Tick(t.Context()); !panics && !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		if n := k.credits(t); len(n) != 4 || n[bad] != 0 || sum(n) != 3 {
			t.Errorf("panics %v: credited at first: %v, but for %s", panics, n, bad)
		}
		if _, err := b.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[bool]int{false: 4, true: 3}[panics]
		if n := k.credits(t); sum(n) != want {
			t.Errorf("panics %v: credited in the end: %v", panics, n)
		}
	}
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
				k.ask(t, "ada", "/join 2")
				if first == "tick" {
					if _, err := k.bot.Tick(t.Context()); !errors.Is(err, errDead) {
						t.Error(err)
					}
					k.ask(t, "ada", "/place C3 game:1")
				} else if a := k.ask(t, "bob", first); first != "/claim game:1" && !strings.Contains(a.Text, "1 hour 29 minutes") {
					t.Errorf("%s is answered with %q", first, a.Text)
				}
				k.bot = k.on(k.store)
				k.tick(t)
				n := k.credits(t)
				for _, m := range k.matches(t, bot.Query{}) {
					by := m.Deadline.Sub(before[m.ID])
					if m.State != match.Going || m.Number == 1 && by < 2*time.Hour || m.Number == 2 && n[m.ID] > 0 {
						t.Errorf("game %d is %s, with %v more and %d credits", m.Number, m.State, by, n[m.ID])
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
	k.bot = k.on(meddler{k.store, &back})
	must(t, k.bot.Report(t.Context(), bot.Away{Platform: "chat"}))
	k.away(t, 2*time.Hour)
	back = func() { must(t, k.bot.Report(t.Context(), bot.Back{Platform: "chat"})) }
	k.tick(t)
	if m := k.matches(t, bot.Query{})[0]; back != nil || m.State != match.Going {
		t.Errorf("the game is %s, %s", m.State, m.Result)
	}
}

// A platform that is away for no longer than a pulse is credited nothing.
func TestShortPlatformOutage(t *testing.T) {
	k := newTalk(t)
	for lasts, want := range map[time.Duration]int{20 * time.Second: 0, 21 * time.Second: 1} {
		before, err := k.store.Outages(t.Context())
		must(t, err)
		must(t, k.bot.Report(t.Context(), bot.Away{Platform: "chat"}))
		k.now = k.now.Add(lasts)
		must(t, k.bot.Report(t.Context(), bot.Back{Platform: "chat"}))
		if after, err := k.store.Outages(t.Context()); err != nil || len(after)-len(before) != want {
			t.Errorf("of %v: %v, %v", lasts, after, err)
		}
	}
}

// An early bird asks as soon as the bot runs its adapters.
type earlyBird struct {
	*channel
	run func(service bot.Service)
}

func (e *earlyBird) Run(_ context.Context, service bot.Service) error {
	e.run(service)
	return nil
}

// The bot opens before it has credited an outage. Whoever asks meanwhile finds
// their own game credited, and sees the new deadlines of all.
func TestOpensBeforeCrediting(t *testing.T) {
	const games = 5
	k := newTalk(t)
	timed(t, k, games)
	k.now = k.now.Add(30 * time.Hour) // longer than the day that there is for a turn
	k.bot = k.on(lost{k.store})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	must(t, k.bot.Run(ctx, &earlyBird{k.channel, func(bot.Service) {
		defer cancel()
		if a := k.ask(t, "ada", "/place C3 game:1"); a.Text != "" {
			t.Errorf("Ada, who has time left, is told %q", a.Text)
		}
		if n := k.credits(t); sum(n) == 0 {
			t.Errorf("credited: %v", n)
		}
		if a := k.ask(t, "ada", "/games"); strings.Count(a.Text, "left") != games {
			t.Errorf("the games are listed as\n%s", a.Text)
		}
		for id, n := range k.credits(t) {
			if n != 1 {
				t.Errorf("%s is listed with %d credits", id, n)
			}
		}
	}}))
	if ms := k.matches(t, bot.Query{States: []match.State{match.Going}}); len(ms) != games {
		t.Errorf("%d games go on", len(ms))
	}
}
