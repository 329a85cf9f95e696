//go:build goolm

package e2ee

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/backup"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// signs cross-signs the peer's device, opens the backup and returns the recovery key.
func (p *peer) signs() (recoveryKey string) {
	p.t.Helper()
	recoveryKey, err := p.CrossSign(ctx, CrossSignConfig{Password: p.user.Password})
	if err != nil {
		p.t.Fatal(err)
	}
	p.backsUp(recoveryKey)
	return recoveryKey
}

func (p *peer) backsUp(recoveryKeys ...string) {
	p.t.Helper()
	if err := p.Backup(ctx, recoveryKeys...); err != nil {
		p.t.Fatal(err)
	}
}

// unsavedKeys returns how many keys are not marked as backed up.
func (p *peer) unsavedKeys() (n int) {
	p.t.Helper()
	version := id.KeyBackupVersion("")
	if b := p.backup.Load(); b != nil {
		version = b.mark()
	}
	if err := p.db.QueryRow(ctx, "SELECT COUNT(*) FROM crypto_megolm_inbound_session WHERE key_backup_version <> $1", version).Scan(&n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

// saves waits until all keys are in the backup, and returns how many it has.
func (p *peer) saves() int {
	p.t.Helper()
	for late := time.Now().Add(p.patience()); p.backup.Load() == nil || p.unsavedKeys() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			p.t.Fatalf("%d keys are not backed up", p.unsavedKeys())
		}
	}
	b, err := p.client.GetKeyBackupLatestVersion(ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return b.Count
}

// loses closes the machine and goes on as a new device that knows nothing.
func (p *peer) loses(s *matrixtest.Server) {
	p.t.Helper()
	if err := p.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err := Forget(ctx, p.db); err != nil {
		p.t.Fatal(err)
	}
	p.client.AccessToken, p.client.DeviceID = s.Login(p.t, p.user)
	p.pickle = "sealed anew"
	p.open()
}

// With the recovery key alone a new device reads what the lost one could, also what that
// has said itself; and what the backup gave is not uploaded again.
func TestBackupAfterLoss(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		recoveryKey := bot.signs()
		room := anna.makes(bot)
		place := anna.say(room, "!place D4")
		bot.reads(place, "!place D4")
		board := bot.say(room, "Black D4.")
		bot.await(board)
		if n := bot.saves(); n != 2 {
			t.Errorf("the backup has %d keys, not Anna's and the bot's", n)
		}
		// The bot is away; the key of what she says with the same session is in the backup.
		away := anna.say(room, "!place E5")
		bot.await(away)

		bot.loses(s)
		bot.cannotRead(place)
		proxy.Forget()
		bot.backsUp("EsTc 1234", recoveryKey)
		bot.reads(place, "!place D4")
		bot.reads(board, "Black D4.")
		bot.reads(away, "!place E5")
		bot.saves()
		if n := len(proxy.Requests(matrixtest.On("PUT", "/room_keys/keys$"))); n != 0 {
			t.Errorf("%d uploads of keys that came from there", n)
		}
		anna.reads(bot.say(room, "White E5."), "White E5.")
	})
}

// Also a new device knows a message that the server sends once more, as another event.
func TestReplayAfterLoss(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		recoveryKey := bot.signs()
		sealed := anna.encrypt(room, text("!resign confirm:yes"))
		said := anna.sendSealed(room, sealed)
		bot.reads(said, "!resign confirm:yes")
		bot.saves()
		bot.loses(s)
		bot.backsUp(recoveryKey)
		unreadable(t, bot, bot.await(anna.sendSealed(room, sealed)), ErrReplayed)
		bot.reads(said, "!resign confirm:yes")
	})
}

