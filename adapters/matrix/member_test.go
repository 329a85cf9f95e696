//go:build goolm

package matrix

import (
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// Somebody may play from elsewhere in a room which they have joined and in which they may
// write messages, also after the room has moved; not in one to which they are only invited.
func TestMember(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		r := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, bob, carl := r[0], r[1], c.guest("Carl")
		at := anna.at
		is := func(g *guest, want bool, why string) {
			t.Helper()
			time.Sleep(memberFor)
			got, err := c.a.Member(t.Context(), outbox.User{Platform: Name, ID: g.ID.String()}, match.Room{Platform: Name, Channel: at.String()})
			if err != nil || got != want {
				t.Errorf("%s: %s may write: %v, %v", why, g.ID, got, err)
			}
		}
		// levels sets who may write, and waits until the bot knows it.
		levels := func(rest map[string]any) {
			t.Helper()
			rest["users"] = map[id.UserID]int{anna.ID: 100, c.user.ID: 50}
			anna.Sets(anna.at, event.StatePowerLevels, "", rest)
			anna.asks("", "!help")
		}
		is(anna, true, "who has made the room")
		is(bob, true, "who has joined it")
		is(carl, false, "a stranger")
		anna.Invites(anna.at, carl.ID)
		carl.AwaitInvite(anna.at)
		is(carl, false, "who is invited")

		levels(map[string]any{"events_default": 10})
		is(bob, false, "who may only read")
		is(anna, true, "who may write")
		levels(map[string]any{"events": map[string]int{"m.room.message": 10}})
		is(bob, false, "who may write no messages")
		levels(map[string]any{"events": map[string]int{"m.room.encrypted": 10}})
		is(bob, true, "who may write messages in the clear")
		anna.Sets(anna.at, event.StateEncryption, "", map[string]any{"algorithm": string(id.AlgorithmMegolmV1)})
		c.await("the bot to know that the room is encrypted", func() bool {
			sealed, err := c.a.sealed(t.Context(), anna.at)
			return sealed && err == nil
		})
		is(bob, false, "who may write no encrypted messages in an encrypted room")
		levels(map[string]any{})
		is(bob, true, "who may")

		// Who has gone may go on for half a minute. Without an answer nobody knows.
		bob.Leaves(bob.at)
		if got, err := c.a.Member(t.Context(), outbox.User{Platform: Name, ID: bob.ID.String()}, match.Room{Platform: Name, Channel: at.String()}); !got || err != nil {
			t.Errorf("asked again at once: %v, %v", got, err)
		}
		is(bob, false, "who has left")
		for _, other := range []match.Room{{Platform: "web", Channel: at.String()}, {Platform: Name, Channel: "!nowhere:example.org"}} {
			if got, err := c.a.Member(t.Context(), outbox.User{Platform: Name, ID: anna.ID.String()}, other); got || err != nil {
				t.Errorf("in %v: %v, %v", other, got, err)
			}
		}
		p.Always(matrixtest.On("GET", "/state/m.room.member/"), matrixtest.Fails(502, ""))
		time.Sleep(memberFor)
		if _, err := c.a.Member(t.Context(), outbox.User{Platform: Name, ID: anna.ID.String()}, match.Room{Platform: Name, Channel: at.String()}); err == nil {
			t.Error("no error while the homeserver fails")
		}
	})
}
