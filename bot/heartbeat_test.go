package bot_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/bot/rooms"
)

// A watch is a talk with a bot that looks at the time every five seconds, and with
// two clocks: k.now, which can be set, and elapsed, which cannot.
type watch struct {
	*talk
	elapsed time.Duration
}

func newWatch(t *testing.T) *watch {
	w := &watch{talk: newTalk(t)}
	w.start()
	return w
}

// start starts the bot, the first time or again.
func (w *watch) start() { w.talk.start(bot.Config{Elapsed: func() time.Duration { return w.elapsed }}) }

// stop lets time pass in which the bot does not run.
func (w *watch) stop(d time.Duration) { w.now, w.elapsed = w.now.Add(d), w.elapsed+d }

// run lets time pass in which it does.
func (w *watch) run(t *testing.T, d time.Duration) {
	t.Helper()
	for ; d > 0; d -= 5 * time.Second {
		w.stop(min(d, 5*time.Second))
		w.tick(t)
	}
}

// blitz begins a game of Ada and Bob with a minute for everything, in which Ada is
// to move and the first pass is made.
func (w *watch) blitz(t *testing.T, clock string) {
	t.Helper()
	w.tick(t)
	w.ask(t, "ada", "/new aga 5x5 clock:"+clock)
	w.ask(t, "bob", "/join")
	w.ask(t, "ada", "/place C3")
	w.ask(t, "bob", "/place B2")
}

// game returns the game, and the first word of each of its events.
func (w *watch) game(t *testing.T) (match.Match, []string) {
	t.Helper()
	verbs := w.events(t, 1)
	for i, body := range verbs {
		verbs[i], _, _ = strings.Cut(body, " ")
	}
	return w.matches(t, bot.Query{})[0], verbs
}

// gaps are ways in which 75 seconds pass without the bot.
var gaps = map[string]func(t *testing.T, w *watch){
	"the process is stopped": func(_ *testing.T, w *watch) { w.stop(75 * time.Second) },
	"it is started again": func(_ *testing.T, w *watch) {
		w.stop(75 * time.Second)
		w.start()
	},
	"the machine sleeps": func(_ *testing.T, w *watch) { w.now = w.now.Add(75 * time.Second) },
	"the clock jumps and is set right again": func(t *testing.T, w *watch) {
		w.now = w.now.Add(75 * time.Second)
		w.run(t, 10*time.Second)
		w.now = w.now.Add(-75 * time.Second)
	},
	"the clock is set, and that lasts": func(t *testing.T, w *watch) {
		w.now = w.now.Add(75 * time.Second)
		w.run(t, 20*time.Second)
	},
}

// Time in which the bot was away, if only for more than a minute, costs nobody a
// game of a minute: neither when the player moves first, nor when the opponent
// claims, nor when the bot looks first.
func TestShortGapsCostNoGame(t *testing.T) {
	for name, gap := range gaps {
		for _, clock := range []string{"absolute 1m", "absolute 1m claim"} {
			for _, first := range []string{"ada", "bob", "bot"} {
				t.Run(name+", "+clock+", first "+first, func(t *testing.T) {
					w := newWatch(t)
					w.blitz(t, clock)
					w.run(t, 20*time.Second)
					gap(t, w)
					if name == "it is started again" || first == "bot" {
						w.tick(t)
					}
					if first == "bob" {
						if a := w.ask(t, "bob", "/claim"); a.Text == "" {
							t.Error("Bob claims a win")
						}
					}
					if m, _ := w.game(t); m.State != match.Going {
						t.Fatalf("the game is %s, %s", m.State, m.Result)
					}
					if a := w.ask(t, "ada", "/place D4"); a.Text != "" {
						t.Errorf("Ada, who has half a minute left, is refused: %s", a.Text)
					}
					if m, _ := w.game(t); m.State != match.Going || m.ToMove != m.White {
						t.Errorf("the game is %s, %s", m.State, m.Result)
					}
				})
			}
		}
	}
}

