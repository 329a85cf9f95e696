package device

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"
	_ "modernc.org/sqlite"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

func TestMain(m *testing.M) { matrixtest.Main(m) }

var ctx = context.Background()

// setup is a bot's account and the place of its database.
type setup struct {
	t    *testing.T
	user matrixtest.User
	Config
	path string
	log  journal
	raw  *sql.DB
}

// journal is a log of everything, kept.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func account(t *testing.T, server *matrixtest.Server, url string, user matrixtest.User) *setup {
	s := &setup{t: t, user: user, path: filepath.Join(t.TempDir(), "halfpoint.db")}
	s.Config = Config{RecoveryFile: s.path + ".recovery-key", Homeserver: url, Dial: server.Dial, User: user.ID.String(), Password: secret.New(user.Password),
		Log: slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if !server.Virtual() {
		s.Settle = time.Millisecond // nobody competes for the account
	}
	t.Cleanup(func() { s.closeDB() })
	return s
}

func (s *setup) closeDB() {
	if s.raw != nil {
		s.raw.Close()
		s.raw = nil
	}
}

// openDB opens the database file, as a start of the program does.
func (s *setup) openDB() {
	s.t.Helper()
	s.closeDB()
	raw, err := sql.Open("sqlite", "file:"+s.path+"?_txlock=immediate&_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)")
	if err != nil {
		s.t.Fatal(err)
	}
	s.raw = raw
	if s.DB, err = dbutil.NewWithDB(raw, "sqlite3"); err != nil {
		s.t.Fatal(err)
	}
}

// starts opens the database and the device.
func (s *setup) starts() *Device {
	s.t.Helper()
	s.openDB()
	d, err := Open(ctx, s.Config)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s *setup) stops(d *Device) {
	s.t.Helper()
	if err := d.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.closeDB()
}

// fails opens the device, which must fail with an error that begins so.
func (s *setup) fails(begin string) error {
	s.t.Helper()
	s.openDB()
	d, err := Open(ctx, s.Config)
	if err == nil {
		d.Close()
		s.t.Fatalf("opened, want an error: %s…", begin)
	}
	if !strings.HasPrefix(err.Error(), begin) {
		s.t.Fatalf("error %q, want: %s…", err, begin)
	}
	return err
}

// copies keeps a copy of the database; puts puts one back.
func (s *setup) copies() []byte {
	s.t.Helper()
	if s.raw != nil {
		if _, err := s.raw.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			s.t.Fatal(err)
		}
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return data
}

func (s *setup) puts(data []byte) {
	s.t.Helper()
	s.loses()
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *setup) loses() {
	s.closeDB()
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(s.path + end)
	}
}

