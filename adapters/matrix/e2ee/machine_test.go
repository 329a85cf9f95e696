//go:build goolm

package e2ee

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

func pair(t testing.TB, s *matrixtest.Server) (anna, bot *peer, room id.RoomID) {
	t.Helper()
	anna, bot = newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot"))
	return anna, bot, anna.makes(bot)
}

func TestMessagesBothWays(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		bot.reads(anna.say(room, "!place D4"), "!place D4")
		anna.reads(bot.say(room, "Black D4."), "Black D4.")
		bot.reads(anna.say(room, "!place E5"), "!place E5")

		// and after a restart with the same sessions
		if err := bot.Close(); err != nil {
			t.Fatal(err)
		}
		bot.open()
		anna.reads(bot.say(room, "White E5."), "White E5.")
		bot.reads(anna.say(room, "!pass"), "!pass")
	})
}

// What was begun before the end writes nothing down after it: by then the database
// may be another device's, which could not read it.
func TestClosedMeanwhile(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		room := anna.makes(bot)
		until := make(chan struct{})
		order := proxy.Once(matrixtest.On("POST", "/keys/query"), matrixtest.HoldsAnswer(until))
		old, done := bot.Machine, make(chan error, 1)
		go func() {
			_, err := old.Encrypt(ctx, room, event.EventMessage, text("Black D4."))
			done <- err
		}()
		order.Await(t, 1)
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Forget(ctx, bot.db); err != nil {
			t.Fatal(err)
		}
		bot.client.AccessToken, bot.client.DeviceID = s.Login(t, bot.user)
		bot.pickle = "sealed anew"
		bot.open()
		close(until)
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("encrypting: %v", err)
		}
		anna.reads(bot.say(room, "White E5."), "White E5.")
	})
}

func TestEncryptedFile(t *testing.T) {
	board := bytes.Repeat([]byte("board"), 20_000)
	sealed, info := EncryptFile(board)
	if bytes.Contains(sealed, []byte("boardboard")) || !bytes.Equal(board[:5], []byte("board")) {
		t.Fatal("the file is not encrypted, or its original is changed")
	}
	sent, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	var got event.EncryptedFileInfo
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	if err := got.DecryptInPlace(sealed); err != nil || !bytes.Equal(sealed, board) {
		t.Fatalf("another file comes out: %v", err)
	}
}

// A slow server must not stop encryption in all rooms.
func TestNoRequestIsMadeUnderTheMutex(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		// Whoever makes a request under the mutex waits for ever here. Others may hold it for a
		// moment, such as the sender of a message while a key goes into the backup.
		bot.client.Client.Timeout = 0
		asked := 0
		proxy.Always(func(*matrixtest.Request) bool {
			bot.mu.Lock()
			defer bot.mu.Unlock()
			asked++
			return false
		}, nil)
		bot.signs()
		room := anna.makes(bot)
		bot.reads(anna.say(room, "!place D4"), "!place D4")
		anna.reads(bot.say(room, "Black D4."), "Black D4.")
		bot.saves()

		if _, err := anna.client.ClaimKeys(ctx, &mautrix.ReqClaimKeys{OneTimeKeys: mautrix.OneTimeKeysRequest{
			bot.user.ID: {bot.user.Device: id.KeyAlgorithmSignedCurve25519}}}); err != nil {
			t.Fatal(err)
		}
		uploads := matrixtest.On("POST", "/keys/upload")
		proxy.Forget()
		bot.clock = bot.clock.Add(time.Minute)
		bot.handle(&mautrix.RespSync{NextBatch: bot.since}) // says nothing of one-time keys
		if n := len(proxy.Requests(uploads)); n != 2 {
			t.Errorf("%d requests for a look and an upload", n)
		}
		there, err := bot.client.UploadKeys(ctx, &mautrix.ReqUploadKeys{})
		if n := there.OneTimeKeyCounts.SignedCurve25519; err != nil || n != 50 {
			t.Errorf("the server has %d one-time keys: %v", n, err)
		}
		bot.clock = bot.clock.Add(time.Minute)
		bot.handle(&mautrix.RespSync{NextBatch: bot.since})
		if n := len(proxy.Requests(uploads)); n != 4 { // mine, and one look
			t.Errorf("%d requests: keys are uploaded that the server has", n)
		}
	})
}

