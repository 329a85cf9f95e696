//go:build goolm

package matrix

import (
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A request to verify the bot is cancelled with the reason, in a room and between devices.
// Nothing that follows is answered, and a flood of requests costs no more than one.
func TestVerificationIsCancelled(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		c.start()
		anna, eve := c.guest("Anna"), c.guest("Eve")
		anna.at = anna.Makes(matrixtest.Room{Invite: []id.UserID{c.user.ID}})
		c.await("the bot to know the room", func() bool { return c.a.room(anna.at).joined })
		// cancelled reports what the bot has sent within a minute.
		cancelled := func(what string, times int, in ...string) {
			t.Helper()
			time.Sleep(time.Minute)
			sent := p.Requests(matrixtest.On("PUT", "/m.key.verification."))
			p.Forget()
			if len(sent) != times {
				t.Errorf("%s: %d answers, not %d\n%s", what, len(sent), times, matrixtest.Paths(sent))
			}
			for _, r := range sent {
				if r.Fault { // nobody has read it
					continue
				}
				for _, part := range append(in, `"code":"m.unknown_method"`, `"reason":"This bot cannot be verified by emoji. Your client checks by itself whether `) {
					if !strings.Contains(string(r.Body), part) || !strings.Contains(r.Path, "/m.key.verification.cancel/") {
						t.Errorf("%s: %s %s, without %s", what, r.Path, r.Body, part)
					}
				}
			}
		}
		request := func(from *guest, transaction string, sent time.Time) map[string]any {
			return map[string]any{"msgtype": "m.key.verification.request", "body": "verify", "from_device": from.Device, "to": c.user.ID, "methods": []string{"m.sas.v1"},
				"transaction_id": transaction, "timestamp": sent.UnixMilli()}
		}
		toDevice := func(from *guest, kind event.Type, content map[string]any) {
			t.Helper()
			if _, err := from.Client.SendToDevice(t.Context(), kind, &mautrix.ReqSendToDevice{
				Messages: map[id.UserID]map[id.DeviceID]*event.Content{c.user.ID: {c.a.device().Client.DeviceID: {Raw: content}}}}); err != nil {
				t.Fatal(err)
			}
		}
		begun := anna.Sends(anna.at, event.EventMessage, request(anna, "", time.Now()))
		cancelled("a request in a room", 1, `"m.relates_to":{"event_id":"`+begun.String()+`"`)
		anna.Sends(anna.at, event.InRoomVerificationStart, map[string]any{"method": "m.sas.v1", "from_device": anna.Device,
			"m.relates_to": map[string]any{"rel_type": "m.reference", "event_id": begun}})
		cancelled("what follows", 0)
		toDevice(eve, event.ToDeviceVerificationRequest, request(eve, "one", time.Now()))
		cancelled("a request to the device", 1, `"transaction_id":"one"`, `"`+eve.Device.String()+`":{`)
		toDevice(eve, event.ToDeviceVerificationStart, map[string]any{"method": "m.sas.v1", "from_device": eve.Device, "transaction_id": "one"})
		cancelled("what follows it", 0)

		toDevice(eve, event.ToDeviceVerificationRequest, request(eve, "two", time.Now().Add(-time.Hour)))
		toDevice(eve, event.ToDeviceVerificationRequest, request(eve, "", time.Now()))
		toOther := request(anna, "", time.Now())
		toOther["to"] = eve.ID
		anna.Sends(anna.at, event.EventMessage, toOther)
		cancelled("requests that are over, broken, or to others", 0)
		for range 50 {
			toDevice(eve, event.ToDeviceVerificationRequest, request(eve, "flood", time.Now()))
		}
		toDevice(eve, event.ToDeviceVerificationRequest, request(eve, "newest", time.Now()))
		cancelled("a flood", 1, `"transaction_id":"newest"`)

		answers := matrixtest.On("PUT", "/m.key.verification.cancel/")
		p.Once(answers, matrixtest.Fails(403, "M_FORBIDDEN"))
		toDevice(eve, event.ToDeviceVerificationRequest, request(eve, "refused", time.Now()))
		cancelled("a refused answer", 1)
		if said := c.log.String(); strings.Count(said, "verification request cancelled") != 3 || strings.Count(said, "verification request not cancelled") != 1 {
			t.Errorf("the log does not tell the answers from the one that failed:\n%s", said)
		}
		p.Once(answers, matrixtest.Fails(404, "")) // a server in front of the homeserver does not find it
		toDevice(eve, event.ToDeviceVerificationRequest, request(eve, "twice", time.Now()))
		cancelled("an answer that was lost", 2, `"transaction_id":"twice"`)
		c.restart()
		cancelled("after a restart", 0)
	})
}

// A client that nobody here wrote sees its request cancelled, in an encrypted direct room and
// between devices.
func TestAStrangersVerificationIsCancelled(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	c := lively(t, matrixtest.Shared(t))
	zoe := c.server.Stranger(t, "Zoe")
	c.start()
	at := zoe.Makes(matrixtest.Room{Encrypted: true, Invite: []id.UserID{c.user.ID}})
	zoe.AwaitMember(at, c.user.ID)
	if code := zoe.Verifies(c.user.ID, at, ""); code != "m.unknown_method" {
		t.Errorf("in a room: cancelled with %q", code)
	}
	if code := zoe.Verifies(c.user.ID, "", c.a.device().Client.DeviceID); code != "m.unknown_method" {
		t.Errorf("between devices: cancelled with %q", code)
	}
}
