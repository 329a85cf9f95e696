//go:build goolm

package e2ee

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
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
			{CrossSignConfig{}, ErrPasswordNeeded},
			{CrossSignConfig{Password: "not the password"}, ErrPasswordWrong},
			{CrossSignConfig{RecoveryKey: "EsTc 1234"}, ErrRecoveryKey},
			{CrossSignConfig{RecoveryKey: "EsTc 1234", Password: user.Password}, ErrRecoveryKey},
		} {
			if _, err := second.CrossSign(ctx, c.CrossSignConfig); !errors.Is(err, c.want) {
				t.Errorf("%+v: %v, want %v", c.CrossSignConfig, err, c.want)
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

		// With the password alone there is a new one, and the first device is no
		// longer signed, until it is with the new key.
		other.Token, other.Device = s.Login(t, user)
		third := newPeer(t, s, s.URL, other)
		newKey, err := third.CrossSign(ctx, CrossSignConfig{Password: user.Password})
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
						_, err := bot.CrossSign(ctx, CrossSignConfig{Password: user.Password, Keep: keep})
						order.Stop()
						if err == nil {
							requests = stop - 1
							break
						}
						key, err := bot.CrossSign(ctx, CrossSignConfig{Password: user.Password, RecoveryKey: kept, Keep: keep})
						if errors.Is(err, ErrRecoveryKey) { // of before anything was done with it
							key, err = bot.CrossSign(ctx, CrossSignConfig{Password: user.Password, Keep: keep})
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
