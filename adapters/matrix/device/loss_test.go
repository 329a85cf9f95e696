//go:build goolm

package device

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// voice is a device that syncs and speaks.
type voice struct {
	*Device
	t      *testing.T
	since  string
	events map[id.EventID]*event.Event
}

func voiceOf(t *testing.T, d *Device) *voice {
	return &voice{Device: d, t: t, events: make(map[id.EventID]*event.Event)}
}

func (v *voice) sync() {
	v.t.Helper()
	resp, err := v.Client.FullSyncRequest(ctx, mautrix.ReqSync{Since: v.since})
	if err != nil {
		v.t.Fatal(err)
	}
	if err := v.Crypto.Sync(ctx, resp, v.since); err != nil {
		v.t.Fatal(err)
	}
	for room, r := range resp.Rooms.Join {
		for _, evt := range append(r.State.Events, r.Timeline.Events...) {
			evt.RoomID = room
			if evt.StateKey != nil {
				evt.Type.Class = event.StateEventType
				_ = evt.Content.ParseRaw(evt.Type)
				mautrix.UpdateStateStore(ctx, v.State, evt)
				v.Crypto.MembersChanged(room)
			} else {
				v.events[evt.ID] = evt
			}
		}
	}
	v.since = resp.NextBatch
}

func (v *voice) says(room id.RoomID, body string) id.EventID {
	v.t.Helper()
	sealed, err := v.Crypto.Encrypt(ctx, room, event.EventMessage, &event.MessageEventContent{MsgType: event.MsgText, Body: body})
	if err != nil {
		v.t.Fatal(err)
	}
	resp, err := v.Client.SendMessageEvent(ctx, room, event.EventEncrypted, sealed, mautrix.ReqSendEvent{DontEncrypt: true})
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.EventID
}

func (v *voice) reads(evt id.EventID, body string) {
	v.t.Helper()
	var plain *event.Event
	err := errors.New("the message does not come")
	for late := time.Now().Add(2 * time.Minute); time.Now().Before(late); time.Sleep(10 * time.Millisecond) {
		if v.events[evt] != nil {
			// the key may come a moment later
			if plain, err = v.Crypto.Decrypt(ctx, v.events[evt]); !errors.As(err, new(e2ee.ErrNoKey)) {
				break
			}
		}
		v.sync()
	}
	if err != nil {
		v.t.Fatalf("%s reads %q: %v", v.Client.UserID, body, err)
	}
	if got := plain.Content.AsMessage().Body; got != body {
		v.t.Fatalf("%s reads %q, not %q", v.Client.UserID, got, body)
	}
}

// The bot loses its database, or gets an old one back, and plays on with the people in an
// encrypted room without anybody doing anything. What was said there since it reads again.
func TestPlaysOnAfterLoss(t *testing.T) {
	for name, lose := range map[string]func(s *setup, old []byte){
		"database deleted":  func(s *setup, _ []byte) { s.loses() },
		"old copy put back": func(s *setup, old []byte) { s.puts(old) },
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s, a := account(t, server, server.URL, server.Register(t, "Bot")), account(t, server, server.URL, server.Register(t, "Anna"))
				anna := voiceOf(t, a.starts())
				defer func() { a.stops(anna.Device) }()
				halfpoint := voiceOf(t, s.starts())
				s.RecoveryKey = halfpoint.Recovery
				made, err := anna.Client.CreateRoom(ctx, &mautrix.ReqCreateRoom{Preset: "private_chat", Invite: []id.UserID{s.user.ID},
					InitialState: []*event.Event{{Type: event.StateEncryption, Content: event.Content{Parsed: matrixtest.Encryption()}}}})
				if err != nil {
					t.Fatal(err)
				}
				room := made.RoomID
				if _, err := halfpoint.Client.JoinRoomByID(ctx, room); err != nil {
					t.Fatal(err)
				}
				for _, v := range []*voice{anna, halfpoint} {
					for !v.State.IsInRoom(ctx, room, s.user.ID) || !v.State.IsInRoom(ctx, room, a.user.ID) {
						v.sync()
					}
				}
				halfpoint.reads(anna.says(room, "!place D4"), "!place D4")
				old := s.copies()
				anna.reads(halfpoint.says(room, "Black D4."), "Black D4.")
				turn := anna.says(room, "!place E5")
				halfpoint.reads(turn, "!place E5")
				board := halfpoint.says(room, "White E5.")
				anna.reads(board, "White E5.")
				time.Sleep(5 * time.Second) // in which keys are backed up
				s.stops(halfpoint.Device)
				key := master(t, server, s.user.ID)

				lose(s, old)
				begin := time.Now()
				halfpoint = voiceOf(t, s.starts())
				if !halfpoint.New {
					t.Fatal("the lost device is used again")
				}
				signed(t, halfpoint.Device)
				if master(t, server, s.user.ID) != key {
					t.Error("people would have to verify the bot again")
				}
				halfpoint.sync()
				halfpoint.reads(turn, "!place E5")
				halfpoint.reads(board, "White E5.")
				for known := false; !known; { // of the new device
					anna.sync()
					if err := a.DB.QueryRow(ctx, "SELECT devices_outdated FROM crypto_tracked_user WHERE user_id=$1", s.user.ID).Scan(&known); err != nil {
						t.Fatal(err)
					}
				}
				anna.reads(halfpoint.says(room, "I am back."), "I am back.")
				halfpoint.reads(anna.says(room, "!place F6"), "!place F6")
				t.Logf("plays on %v after the start", time.Since(begin).Round(time.Millisecond))
				s.stops(halfpoint.Device)
			})
		})
	}
}

