//go:build goolm

package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
)

// A reaction to an old board asks for what that board offered, and does nothing
// any more: nobody passes by it. One to the newest does, but not in an encrypted room, where
// the bot asks for the typed word. There this is also the short conversation that each run of
// the tests has on a real homeserver.
func TestReactionToAnOldBoard(t *testing.T) {
	for name, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) { reactsToAnOldBoard(t, s, encrypted) })
		})
	}
	t.Run("encrypted on Dendrite", func(t *testing.T) {
		t.Parallel()
		reactsToAnOldBoard(t, matrixtest.Shared(t), true)
	})
}

// The reactions of the bot to an opening are what it offers now, those to a question or to
// a board without a thread go when something newer of the game is shown. What is offered
// again comes again, also if the bot is killed meanwhile.
func TestMootReactions(t *testing.T) {
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, bob := people[0], people[1]
		offers := func(who *guest, on id.EventID, want string) {
			t.Helper()
			c.settled()
			caughtUp(who.Player, who.at)
			var got []string
			for _, r := range who.View(who.at).Message(on).Reactions {
				if slices.Contains(r.By, c.user.ID) {
					got = append(got, r.Key)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("the bot's reactions are %q, not %q", got, want)
			}
		}
		anna.asks("", "!new two-button 3x3 opponent:"+bob.ID.String())
		root := anna.reads("will you play").ID
		offers(anna, root, "✋ ❌")
		bob.asks(root, "!join")
		offers(anna, root, "⏭️ 🧮")
		anna.asks(root, "!place B2")
		offers(anna, root, "⏭️ 🧮 ↩️")
		anna.asks(root, "!undo")
		offers(anna, root, "⏭️ 🧮")
		anna.asks(root, "!place B2")
		c.kill()
		c.start()
		c.hurries("TRUE")
		offers(anna, root, "⏭️ 🧮 ↩️")
		bob.asks(root, "!place B1")
		bob.asks(root, "!draw")
		question := anna.reads("offers Anna a draw").ID
		offers(anna, question, "✅ ❌")
		anna.asks(root, "!decline")
		offers(anna, question, "")
		anna.asks(root, "!place C1")
		offers(anna, root, "⏭️ 🧮 ↩️")
		anna.Reacts(anna.at, root, "🏳️")
		bob.asks(root, "!resign confirm:yes")
		offers(anna, root, "🔁")
		anna.asks(root, "!rematch")
		question = anna.reads("would like a rematch").ID
		offers(anna, question, "✅ ❌")
		bob.asks(root, "!decline")
		offers(anna, question, "")

		at := anna.Makes(matrixtest.Room{Direct: true, Invite: []id.UserID{c.user.ID}})
		anna.Await(at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		c.await("the bot to know the room", func() bool { return c.a.room(at).joined })
		alone := &guest{Player: anna.Player, c: c, at: at}
		alone.asks("", "!new two-button 3x3 opponent:me")
		first := alone.reads(" to play, for example ").ID
		offers(alone, first, "⏭️ 🧮")
		alone.asks("", "!place A1")
		second := alone.reads("1. ").ID
		offers(alone, first, "")
		offers(alone, second, "⏭️ ↩️ 🧮")
		alone.asks("", "!resign confirm:yes")
		offers(alone, second, "")
		offers(alone, alone.reads("White resigns").ID, "🔁")
	})
}

func reactsToAnOldBoard(t *testing.T, s *matrixtest.Server, encrypted bool) {
	c := newClub(t, s)
	c.start()
	r := c.pair(encrypted)
	anna, bob := r.people[0], r.people[1]
	told := func(what string, times int) {
		t.Helper()
		c.await(what, func() bool {
			n := 0
			for _, m := range bob.heard() {
				if strings.Contains(fmt.Sprint(m["body"]), what) {
					n++
				}
			}
			return n == times
		})
	}
	opening := bob.sees(" to play, for example ")
	anna.says(r.root, "!place C3")
	old := bob.sees("1. ")
	bob.says(r.root, "!place D3")
	newest := anna.sees("2. ")
	bob.Reacts(r.at, opening, "↩️") // which that board did not offer
	told("has moved on", 1)
	anna.Reacts(r.at, old, "⏭️")
	if !encrypted {
		told("has moved on", 2)
		anna.Reacts(r.at, newest, "⏭️")
		bob.sees("3. Black passes")
		return
	}
	told("Type !pass instead", 1)
	for n, command := range []string{"accept", "draw", "dead", "pass"} {
		emoji, _ := message.Emoji(command)
		anna.Reacts(r.at, newest, emoji)
		told("cannot tell whether this one is yours. Type !"+command, 1+n/3) // "!pass" for the second time
	}
	anna.Reacts(r.at, newest, "🧮") // which only shows something
	bob.sees("If the game ended now")
	anna.says(r.root, "!place E5")
	bob.sees("3. Black E5")
	for _, m := range bob.heard() { // the root names the reactions that stand below it
		body := fmt.Sprint(m["body"])
		inThread := m["thread"] == r.root.String()
		if strings.Contains(body, "⏭️ !pass") || strings.Contains(body, "You can: ") && strings.Contains(body, "!pass") && strings.Contains(body, "🧮 !score") == inThread {
			t.Errorf("it offers %q", body)
		}
	}
}
