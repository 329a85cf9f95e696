package matrix

import (
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// While the homeserver takes nothing, what one person alone needs to know waits: it comes
// as one message that answers the newest, a line for each that was refused, without what
// was taken back. What others say is
// dealt with meanwhile. It is so, too, if the bot is killed before.
func TestRefusalsWaitTogether(t *testing.T) {
	for name, killed := range map[string]bool{"": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c, p, g := playing(t, s)
				c.settled()
				limit := p.Always(matrixtest.Sending, matrixtest.TooMany(time.Minute))
				var said []id.EventID
				for _, typed := range []string{"!place C3", "!plase E5", "!sgf 1 2 3", "!place C3", "!board 99"} {
					said = append(said, g.white.says(g.root, typed))
					time.Sleep(time.Second)
				}
				g.white.Edits(g.white.at, said[2], "never mind")
				g.black.says(g.root, "!place B2")
				c.await("Black's move", func() bool { _, seq := c.game(1); return seq > 3 })
				if killed {
					c.kill()
				}
				limit.Stop()
				if killed {
					c.start()
					c.hurries("TRUE")
				}
				c.dealt(g.white.at, said[4])
				g.black.reads("1. ")
				c.settled()
				caughtUp(g.white.Player, g.white.at)
				var told []*matrixtest.Message
				for _, m := range g.white.View(g.white.at).From(c.user.ID) {
					if m.ReplyTo != "" {
						told = append(told, m)
					}
				}
				want := []string{"It is not your turn", "Did you mean", "It is not your turn", "name one of them"}
				if killed { // nothing is held up by then
					if len(told) != len(want) {
						t.Errorf("%d answers\n%s", len(told), g.white.Sees(g.white.at))
					}
					return
				}
				if len(told) != 1 || told[0].ReplyTo != said[4] || told[0].Thread != g.root {
					t.Fatalf("%d answers\n%s", len(told), g.white.Sees(g.white.at))
				}
				lines := strings.Split(told[0].Text(), "\n")
				if len(lines) != len(want) {
					t.Fatalf("%q", lines)
				}
				for k, line := range lines {
					if !strings.Contains(line, want[k]) {
						t.Errorf("line %d is %q", k, line)
					}
				}
			})
		})
	}
}
