//go:build goolm

package matrix

import (
	"fmt"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// inviter is somebody who can read what the bot writes to them alone.
func (c *club) inviter(name string) *talker {
	c.Helper()
	p := &talker{Player: c.server.Player(c.T, name), c: c, r: &pair{}}
	p.dev = c.secretly(p.User)
	return p
}

// told waits until somebody has read something in the room that the bot has made for them.
func (p *talker) told(what string) {
	p.c.Helper()
	p.c.await("a room with "+p.ID.String(), func() bool {
		at, err := p.c.a.queue.marked(p.c.Context(), "direct", p.ID.String())
		p.r.at = id.RoomID(at)
		return err == nil && at != ""
	})
	p.AwaitInvite(p.r.at)
	p.Joins(p.r.at)
	p.sees(what)
}

// Where nobody can play the bot does not stay, and it says so to whoever has invited it.
func TestInvitedIntoASpace(t *testing.T) {
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start()
		anna := c.inviter("Anna")
		space := anna.Makes(matrixtest.Room{Name: "All clubs", Space: true, Invite: []id.UserID{c.user.ID}})
		anna.Await(space, "the bot to leave", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "leave" })
		anna.told("left the space")
	})
}

// Whoever invites the bot into many rooms hears, once, that it comes into one after
// another.
func TestManyInvitations(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		c.start()
		anna, ben := c.inviter("Anna"), c.guest("Ben")
		var rooms []id.RoomID
		for k := range 8 {
			rooms = append(rooms, anna.Makes(matrixtest.Room{Name: fmt.Sprint("Club ", k), Invite: []id.UserID{c.user.ID}}))
		}
		ben.Makes(matrixtest.Room{Name: "Ben's", Invite: []id.UserID{c.user.ID}})
		anna.told("one of them every half minute")
		for _, at := range rooms {
			anna.Await(at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		}
		time.Sleep(time.Minute)
		if at, err := c.a.queue.marked(t.Context(), "direct", ben.ID.String()); err != nil || at != "" {
			t.Errorf("Ben is told something in %q: %v", at, err)
		}
		caughtUp(anna.Player, anna.r.at)
		if said := anna.heard(); len(said) != 1 {
			t.Errorf("Anna is told %v", said)
		}
	})
}
