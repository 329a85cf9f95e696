package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// killed stores what is to be forgotten, and then no more than so many steps.
type killed struct {
	bot.Store
	steps int
}

var errKilled = errors.New("the program stops")

func (k *killed) Commit(ctx context.Context, step *match.Step) error {
	if strings.HasPrefix(step.Request, "forget:") {
		if k.steps--; k.steps < 0 {
			return errKilled
		}
	}
	return k.Store.Commit(ctx, step)
}

func (k *killed) Erase(ctx context.Context, f bot.Forgetting) error {
	if k.steps--; k.steps < 0 {
		return errKilled
	}
	return k.Store.Erase(ctx, f)
}

// Whoever asked to be forgotten is forgotten when the program starts again, at whatever
// step it was killed, and though they do not ask again.
func TestForgettingGoesOnAfterAKill(t *testing.T) {
	for steps := range 3 {
		st := &killed{newStore(t), 1 << 30}
		k := newTalkOn(st)
		k.lines(t, "ada> /new aga 5x5 opponent:bob", "bob> /join", "ada> /new aga 5x5 opponent:bob", "bob> /join")
		m := k.matches(t, bot.Query{})[0]
		st.steps = steps
		r, err := k.request("ada", "/privacy delete yes")
		must(t, err)
		if _, err = k.bot.Ask(t.Context(), r); !errors.Is(err, errKilled) {
			t.Fatalf("after %d steps: error is %v", steps, err)
		}
		st.steps = 1 << 30
		k.start(bot.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		must(t, k.bot.Run(ctx, &earlyBird{k.channel, func(bot.Service) {
			defer cancel()
			people, err := st.People(t.Context(), []match.PersonID{m.Black, m.White})
			if err != nil || len(people) != 1 {
				t.Errorf("after %d steps these people are known: %v, %v", steps, people, err)
			}
			if games := k.matches(t, bot.Query{States: []match.State{match.Going}}); len(games) != 0 {
				t.Errorf("after %d steps games go on: %v", steps, games)
			}
			if todo, err := st.Forgetting(t.Context()); err != nil || len(todo) != 0 {
				t.Errorf("after %d steps it is still to be done: %v, %v", steps, todo, err)
			}
		}}))
	}
}

// A game keeps its proof when somebody is forgotten who commented on it, and has nothing more
// of what they said.
func TestForgettingACommentKeepsTheProof(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new aga 5x5 opponent:bob", "bob> /join", "ada> /place C3", "ada> /resign yes",
		`cleo> /comment move:1 text:"Why not B2?"`, `bob> /comment move:1 text:"Why indeed?"`, "cleo> /privacy delete yes")
	m, events, err := k.store.Match(t.Context(), k.matches(t, bot.Query{})[0].ID)
	must(t, err)
	if old, err := match.Verify(m, events); old || err != nil {
		t.Errorf("old %t, %v", old, err)
	}
	n := len(events)
	if hers, his := events[n-2], events[n-1]; hers.Body.String() != "comment" || len(hers.Proof) != match.Unsalted || !strings.Contains(his.Body.String(), "indeed") {
		t.Errorf("%+v\n%+v", hers, his)
	}
}
