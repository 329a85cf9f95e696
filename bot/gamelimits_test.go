package bot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Where nothing is configured a person may open 20 games in a channel, and
// others still can when they have.
func TestDefaultGameLimits(t *testing.T) {
	k := newTalk(t)
	for i := range 20 {
		if a, _ := k.say(t, "ada", fmt.Sprintf("/new opponent:guest%d", i)); a.Text != "" {
			t.Fatalf("game %d: %s", i+1, a.Text)
		}
	}
	if a, _ := k.say(t, "ada", "/new opponent:eve"); !strings.HasPrefix(a.Text, "You already have 20 unfinished games") {
		t.Errorf("game 21: %q", a.Text)
	}
	if a, _ := k.say(t, "bob", "/new"); a.Text != "" {
		t.Errorf("somebody else: %q", a.Text)
	}
	if d := bot.Defaults.Limits.Games; d != (match.Limits{Person: 20, Channel: 200}) {
		t.Errorf("the defaults are %v", d)
	}
}

// Games of events count neither for a person nor for a channel.
func TestGamesOfEventsAreNotLimited(t *testing.T) {
	k := newTalk(t)
	k.say(t, "ada", "/new opponent:bob")
	k.say(t, "bob", "/join game:1")
	own := k.matches(t, bot.Query{})[0]
	for i := range bot.Defaults.Limits.Games.Channel {
		m := own
		m.ID, m.Page, m.Fixture = match.GameID(fmt.Sprint("table-", i)), "", match.Fixture{Event: "e-1", Round: 1, Table: i + 1}
		m.Seq = 0
		must(t, k.store.Commit(t.Context(), &match.Step{Request: string(m.ID), At: k.now, Match: &m, New: true}))
	}
	if a, _ := k.say(t, "ada", "/new opponent:eve"); a.Text != "" {
		t.Errorf("beside the games of an event: %q", a.Text)
	}
}

// However many games of a league are going on beside it, somebody can join the game that is open.
func TestJoinBesideALeague(t *testing.T) {
	k := newTalk(t)
	k.start(bot.Config{Games: match.Limits{Person: 2, Channel: 2}})
	k.lines(t, "ada> /new", "kim> /new opponent:eve", "eve> /join game:2")
	going := k.matches(t, bot.Query{Number: 2})[0]
	for i := range 5 {
		m := going
		m.ID, m.Page, m.Fixture = match.GameID(fmt.Sprint("table-", i)), "", match.Fixture{Event: "e-1", Round: 1, Table: i + 1}
		m.Seq, m.Changed = 0, k.now.Add(time.Minute)
		must(t, k.store.Commit(t.Context(), &match.Step{Request: string(m.ID), At: k.now, Match: &m, New: true}))
	}
	if a, _ := k.say(t, "bob", "/join"); a.Refused || k.matches(t, bot.Query{Number: 1})[0].State != match.Going {
		t.Errorf("%q, and the game is not joined", a.Text)
	}
}

// A challenge that somebody joins at the same moment is not cancelled, and one
// that is asked for twice by the same request does not replace itself.
func TestReplacingKeepsGamesThatBegan(t *testing.T) {
	k := newTalk(t)
	k.say(t, "ada", "/new opponent:bob")
	r, err := k.request("ada", "/new opponent:bob")
	must(t, err)
	join, err := k.request("bob", "/join game:1")
	must(t, err)
	k.bot = bot.New(&joining{Store: k.store, join: func() { // just before the new challenge is stored
		if _, err := bot.New(k.store, bot.Config{Now: k.clock}).Ask(t.Context(), join); err != nil {
			t.Error(err)
		}
	}}, bot.Config{Log: silent, Now: k.clock})
	for range 2 {
		_, err := k.bot.Ask(t.Context(), r)
		must(t, err)
	}
	for number, want := range map[int]match.State{1: match.Going, 2: match.Open} {
		if m := k.matches(t, bot.Query{Where: clubRoom, Number: number})[0]; m.State != want {
			t.Errorf("game %d is %s", number, m.State)
		}
	}
	if n := len(k.matches(t, bot.Query{})); n != 2 {
		t.Errorf("%d games", n)
	}
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
