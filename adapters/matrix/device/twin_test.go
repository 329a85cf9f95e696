//go:build goolm

package device

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/internal/secret"
)

// A second Halfpoint with the account of one that runs stops, whatever its database is, and
// has changed nothing: neither the devices of the account, nor its keys, nor its backup.
func TestTwinOfALivingBot(t *testing.T) {
	for name, database := range map[string]func(*setup, *Device) []byte{
		"an empty database":                   func(*setup, *Device) []byte { return nil },
		"a copy":                              func(s *setup, _ *Device) []byte { return s.copies() },
		"a copy, and the bot was used since":  func(s *setup, d *Device) []byte { old := s.copies(); d.Use(); time.Sleep(6 * time.Minute); return old },
		"a copy, and the bot had no recovery": func(s *setup, _ *Device) []byte { s.RecoveryFile = ""; return s.copies() },
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s := account(t, server, server.URL, server.Register(t, "Bot"))
				d := s.starts()
				twin := account(t, server, server.URL, s.user)
				if data := database(s, d); data != nil {
					twin.puts(data)
				}
				key, backup := master(t, server, s.user.ID), version(t, d)
				err := twin.fails("matrix.user: another Halfpoint is running with this account (" + s.user.ID.String() + ", device " + d.Client.DeviceID.String() + ")")
				if !errors.Is(err, ErrTwin) {
					t.Errorf("the error is %v", err)
				}
				only(t, s.devices(server), d.Client.DeviceID)
				if master(t, server, s.user.ID) != key || version(t, d) != backup {
					t.Error("keys were replaced")
				}
				time.Sleep(time.Minute)
				if err := d.holds(ctx); err != nil {
					t.Errorf("the bot is not the account's any more: %v", err)
				}
				s.stays(d)
			})
		})
	}
}

// Two containers can have the same name and the same file. A second Halfpoint in the place of
// one that runs stops as well, unless its database is all that the first one has.
func TestTwinInTheSamePlace(t *testing.T) {
	for name, database := range map[string]func(*setup, *Device) []byte{
		"an empty database": func(*setup, *Device) []byte { return nil },
		"an older copy":     func(s *setup, d *Device) []byte { old := s.copies(); d.Use(); time.Sleep(6 * time.Minute); return old },
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s := account(t, server, server.URL, server.Register(t, "Bot"))
				d := s.starts()
				data := database(s, d)
				there, err := d.readMark(ctx)
				if err != nil {
					t.Fatal(err)
				}
				key, backup := master(t, server, s.user.ID), version(t, d)
				kill(d)
				s.loses()
				if data != nil {
					s.puts(data)
				}
				s.Waiting = func(ctx context.Context) { // the first one lives
					there.Beat++
					if err := d.writeMark(ctx, there); err != nil {
						t.Error(err)
					}
				}
				if err := s.fails("matrix.user: another Halfpoint is running with this account"); !errors.Is(err, ErrTwin) {
					t.Errorf("the error is %v", err)
				}
				only(t, s.devices(server), d.Client.DeviceID)
				if master(t, server, s.user.ID) != key || version(t, d) != backup {
					t.Error("keys were replaced")
				}
			})
		})
	}
}

// A start that is interrupted while it waits leaves no login behind.
func TestWaitInterrupted(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		kill(d)
		ctx, cancel := context.WithCancel(ctx)
		next := account(t, server, server.URL, s.user)
		next.Waiting = func(context.Context) { cancel() }
		next.openDB()
		if _, err := Open(ctx, next.Config); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		only(t, s.devices(server), d.Client.DeviceID)
	})
}

func version(t *testing.T, d *Device) id.KeyBackupVersion {
	t.Helper()
	b, err := d.Client.GetKeyBackupLatestVersion(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return b.Version
}

// Two start in the same second: one at most goes on, and the other has changed nothing.
func TestTwinsAtOnce(t *testing.T) {
	for name, before := range map[string]func(*setup){
		"with a new account":          func(*setup) {},
		"after a bot that ended":      func(s *setup) { s.stops(s.starts()) },
		"after a bot that was killed": func(s *setup) { kill(s.starts()) },
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) { twinsAtOnce(t, server, before) })
		})
	}
}

func twinsAtOnce(t *testing.T, server *matrixtest.Server, before func(*setup)) {
	user := server.Register(t, "Bot")
	before(account(t, server, server.URL, user))
	var twins [2]*setup
	var devices [2]*Device
	var errs [2]error
	var both sync.WaitGroup
	for i := range twins {
		twins[i] = account(t, server, server.URL, user)
		twins[i].openDB()
		both.Go(func() { devices[i], errs[i] = Open(ctx, twins[i].Config) })
	}
	both.Wait()
	i := slices.Index(errs[:], nil)
	if i < 0 {
		t.Fatalf("none goes on: %v", errs)
	}
	if !errors.Is(errs[1-i], ErrTwin) {
		t.Errorf("the other one: %v", errs[1-i])
	}
	winner := devices[i]
	only(t, twins[i].devices(server), winner.Client.DeviceID)
	signed(t, winner)
	if strings.Count(twins[0].log.String()+twins[1].log.String(), "created new cross-signing keys") > 1 {
		t.Error("both made keys for the account")
	}
	twins[i].stays(winner)
}

