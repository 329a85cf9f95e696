package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// states gives the states of the games of the club, by number.
func (k *talk) states(t *testing.T) []match.State {
	t.Helper()
	ms, err := k.store.Matches(t.Context(), bot.Query{Where: match.Room{Platform: "chat", Channel: "club"}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(ms, func(a, b match.Match) int { return a.Number - b.Number })
	var states []match.State
	for _, m := range ms {
		states = append(states, m.State)
	}
	return states
}

// is fails the test unless the games of the club are in these states.
func (k *talk) is(t *testing.T, after string, want ...match.State) {
	t.Helper()
	if got := k.states(t); !slices.Equal(got, want) {
		t.Errorf("after %s the games are %v, want %v", after, got, want)
	}
}

// Nobody can fill a channel: each person opens so many games there, and all
// together open so many. A rematch counts, too.
func TestGameLimits(t *testing.T) {
	k := newTalk(t)
	k.bot = bot.New(k.store, bot.Config{Log: silent, Now: k.clock, Games: bot.GameLimits{Person: 2, Channel: 4}})
	for _, step := range []struct{ line, says string }{
		{"ada> /new aga 5x5 opponent:bob", ""},
		{"bob> /join", ""},
		{"bob> /resign yes game:1", ""},
		{"ada> /new aga 5x5", ""},
		{"ada> /new aga 6x6", ""},
		{"ada> /new aga 7x7", "You have 2 unfinished games"},
		{"ada> /new aga 7x7 opponent:me", "You have 2 unfinished games"},
		{"ada> /rematch game:1", "You have 2 unfinished games"},
		{"ada> /setup .X.", ""}, // a sandbox is no game
		{"ada@hall> /new aga 7x7", ""},
		{"bob> /new aga 5x5", ""},
		{"bob> /rematch game:1", ""},
		{"kim> /new aga 5x5", "There are 4 unfinished games here"},
		{"ada> /cancel game:2", ""},
		{"kim> /new aga 5x5", ""},
		{"ada> /new aga 7x7", "There are 4 unfinished games here"},
	} {
		who, text, _ := strings.Cut(step.line, "> ")
		if a, _ := k.say(t, who, text); !strings.HasPrefix(a.Text, step.says) || step.says == "" && a.Text != "" {
			t.Errorf("%s: %q", step.line, a.Text)
		}
	}
}

// Where nothing is configured a person may open 20 games in a channel, and
// others still can when they have.
func TestDefaultGameLimits(t *testing.T) {
	k := newTalk(t)
	for i := range 20 {
		if a, _ := k.say(t, "ada", fmt.Sprintf("/new opponent:guest%d", i)); a.Text != "" {
			t.Fatalf("game %d: %s", i+1, a.Text)
		}
	}
	if a, _ := k.say(t, "ada", "/new opponent:eve"); !strings.HasPrefix(a.Text, "You have 20 unfinished games") {
		t.Errorf("game 21: %q", a.Text)
	}
	if a, _ := k.say(t, "bob", "/new"); a.Text != "" {
		t.Errorf("somebody else: %q", a.Text)
	}
	if d := bot.Defaults.Limits.Games; d != (bot.GameLimits{Person: 20, Channel: 200}) {
		t.Errorf("the defaults are %v", d)
	}
}

// Asking again replaces an open challenge instead of adding one: to the same
// opponent whatever the terms, to anybody on the same terms.
func TestChallengesReplaceEachOther(t *testing.T) {
	k := newTalk(t)
	k.bot = bot.New(k.store, bot.Config{Log: silent, Now: k.clock, Games: bot.GameLimits{Person: 5}})
	say := func(who, text string) string {
		t.Helper()
		a, posts := k.say(t, who, text)
		for _, p := range posts {
			a.Text += p.Text + "\n"
		}
		return a.Text
	}
	say("ada", "/new aga 5x5 opponent:bob")
	k.is(t, "a challenge", match.Open)
	if says := say("ada", "/new aga 7x7 opponent:bob clock:3d"); !strings.Contains(says, "Game 2 replaces game 1, which nobody had joined.") {
		t.Errorf("the room reads %q", says)
	}
	k.is(t, "another one to the same opponent", match.Cancelled, match.Open)
	say("eve", "/new aga 7x7 opponent:bob")
	k.is(t, "one of somebody else", match.Cancelled, match.Open, match.Open)
	say("ada", "/new aga 7x7 opponent:eve")
	k.is(t, "one to somebody else", match.Cancelled, match.Open, match.Open, match.Open)
	say("bob", "/join game:2")
	say("ada", "/new aga 7x7 opponent:bob")
	k.is(t, "one to an opponent who had joined", match.Cancelled, match.Going, match.Open, match.Open, match.Open)

	say("kim", "/new aga 9x9 handicap:2 clock:3d")
	say("kim", "/new aga 9x9 handicap:3 clock:3d")
	say("kim", "/new aga 9x9 handicap:2 clock:2d")
	say("kim", "/new area-2 9x9 handicap:2 clock:3d")
	if got := k.states(t)[5:]; !slices.Equal(got, []match.State{match.Open, match.Open, match.Open, match.Open}) {
		t.Errorf("challenges to anybody on different terms: %v", got)
	}
	if a := say("kim", "/new aga 9x9 handicap:2 clock:3d color:white"); !strings.Contains(a, "Game 10 replaces game 6") {
		t.Errorf("the room reads %q", a)
	}
	say("kim", "/new aga 13x13")
	if got := k.states(t)[5:]; !slices.Equal(got, []match.State{match.Cancelled, match.Open, match.Open, match.Open, match.Open, match.Open}) {
		t.Errorf("challenges to anybody on the same terms: %v", got)
	}
	// At the limit replacing is possible still, for it adds nothing.
	if a := say("kim", "/new aga 11x11"); !strings.Contains(a, "You have 5 unfinished games") {
		t.Errorf("beyond the limit: %q", a)
	}
	if a := say("kim", "/new aga 13x13"); !strings.Contains(a, "Game 12 replaces game 11") {
		t.Errorf("at the limit: %q", a)
	}
	say("lee", "/new")
	say("lee@hall", "/new")
	say("lee", "/rematch") // nothing to repeat: no change
	if got := k.states(t); got[len(got)-1] != match.Open || len(got) != 13 {
		t.Errorf("a challenge elsewhere replaced one here: %v", got)
	}
}

// A challenge that somebody joins at the same moment is not cancelled, and one
// that is asked for twice by the same request does not replace itself.
func TestReplacingKeepsGamesThatBegan(t *testing.T) {
	k := newTalk(t)
	k.say(t, "ada", "/new opponent:bob")
	r, err := k.request("ada", "/new opponent:bob")
	if err != nil {
		t.Fatal(err)
	}
	join, err := k.request("bob", "/join game:1")
	if err != nil {
		t.Fatal(err)
	}
	k.bot = bot.New(&joining{Store: k.store, join: func() { // just before the new challenge is stored
		if _, err := bot.New(k.store, bot.Config{Now: k.clock}).Ask(t.Context(), join); err != nil {
			t.Error(err)
		}
	}}, bot.Config{Log: silent, Now: k.clock})
	for range 2 {
		if _, err := k.bot.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	k.is(t, "joining meanwhile", match.Going, match.Open)
}

// joining is a store in which something else happens before the first step.
type joining struct {
	bot.Store
	join func()
}

func (j *joining) Commit(ctx context.Context, s *match.Step) error {
	if do := j.join; do != nil {
		j.join = nil
		do()
	}
	return j.Store.Commit(ctx, s)
}

// Moderators can empty a room that somebody has filled.
func TestModeratorsCancel(t *testing.T) {
	k := newTalk(t)
	for _, l := range []string{"ada> /new aga 5x5", "ada> /new aga 5x5 opponent:bob", "bob> /join 2", "ada> /place C3 game:2", "bob> /place B2 game:2",
		"ada> /cancel 2", "eve> /cancel 1", "mod> /cancel 1", "mod> /cancel 2"} {
		who, text, _ := strings.Cut(l, "> ")
		k.say(t, who, text)
	}
	k.is(t, "a moderator cancelled both", match.Cancelled, match.Cancelled)
	k.wait(t, 30*24*time.Hour) // nothing is due for them any more
	if a, _ := k.say(t, "ada", "/place D4 game:2"); a.Text != "Game 2 was cancelled." {
		t.Errorf("%q", a.Text)
	}
}
