package device

import (
	"errors"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// A process that was stopped while it wrote the mark writes it after another process of the same
// database has taken the account. That one writes its own again. Any other mark is of another
// Halfpoint, as after a failover of the database to a copy, with which another process goes on.
func TestMarkOfAnEarlierTerm(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*mark)
		twin   bool
	}{
		"an earlier term":                {func(m *mark) { m.Term-- }, false},
		"the same term":                  {func(m *mark) {}, true},
		"a later term":                   {func(m *mark) { m.Term++ }, true},
		"an earlier term, another place": {func(m *mark) { m.Term, m.Place = m.Term-1, "elsewhere" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
				s := account(t, server, server.URL, server.Register(t, "Bot"))
				s.Term = 2
				d := s.starts()
				late, err := d.readMark(ctx)
				if err != nil {
					t.Fatal(err)
				}
				late.Run = "another"
				test.change(&late)
				if err := d.writeMark(ctx, late); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * beatEvery)
				taken := false
				select {
				case <-d.Taken():
					taken = true
				default:
				}
				now, err := d.readMark(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if taken != test.twin || (now.Run == d.run) == test.twin {
					t.Errorf("taken: %v, the mark is %+v", taken, now)
				}
				s.stops(d)
			})
		})
	}
}

// While another process may have the account nothing is asked of the homeserver.
func TestAsksNothingWithoutTheAccount(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		p := server.Proxy(t)
		s := account(t, server, p.URL, server.Register(t, "Bot"))
		holds := true
		s.Holds = func() bool { return holds }
		d := s.starts()
		kill(d)
		holds = false
		p.Forget()
		if _, err := d.Client.JoinedRooms(ctx); !errors.Is(err, errElsewhere) {
			t.Errorf("the error is %v", err)
		}
		if _, err := Open(ctx, s.Config); !errors.Is(err, errElsewhere) {
			t.Errorf("the error of a start is %v", err)
		}
		if asked := p.Requests(matrixtest.Any); len(asked) > 0 {
			t.Errorf("it asks %v", asked)
		}
	})
}

// A token is renewed with one that is good once. The process makes sure first that the database
// lets it store the next one: if another process has the account, that uses it.
func TestRenewsOnlyWithTheAccount(t *testing.T) {
	matrixtest.Bubble(t, func(t *testing.T, server *matrixtest.Server) {
		b := newBrowser(t, server)
		b.accounts.Forgets = true
		b.Term = 2
		d := b.lets()
		idles(d, 7*time.Minute)
		b.proxy.Forget()
		b.closeDB() // it does not answer
		if _, err := d.Client.JoinedRooms(ctx); err == nil || LoggedOut(err) {
			t.Errorf("the error is %v", err)
		}
		if asked := b.proxy.Requests(matrixtest.Any); len(asked) > 0 {
			t.Fatalf("it asks %v", asked) // and the next start would wait for somebody to let it in
		}
		kill(d)
		first := d.Client.DeviceID
		d = b.starts()
		if b.asks() != 1 || d.Client.DeviceID != first {
			t.Errorf("%d codes, device %s, before %s", b.asks(), d.Client.DeviceID, first)
		}
		b.stops(d)
	})
}