// On Dendrite, too, a second one sees that the first one lives, and stops.
func TestTwinOnDendrite(t *testing.T) {
	t.Parallel()
	server := matrixtest.Shared(t)
	s := account(t, server, server.URL, server.Register(t, "Bot"))
	d := s.starts()
	signed(t, d)
	twin := account(t, server, server.URL, s.user)
	twin.Waiting = func(ctx context.Context) { // the next sign of life, at once
		d.stop()
		<-d.done
		if err := d.advance(ctx, true); err != nil {
			t.Error(err)
		}
	}
	if err := twin.fails("matrix.user: another Halfpoint is running with this account"); !errors.Is(err, ErrTwin) {
		t.Errorf("the error is %v", err)
	}
	only(t, s.devices(server), d.Client.DeviceID)
	s.stays(d)
}

// A bot that was killed on another machine is taken for dead after a while, and one that
// ended at once. If it lived on all the same, cut off from the homeserver, it finds that it is
// replaced, and leaves the account to the other.
func TestTakesOverFromTheDead(t *testing.T) {
	for name, ends := range map[string]func(*setup, *Device){
		"ended":   func(s *setup, d *Device) { s.stops(d) },
		"killed":  func(_ *setup, d *Device) { kill(d) },
		"cut off": nil,
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				proxy := server.Proxy(t)
				s := account(t, server, proxy.URL, server.Register(t, "Bot"))
				d := s.starts()
				var out *matrixtest.Order
				if ends != nil {
					ends(s, d)
				} else {
					out = proxy.Always(matrixtest.On("", "/account_data/"), matrixtest.Fails(502, "M_UNKNOWN"))
				}
				other := account(t, server, server.URL, s.user)
				other.puts(s.copies())
				began := time.Now()
				next := other.starts()
				if took := time.Since(began); (took > watchFor) != (name != "ended") || took > 2*watchFor {
					t.Errorf("it waited %v", took)
				}
				if next.Client.DeviceID != d.Client.DeviceID {
					t.Errorf("device %s, not %s", next.Client.DeviceID, d.Client.DeviceID)
				}
				if ends == nil {
					now, err := next.readMark(ctx)
					if err != nil {
						t.Fatal(err)
					}
					out.Stop()
					<-d.Taken()
					if err := d.Close(); err != nil {
						t.Error(err)
					}
					if still, err := next.readMark(ctx); err != nil || still.Run != now.Run || still.Beat == 0 {
						t.Errorf("it has written %+v, %v", still, err)
					}
				}
				other.stays(next)
			})
		})
	}
}

// A start that failed after it had claimed the account has ended: the next one, with a
// mended configuration, does not wait for it.
func TestStartAfterAFailedOne(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		d := s.starts()
		recovery := d.Recovery
		s.stops(d)

		other := account(t, server, server.URL, s.user)
		other.RecoveryKey = secret.New("EsTc nonsense")
		other.fails("matrix.recovery_key: ")
		other.loses()
		other.RecoveryKey = recovery
		other.Waiting = func(context.Context) { t.Error("it waits for a bot that has ended") }
		other.stays(other.starts())
	})
}

// So has one that could not log in again, after it had claimed the account by the login of an
// old copy of the database.
func TestStartAfterARejectedPassword(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		s := account(t, server, server.URL, server.Register(t, "Bot"))
		s.stops(s.starts())
		old := s.copies()
		s.stops(s.starts())
		s.puts(old)
		right := s.Password
		s.Password = secret.New("wrong password")
		s.fails("matrix.password: rejected")
		s.Password = right
		s.Waiting = func(context.Context) { t.Error("it waits for a bot that has ended") }
		d := s.starts()
		only(t, s.devices(server), d.Client.DeviceID)
		s.stays(d)
	})
}

// So has a start that ends while it makes its claim: it was stopped, or the homeserver stores
// the claim and breaks off. It leaves no login behind either.
func TestStartAfterAnUnfinishedClaim(t *testing.T) {
	for name, c := range map[string]struct {
		lasts time.Duration
		lost  int // answers to the claim
	}{
		"stopped": {lasts: settleFor / 2},
		"lost":    {lasts: time.Hour, lost: 4},
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				proxy := server.Proxy(t)
				s := account(t, server, proxy.URL, server.Register(t, "Bot"))
				ctx, cancel := context.WithTimeout(ctx, c.lasts)
				defer cancel()
				proxy.Times(c.lost, matrixtest.On("PUT", "/account_data/"), matrixtest.Loses())
				s.openDB()
				if _, err := Open(ctx, s.Config); err == nil {
					t.Fatal("opened")
				} else if (ctx.Err() != nil) != (c.lost == 0) {
					t.Errorf("it failed otherwise: %v", err)
				}
				if left := s.devices(server); len(left) > 0 {
					t.Errorf("devices left: %v", left)
				}
				s.Waiting = func(context.Context) { t.Error("it waits for a bot that has ended") }
				s.stays(s.starts())
			})
		})
	}
}