// A token is enough where a recovery key is given.
func TestTokenAndRecoveryKey(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		user := server.Register(t, "Bot")
		s := account(t, server, server.URL, user)
		d := s.starts()
		recovery := d.Recovery
		s.stops(d)

		other := account(t, server, server.URL, user)
		other.User, other.Password, other.Token, other.RecoveryKey = "", secret.Text{}, secret.New(user.Token), recovery
		d = other.starts()
		signed(t, d)
		if d.Client.DeviceID != user.Device {
			t.Errorf("device %s, not the token's %s", d.Client.DeviceID, user.Device)
		}
		other.stops(d)

		// Its database is lost. The token's device has keys, and cannot be replaced.
		other.loses()
		other.fails("matrix.password: needed once: device " + user.Device.String())
		other.RecoveryKey = secret.New("EsTc nonsense")
		token, _ := server.Login(t, user)
		other.Token = secret.New(token)
		other.loses()
		other.fails("matrix.recovery_key: needed to sign")
	})
}

func TestOldCopyPutBack(t *testing.T) {
	for name, use := range map[string]func(*setup, *Device){
		"of the stopped bot":              func(s *setup, d *Device) { s.stops(d) },
		"of the run that ended well":      func(s *setup, d *Device) { s.stops(d) },
		"of before a run that was killed": func(_ *setup, d *Device) { kill(d) },
		"of a run that was killed after an advance": func(s *setup, d *Device) {
			if err := d.advance(ctx, true); err != nil {
				s.t.Fatal(err)
			}
			kill(d)
		},
		"of before a device was replaced": func(s *setup, d *Device) {
			s.stops(d)
			s.loses()
			s.RecoveryKey = d.Recovery
			s.stops(s.starts())
		},
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s := account(t, server, server.URL, server.Register(t, "Bot"))
				d := s.starts()
				if name == "of the stopped bot" || name == "of before a run that was killed" {
					s.stops(d)
					old := s.copies()
					use(s, s.starts())
					s.puts(old)
				} else {
					old := s.copies()
					use(s, d)
					s.puts(old)
				}
				first, key := d.Client.DeviceID, master(t, server, s.user.ID)

				d = s.replaces(server, first, key)
				if log := s.log.String(); !strings.Contains(log, "database is an old backup") && !strings.Contains(log, "homeserver rejected the stored token") {
					t.Error("the log does not say what happened")
				}
				s.stays(d)
			})
		})
	}
}

