//go:build goolm

package matrix

import (
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// Somebody logs in with a new device while the bot is down. What the bot owes is sent once
// the homeserver has told of that, so that the device can read it, however soon the bot
// could have sent it.
func TestNewDeviceWhileTheBotIsDown(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		r := c.pair(true)
		anna, bob := r.people[0], r.people[1]
		release := make(chan struct{})
		held := p.Always(matrixtest.Uploading, matrixtest.Holds(release))
		anna.says(r.root, "!place C3")
		bob.seesIn(r.root, "1. Black C3") // its picture is to follow
		c.halt()
		close(release)
		held.Stop()

		anna.dev = c.besides(anna.User)
		slow := p.Once(matrixtest.Syncing, matrixtest.Waits(20*time.Second))
		c.start()
		slow.Await(t, 1)
		c.settled()
		_, seq := c.game(1)
		for _, m := range anna.heard() {
			if m["filename"] == boardName(1, seq) {
				anna.looks(m)
				return
			}
		}
		t.Errorf("the new device cannot read %s", boardName(1, seq))
	})
}
