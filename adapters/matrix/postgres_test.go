//go:build goolm

package matrix

import (
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/pgtest"
)

// Everything of Matrix is on PostgreSQL, too: what has come, what is to be sent, and the keys
// of the device. After a restart it goes on with the same device.
func TestOnPostgres(t *testing.T) {
	server := pgtest.Start(t)
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.file = server.Database(t)
		c.start()
		r := c.talkers(true)
		r.gathers()
		anna, bob := r.people[0], r.people[1]
		anna.says("", "!new 5x5")
		root := bob.sees("opens game 1")
		bob.says(root, "!join")
		anna.sees(" to play, for example ")
		anna.says(root, "!place C3")
		bob.sees("1. Black C3")
		c.settled()
		device := c.a.device().Client.DeviceID
		c.halt()
		bob.says(root, "!place D3")
		c.start()
		anna.sees("2. White D3")
		anna.says(root, "!score")
		anna.sees("If the game ended now")
		c.settled()
		if now := c.a.device().Client.DeviceID; now != device {
			t.Errorf("device %s has become %s", device, now)
		}
		if said := c.clear(anna.View(r.at), root); len(said) > 0 {
			t.Errorf("it has said in the clear: %q", said)
		}
	})
}