// Keys are uploaded together and once. A crash between the upload and its mark repeats
// the upload, and one before it forgets nothing.
func TestBackupAfterCrash(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		recoveryKey := bot.signs()
		uploads := matrixtest.On("PUT", "/room_keys/keys$")
		for range 3 {
			room := anna.makes(bot)
			bot.reads(anna.say(room, "!place D4"), "!place D4")
		}
		if bot.saves() != 3 {
			t.Error("not all keys are backed up")
		}
		before := len(proxy.Requests(uploads))
		if before > 3 {
			t.Errorf("%d uploads of 3 keys", before)
		}
		restart := func() {
			if err := bot.Close(); err != nil {
				t.Fatal(err)
			}
			bot.open()
		}
		restart()
		bot.backsUp(recoveryKey)
		time.Sleep(2 * bot.backupAfter) // on Dendrite 20 ms of real time: no signal says that there is no upload
		if n := len(proxy.Requests(uploads)); n != before {
			t.Errorf("%d uploads of what is there", n-before)
		}

		room := anna.makes(bot)
		until := make(chan struct{})
		lost := proxy.Once(uploads, matrixtest.HoldsAnswer(until))
		bot.reads(anna.say(room, "!place D4"), "!place D4")
		lost.Await(t, 1)
		restart()
		close(until)
		var unmarked int
		if err := bot.db.QueryRow(ctx, "SELECT COUNT(*) FROM crypto_megolm_inbound_session WHERE key_backup_version = ''").Scan(&unmarked); err != nil || unmarked != 1 {
			t.Error("a key is marked whose upload is not known to have come about")
		}
		bot.backsUp() // it knows the backup's key
		if n := bot.saves(); n != 4 {
			t.Errorf("the backup has %d keys", n)
		}

		restart()
		bot.reads(anna.say(anna.makes(bot), "!place D4"), "!place D4")
		restart()
		bot.backsUp(recoveryKey)
		if n := bot.saves(); n != 5 {
			t.Errorf("the backup has %d keys", n)
		}
	})
}

// The server does not answer for a while: uploads wait, and a message whose key may be in
// the backup is not taken for unreadable.
func TestBackupDoesNotAnswer(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		room := anna.makes(bot)
		out := proxy.Always(matrixtest.On("", "/room_keys/"), matrixtest.Fails(502, "M_UNKNOWN"))
		recoveryKey, err := bot.CrossSign(ctx, CrossSignConfig{Password: bot.user.Password})
		if err != nil {
			t.Fatal(err)
		}
		if err := bot.Backup(ctx, recoveryKey); err == nil || errors.Is(err, ErrNoBackup) {
			t.Fatalf("a backup is opened: %v", err)
		}
		place := anna.say(room, "!place D4")
		bot.reads(place, "!place D4")
		time.Sleep(time.Minute)
		out.Stop()
		if n := bot.saves(); n != 1 {
			t.Errorf("the backup has %d keys", n)
		}

		bot.loses(s)
		out = proxy.Always(matrixtest.On("", "/room_keys/"), matrixtest.Fails(502, "M_UNKNOWN"))
		if err := bot.Backup(ctx, recoveryKey); err == nil {
			t.Fatal("the backup is opened")
		}
		passing := func() {
			t.Helper()
			if _, err := bot.Decrypt(ctx, bot.events[place]); err == nil || errors.As(err, new(ErrNoKey)) || errors.As(err, new(ErrUnreadable)) {
				t.Fatalf("a message that the backup may open: %v", err)
			}
		}
		passing()
		out.Stop()
		bot.saves()
		out = proxy.Always(matrixtest.On("GET", "/room_keys/keys/"), matrixtest.Fails(502, "M_UNKNOWN"))
		for range backupTries - 1 {
			passing()
		}
		bot.cannotRead(place)
		out.Stop()
		bot.clock = bot.clock.Add(time.Minute)
		bot.reads(place, "!place D4")
	})
}

// The homeserver limits requests to the backup: the bot asks again no earlier than it was
// told, whether it opens the backup or uploads a key.
func TestBackupIsLimited(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		recoveryKey, err := bot.CrossSign(ctx, CrossSignConfig{Password: bot.user.Password})
		if err != nil {
			t.Fatal(err)
		}
		const wait = 5 * time.Minute
		backups := matrixtest.On("", "/room_keys/")
		limited := func(what string, begin func()) {
			t.Helper()
			before := len(proxy.Requests(backups))
			full := proxy.Always(backups, matrixtest.TooMany(wait))
			begin()
			time.Sleep(wait - time.Second)
			if n := len(proxy.Requests(backups)) - before; n != 1 {
				t.Errorf("%s: %d requests before the homeserver takes more", what, n)
			}
			full.Stop()
			time.Sleep(5 * time.Second)
			if bot.backup.Load() == nil || bot.unsavedKeys() > 0 {
				t.Errorf("%s: not done when the homeserver takes more", what)
			}
		}
		limited("open", func() {
			if err := bot.Backup(ctx, recoveryKey); err == nil {
				t.Fatal("the backup is opened")
			}
		})
		room := anna.makes(bot)
		limited("upload", func() {
			bot.reads(anna.say(room, "!place D4"), "!place D4")
		})
	})
}