// The key comes after the message, and after more than any patience.
func TestLateKey(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		evt := anna.say(room, "!place D4")
		resp := bot.asks(evt, 1)
		late := resp.ToDevice.Events
		resp.ToDevice.Events = nil
		bot.handle(resp)
		no := bot.cannotRead(evt)
		if no.Room != room || no.Session == "" {
			t.Fatalf("no key of what? %+v", no)
		}
		bot.clock = bot.clock.Add(7 * 24 * time.Hour)
		bot.sync()
		bot.cannotRead(evt)

		bot.handle(&mautrix.RespSync{NextBatch: bot.since, ToDevice: mautrix.SyncEventsList{Events: late}})
		if len(bot.keys) != 1 || bot.keys[0] != no.Session {
			t.Fatalf("OnKey tells of %v, not once of %s", bot.keys, no.Session)
		}
		bot.reads(evt, "!place D4")
		bot.reads(evt, "!place D4") // the same event may be read again
	})
}

// withoutKey is a message whose key the bot has not got, and where the bot's
// requests go.
func withoutKey(t *testing.T, s *matrixtest.Server) (proxy *matrixtest.Proxy, anna, bot *peer, evt id.EventID) {
	t.Helper()
	proxy = s.Proxy(t)
	anna, bot = newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
	evt = anna.say(anna.makes(bot), "!place D4")
	resp := bot.asks(evt, 1)
	resp.ToDevice.Events = nil
	bot.handle(resp)
	bot.cannotRead(evt)
	return proxy, anna, bot, evt
}

func TestAsksForAKeyOnce(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy, anna, bot, evt := withoutKey(t, s)
		asking := matrixtest.On("PUT", "/sendToDevice/m.room_key_request")
		if killed := proxy.Once(asking, func(x *matrixtest.Exchange) {
			var n int
			if err := bot.DB.QueryRow(ctx, "SELECT COUNT(*) FROM matrix_key_asked").Scan(&n); err != nil || n != 0 {
				t.Errorf("who is killed while asking never asks again: %d, %v", n, err)
			}
			x.Pass()
		}); bot.AskForKey(ctx, bot.await(evt)) != nil || killed.Made() != 1 {
			t.Fatal("not asked")
		}
		for range 3 {
			if err := bot.AskForKey(ctx, bot.await(evt)); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(proxy.Requests(asking)); n != 1 {
			t.Fatalf("asked %d times, not once", n)
		}
		// Anna's machine gives it, for the bot's device was meant to have it.
		anna.awaits("the request", func() bool {
			bot.sync()
			_, err := bot.Decrypt(ctx, bot.events[evt])
			return err == nil
		})
		bot.reads(evt, "!place D4")
	})
}

// A key may come before the server has answered that it was asked for.
func TestKeyBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy, anna, bot, evt := withoutKey(t, s)
		sealed, uses := bot.await(evt), bot.Uses()
		come, asked := make(chan struct{}), make(chan error, 1)
		proxy.Once(matrixtest.On("PUT", "/sendToDevice/m.room_key_request"), matrixtest.HoldsAnswer(come))
		go func() { asked <- bot.AskForKey(ctx, sealed) }()
		anna.awaits("the key", func() bool { bot.sync(); return bot.Uses() > uses })
		close(come)
		if err := <-asked; err != nil {
			t.Fatal(err)
		}
		if _, err := bot.Decrypt(ctx, sealed); err != nil {
			t.Errorf("the key that came is not taken: %v", err)
		}
	})
}

func TestForwardedKeyThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, mallory := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot")), newPeer(t, s, s.URL, s.Register(t, "Mallory"))
		room := anna.makes(bot, mallory)
		evt := anna.say(room, "!resign")
		resp := bot.asks(evt, 1)
		resp.ToDevice.Events = nil
		bot.handle(resp)
		no := bot.cannotRead(evt)

		// Mallory has the key as a member, and gives it on under Anna's name.
		mallory.reads(evt, "!resign")
		group, err := mallory.store().GetGroupSession(ctx, room, no.Session)
		if err != nil || group == nil {
			t.Fatal("Mallory lacks the key: ", err)
		}
		key, err := group.Internal.Export(0)
		if err != nil {
			t.Fatal(err)
		}
		mallory.gives(bot, event.ToDeviceForwardedRoomKey, &event.ForwardedRoomKeyEventContent{
			RoomKeyEventContent: event.RoomKeyEventContent{Algorithm: id.AlgorithmMegolmV1, RoomID: room, SessionID: no.Session, SessionKey: string(key)},
			SenderKey:           group.SenderKey, SenderClaimedKey: group.SigningKey, ForwardingKeyChain: []string{},
		})
		bot.awaits("Mallory's message", func() bool { return bot.Uses() > 0 })
		bot.cannotRead(evt)
	})
}

