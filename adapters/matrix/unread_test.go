//go:build goolm

package matrix

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// sealed is an encrypted event that nobody can read, of a session that nobody
// has.
func sealed(session string) map[string]any {
	const ciphertext = "AwgAElAHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj9AQUJDREVGR0hJSktMTU5PUFFSU1RVVg"
	return map[string]any{"algorithm": "m.megolm.v1.aes-sha2", "device_id": "X", "sender_key": "k",
		"session_id": (session + strings.Repeat("A", 43))[:43], "ciphertext": ciphertext + strings.Repeat("A", 116)}
}

// hasTold waits until of everything that cannot be read enough was told, and
// counts what was told in a room.
func (c *club) hasTold(g *guest) int {
	c.Helper()
	c.await("what cannot be read to be told", func() bool {
		var rows int
		err := c.cfg.DB.QueryRow(c.Context(), "SELECT COUNT(*) FROM matrix_event WHERE state IN ($1, $2) AND told = 0", keyless, waiting).Scan(&rows)
		return err == nil && rows == 0 // it is tried again now and then
	})
	c.settled()
	last := g.Says(g.at, "…") // what was told before is seen by now
	g.AwaitEvent(g.at, last)
	return c.says(g, "I could not read")
}

// What cannot be read is told in every room, however much there is that has been
// told elsewhere; and of one session once.
func TestUnreadIsToldEverywhere(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start()
		anna := c.room(matrixtest.Room{Name: "X"}, "Anna")[0]
		var last id.EventID
		for range 101 {
			last = anna.Sends(anna.at, event.EventEncrypted, sealed("one"))
		}
		c.dealt(anna.at, last)
		if n := c.hasTold(anna); n != 1 {
			t.Errorf("told %d times of one session", n)
		}
		bob := c.room(matrixtest.Room{Name: "Y"}, "Bob")[0]
		c.dealt(bob.at, bob.Sends(bob.at, event.EventEncrypted, sealed("one"))) // the same name, and another room
		if n := c.hasTold(bob); n != 1 {
			t.Errorf("told %d times in the other room", n)
		}
		// Long afterwards nothing more is told of that, not even when it was tried
		// again; of something new it is.
		time.Sleep(unreadAgain)
		c.a.keyCame("")
		c.dealt(anna.at, last)
		c.dealt(anna.at, anna.Sends(anna.at, event.EventEncrypted, sealed("one")))
		if n := c.hasTold(anna); n != 1 {
			t.Errorf("told %d times of one session, long afterwards", n)
		}
		c.dealt(anna.at, anna.Sends(anna.at, event.EventEncrypted, sealed("two")))
		if n := c.hasTold(anna); n != 2 {
			t.Errorf("told %d times of two sessions", n)
		}
	})
}

// A key that is missing is asked for also if the program ended before what needs it
// was looked at.
func TestKeyIsAskedForAfterRestart(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		c.a.out.Store(true) // so that it is written down alone
		e := anna.Sends(anna.at, event.EventEncrypted, sealed("one"))
		c.await("the event", func() bool {
			state, err := c.a.queue.state(t.Context(), e)
			return err == nil && state == waiting
		})
		c.kill()
		asking := matrixtest.On("PUT", "/sendToDevice/m.room_key_request/")
		if n := len(p.Requests(asking)); n != 0 {
			t.Fatalf("asked %d times before the end", n)
		}
		c.start()
		c.dealt(anna.at, e)
		if n := len(p.Requests(asking)); n != 1 {
			t.Errorf("asked %d times for the key", n)
		}
	})
}

// Who sends much that nobody can read is told once in a while; others in the room
// are told nevertheless.
func TestUnreadIsToldSeldom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "X"}, "Eve", "Anna")
		eve, anna := people[0], people[1]
		var last id.EventID
		for k := range 40 {
			last = eve.Sends(eve.at, event.EventEncrypted, sealed(fmt.Sprint("e", k)))
		}
		c.dealt(eve.at, last)
		if n := c.hasTold(eve); n != 1 {
			t.Errorf("one person who sends 40 things is told %d times", n)
		}
		c.dealt(anna.at, anna.Sends(anna.at, event.EventEncrypted, sealed("a")))
		if n := c.hasTold(anna); n != 2 {
			t.Errorf("told %d times, to two people", n)
		}
		c.restart() // after a restart it is the same
		c.dealt(eve.at, eve.Sends(eve.at, event.EventEncrypted, sealed("again")))
		if n := c.hasTold(eve); n != 2 {
			t.Errorf("after a restart told %d times", n)
		}
		time.Sleep(unreadAgain)
		c.dealt(eve.at, eve.Sends(eve.at, event.EventEncrypted, sealed("later")))
		if n := c.hasTold(eve); n != 3 {
			t.Errorf("after a while told %d times", n)
		}
		// The key may still come.
		c.dealt(anna.at, anna.Sends(anna.at, event.EventEncrypted, sealed("b")))
		in := time.Now().Add(time.Minute)
		time.Sleep(2 * time.Second) // it was looked at
		if rows, err := c.a.queue.overdue(t.Context(), in); err != nil || len(rows) != 1 {
			t.Errorf("it does not wait: %v, %v", rows, err)
		}
		time.Sleep(time.Minute + time.Second)
		if n := c.hasTold(anna); n != 4 {
			t.Errorf("told %d times", n)
		}
	})
}
