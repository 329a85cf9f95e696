//go:build goolm

package matrix

import (
	"slices"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/verify"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Requests reach the bot from devices and in rooms; what does not fit is cancelled.
func TestVerificationRequests(t *testing.T) {
	t.Parallel()
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		anna := c.guest("Anna")
		c.cfg.Owners = []string{anna.ID.String()}
		c.start()
		says := func(what string, times int) {
			t.Helper()
			c.await("the log to say "+what, func() bool { return strings.Count(c.log.String(), what) == times })
		}
		request := func(from *guest) map[string]any {
			return map[string]any{"msgtype": verify.Request, "body": "verify", "from_device": from.Device, "to": c.user.ID, "methods": []string{"m.sas.v1"},
				"transaction_id": "one", "timestamp": time.Now().UnixMilli()}
		}
		for n, name := range []string{"Anna", "Eve"} {
			g := anna
			if n > 0 {
				g = c.guest(name)
			}
			g.at = g.Makes(matrixtest.Room{Invite: []id.UserID{c.user.ID}})
			c.await("the bot to know the room", func() bool { return c.a.room(g.at).joined })
			what := []string{"verification requested", "sender not in matrix.owners"}[n]
			transaction := g.Sends(g.at, event.EventMessage, request(g))
			says(what, 1)
			if n == 0 {
				g.Sends(g.at, event.InRoomVerificationStart, map[string]any{"method": "m.reciprocate.v1", "from_device": g.Device,
					"m.relates_to": map[string]any{"rel_type": "m.reference", "event_id": transaction}})
				says("verification ended", 1)
			}
			if _, err := g.Client.SendToDevice(t.Context(), event.ToDeviceVerificationRequest, &mautrix.ReqSendToDevice{
				Messages: map[id.UserID]map[id.DeviceID]*event.Content{c.user.ID: {c.a.device().Client.DeviceID: {Raw: request(g)}}}}); err != nil {
				t.Fatal(err)
			}
			says(what, 2)
		}
		if c.a.Verification() != nil {
			t.Error("somebody is to compare emoji that nobody shows")
		}
	})
}

// Owners with a client that nobody here wrote verify the bot, in an encrypted direct room
// and from device to device; whoever is no owner does not.
func TestStrangersVerify(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	c := lively(t, matrixtest.Shared(t))
	zoe, yan, eve := c.server.Stranger(t, "Zoe"), c.server.Stranger(t, "Yan"), c.server.Stranger(t, "Eve")
	c.cfg.Owners = []string{zoe.ID.String(), yan.ID.String()}
	c.start()
	direct := func(w *matrixtest.Stranger) id.RoomID {
		at := w.Makes(matrixtest.Room{Encrypted: true, Invite: []id.UserID{c.user.ID}})
		w.AwaitMember(at, c.user.ID)
		return at
	}
	shared := direct(zoe)
	with := direct(yan)
	if _, code := eve.Verifies(c.user.ID, direct(eve), ""); code != "m.user" {
		t.Errorf("Eve's request is cancelled with %q", code)
	}
	// answers says whether the emoji are the same once the bot shows those of an owner.
	answers := func(w *matrixtest.Stranger, emoji []string, match bool) {
		t.Helper()
		v := c.a.Verification()
		if v == nil || v.User != w.ID || v.Device != w.Device || !strings.EqualFold(plain(v.Emoji), plain(emoji)) || len(emoji) != 7 {
			t.Fatalf("the bot shows %+v, the owner %v", v, emoji)
		}
		if err := c.a.Verify(t.Context(), v.ID, match); err != nil {
			t.Fatal(err)
		}
	}
	emoji, code := zoe.Verifies(c.user.ID, shared, "")
	if code != "" {
		t.Fatalf("cancelled: %s", code)
	}
	answers(zoe, emoji, true)
	if verified, code := zoe.Confirms(); !verified || code != "" {
		t.Errorf("after emoji in a room: verified %v, %s", verified, code)
	}
	// A client cannot tell the operator to wait: here it is first.
	device := c.a.device().Client.DeviceID
	emoji, code = yan.Verifies(c.user.ID, "", device)
	if code != "" {
		t.Fatalf("cancelled: %s", code)
	}
	if _, code := zoe.Verifies(c.user.ID, shared, ""); code != "m.user" {
		t.Errorf("a second request at the same time is cancelled with %q", code)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if verified, code := yan.Confirms(); !verified || code != "" {
			t.Errorf("after emoji between devices: verified %v, %s", verified, code)
		}
	}()
	answers(yan, emoji, true)
	<-done

	emoji, _ = yan.Verifies(c.user.ID, with, "")
	answers(yan, emoji, false)
	if _, code := yan.Confirms(); code != "m.mismatched_sas" {
		t.Errorf("other emoji: cancelled with %q", code)
	}
	emoji, _ = zoe.Verifies(c.user.ID, shared, "")
	if len(emoji) != 7 {
		t.Errorf("before a restart: %v", emoji)
	}
	c.restart()
	if c.a.Verification() != nil {
		t.Error("a verification from before the restart is waiting")
	}
}

// plain is a list of emoji without what only changes how they look.
func plain(emoji []string) string {
	return strings.ReplaceAll(strings.Join(slices.Clone(emoji), ","), "\ufe0f", "")
}
