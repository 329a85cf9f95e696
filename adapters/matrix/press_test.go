//go:build goolm

package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// A reaction to an old board asks for what that board offered, and does nothing
// any more: nobody passes by it. One to the newest does. In an encrypted room this is
// also the short conversation that each run of the tests has on a real homeserver.
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

func reactsToAnOldBoard(t *testing.T, s *matrixtest.Server, encrypted bool) {
	c := newClub(t, s)
	c.start()
	r := c.pair(encrypted)
	anna, bob := r.people[0], r.people[1]
	told := func(times int) {
		c.await("the answer that the game has moved on", func() bool {
			n := 0
			for _, m := range bob.heard() {
				if strings.Contains(fmt.Sprint(m["body"]), "has moved on") {
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
	anna.Reacts(r.at, old, "⏭️")
	told(1)
	bob.Reacts(r.at, opening, "↩️") // which that board did not offer
	told(2)
	anna.Reacts(r.at, newest, "⏭️")
	bob.sees("3. Black passes")
}