// devices are the account's, as somebody else's login sees them; that login is
// left out.
func (s *setup) devices(server *matrixtest.Server) []id.DeviceID {
	s.t.Helper()
	token, own := server.Login(s.t, s.user)
	client := server.Client(s.t, server.URL, matrixtest.User{ID: s.user.ID, Token: token})
	defer client.Logout(ctx) //nolint:errcheck
	resp, err := client.GetDevicesInfo(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	var list []id.DeviceID
	for _, d := range resp.Devices {
		if d.DeviceID != own && d.DeviceID != s.user.Device {
			list = append(list, d.DeviceID)
		}
	}
	return list
}

// master is the account's master key as a stranger sees it.
func master(t *testing.T, server *matrixtest.Server, user id.UserID) id.Ed25519 {
	t.Helper()
	stranger := server.Register(t, "Stranger")
	client := server.Client(t, server.URL, stranger)
	resp, err := client.QueryKeys(ctx, &mautrix.ReqQueryKeys{DeviceKeys: mautrix.DeviceKeysRequest{user: {}}})
	if err != nil {
		t.Fatal(err)
	}
	keys := resp.MasterKeys[user]
	return keys.FirstKey()
}

// signed checks that the device is cross-signed, where there is encryption.
func signed(t *testing.T, d *Device) {
	t.Helper()
	if !e2ee.Available {
		return
	}
	if ok, err := d.Crypto.Signed(ctx); err != nil || !ok {
		t.Fatalf("the device is not signed: %v", err)
	}
}

// finds checks what the check of the configuration finds.
func (s *setup) finds(want ...string) {
	s.t.Helper()
	lines, err := Check(ctx, s.Config, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, w := range want {
		if text := strings.Join(lines, "\n"); !strings.Contains(text, w) {
			s.t.Errorf("the check does not say %q:\n%s", w, text)
		}
	}
}

// unsigned checks that the device is not cross-signed.
func unsigned(t *testing.T, d *Device) {
	t.Helper()
	if ok, err := d.Crypto.Signed(ctx); err != nil || ok {
		t.Fatalf("the device is signed: %v", err)
	}
}

func only(t *testing.T, list []id.DeviceID, want id.DeviceID) {
	t.Helper()
	if !slices.Equal(list, []id.DeviceID{want}) {
		t.Fatalf("devices of the account: %v, want only %s", list, want)
	}
}

// replaces starts the bot, which must make a new device, signed by the account as it
// was, and delete the one before.
func (s *setup) replaces(server *matrixtest.Server, before id.DeviceID, key id.Ed25519) *Device {
	s.t.Helper()
	d := s.starts()
	if !d.New || d.Client.DeviceID == before {
		s.t.Errorf("device %s, new %v; want a new one", d.Client.DeviceID, d.New)
	}
	signed(s.t, d)
	if now := master(s.t, server, s.user.ID); now != key {
		s.t.Error("another master key than before")
	}
	only(s.t, s.devices(server), d.Client.DeviceID)
	return d
}

// stays stops a device, which the next start must take up.
func (s *setup) stays(d *Device) {
	s.t.Helper()
	s.stops(d)
	again := s.starts()
	if again.New || again.Client.DeviceID != d.Client.DeviceID {
		s.t.Errorf("device %s, new %v at the next start; want the same as before, %s", again.Client.DeviceID, again.New, d.Client.DeviceID)
	}
	s.stops(again)
}

func TestFirstAndLaterStarts(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		if !d.New {
			t.Error("the first device should be new")
		}
		first := d.Client.DeviceID
		signed(t, d)
		recovery := d.Recovery
		if recovery.IsZero() == e2ee.Available {
			t.Errorf("recovery key %q", recovery)
		}
		s.stops(d)

		for range 3 {
			d = s.starts()
			if d.New || d.Client.DeviceID != first || d.Recovery != recovery {
				t.Error("a later start should take up the device and the recovery key")
			}
			signed(t, d)
			s.stops(d)
		}
		only(t, s.devices(server), first)
	})
}

func TestLocalpartAndTokenLogin(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		user := server.Register(t, "Bot")
		s := account(t, server, server.URL, user)
		s.User = user.ID.Localpart()
		d := s.starts()
		if d.Client.UserID != user.ID {
			t.Errorf("logged in as %s", d.Client.UserID)
		}
		s.stays(d) // the localpart finds the device of the last time

		// This server takes the first cross-signing keys without the password.
		user = server.Register(t, "Bot")
		s = account(t, server, server.URL, user)
		s.User, s.Password, s.Token = "", secret.Text{}, secret.New(user.Token)
		d = s.starts()
		if d.Client.UserID != user.ID || d.Client.DeviceID != user.Device {
			t.Errorf("logged in as %s %s", d.Client.UserID, d.Client.DeviceID)
		}
		signed(t, d)
		s.stops(d)
		if e2ee.Available { // but not the second
			s = account(t, server, server.URL, user)
			s.User, s.Password = "", secret.Text{}
			token, _ := server.Login(t, user)
			s.Token = secret.New(token)
			d = s.starts()
			unsigned(t, d)
			s.stops(d)
		}
		// and others not even the first
		user = server.Register(t, "Bot")
		proxy := server.Proxy(t)
		proxy.Always(matrixtest.On("POST", "/device_signing/upload"), func(x *matrixtest.Exchange) {
			x.Say(401, "application/json", `{"session":"s","flows":[{"stages":["m.login.password"]}]}`)
		})
		s = account(t, server, proxy.URL, user)
		s.User, s.Password, s.Token = "", secret.Text{}, secret.New(user.Token)
		if e2ee.Available {
			s.fails("matrix.password: needed to sign the bot's device")
		}
	})
}

