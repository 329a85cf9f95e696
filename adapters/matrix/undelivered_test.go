//go:build goolm

package matrix

import (
	"errors"
	"fmt"
	"testing"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// tells brings people a private post as the outbox does, which tries a post thrice.
func (c *club) tells(what string, who ...*guest) (outbox.Receipt, error) {
	p := outbox.Post{ID: what, Where: match.Room{Platform: Name}, Kind: match.Notice, Private: true, Text: what}
	for _, g := range who {
		p.Notify = append(p.Notify, outbox.User{Platform: Name, ID: g.ID.String(), Name: g.ID.Localpart()})
	}
	for p.Attempt = 1; ; p.Attempt++ {
		sent, _, err := c.a.Deliver(c.Context(), p)
		if err == nil || p.Attempt == 3 {
			return sent, err
		}
	}
}

// undelivered fails the test unless people cannot be told something directly.
func (c *club) undelivered(what string, who ...*guest) {
	c.Helper()
	if sent, err := c.tells(what, who...); !errors.Is(err, outbox.ErrRefused) {
		c.Errorf("%s: %q, %v", what, sent, err)
	}
}

// delivered fails the test if people cannot be told something directly.
func (c *club) delivered(what string, who ...*guest) {
	c.Helper()
	if sent, err := c.tells(what, who...); err != nil || sent == "" {
		c.Errorf("%s: %q, %v", what, sent, err)
	}
}

// aDayLater has the bot have invited everybody a day earlier than it did.
func (c *club) aDayLater() {
	c.Helper()
	c.exec("UPDATE matrix_mark SET at = at - $1 WHERE kind = 'invited'", invitesEvery.Milliseconds())
}

// rooms returns the rooms in which the bot is.
func (c *club) rooms() []id.RoomID {
	c.Helper()
	joined, err := c.a.device().Client.JoinedRooms(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return joined.JoinedRooms
}

// Somebody whose account takes no invitations cannot be told anything directly. For them the bot
// makes one room, however often it tries, in which they are told once they take invitations.
func TestOneRoomForSomebodyWhoTakesNoInvitations(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")[0]
		anna.TakesInvites(false)
		for day := range 3 {
			for n := range 3 {
				c.undelivered(fmt.Sprintf("day %d, post %d", day, n), anna)
			}
			c.aDayLater()
		}
		if rooms := c.rooms(); len(rooms) != 2 {
			t.Errorf("the bot is in %d rooms, not in that of the club and one for Anna", len(rooms))
		}
		anna.TakesInvites(true)
		c.delivered("welcome", anna)
		rooms := c.with(anna)
		if len(rooms) != 1 || len(c.rooms()) != 2 {
			t.Fatalf("Anna is in %v, the bot in %v", rooms, c.rooms())
		}
		anna.AwaitInvite(rooms[0])
		anna.Joins(rooms[0])
		anna.Await(rooms[0], "what it says", func(v matrixtest.View) bool { return len(v.From(c.user.ID)) == 1 })
	})
}

// Somebody who leaves the room in which they were told something directly is invited again after
// a day, or when they ask for something that only they may read.
func TestLeavesTheDirectRoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")[0]
		leaves := func() {
			t.Helper()
			rooms := c.with(anna)
			if len(rooms) != 1 {
				t.Fatalf("Anna is in %v", rooms)
			}
			anna.AwaitInvite(rooms[0])
			anna.Leaves(rooms[0])
			c.await("the bot to leave, too", func() bool { return len(c.rooms()) == 1 })
		}
		c.delivered("first", anna)
		leaves()
		c.undelivered("second", anna)
		c.undelivered("third", anna)
		if rooms := c.rooms(); len(rooms) != 1 {
			t.Errorf("the bot is in %v", rooms)
		}
		anna.asks("", "!privacy export")
		anna.reads("directly")
		leaves()
		c.undelivered("fourth", anna)
		c.aDayLater()
		c.delivered("fifth", anna)
		leaves()
	})
}

// That one person cannot be told something keeps it from nobody else.
func TestToldThoughAnotherCannotBe(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob", "Carl")
		anna, bob, carl := people[0], people[1], people[2]
		anna.TakesInvites(false)
		c.delivered("first", anna, bob)
		at := c.with(bob)
		if len(at) != 1 {
			t.Fatalf("Bob is in %v", at)
		}
		bob.AwaitInvite(at[0])
		bob.Joins(at[0])
		lost := p.Times(2, matrixtest.On("POST", "/createRoom$"), matrixtest.Fails(502, "M_UNKNOWN"))
		c.delivered("second", carl, anna, bob)
		if lost.Made() != 2 {
			t.Errorf("%d of two answers were lost", lost.Made())
		}
		caughtUp(bob.Player, at[0])
		if said := bob.View(at[0]).From(c.user.ID); len(said) != 2 {
			t.Errorf("Bob is told %d things:\n%s", len(said), bob.Sees(at[0]))
		}
		if len(c.with(carl)) != 1 {
			t.Error("Carl is told nothing")
		}
	})
}