// What the bot was there for does count: a flag falls when the player has had
// their minute, and not before, with the time of a gap between.
func TestFlagsFallAfterGaps(t *testing.T) {
	for name, gap := range gaps {
		t.Run(name, func(t *testing.T) {
			w := newWatch(t)
			w.blitz(t, "absolute 1m")
			w.run(t, 20*time.Second)
			before := w.elapsed
			gap(t, w)
			w.tick(t)
			had := 20 * time.Second
			if name != "the process is stopped" && name != "it is started again" {
				had += w.elapsed - before
			}
			w.run(t, 55*time.Second-had)
			w.ask(t, "bob", "/board") // nothing
			if m, _ := w.game(t); m.State != match.Going {
				t.Fatal("the flag fell early")
			}
			w.run(t, 10*time.Second+20*time.Second) // within a pulse it may not have been there
			if a := w.ask(t, "ada", "/place D4"); !strings.HasPrefix(a.Text, "Game 1 is over") {
				_, verbs := w.game(t)
				t.Errorf("Ada, who is late, is told %q; %v", a.Text, verbs)
			}
			if m, verbs := w.game(t); m.Result != "W+T" || verbs[len(verbs)-1] != "flag" {
				t.Errorf("the game is %s, %s: %v", m.State, m.Result, verbs)
			}
		})
	}
}

// A flag falls by itself, too, and what the bot needs for its work is no outage.
func TestFlagsFallByThemselves(t *testing.T) {
	w := newWatch(t)
	w.blitz(t, "absolute 1m")
	w.run(t, 3*time.Minute)
	if m, verbs := w.game(t); m.Result != "W+T" || slices.Contains(verbs, "credit") {
		t.Errorf("the game is %s, %s: %v", m.State, m.Result, verbs)
	}
}

// A clock that jumps a year ahead and is set right again leaves no trace, though
// people move meanwhile: the clocks of games go on.
func TestClockJumpsAYear(t *testing.T) {
	w := newWatch(t)
	w.blitz(t, "absolute 1m")
	w.run(t, 10*time.Second)
	began := w.now
	w.now = w.now.AddDate(1, 0, 0)
	w.run(t, 15*time.Second)
	w.ask(t, "ada", "/place D4")
	w.run(t, 15*time.Second)
	w.ask(t, "bob", "/place A1")
	w.now = w.now.AddDate(-1, 0, 0)
	w.run(t, 10*time.Second)
	w.ask(t, "ada", "/place E5")
	m, verbs := w.game(t)
	if slices.Contains(verbs, "credit") || m.Changed.After(began.Add(time.Minute)) {
		t.Errorf("changed at %v, %v", m.Changed, verbs)
	}
	if left := m.Deadline.Sub(w.now); left < 43*time.Second || left > 47*time.Second { // 15 of his 60 seconds are used
		t.Errorf("Bob has %v left", left)
	}
	w.run(t, 3*time.Minute)
	if m, _ := w.game(t); m.Result != "B+T" {
		t.Errorf("the game is %s, %s", m.State, m.Result)
	}
}

// It may be a while until it is set right.
func TestClockIsAYearAheadForAWhile(t *testing.T) {
	for _, ahead := range []time.Duration{time.Minute, 2 * time.Minute, 50 * time.Minute} {
		w := newWatch(t)
		w.blitz(t, "3h")
		w.run(t, 10*time.Second)
		before, _ := w.game(t)
		w.now = w.now.AddDate(1, 0, 0)
		w.run(t, ahead)
		w.now = w.now.AddDate(-1, 0, 0)
		w.run(t, 5*time.Minute)
		if m, verbs := w.game(t); slices.Contains(verbs, "credit") || !m.Deadline.Equal(before.Deadline) {
			t.Errorf("ahead for %v: the deadline is %v, was %v: %v", ahead, m.Deadline, before.Deadline, verbs)
		}
		w.run(t, 4*time.Hour)
		if m, _ := w.game(t); m.Result != "W+T" {
			t.Errorf("ahead for %v: no flag falls, the game is %s, %s", ahead, m.State, m.Result)
		}
	}
}