// The device that was replaced could not be deleted, and an old copy brings it
// back: neither it nor the one between may stay.
func TestOldCopyOfADeviceThatIsStillThere(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		proxy := server.Proxy(t)
		s := account(t, server, proxy.URL, server.Register(t, "Bot"))
		d := s.starts()
		s.RecoveryKey = d.Recovery
		for range 3 { // more generations than the next device has
			s.stops(d)
			d = s.starts()
		}
		old := s.copies()
		s.stops(d)
		s.loses()
		fault := proxy.Always(matrixtest.On("DELETE", "/devices/"), matrixtest.Fails(500, "M_UNKNOWN"))
		d = s.starts()
		s.stops(d)
		if len(s.devices(server)) != 2 {
			t.Fatal("the first device is deleted; the test shows nothing")
		}
		fault.Stop()
		s.puts(old)
		d = s.starts()
		if !d.New {
			t.Error("the old device is used again")
		}
		only(t, s.devices(server), d.Client.DeviceID)
		s.stops(d)
	})
}

// A device that cannot be deleted is deleted at the next start.
func TestOldDeviceIsDeletedLater(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		proxy := server.Proxy(t)
		s := account(t, server, proxy.URL, server.Register(t, "Bot"))
		s.stops(s.starts())
		s.loses()
		fault := proxy.Always(matrixtest.On("DELETE", "/devices/"), matrixtest.Fails(500, "M_UNKNOWN"))
		s.stops(s.starts())
		fault.Stop()
		d := s.starts()
		only(t, s.devices(server), d.Client.DeviceID)
		s.stops(d)
	})
}

// The first start of a new device may fail anywhere after its login: the next one takes
// up the same device, and nobody is told of an old copy.
func TestFirstStartFails(t *testing.T) {
	for n := 0; ; n += tier.Pick(5, 2, 1) {
		through := false
		matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
			proxy := server.Proxy(t)
			s := account(t, server, proxy.URL, server.Register(t, "Bot"))
			s.OldCopy = func(context.Context) error { t.Error("the database was taken for an old copy"); return nil }
			d := s.starts()
			s.stops(d)
			if _, err := d.Client.Logout(ctx); err != nil {
				t.Fatal(err)
			}
			proxy.Forget()
			logins, after, login := 0, 0, matrixtest.On("POST", "/login$")
			fault := proxy.Once(func(r *matrixtest.Request) bool {
				switch {
				case login(r):
					logins++
				case logins > 0:
					after++
				}
				return after > n
			}, matrixtest.Fails(503, "M_UNKNOWN"))
			s.openDB()
			d, err := Open(ctx, s.Config)
			through = fault.Made() == 0
			fault.Stop()
			if err != nil {
				d = s.starts()
			}
			if list := proxy.Requests(login); len(list) != 1 {
				t.Errorf("request %d after the login failed: %d logins\n%s", n, len(list), matrixtest.Paths(proxy.Requests(matrixtest.Any)))
			}
			signed(t, d)
			s.stays(d)
		})
		if t.Failed() || through {
			t.Logf("%d requests after the login", n)
			return
		}
	}
}

// Another machine with the same database has the device with its keys and its backup, also without
// the file of the recovery key. If the device is lost then, only the recovery key in the
// configuration keeps the account's identity.
func TestAnotherMachine(t *testing.T) {
	for name, configured := range map[string]bool{"no recovery key": false, "matrix.recovery_key": true} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s := account(t, server, server.URL, server.Register(t, "Bot"))
				d := s.starts()
				made, identity, first := d.Recovery, master(t, server, s.user.ID), d.Client.DeviceID
				s.stops(d)
				s.RecoveryFile += ".of another machine"
				if configured {
					s.RecoveryKey = made
				}
				warned := strings.Count(s.log.String(), "level=WARN")
				d = s.starts()
				signed(t, d)
				if d.Client.DeviceID != first {
					t.Errorf("device %s has become %s", first, d.Client.DeviceID)
				}
				if n := strings.Count(s.log.String(), "level=WARN"); n != warned {
					t.Errorf("it warns: %s", &s.log)
				}
				if _, err := d.Client.Logout(ctx); err != nil {
					t.Fatal(err)
				}
				kill(d)
				d = s.starts()
				signed(t, d)
				if same := master(t, server, s.user.ID) == identity; same != configured {
					t.Errorf("the identity is the same: %v", same)
				}
				s.stops(d)
			})
		})
	}
}
