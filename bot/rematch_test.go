package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// interrupted does not store that a rematch has begun in the game that it follows, as if
// the program stopped between the two.
type interrupted struct{ bot.Store }

func (f interrupted) Commit(ctx context.Context, step *match.Step) error {
	if strings.HasPrefix(step.Request, "replace:") {
		return errors.New("the program stops")
	}
	return f.Store.Commit(ctx, step)
}

// A rematch begins once, whatever happens after its beginning is stored.
func TestRematchBeginsOnce(t *testing.T) {
	k := newTalkOn(interrupted{newStore(t)})
	k.lines(t, "ada> /new aga 5x5 opponent:bob", "bob> /join", "bob> /resign yes", "ada> /rematch")
	for _, again := range []string{"/accept game:1", "/accept game:1", "/join game:1", "/rematch game:1"} {
		k.say(t, "bob", again)
	}
	games := k.matches(t, bot.Query{Where: clubRoom, States: []match.State{match.Open, match.Going}})
	if len(games) != 1 || games[0].State != match.Going || games[0].Number != 2 {
		t.Errorf("there are %+v", games)
	}
	if a, _ := k.say(t, "bob", "/accept game:1"); !a.Refused || a.Text != "Game 2 is the rematch of game 1 already." {
		t.Errorf("%+v", a)
	}
}

// Nobody begins a game with a player who was erased, whoever asked for it before.
func TestNoRematchWithTheErased(t *testing.T) {
	for _, asked := range []string{"ada", "bob"} {
		for _, line := range []string{"/accept game:1", "/join game:1", "/rematch game:1"} {
			k := newTalk(t)
			k.lines(t, "ada> /new aga 5x5 opponent:bob", "bob> /join", "bob> /resign yes", asked+"> /rematch", "ada> /privacy delete yes")
			a, posts := k.say(t, "bob", line)
			if !a.Refused || len(posts) > 0 {
				t.Errorf("%s asks, and Bob's %s is answered %+v, %+v", asked, line, a, posts)
			}
			if line == "/rematch game:1" && a.Text != "There can be no rematch of game 1: I no longer know your opponent." {
				t.Errorf("%s asks, and Bob's %s is answered %q", asked, line, a.Text)
			}
		}
	}
}

// Whoever types what the request for a rematch says answers it, also where other games
// are played.
func TestRematchBesideOtherGames(t *testing.T) {
	for _, others := range []string{"ada> /new aga 5x5 opponent:bob;bob> /join", "cy> /new aga 5x5 opponent:dot;dot> /join"} {
		k := newTalk(t)
		k.lines(t, "ada> /new aga 5x5 opponent:bob", "bob> /join", "bob> /resign yes")
		k.lines(t, strings.Split(others, ";")...)
		_, posts := k.say(t, "ada", "/rematch game:1")
		how := bot.Fill(posts[0].Text, bot.Format{})
		for _, line := range []string{"/decline", "/accept"} {
			at := strings.Index(how, line)
			typed, _, _ := strings.Cut(strings.TrimRight(how[at:], "."), " or ")
			if a, _ := k.say(t, "bob", typed); a.Refused {
				t.Errorf("%q is answered %q", typed, a.Text)
			}
			k.say(t, "ada", "/rematch game:1")
		}
	}
}