func TestTokenRevoked(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		first, key := d.Client.DeviceID, master(t, server, s.user.ID)
		if _, err := d.Client.Logout(ctx); err != nil {
			t.Fatal(err)
		}
		_ = d.Close() // cannot write its generation
		s.stops(s.replaces(server, first, key))
	})
}

func TestSoftLogoutKeepsTheDevice(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		proxy := server.Proxy(t)
		s := account(t, server, proxy.URL, server.Register(t, "Bot"))
		d := s.starts()
		first := d.Client.DeviceID
		s.stops(d)
		proxy.Once(matrixtest.On("GET", "/account/whoami"), matrixtest.UnknownToken(true))
		d = s.starts()
		if d.New || d.Client.DeviceID != first {
			t.Errorf("device %s, new %v; want the same as before, %s", d.Client.DeviceID, d.New, first)
		}
		signed(t, d)
		s.stays(d) // the new token was kept
	})
}

func TestDatabaseLost(t *testing.T) {
	for name, config := range map[string]func(*setup, secret.Text){
		"recovery key in the configuration": func(s *setup, key secret.Text) { s.RecoveryKey = key },
		"only the password":                 func(*setup, secret.Text) {},
		"the file of the recovery key":      func(*setup, secret.Text) {},
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s := account(t, server, server.URL, server.Register(t, "Bot"))
				d := s.starts()
				first, key := d.Client.DeviceID, master(t, server, s.user.ID)
				config(s, d.Recovery)
				s.stops(d)
				s.loses()
				file := name == "the file of the recovery key"
				if !file && e2ee.Available {
					if err := os.Remove(s.RecoveryFile); err != nil {
						t.Fatal(err)
					}
				}
				d = s.starts()
				if !d.New || d.Client.DeviceID == first {
					t.Errorf("device %s, new %v; want a new one", d.Client.DeviceID, d.New)
				}
				signed(t, d)
				if e2ee.Available {
					only(t, s.devices(server), d.Client.DeviceID)
					if same := master(t, server, s.user.ID) == key; same != (file || !s.RecoveryKey.IsZero()) {
						t.Errorf("the same master key: %v", same)
					}
					if d.Recovery.IsZero() != !s.RecoveryKey.IsZero() {
						t.Errorf("there is a recovery key of the bot's: %v", !d.Recovery.IsZero())
					}
				}
				s.stays(d)
			})
		})
	}
}

func TestLogOfMautrix(t *testing.T) {
	var j journal
	log := zero(slog.New(slog.NewTextHandler(&j, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log.Warn().Str("req_body", "canary").Int("status_code", 429).Msg("Request failed")
	log.Info().Msg("news")
	log.Trace().Msg("trace")
	text := j.String()
	if strings.Contains(text, "canary") || !strings.Contains(text, `level=WARN msg="mautrix: Request failed" status_code=429`) ||
		!strings.Contains(text, `level=DEBUG msg="mautrix: news"`) || strings.Contains(text, "trace") {
		t.Error(text)
	}
}

// kill ends a device as the end of its process does.
func kill(d *Device) {
	d.stop()
	<-d.done
	d.closeCrypto()
}

// A copy taken while the bot is stopped is not an old one, here or on another machine.
func TestMoveToAnotherMachine(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		first := d.Client.DeviceID
		kill(d)
		s.puts(s.copies())
		d = s.starts()
		if d.New || d.Client.DeviceID != first {
			t.Error("the device should be the same")
		}
		s.stops(d)
	})
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		s.Password = secret.New("canary-of-a-password")
		err := s.fails("matrix.password: rejected by the homeserver for @bot")
		if strings.Contains(err.Error(), s.Password.Reveal()) {
			t.Error("the error repeats the password")
		}
	})
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ home, user, password, want string }{
		{"", "bot", "secret", "matrix.homeserver: missing"},
		{"http://example.org", "bot", "secret", "matrix.homeserver: http://example.org: must begin with https://"},
		{"https://a:canary@example.org", "bot", "secret", "matrix.homeserver: the URL must not contain"},
		{"ftp://example.org", "bot", "secret", "matrix.homeserver: ftp://example.org: must begin with https://"},
		{"exa mple", "bot", "secret", `matrix.homeserver: "exa mple" is neither`},
		{"a/b", "bot", "secret", `matrix.homeserver: "a/b" is neither`},
		{"https://example.org/?x=1", "bot", "secret", "matrix.homeserver: https://example.org/?x=1 is not the URL"},
		{"", "@bot:exa mple", "secret", `matrix.homeserver: "exa mple" is neither`},
		{"http://127.0.0.1:1", "", "secret", "matrix.user: missing"},
	} {
		s := account(t, new(matrixtest.Server), c.home, matrixtest.User{Password: c.password})
		s.User = c.user
		s.fails(c.want)
	}
	for text, want := range map[string]string{
		"https://example.org/": "https://example.org", "http://localhost:8008": "http://localhost:8008",
		"http://[::1]:8008/": "http://[::1]:8008", "https://example.org/matrix/": "https://example.org/matrix",
	} {
		if u, err := parseServer(text); err != nil || u.String() != want {
			t.Errorf("%s: %v %v", text, u, err)
		}
	}
}