// A homeserver without backups is not asked again and again.
func TestServerWithoutBackups(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		proxy := s.Proxy(t)
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, proxy.URL, s.Register(t, "Bot"))
		backups := matrixtest.On("", "/room_keys/")
		proxy.Always(backups, matrixtest.Fails(404, "M_UNRECOGNIZED"))
		recoveryKey, err := bot.CrossSign(ctx, CrossSignConfig{Password: bot.user.Password})
		if err != nil {
			t.Fatal(err)
		}
		if err := bot.Backup(ctx, recoveryKey); !errors.Is(err, ErrNoBackup) {
			t.Errorf("there is a backup: %v", err)
		}
		room := anna.makes(bot)
		bot.reads(anna.say(room, "!place D4"), "!place D4")
		time.Sleep(24 * time.Hour)
		if n := len(proxy.Requests(backups)); n != 1 {
			t.Errorf("%d requests in a day", n)
		}
	})
}

// Another client has made another backup, or deleted it: the bot's keys go there that are
// read with the recovery key.
func TestAnotherBackup(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		recoveryKey := bot.signs()
		bot.reads(anna.say(room, "!place D4"), "!place D4")
		bot.saves()
		other, err := backup.NewMegolmBackupKey()
		if err != nil {
			t.Fatal(err)
		}
		for n, replace := range []func() error{
			func() error {
				_, err := bot.client.CreateKeyBackupVersion(ctx, &mautrix.ReqRoomKeysVersionCreate[backup.MegolmAuthData]{
					Algorithm: id.KeyBackupAlgorithmMegolmBackupV1, AuthData: backup.MegolmAuthData{PublicKey: id.Ed25519(publicOf(other))}})
				return err
			},
			func() error { return bot.client.DeleteKeyBackupVersion(ctx, bot.backup.Load().version) },
		} {
			if err := replace(); err != nil {
				t.Fatal(err)
			}
			before := bot.backup.Load().version
			room := anna.makes(bot)
			bot.reads(anna.say(room, "!place D4"), "!place D4")
			bot.awaits("another backup", func() bool { return bot.backup.Load().version != before })
			if got := bot.saves(); got != n+2 {
				t.Errorf("the backup has %d keys, not %d", got, n+2)
			}
		}
		bot.loses(s)
		bot.backsUp(recoveryKey)
		for e := range bot.events {
			if bot.events[e].Type == event.EventEncrypted {
				bot.reads(e, "!place D4")
			}
		}
	})
}

// Another client has made another backup, and the bot does not have the recovery key that
// would open it: the log says so.
func TestAnotherBackupWithoutRecoveryKey(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot := newPeer(t, s, s.URL, s.Register(t, "Anna")), newPeer(t, s, s.URL, s.Register(t, "Bot"))
		bot.signs()
		bot.saves()
		if err := bot.Close(); err != nil {
			t.Fatal(err)
		}
		bot.open()
		var log bytes.Buffer
		bot.Log = slog.New(slog.NewTextHandler(&log, nil))
		bot.backsUp() // it knows the backup's key
		other, err := backup.NewMegolmBackupKey()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bot.client.CreateKeyBackupVersion(ctx, &mautrix.ReqRoomKeysVersionCreate[backup.MegolmAuthData]{
			Algorithm: id.KeyBackupAlgorithmMegolmBackupV1, AuthData: backup.MegolmAuthData{PublicKey: id.Ed25519(publicOf(other))}}); err != nil {
			t.Fatal(err)
		}
		bot.reads(anna.say(anna.makes(bot), "!place D4"), "!place D4")
		time.Sleep(time.Minute)
		if err := bot.Close(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "keys are not backed up any more") {
			t.Errorf("the log does not say so:\n%s", log.String())
		}
	})
}

// Without the recovery key there is no backup for a device that does not know it.
func TestBackupNeedsTheRecoveryKey(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		bot := newPeer(t, s, s.URL, s.Register(t, "Bot"))
		bot.signs()
		bot.loses(s)
		if err := bot.Backup(ctx, "EsTc 1234"); !errors.Is(err, ErrNoBackup) {
			t.Errorf("the backup is opened: %v", err)
		}
	})
}

