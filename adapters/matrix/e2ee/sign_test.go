//go:build goolm

package e2ee

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"maunium.net/go/mautrix/id"
)

func isSigned(t *testing.T, p *peer, want bool) {
	t.Helper()
	if got, err := p.Signed(ctx); err != nil || got != want {
		t.Fatalf("signed %v, want %v: %v", got, want, err)
	}
}

func TestCrossSigning(t *testing.T) {
	t.Parallel()
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		user := s.Register(t, "Bot")
		first := newPeer(t, s, s.URL, user)
		isSigned(t, first, false)
		kept := ""
		key, err := first.CrossSign(ctx, CrossSignConfig{Password: user.Password, Keep: func(k string) error { kept = k; return nil }})
		if err != nil || key == "" || key != kept {
			t.Fatalf("recovery key %q, kept %q: %v", key, kept, err)
		}
		isSigned(t, first, true)
		before, err := first.identity(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := first.CrossSign(ctx, CrossSignConfig{}); err != nil || again != "" {
			t.Fatalf("a signed device needs nothing: %q %v", again, err)
		}

		other := user
		other.Token, other.Device = s.Login(t, user)
		second := newPeer(t, s, s.URL, other)
		isSigned(t, second, false)
		for _, c := range []struct {
			CrossSignConfig
			want error
		}{
			{CrossSignConfig{}, ErrIdentity},
			{CrossSignConfig{Password: user.Password}, ErrIdentity},
			{CrossSignConfig{Replace: always}, ErrPasswordNeeded},
			{CrossSignConfig{Password: "not the password", Replace: always}, ErrPasswordWrong},
			{CrossSignConfig{RecoveryKey: "EsTc 1234"}, ErrRecoveryKey},
			{CrossSignConfig{RecoveryKey: "EsTc 1234", Password: user.Password}, ErrRecoveryKey},
		} {
			if _, err := second.CrossSign(ctx, c.CrossSignConfig); !errors.Is(err, c.want) {
				t.Errorf("password %q, recovery key %q: %v, want %v", c.Password, c.RecoveryKey, err, c.want)
			}
			isSigned(t, second, false)
		}
		// After all that the recovery key still opens the secret storage.
		if made, err := second.CrossSign(ctx, CrossSignConfig{RecoveryKey: key}); err != nil || made != "" {
			t.Fatalf("recovery key made %q: %v", made, err)
		}
		isSigned(t, second, true)
		isSigned(t, first, true)
		after, err := second.identity(ctx)
		if err != nil || after.master != before.master {
			t.Fatalf("another identity: %v", err)
		}

		// With the password alone there is a new one if that is allowed, and the first device is no
		// longer signed, until it is with the new key.
		other.Token, other.Device = s.Login(t, user)
		third := newPeer(t, s, s.URL, other)
		newKey, err := third.CrossSign(ctx, CrossSignConfig{Password: user.Password, Replace: always})
		if err != nil || newKey == "" || newKey == key {
			t.Fatalf("recovery key %q: %v", newKey, err)
		}
		isSigned(t, third, true)
		isSigned(t, first, false)
		if _, err := first.CrossSign(ctx, CrossSignConfig{RecoveryKey: key}); !errors.Is(err, ErrRecoveryKey) {
			t.Errorf("the old recovery key: %v", err)
		}
		if _, err := first.CrossSign(ctx, CrossSignConfig{RecoveryKey: newKey}); err != nil {
			t.Fatal(err)
		}
		isSigned(t, first, true)
	})
}

// always has the account's keys replaced.
func always(id.Ed25519) bool { return true }

// The process ends at any of the requests with which the account is set up, or
// after the server has done what was asked; the next start goes on from there.
func TestCrossSigningAfterCrash(t *testing.T) {
	dead := matrixtest.Fails(500, "M_UNKNOWN") // nothing comes through any more
	faults := map[string]matrixtest.Fault{"after": matrixtest.Loses()}
	resets := []bool{true} // whether the account was set up before
	if rounds(0, 1) == 1 {
		faults["before"], resets = dead, []bool{false, true}
	}
	for name, last := range faults {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
				for _, reset := range resets {
					requests := 0
					for stop := 1; ; stop++ {
						user := s.Register(t, "Bot")
						if reset {
							if _, err := newPeer(t, s, s.URL, user).CrossSign(ctx, CrossSignConfig{Password: user.Password}); err != nil {
								t.Fatal(err)
							}
							user.Token, user.Device = s.Login(t, user)
						}
						proxy := s.Proxy(t)
						bot := newPeer(t, s, proxy.URL, user)
						proxy.Forget()
						var n atomic.Int64
						order := proxy.Always(func(*matrixtest.Request) bool { return int(n.Add(1)) >= stop }, func(x *matrixtest.Exchange) {
							if int(n.Load()) == stop {
								last(x)
							} else {
								dead(x)
							}
						})
						kept := ""
						keep := func(k string) error { kept = k; return nil }
						_, err := bot.CrossSign(ctx, CrossSignConfig{Password: user.Password, Replace: always, Keep: keep})
						order.Stop()
						if err == nil {
							requests = stop - 1
							break
						}
						key, err := bot.CrossSign(ctx, CrossSignConfig{Password: user.Password, RecoveryKey: kept, Replace: always, Keep: keep})
						if errors.Is(err, ErrRecoveryKey) { // of before anything was done with it
							key, err = bot.CrossSign(ctx, CrossSignConfig{Password: user.Password, Replace: always, Keep: keep})
						}
						if err != nil {
							t.Fatalf("ended at request %d: %v", stop, err)
						}
						if key != "" && key != kept {
							t.Fatalf("ended at request %d: recovery key not kept", stop)
						}
						isSigned(t, bot, true)
						user.Token, user.Device = s.Login(t, user)
						other := newPeer(t, s, s.URL, user)
						if _, err := other.CrossSign(ctx, CrossSignConfig{RecoveryKey: kept}); err != nil {
							t.Fatalf("ended at request %d: the kept key does not open: %v", stop, err)
						}
					}
					if requests < 8 {
						t.Errorf("only %d requests to end at", requests)
					}
				}
			})
		})
	}
}