// If the bot has believed a clock that was a year ahead, what it stored meanwhile is
// taken back when the clock has been right for an hour: deadlines are as far off as
// they can be, flags fall, challenges end, and the log goes on.
func TestClockWasAYearAhead(t *testing.T) {
	for name, ahead := range map[string]func(t *testing.T, w *watch){
		"for two hours": func(t *testing.T, w *watch) {
			w.now = w.now.AddDate(1, 0, 0)
			w.run(t, 2*time.Hour)
		},
		"at a start": func(t *testing.T, w *watch) {
			w.now = w.now.AddDate(1, 0, 0)
			w.start()
			w.run(t, time.Minute)
		},
		"between two starts": func(t *testing.T, w *watch) {
			w.now = w.now.AddDate(1, 0, 0)
			w.start()
			w.run(t, time.Minute)
			w.posts(t)
			w.now = w.now.AddDate(-1, 0, 0)
			w.start()
			w.now = w.now.AddDate(1, 0, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatch(t)
			w.blitz(t, "4h")
			w.run(t, 10*time.Second)
			ahead(t, w)
			w.ask(t, "ada", "/place D4 game:1")
			w.ask(t, "ada", "/new aga 5x5 clock:4h")
			w.ask(t, "bob", "/join")
			w.ask(t, "bob", "/new aga 5x5 opponent:cid") // nobody joins
			w.ask(t, "ada", "/new aga 5x5 clock:none opponent:dan")
			w.ask(t, "dan", "/join 4")
			w.run(t, time.Minute)
			w.now = w.now.AddDate(-1, 0, 0)
			w.posts(t)
			w.run(t, 2*time.Hour+time.Minute)
			w.ask(t, "bob", "/place E5 game:1")
			for _, m := range w.matches(t, bot.Query{}) {
				if left := m.Deadline.Sub(w.now); left > 4*time.Hour || left < time.Hour && m.Number < 3 {
					t.Errorf("game %d: %v are left", m.Number, left)
				}
			}
			if posts := w.posts(t); !slices.ContainsFunc(posts, func(p outbox.Post) bool {
				return strings.Contains(p.Text, "ahead") && strings.Contains(p.Text, "deadline is now")
			}) {
				t.Errorf("nobody is told: %v", posts)
			}
			w.run(t, 5*time.Hour)
			w.now, w.elapsed = w.now.AddDate(0, 0, 8), w.elapsed+8*24*time.Hour
			w.tick(t)
			states := map[int]string{}
			for _, m := range w.matches(t, bot.Query{}) {
				states[m.Number] = string(m.State) + " " + m.Result
			}
			if want := map[int]string{1: "ended W+T", 2: "ended W+T", 3: "cancelled ", 4: "going "}; !maps.Equal(states, want) {
				t.Errorf("the games are %v, should be %v", states, want)
			}
			if posts := w.posts(t); !slices.ContainsFunc(posts, func(p outbox.Post) bool { return strings.Contains(p.Text, "game 4") }) {
				t.Errorf("nobody is reminded of game 4: %v", posts)
			}
		})
	}
}

// If a start finds the clock days behind, and it is set right soon after, the times in the
// log were right: no game is told that they were ahead.
func TestClockWasDaysBehindAtAStart(t *testing.T) {
	w := newWatch(t)
	w.blitz(t, "7d")
	w.run(t, 10*time.Second)
	w.now = w.now.AddDate(0, 0, -3)
	w.start()
	w.run(t, 30*time.Second)
	w.now = w.now.AddDate(0, 0, 3)
	w.run(t, 3*time.Hour)
	if bodies := w.events(t, 1); slices.Contains(bodies, "credit right") {
		t.Errorf("the times of the game were taken back: %v", bodies)
	}
	if left := w.matches(t, bot.Query{})[0].Deadline.Sub(w.now); left < 6*24*time.Hour {
		t.Errorf("%v are left", left)
	}
}

