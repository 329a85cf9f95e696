//go:build goolm

package device

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// owned makes an account whose owner has set up its cross-signing, and returns the
// owner's recovery key.
func owned(t *testing.T, server *matrixtest.Server) (matrixtest.User, secret.Text) {
	t.Helper()
	owner := account(t, server, server.URL, server.Register(t, "Bot"))
	owner.Token, owner.Password, owner.User = secret.New(owner.user.Token), secret.Text{}, ""
	d := owner.starts()
	key := d.Recovery
	d.made = "" // the owner's device is no bot
	owner.stops(d)
	return owner.user, key
}

// Cross-signing keys that somebody else has made for the account stay, whatever the
// password allows. The bot runs unsigned until it gets their recovery key.
func TestOwnersKeysAreKept(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		user, recovery := owned(t, server)
		key := master(t, server, user.ID)
		s := account(t, server, server.URL, user)
		s.openDB()
		s.finds("is not in matrix.recovery_key: the bot will run unsigned")
		for range 2 {
			d := s.starts()
			unsigned(t, d)
			if !d.Recovery.IsZero() {
				t.Error("a recovery key was made")
			}
			s.finds("is not in matrix.recovery_key: the bot will run unsigned")
			if want := "the bot runs unsigned"; !strings.Contains(s.log.String(), want) {
				t.Errorf("the log does not say %q", want)
			}
			s.stops(d)
		}
		s.RecoveryKey = recovery
		d := s.starts()
		signed(t, d)
		s.stops(d)
		if now := master(t, server, user.ID); now != key {
			t.Error("another master key than before")
		}
	})
}

// A homeserver that does not answer whether the account is managed in the browser is asked
// again: it is not taken for one where keys cannot be replaced.
func TestManagedOrNot(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		user, _ := owned(t, server)
		proxy := server.Proxy(t)
		accounts := proxy.Accounts(t, user)
		accounts.Passwords = true
		s := account(t, server, proxy.URL, user)
		away := proxy.Times(1000, matrixtest.On("GET", "/auth_metadata$"), matrixtest.Fails(503, "M_UNKNOWN"))
		s.openDB()
		if _, err := Check(ctx, s.Config, nil); err == nil {
			t.Error("the check knows who manages the account")
		}
		s.fails("matrix: ask " + proxy.URL + " how to log in")
		away.Stop()
		d := s.starts()
		unsigned(t, d)
		if !strings.Contains(s.log.String(), accounts.Page()) {
			t.Error("the log does not show where to approve new keys")
		}
		s.stops(d)
	})
}

// Where the account is managed in the browser, the bot starts unsigned, logs where its
// owner approves new keys, again after ten minutes and then more and more seldom, and is
// signed soon after the approval, whenever it comes.
func TestApprovedWhileItRuns(t *testing.T) {
	for name, after := range map[string]time.Duration{"at once": 3 * time.Second, "the next day": 26 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				user, _ := owned(t, server)
				key := master(t, server, user.ID)
				proxy := server.Proxy(t)
				accounts := proxy.Accounts(t, user)
				accounts.Passwords = true
				s := account(t, server, proxy.URL, user)
				s.openDB()
				s.finds("managed in the browser", "log an address where you approve new keys")
				backup := func() (secret any) {
					t.Helper()
					if err := server.Client(t, server.URL, user).GetAccountData(ctx, "m.megolm_backup.v1", &secret); err != nil {
						t.Fatal(err)
					}
					return secret
				}
				owners := backup()
				d := s.starts()
				unsigned(t, d)
				shown := func() int { return strings.Count(s.log.String(), "address=\""+accounts.Page()+"\"") }
				if shown() != 1 {
					t.Fatalf("the log shows the address %d times:\n%s", shown(), s.log.String())
				}
				s.finds("the bot will run unsigned and log an address") // its own key is not the account's yet
				begin := time.Now()
				for _, c := range []struct {
					at    time.Duration
					times int
				}{{9 * time.Minute, 1}, {11 * time.Minute, 2}, {35 * time.Minute, 3}, {24 * time.Hour, 8}} {
					if c.at > after {
						break
					}
					time.Sleep(c.at - time.Since(begin))
					if shown() != c.times {
						t.Errorf("after %v the log has shown the address %d times, want %d", c.at, shown(), c.times)
					}
				}
				time.Sleep(after - time.Since(begin))
				if now := master(t, server, user.ID); now != key {
					t.Error("the keys were replaced before the approval")
				}
				if !reflect.DeepEqual(backup(), owners) {
					t.Error("the owner's key backup was replaced before the approval")
				}
				accounts.Reset(accounts.Page())
				time.Sleep(4*time.Minute + time.Second)
				synctest.Wait()
				signed(t, d)
				if !strings.Contains(s.log.String(), "the device is signed now") {
					t.Error("the log does not say so")
				}
				s.finds("there is a recovery key")
				s.stops(d)
				d = s.starts()
				signed(t, d)
				s.stops(d)
				s.loses() // the keys are the bot's, but the server asks before they are replaced
				s.openDB()
				s.finds("there is a recovery key")
				s.RecoveryFile = ""
				s.finds("the bot will run unsigned and log an address")
			})
		})
	}
}

// Stopping does not wait for the owner, nor does a homeserver that fails meanwhile end
// the waiting.
func TestStoppedBeforeApproval(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		user, _ := owned(t, server)
		proxy := server.Proxy(t)
		accounts := proxy.Accounts(t, user)
		accounts.Passwords = true
		s := account(t, server, proxy.URL, user)
		d := s.starts()
		fault := proxy.Always(matrixtest.On("POST", "/keys/"), matrixtest.TooMany(3*time.Minute))
		time.Sleep(time.Hour)
		if n := fault.Made(); n < 10 || n > 25 {
			t.Errorf("%d requests in an hour to a homeserver that asks for three minutes between them", n)
		}
		fault.Stop()
		begin := time.Now()
		s.stops(d)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("stopping took %v", took)
		}
		d = s.starts()
		accounts.Reset(accounts.Page())
		time.Sleep(30 * time.Second)
		synctest.Wait()
		signed(t, d)
		s.stops(d)
	})
}