// Anybody who can write into the backup, as the server can, may write nonsense.
func TestNonsenseInTheBackup(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		recoveryKey := bot.signs()
		place := anna.say(room, "!place D4")
		bot.reads(place, "!place D4")
		bot.saves()
		mine := bot.backup.Load()
		session := id.SessionID(bot.events[place].Content.Raw["session_id"].(string))
		sealed := func(data any) string {
			s, err := backup.EncryptSessionData(mine.key, data)
			if err != nil {
				t.Fatal(err)
			}
			out, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
		for n, data := range []string{
			`{}`, `{"ephemeral": null, "ciphertext": "", "mac": ""}`,
			`{"ephemeral": "o43y/Mck1DExWdHr0+qbPJbjzO97+RH1mw6phLhYQj0", "ciphertext": "AAAA", "mac": "AAAA"}`,
			sealed(nil), sealed(map[string]any{"algorithm": "m.megolm.v1.aes-sha2", "session_key": ""}),
			sealed(map[string]any{"algorithm": "m.none"}),
		} {
			bot.loses(s)
			if _, err := bot.client.PutKeysInBackup(ctx, mine.version, &mautrix.ReqKeyBackup{Rooms: map[id.RoomID]mautrix.ReqRoomKeyBackup{
				room: {Sessions: map[id.SessionID]mautrix.ReqKeyBackupData{session: {IsVerified: true, FirstMessageIndex: -n - 1, SessionData: json.RawMessage(data)}}},
			}}); err != nil {
				t.Fatal(err)
			}
			bot.backsUp(recoveryKey)
			bot.cannotRead(place)
		}
	})
}

// puts writes an entry for a session into the bot's backup, as the homeserver can.
func (p *peer) puts(in *keyBackup, verified bool, room id.RoomID, session id.SessionID, entry any) {
	p.t.Helper()
	sealed, err := backup.EncryptSessionDataWithPubkey(in.key.PublicKey(), entry)
	if err != nil {
		p.t.Fatal(err)
	}
	data, err := json.Marshal(sealed)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.client.PutKeysInBackup(ctx, in.version, &mautrix.ReqKeyBackup{Rooms: map[id.RoomID]mautrix.ReqRoomKeyBackup{
		room: {Sessions: map[id.SessionID]mautrix.ReqKeyBackupData{session: {IsVerified: verified, SessionData: data}}},
	}}); err != nil {
		p.t.Fatal(err)
	}
}

// entry returns what a backup holds of the session of an event, without its MAC.
func (p *peer) entry(evt *event.Event) (entry backedUp) {
	p.t.Helper()
	_, sealed, err := sealedOf(evt)
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := p.store().GetGroupSession(ctx, evt.RoomID, sealed.SessionID)
	if err != nil || s == nil {
		p.t.Fatalf("no session: %v", err)
	}
	key, err := s.Internal.Export(s.Internal.FirstKnownIndex())
	if err != nil {
		p.t.Fatal(err)
	}
	entry.Algorithm, entry.ForwardingKeyChain, entry.SenderKey, entry.SessionKey = id.AlgorithmMegolmV1, []string{}, s.SenderKey, string(key)
	entry.SenderClaimedKeys.Ed25519, entry.Source = s.SigningKey, s.SourceUser
	return entry
}

