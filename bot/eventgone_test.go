package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// A roster is a platform that knows who may write in its rooms, and is asked about it.
type roster struct {
	*channel
	gone  []string         // ids of people who may not
	fails map[string]error // by id of the person who is asked about
	asked []string         // since it was read last
}

func (r *roster) Member(_ context.Context, who outbox.User, _ match.Room) (bool, error) {
	r.asked = append(r.asked, who.ID)
	return !slices.Contains(r.gone, who.ID), r.fails[who.ID]
}

// looks has the bot look for players who are gone, and fails the test unless it asks about these
// people and says so many things, which it returns.
func (r *roster) looks(t *testing.T, k *talk, says int, asks ...string) []outbox.Post {
	t.Helper()
	k.bot.LookForPlayers(t.Context())
	slices.Sort(r.asked)
	if !slices.Equal(r.asked, asks) {
		t.Errorf("it asks about %v, not about %v", r.asked, asks)
	}
	r.asked = nil
	posts := k.posts(t)
	if len(posts) != says {
		t.Fatalf("it says %+v", posts)
	}
	return posts
}

// onRoster runs a test of a league that has begun, on a platform that knows its members.
func onRoster(t *testing.T, test func(t *testing.T, k *talk, r *roster)) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t)
		r := &roster{channel: k.channel}
		k.bot.Meet(r)
		k.league(t, "size:5 until:1d days:90", "ada", "bob", "eve")
		k.wait(t, day)
		test(t, k, r)
	})
}

// The organisers are told once, and nobody else is, that a player can no longer write in the room,
// with what they can do. Each player is asked about once a day.
func TestOrganisersHearWhoIsGone(t *testing.T) {
	onRoster(t, func(t *testing.T, k *talk, r *roster) {
		r.looks(t, k, 0, "ada", "bob", "eve")
		r.gone = []string{"bob"}
		r.looks(t, k, 0) // on the same day
		k.wait(t, day)
		p := r.looks(t, k, 1, "ada", "bob", "eve")[0]
		if !p.Private || !slices.Equal(p.Notify, []outbox.User{person("mod")}) || !strings.HasPrefix(p.Text, "Bob can no longer write in the room of “Spring”") ||
			len(p.Controls) != 1 {
			t.Fatalf("it says %+v", p)
		}
		if got := k.press(t, "mod", p.Controls[0]); !strings.HasPrefix(got.Text, "Withdraw Bob from “Spring”?") || len(got.Controls) != 1 {
			t.Errorf("mod is asked %+v", got)
		}
		for range 35 { // answers to requests are kept for 30 days
			k.wait(t, day)
			after, err := k.store.Prune(t.Context(), k.now, "", 500)
			for must(t, err); after != ""; must(t, err) {
				after, err = k.store.Prune(t.Context(), k.now, after, 500)
			}
			r.looks(t, k, 0, "ada", "eve")
		}
		k.lines(t, "mod> /event replace player:bob other:kim")
		r.gone = append(r.gone, "kim")
		k.wait(t, day)
		if p := r.looks(t, k, 1, "ada", "eve", "kim")[0]; !strings.HasPrefix(p.Text, "Kim can no longer write") {
			t.Errorf("it says %s", p.Text)
		}
		k.lines(t, "mod> /event withdraw player:kim confirm:yes")
		k.wait(t, day)
		r.looks(t, k, 0, "ada", "eve")
		k.lines(t, "mod> /event cancel confirm:yes")
		k.wait(t, day)
		r.looks(t, k, 0)
	})
}

// Where the platform cannot say who may write, where nobody may, and where the bot is not in the
// room itself, no player is gone.
func TestNobodyIsGoneWhomTheBotCannotSee(t *testing.T) {
	onRoster(t, func(t *testing.T, k *talk, r *roster) {
		r.gone, r.fails = []string{"bob", "eve"}, map[string]error{"bob": errors.New("away"), "eve": errors.New("away")}
		r.looks(t, k, 0, "ada", "bob", "eve")
		r.gone, r.fails = []string{"ada", "bob", "eve"}, nil
		k.wait(t, day)
		r.looks(t, k, 0, "ada", "bob", "eve")
		r.gone = []string{"bob"}
		must(t, k.bot.Report(t.Context(), bot.Away{Platform: "chat"}))
		k.away(t, day)
		r.looks(t, k, 0)
		must(t, k.bot.Report(t.Context(), bot.Back{Platform: "chat"}))
		r.looks(t, k, 1, "ada", "bob", "eve")
	})
}

// An organiser who plays is not told of themselves.
func TestOrganiserWhoIsGone(t *testing.T) {
	onRoster(t, func(t *testing.T, k *talk, r *roster) {
		k.lines(t, "mod> /event organiser player:ada", "mod> /event organiser player:bob")
		r.gone = []string{"ada"}
		if p := r.looks(t, k, 1, "ada", "bob", "eve")[0]; !slices.Equal(p.Notify, []outbox.User{person("mod"), person("bob")}) {
			t.Errorf("it tells %v", p.Notify)
		}
	})
}