func TestNoSecretIsLogged(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		t.Setenv("MAUTRIX_LOG_SENSITIVE_CONTENT", "yes") // read at the start of the program: no effect here, the bodies are never written
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		secrets := []string{s.Password.Reveal(), d.row.token.Reveal(), d.row.pickle.Reveal()}
		if key := d.Recovery.Reveal(); key != "" {
			secrets = append(secrets, key, strings.ReplaceAll(key, " ", ""))
		}
		s.RecoveryKey = d.Recovery
		s.stops(d)
		old := s.copies()
		s.stops(s.starts())
		s.puts(old)
		d = s.starts()
		secrets = append(secrets, d.row.token.Reveal(), d.row.pickle.Reveal())
		if _, err := d.Client.Logout(ctx); err != nil {
			t.Fatal(err)
		}
		errs := []error{d.Close()}
		d = s.starts()
		secrets = append(secrets, d.row.token.Reveal())
		s.stops(d)
		lines, err := Check(ctx, s.Config, nil)
		errs = append(errs, err)
		s.Password = secret.New("canary-of-a-password")
		secrets = append(secrets, s.Password.Reveal())
		s.loses()
		errs = append(errs, s.fails("matrix.password"))

		text := s.log.String() + errors.Join(errs...).Error() + strings.Join(lines, "\n")
		if !strings.Contains(text, "/login") {
			t.Fatal("the log is not at debug level: the test shows nothing")
		}
		for i, secret := range secrets {
			if len(secret) < 8 {
				t.Fatalf("secret %d is too short to be looked for", i)
			}
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("secret %d is written: …%s…", i, text[max(0, at-200):min(len(text), at+60)])
			}
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		lines, err := Check(ctx, s.Config, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(lines, "\n")
		for _, want := range []string{"homeserver " + server.URL + " answers", "logged in as " + s.user.ID.String() + " with the password"} {
			if !strings.Contains(text, want) {
				t.Errorf("does not say %q:\n%s", want, text)
			}
		}
		if e2ee.Available == strings.Contains(text, "encrypted rooms are off") {
			t.Errorf("encryption:\n%s", text)
		}
		if list := s.devices(server); len(list) != 0 {
			t.Errorf("devices left by the check: %v", list)
		}
		d := s.starts()
		only(t, s.devices(server), d.Client.DeviceID)
		lines, err = Check(ctx, s.Config, nil)
		if err != nil || !strings.Contains(strings.Join(lines, "\n"), "with the device of the last time") {
			t.Errorf("%v %q", err, lines)
		}
		only(t, s.devices(server), d.Client.DeviceID)
		s.stops(d)

		s.Config.DB, s.Config.RecoveryFile = nil, ""
		if e2ee.Available {
			s.Config.RecoveryKey = d.Recovery
			if lines, err = Check(ctx, s.Config, nil); err != nil || !strings.Contains(strings.Join(lines, "\n"), "there is a recovery key") {
				t.Errorf("the account's recovery key: %v %q", err, lines)
			}
			other := account(t, server, server.URL, server.Register(t, "Other"))
			o := other.starts()
			s.Config.RecoveryKey = o.Recovery
			other.stops(o)
			if _, err := Check(ctx, s.Config, nil); err == nil || !strings.HasPrefix(err.Error(), "matrix.recovery_key: ") || strings.Contains(err.Error(), o.Recovery.Reveal()) {
				t.Errorf("another account's recovery key: %v", err)
			}
			s.Config.RecoveryKey = secret.Text{}
		}
		proxy := server.Proxy(t)
		proxy.Once(matrixtest.On("POST", "/login$"), matrixtest.TooMany(330*time.Second))
		s.Config.Homeserver = proxy.URL
		if _, err := Check(ctx, s.Config, nil); err == nil || !strings.Contains(err.Error(), "takes no more logins for now, try again in 5m30s") {
			t.Errorf("too many logins: %v", err)
		}
		s.Config.Homeserver = server.URL
		s.Config.Password = secret.New("canary-of-a-password")
		if _, err := Check(ctx, s.Config, nil); err == nil || !strings.HasPrefix(err.Error(), "matrix.password: rejected by the homeserver") {
			t.Errorf("wrong password: %v", err)
		}
		s.Config.Homeserver = "http://127.0.0.1:1"
		if _, err := Check(ctx, s.Config, nil); err == nil || !strings.HasPrefix(err.Error(), "matrix.homeserver: http://127.0.0.1:1 does not answer") {
			t.Errorf("no server: %v", err)
		}
	})
}