// A homeserver has the public key of the backup. It puts a session of its own there, as
// Anna's, and sends what it has written with that in her name. Nobody believes it, nor an
// entry that the bot has made for another room.
func TestForgedKeyInTheBackup(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		eve := newPeer(t, s, s.URL, s.Register(t, "Eve"))
		anna.brings(room, eve)
		eve.awaits("her joining", func() bool { return eve.state.IsInRoom(ctx, room, bot.user.ID) })
		recoveryKey := bot.signs()
		place := anna.say(room, "!place D4")
		bot.reads(place, "!place D4")
		bot.saves()
		in := bot.backup.Load()
		forged := *eve.await(eve.say(room, "!resign confirm:yes"))
		forged.Sender = anna.user.ID
		session := parsed(t, &forged).SessionID
		theirs, hers := eve.entry(&forged), bot.entry(bot.events[place])
		other, err := backup.NewMegolmBackupKey()
		if err != nil {
			t.Fatal(err)
		}
		with := func(f func(*backedUp)) backedUp {
			e := theirs
			e.SenderKey, e.SenderClaimedKeys, e.Source = hers.SenderKey, hers.SenderClaimedKeys, anna.user.ID
			f(&e)
			return e
		}
		mac := func(b *keyBackup, room id.RoomID, e backedUp) []byte {
			sum, err := b.mac(room, session, e)
			if err != nil {
				t.Fatal(err)
			}
			return sum
		}
		// In a version of its own each, for homeservers keep the first entry of a kind.
		fresh := func() *keyBackup {
			made, err := bot.client.CreateKeyBackupVersion(ctx, &mautrix.ReqRoomKeysVersionCreate[backup.MegolmAuthData]{
				Algorithm: id.KeyBackupAlgorithmMegolmBackupV1, AuthData: backup.MegolmAuthData{PublicKey: id.Ed25519(publicOf(in.key))}})
			if err != nil {
				t.Fatal(err)
			}
			return &keyBackup{made.Version, in.key}
		}
		for name, entry := range map[string]backedUp{
			"without a MAC":                    with(func(*backedUp) {}),
			"without a MAC, by another client": with(func(e *backedUp) { e.Source = "" }),
			"by another key":                   with(func(e *backedUp) { e.MAC = mac(&keyBackup{key: other}, room, *e) }),
			"for another room":                 with(func(e *backedUp) { e.MAC = mac(in, "!other:halfpoint.test", *e) }),
			"of another sender":                with(func(e *backedUp) { e.MAC = mac(in, room, theirs) }),
			"of nobody":                        with(func(e *backedUp) { e.Source = ""; e.MAC = mac(in, room, *e) }),
		} {
			bot.loses(s)
			bot.puts(fresh(), true, room, session, entry)
			bot.backsUp(recoveryKey)
			if plain, err := bot.Decrypt(ctx, &forged); !errors.As(err, new(ErrNoKey)) {
				t.Errorf("%s: %v, %v", name, plain, err)
			}
		}
		// With the MAC it is believed: the test would notice if nothing were.
		bot.loses(s)
		bot.puts(fresh(), true, room, session, with(func(e *backedUp) { e.MAC = mac(in, room, *e) }))
		bot.backsUp(recoveryKey)
		if _, err := bot.Decrypt(ctx, &forged); err != nil {
			t.Errorf("with the right MAC: %v", err)
		}
	})
}

// What an earlier version has put into the backup has no MAC. The bot stores its own keys
// there once more, so that a new device can read them, and drops those that it took from
// there unproven.
func TestBackupOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		anna, bot, room := pair(t, s)
		recoveryKey := bot.signs()
		place := anna.say(room, "!place D4")
		bot.reads(place, "!place D4")
		bot.saves()
		evt := bot.events[place]
		session, entry, before := parsed(t, evt).SessionID, bot.entry(evt), *bot.backup.Load()
		made, err := bot.client.CreateKeyBackupVersion(ctx, &mautrix.ReqRoomKeysVersionCreate[backup.MegolmAuthData]{
			Algorithm: id.KeyBackupAlgorithmMegolmBackupV1, AuthData: backup.MegolmAuthData{PublicKey: id.Ed25519(publicOf(before.key))}})
		if err != nil {
			t.Fatal(err)
		}
		if err := bot.Close(); err != nil {
			t.Fatal(err)
		}
		earlier := func(source id.KeySource) {
			t.Helper()
			if _, err := bot.db.Exec(ctx, "UPDATE crypto_megolm_inbound_session SET key_backup_version=$1, key_source=$2", made.Version, source); err != nil {
				t.Fatal(err)
			}
		}
		bot.puts(&keyBackup{made.Version, before.key}, false, room, session, entry)
		earlier(id.KeySourceDirect)
		bot.open()
		bot.backsUp(recoveryKey)
		bot.saves()
		bot.loses(s)
		bot.backsUp(recoveryKey)
		bot.reads(place, "!place D4")

		if err := bot.Close(); err != nil {
			t.Fatal(err)
		}
		earlier(id.KeySourceBackup)
		bot.open()
		bot.cannotRead(place)
	})
}