// A clock that was ahead and is set right is right for an hour before the bot looks for
// what it has stored meanwhile: it may be set again.
func TestClockIsRightForAnHourBeforeGamesAre(t *testing.T) {
	w := newWatch(t)
	w.blitz(t, "7d")
	w.now = w.now.AddDate(0, 0, 10)
	w.start()
	w.run(t, time.Minute)
	w.ask(t, "ada", "/place D4")
	w.now = w.now.AddDate(0, 0, -10)
	right := func() bool { return slices.Contains(w.events(t, 1), "credit right") }
	if w.run(t, 2*time.Hour-time.Minute); right() { // an hour until the bot follows
		t.Error("the bot looks at once")
	}
	if w.run(t, 2*time.Minute); !right() {
		t.Errorf("the bot does not look: %v", w.events(t, 1))
	}
}

// A gap is announced in the games that it is credited to if it was long.
func TestShortGapsAreSilent(t *testing.T) {
	for gap, announced := range map[time.Duration]bool{21 * time.Second: false, 75 * time.Second: false, 3 * time.Minute: true} {
		w := newWatch(t)
		w.blitz(t, "3d")
		w.run(t, 20*time.Second)
		w.posts(t)
		before, _ := w.game(t)
		w.stop(gap)
		w.tick(t)
		posts := w.posts(t)
		if m, verbs := w.game(t); verbs[len(verbs)-1] != "credit" || m.Deadline.Sub(before.Deadline) != gap {
			t.Errorf("%v: the deadline moves by %v: %v", gap, m.Deadline.Sub(before.Deadline), verbs)
		}
		if announced != (len(posts) == 1 && strings.Contains(posts[0].Text, "I was offline")) || !announced && len(posts) > 0 {
			t.Errorf("%v: the room reads %v", gap, posts)
		}
	}
}

// What happens after something else is not stored as earlier, though the clock was set back.
func TestTimesOfALogDoNotGoBack(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5 opponent:me", "ada> /place C3", "ada> /place B3")
	k.now = k.now.Add(-10 * time.Minute)
	k.lines(t, "ada> /place C2", "ada> /place B2")
	m, events, err := k.store.Match(t.Context(), k.matches(t, bot.Query{})[0].ID)
	must(t, err)
	if !slices.IsSortedFunc(events, func(a, b match.Event) int { return a.At.Compare(b.At) }) {
		t.Errorf("the times of the log are %v", events)
	}
	if last := events[len(events)-1]; last.Seq < 5 || m.Changed.Before(last.At) {
		t.Errorf("%d events, changed at %v", last.Seq, m.Changed)
	}
}

// An unsure store loses outages.
type unsure struct {
	bot.Store
	loses bool
}

func (u *unsure) ChangeOutages(ctx context.Context, put, drop []rooms.Outage) error {
	if u.loses {
		return errLost
	}
	return u.Store.ChangeOutages(ctx, put, drop)
}

// If the outage before a start could not be stored, and the process dies, the next one still knows
// of it.
func TestOutageThatWasNotStored(t *testing.T) {
	w := newWatch(t)
	w.blitz(t, "absolute 1m")
	w.run(t, 20*time.Second)
	w.stop(75 * time.Second)
	lost := &unsure{Store: w.store, loses: true}
	w.store = lost
	w.start()
	if _, err := w.bot.Tick(t.Context()); !errors.Is(err, errLost) {
		t.Fatalf("the look at the time returns %v", err)
	}
	lost.loses = false
	w.start()
	w.tick(t)
	if m, _ := w.game(t); m.Deadline.Before(w.now) {
		t.Errorf("the game's deadline is %v, and it is %v", m.Deadline, w.now)
	}
}