// Homeservers allow few logins, so a check leaves its own to the next one and to the bot.
func TestCheckKeepsLogin(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		proxy := server.Proxy(t)
		s := account(t, server, proxy.URL, server.Register(t, "Bot"))
		s.LoginFile = s.path + ".matrix-login"
		checks := func(how string) {
			t.Helper()
			if lines, err := Check(ctx, s.Config, nil); err != nil || !strings.Contains(strings.Join(lines, "\n"), how) {
				t.Fatalf("want %q: %v %q", how, err, lines)
			}
		}
		checks("with the password")
		list := s.devices(server)
		if len(list) != 1 {
			t.Fatalf("devices after the check: %v", list)
		}
		if info, err := os.Stat(s.LoginFile); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the file of the login: %v %v", info, err)
		}
		proxy.Once(matrixtest.On("POST", "/login$"), matrixtest.TooMany(330*time.Second))
		checks("with the login of the last check")
		s.User = "@other:" + s.user.ID.Homeserver() // another account needs a login of its own
		if _, err := Check(ctx, s.Config, nil); err == nil || !strings.Contains(err.Error(), "takes no more logins") {
			t.Errorf("another account: %v", err)
		}
		s.User = s.user.ID.String()
		proxy.Once(matrixtest.On("POST", "/login$"), matrixtest.TooMany(330*time.Second))
		d := s.starts()
		only(t, s.devices(server), d.Client.DeviceID)
		only(t, list, d.Client.DeviceID)
		if _, err := os.Stat(s.LoginFile); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the login can be used twice: %v", err)
		}
		checks("with the device of the last time")
		s.stops(d)
	})
}

// A login of a check that is over, or a file that is damaged, costs another login, no more.
func TestCheckLoginOver(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		s.LoginFile = s.path + ".matrix-login"
		for _, spoil := range []func(storedLogin) string{
			func(l storedLogin) string { return `{"user_id":"` + l.User.String() },
			func(l storedLogin) string {
				return fmt.Sprintf(`{"user_id":%q,"homeserver":%q,"device_id":%q,"access_token":"over"}`, l.User, l.Homeserver, l.Device)
			},
		} {
			s.openDB()
			if _, err := Check(ctx, s.Config, nil); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(s.LoginFile)
			if err != nil {
				t.Fatal(err)
			}
			var l storedLogin
			if err := json.Unmarshal(text, &l); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.LoginFile, []byte(spoil(l)), 0o600); err != nil {
				t.Fatal(err)
			}
			d := s.starts()
			if d.Client.DeviceID == l.Device {
				t.Error("the login that is over was used")
			}
			s.stops(d)
			s.loses()
		}
	})
}
