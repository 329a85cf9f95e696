package matrix

import (
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
)

// On a homeserver with stock limits, at a turn every six seconds, messages name only
// reactions that stand below them, and boards come at once. In a thread they soon stand
// below its root.
func TestReactionsInFastPlay(t *testing.T) {
	for _, direct := range []bool{false, true} {
		t.Run(map[bool]string{false: "thread", true: "direct"}[direct], func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				c.stock()
				p := c.through()
				p.Limit(func(r *matrixtest.Request) bool {
					return matrixtest.Sending(r) && r.Token == c.a.device().Client.AccessToken
				}, sendRate, sendBurst)
				c.start()
				var anna, mover *guest
				var root id.EventID
				if direct {
					anna = c.room(matrixtest.Room{Direct: true}, "Anna")[0]
					mover = anna
					anna.says("", "!new two-button 9x9 opponent:me")
				} else {
					g := c.begins("two-button 9x9")
					anna, mover, root = g.black, g.white, g.root
				}
				anna.reads(" to play, for example ")
				named, there := 0, 0
				for turn := range 22 {
					began := time.Now()
					[]*guest{anna, mover}[turn%2].says(root, "!place "+string("ABCDEFGHJ"[turn%9])+[]string{"1", "3", "5"}[turn/9])
					board := anna.AwaitMessage(anna.at, c.user.ID, "the board", func(m *matrixtest.Message) bool { return m.Picture != nil && moveOf(m.Text()) == turn+1 })
					if took := time.Since(began); took > time.Second {
						t.Errorf("the board of turn %d came after %v", turn+1, took)
					}
					time.Sleep(6*time.Second - time.Since(began))
					v := anna.View(anna.at)
					for _, m := range []*matrixtest.Message{v.Message(board.ID), v.Message(root)} {
						if m == nil || m.ID == root && turn < 5 { // the root is edited at the beginning
							continue
						}
						for _, r := range message.Reactions {
							if !strings.Contains(m.Text(), r.Emoji) {
								continue
							}
							if named++; m.Reacted(c.user.ID, r.Emoji) {
								there++
							} else {
								t.Errorf("after turn %d %s does not stand below:\n%s", turn+1, r.Emoji, m.Text())
							}
						}
					}
				}
				if t.Log(there, "reactions of", named); there == 0 {
					t.Error("nobody ever sees a reaction")
				}
			})
		})
	}
}