// Where accounts are managed in the browser, the first keys are uploaded without a word;
// others are, unchanged, once their owner has approved that, and until then everything
// stays as it was.
func TestCrossSigningApproved(t *testing.T) {
	for name, set := range map[string]func(*matrixtest.Accounts){
		"as Synapse does":        func(*matrixtest.Accounts) {},
		"stable name alone":      func(a *matrixtest.Accounts) { a.Stage = []string{"m.oauth"} },
		"older name alone":       func(a *matrixtest.Accounts) { a.Stage = []string{"org.matrix.cross_signing_reset"} },
		"sessions are looked at": func(a *matrixtest.Accounts) { a.Session = true },
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
				user := s.Register(t, "Bot")
				proxy := s.Proxy(t)
				accounts := proxy.Accounts(t, user)
				set(accounts)
				first := newPeer(t, s, proxy.URL, user)
				key, err := first.CrossSign(ctx, CrossSignConfig{})
				if err != nil {
					t.Fatalf("the first keys: %v", err)
				}
				isSigned(t, first, true)

				user.Token, user.Device = s.Login(t, user)
				second := newPeer(t, s, proxy.URL, user)
				second.now = time.Now
				kept := ""
				c := CrossSignConfig{Password: user.Password, Replace: always, Keep: func(k string) error { kept = k; return nil }}
				waits := func() string {
					t.Helper()
					var approval ErrApproval
					if made, err := second.CrossSign(ctx, c); !errors.As(err, &approval) || made != "" {
						t.Fatalf("made %q: %v", made, err)
					}
					isSigned(t, first, true)
					master, err := first.Master(ctx)
					if err == nil {
						err = Opens(ctx, second.Client, key, master)
					}
					if err != nil {
						t.Fatalf("the owner's recovery key, before the approval: %v", err)
					}
					return approval.URL
				}
				page := waits()
				if now := waits(); now != page {
					t.Errorf("the same upload is asked for at %s, then %s", page, now)
				}
				accounts.Reset(page)
				time.Sleep(10 * time.Minute) // it is over
				page = waits()
				accounts.Reset(page)
				uploads := matrixtest.On("POST", "/device_signing/upload")
				proxy.Once(uploads, matrixtest.Fails(503, ""))
				if _, err := second.CrossSign(ctx, c); err == nil || errors.As(err, new(ErrApproval)) {
					t.Errorf("a server that fails: %v", err)
				}
				if made, err := second.CrossSign(ctx, c); err != nil || made != kept || made == key {
					t.Fatalf("after the approval: %q, kept %q: %v", made, kept, err)
				}
				isSigned(t, second, true)
				isSigned(t, first, false)
				same := map[string]bool{}
				for _, r := range proxy.Requests(uploads)[1:] {
					if r.Status == 503 {
						continue
					}
					var keys struct {
						Master any `json:"master_key"`
					}
					if bytes.Contains(r.Body, []byte(user.Password)) || json.Unmarshal(r.Body, &keys) != nil {
						t.Errorf("uploaded %s", r.Body)
					}
					same[fmt.Sprint(keys.Master)] = true
				}
				if len(same) != 1 {
					t.Errorf("%d different uploads", len(same))
				}
				user.Token, user.Device = s.Login(t, user)
				third := newPeer(t, s, proxy.URL, user)
				if _, err := third.CrossSign(ctx, CrossSignConfig{RecoveryKey: key}); !errors.Is(err, ErrRecoveryKey) {
					t.Errorf("the older recovery key: %v", err)
				}
				if _, err := third.CrossSign(ctx, CrossSignConfig{RecoveryKey: kept}); err != nil {
					t.Fatal(err)
				}
				isSigned(t, third, true)
			})
		})
	}
}

// A start while the approval is waited for goes on with the keys of before.
func TestCrossSigningApprovedAfterRestart(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, s *matrixtest.Server) {
		user := s.Register(t, "Bot")
		proxy := s.Proxy(t)
		accounts := proxy.Accounts(t, user)
		if _, err := newPeer(t, s, proxy.URL, user).CrossSign(ctx, CrossSignConfig{}); err != nil {
			t.Fatal(err)
		}
		user.Token, user.Device = s.Login(t, user)
		bot := newPeer(t, s, proxy.URL, user)
		keys := 0
		kept := ""
		keep := func(k string) error { kept, keys = k, keys+1; return nil }
		var approval ErrApproval
		for range 3 {
			if _, err := bot.CrossSign(ctx, CrossSignConfig{RecoveryKey: kept, Replace: always, Keep: keep}); !errors.As(err, &approval) {
				t.Fatal(err)
			}
			if err := bot.Close(); err != nil {
				t.Fatal(err)
			}
			bot.open()
		}
		accounts.Reset(approval.URL)
		if made, err := bot.CrossSign(ctx, CrossSignConfig{RecoveryKey: kept, Replace: always, Keep: keep}); err != nil || made != kept || keys != 1 {
			t.Fatalf("made %q, kept %q, %d times: %v", made, kept, keys, err)
		}
		isSigned(t, bot, true)
	})
}
