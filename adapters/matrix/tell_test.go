package matrix

import (
	"slices"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// The service is told in which rooms the bot is, by the ids by which it knows them,
// so that one that has moved is not taken for left.
func TestRoomsAreTold(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		w := c.watch()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, old := people[0], people[0].at
		anna.asks("", "!new 5x5")
		anna.reads("opens game 1")
		told := func(what string, want ...string) {
			t.Helper()
			w.mu.Lock()
			defer w.mu.Unlock()
			if !slices.Equal(w.rooms, want) {
				t.Errorf("%s is told as %q", what, w.rooms)
			}
		}
		time.Sleep(tellFirst + time.Second)
		told("the room", old.String())
		again := func() { // as a few hours later
			t.Helper()
			if err := c.a.tellRoomsOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		known := func() []string {
			t.Helper()
			servers, err := c.store.Servers(t.Context(), Name)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, s := range servers {
				left := ""
				if !s.Left.IsZero() {
					left = " left"
				}
				ids = append(ids, s.ID+left)
			}
			return ids
		}
		if got := known(); !slices.Equal(got, []string{old.String()}) {
			t.Errorf("the room asked from is %v, known are %q", old, got)
		}
		anna.asks("", "!settings whose:server size:9x9")
		anna.reads("belongs to no server")

		made := anna.Makes(matrixtest.Room{Name: "New club", Succeeds: old, Invite: []id.UserID{c.user.ID}})
		anna.Moves(old, made)
		c.await("the bot to follow", func() bool { return c.a.room(made).joined && c.a.current(old).id == made })
		if _, err := anna.Client.KickUser(t.Context(), old, &mautrix.ReqKickUser{UserID: c.user.ID}); err != nil {
			t.Fatal(err)
		}
		c.await("the old room to be left", func() bool { return !c.a.room(old).joined })
		again()
		told("the new room", old.String())
		if _, err := anna.Client.KickUser(t.Context(), made, &mautrix.ReqKickUser{UserID: c.user.ID}); err != nil {
			t.Fatal(err)
		}
		again()
		told("no room")
		if got := known(); !slices.Equal(got, []string{old.String() + " left"}) {
			t.Errorf("known are %q", got)
		}
	})
}
