//go:build goolm

package matrix

import (
	"fmt"
	"strings"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// The opening of a challenge that is over says what became of it and offers
// nothing any more, in an encrypted room, too, and where the bot is killed before
// it has taken its reactions away. That of a game that has begun does not.
func TestClosedChallenges(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		r := c.talkers(true)
		r.gathers()
		anna, bob := r.people[0], r.people[1]
		offers := func(root id.EventID) (emoji []string) {
			for _, reaction := range anna.View(r.at).Message(root).Reactions {
				emoji = append(emoji, reaction.Key)
			}
			return emoji
		}
		anna.says("", "!new 5x5")
		first := anna.sees("opens game 1")
		anna.says("", "!new 4x4")
		second := anna.sees("opens game 2")
		bob.says(second, "!join")
		anna.sees("Game 2: ")
		c.settled()
		caughtUp(anna.Player, r.at)
		if got := offers(first); len(got) != 1 {
			t.Errorf("the opening offers %q", got)
		}
		p.Times(2, matrixtest.On("GET", "/event/"), matrixtest.Fails(404, "M_NOT_FOUND"))
		never := make(chan struct{})
		held := p.Always(matrixtest.On("PUT", "/redact/"), matrixtest.Holds(never))
		anna.says(first, "!cancel")
		held.Await(t, 1)
		c.kill()
		held.Stop()
		close(never)
		c.start()
		anna.Await(r.at, "the reaction to go", func(matrixtest.View) bool { return len(offers(first)) == 0 })
		c.settled()
		c.sealed(anna, r.at)
		var now string
		for _, m := range anna.heard() {
			if new, ok := m["m.new_content"].(map[string]any); ok && strings.Contains(fmt.Sprint(new["body"]), "Game 1") {
				now = fmt.Sprint(new["body"])
			}
		}
		if want := "Game 1: Two Button Go\nAnna cancels game 1. It does not count."; now != want {
			t.Errorf("the opening says %q and not %q", now, want)
		}
		if got := offers(second); len(got) == 0 {
			t.Errorf("the opening of the game that is played offers %q", got)
		}
	})
}