// gives sends a to-device message to another's device.
func (p *peer) gives(to *peer, t event.Type, content any) {
	p.t.Helper()
	if _, err := p.olm().FetchKeys(ctx, []id.UserID{to.user.ID}, true); err != nil {
		p.t.Fatal(err)
	}
	device, err := p.store().GetDevice(ctx, to.user.ID, to.user.Device)
	if err != nil || device == nil {
		p.t.Fatal("no device: ", err)
	}
	able, err := p.claim(ctx, devices(device), false)
	if err != nil || len(able) != 1 {
		p.t.Fatal("no session: ", err)
	}
	if _, err := p.send(ctx, able, t, &event.Content{Parsed: content}); err != nil {
		p.t.Fatal(err)
	}
}

func devices(d ...*id.Device) []*id.Device { return d }

func unreadable(t *testing.T, p *peer, evt *event.Event, want error) {
	t.Helper()
	_, err := p.Decrypt(ctx, evt)
	if !errors.As(err, new(ErrUnreadable)) || !errors.Is(err, want) {
		t.Fatalf("%v, want: unreadable for good, %v", err, want)
	}
}

func TestReplayIsRefused(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		sealed := anna.encrypt(room, text("!place D4"))
		bot.reads(anna.sendSealed(room, sealed), "!place D4")
		unreadable(t, bot, bot.await(anna.sendSealed(room, sealed)), ErrReplayed)
	})
}

func TestWrongRoomIsRefused(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		other := anna.makes(bot)
		sealed := anna.encrypt(room, text("!place D4"))
		bot.reads(anna.sendSealed(room, sealed), "!place D4")
		// In the other room there is no such session; a server that moves it finds
		// that the message itself says where it belongs.
		bot.cannotRead(anna.sendSealed(other, sealed))
		if _, err := bot.db.Exec(ctx, "UPDATE crypto_megolm_inbound_session SET room_id=$1 WHERE session_id=$2", other, sealed.SessionID); err != nil {
			t.Fatal(err)
		}
		if _, err := bot.db.Exec(ctx, "DELETE FROM crypto_message_index"); err != nil {
			t.Fatal(err)
		}
		unreadable(t, bot, bot.await(anna.sendSealed(other, sealed)), ErrWrongRoom)
	})
}

func TestDamagedAndForeignAreRefused(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		said := anna.say(room, "!place D4")
		bot.handle(bot.asks(said, 1)) // with its key
		evt := *bot.await(said)
		sealed := *parsed(t, &evt)
		change := func(f func(*event.EncryptedEventContent)) *event.Event {
			c, e := sealed, evt
			c.MegolmCiphertext = bytes.Clone(c.MegolmCiphertext)
			f(&c)
			e.Content = event.Content{Parsed: &c}
			return &e
		}
		for name, evt := range map[string]*event.Event{
			"edited":    change(func(c *event.EncryptedEventContent) { c.MegolmCiphertext[60] ^= 1 }),
			"cut":       change(func(c *event.EncryptedEventContent) { c.MegolmCiphertext = c.MegolmCiphertext[:70] }),
			"olm":       change(func(c *event.EncryptedEventContent) { c.Algorithm = id.AlgorithmOlmV1 }),
			"no cipher": change(func(c *event.EncryptedEventContent) { c.Algorithm = "none" }),
		} {
			if _, err := bot.Decrypt(ctx, evt); !errors.As(err, new(ErrUnreadable)) {
				t.Errorf("%s: %v, want: unreadable", name, err)
			}
		}
		stolen := evt
		stolen.Sender = "@bert:halfpoint.test"
		unreadable(t, bot, &stolen, ErrNotTheirs)
		bot.reads(evt.ID, "!place D4")
	})
}

func parsed(t *testing.T, evt *event.Event) *event.EncryptedEventContent {
	t.Helper()
	if evt.Content.Parsed == nil {
		if err := evt.Content.ParseRaw(event.EventEncrypted); err != nil {
			t.Fatal(err)
		}
	}
	return evt.Content.AsEncrypted()
}

func BenchmarkEncrypt(b *testing.B) {
	_, bot, room := pair(b, matrixtest.Shared(b))
	bot.encrypt(room, text("Black D4."))
	for b.Loop() {
		bot.encrypt(room, text("Black D4."))
	}
}

func BenchmarkDecrypt(b *testing.B) {
	anna, bot, room := pair(b, matrixtest.Shared(b))
	evt := anna.say(room, "!place D4")
	bot.reads(evt, "!place D4")
	for b.Loop() {
		if _, err := bot.Decrypt(ctx, bot.events[evt]); err != nil {
			b.Fatal(err)
		}
	}
}
