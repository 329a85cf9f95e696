package matrix

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// Invitations are accepted in the order in which they came, but those of one
// person no faster than they may.
func TestInvitationsInTheirOrder(t *testing.T) {
	var g inviteLimiter
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	type invitation struct {
		e  id.EventID
		by id.UserID
	}
	var all []invitation
	for n := range 8 {
		all = append(all, invitation{id.EventID(fmt.Sprint("eve ", n)), "@eve:a"})
	}
	for n := range 10 {
		all = append(all, invitation{id.EventID(fmt.Sprint("p ", n)), id.UserID(fmt.Sprint("@p", n, ":a"))})
	}
	var in []id.EventID
	when := map[id.EventID]time.Duration{}
	for start := now; len(in) < len(all); now = now.Add(time.Second) {
		for _, i := range all {
			if slices.Contains(in, i.e) || g.wait(i.e, i.by, now) > 0 {
				continue
			}
			g.tried(i.e)
			in, when[i.e] = append(in, i.e), now.Sub(start)
		}
		if now.Sub(start) > time.Hour {
			t.Fatalf("after an hour: %v", in)
		}
	}
	// Five of Eve's and five others at once, then one each six seconds; Eve's
	// others at half a minute, a minute and one and a half, behind who is before.
	want := map[id.EventID]time.Duration{"eve 4": 0, "p 4": 0, "p 5": 6 * time.Second, "p 9": 30 * time.Second, "eve 5": 36 * time.Second, "eve 6": time.Minute, "eve 7": 90 * time.Second}
	for e, d := range want {
		if when[e] != d {
			t.Errorf("%s is accepted after %v, not %v", e, when[e], d)
		}
	}
	if len(g.asks) != 0 {
		t.Errorf("%d are remembered", len(g.asks))
	}
	// One that has failed is tried again, and waits as if it were new.
	for range joinsEachAtOnce {
		if wait := g.wait("again", "@bob:a", now.Add(time.Hour)); wait > 0 {
			t.Fatal("has to wait", wait)
		}
		g.tried("again")
	}
	if wait := g.wait("again", "@bob:a", now.Add(time.Hour)); wait != joinsEachEvery {
		t.Error("has to wait", wait)
	}
	if len(g.each) != 1 {
		t.Errorf("%d inviters are remembered", len(g.each))
	}
}

// A room that could not be left when everybody else went is left later, and after
// a restart.
func TestLeavesLater(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		c.start()
		first := c.room(matrixtest.Room{Name: "X"}, "Anna")[0]
		second := c.room(matrixtest.Room{Name: "Y"}, "Anna")[0]
		leaving := matrixtest.On("POST", "/leave$")
		o := p.Times(2, func(r *matrixtest.Request) bool { return leaving(r) && r.Token == c.a.device().Client.AccessToken }, matrixtest.TooMany(100*time.Millisecond))
		first.Leaves(first.at)
		o.Await(t, 1)
		time.Sleep(6 * time.Minute)
		o.Await(t, 2)
		time.Sleep(6 * time.Minute)
		c.await("the bot to leave", func() bool { return !c.a.room(first.at).joined })
		o = p.Once(leaving, matrixtest.TooMany(100*time.Millisecond))
		second.Leaves(second.at)
		o.Await(t, 1)
		c.restart()
		c.await("the bot to leave", func() bool { return !c.a.room(second.at).joined })
		rooms, err := c.a.device().Client.JoinedRooms(t.Context())
		if err != nil || len(rooms.JoinedRooms) != 0 {
			t.Error(rooms, err)
		}
	})
}

// A homeserver that cannot do one thing does not stop a room.
func TestOneEventHoldsUpNothing(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, p, g := playing(t, s)
		c.settle()
		o := p.Always(matrixtest.On("GET", "/rooms/[^/]+/event/"), matrixtest.Fails(500, "M_UNKNOWN"))
		hello := g.black.Says(g.black.at, "hello")
		e := g.white.Reacts(g.black.at, hello, "✅") // to what a person has said
		turn := g.black.SaysIn(g.black.at, g.root, "!place C3")
		o.Await(t, 2)
		if state, err := c.a.queue.state(t.Context(), e); err != nil || state != waiting {
			t.Errorf("given up at once: %q, %v", state, err)
		}
		c.a.fails(e, maxFails) // as if it had been tried for some minutes
		g.shows("Black C3")
		c.dealt(g.black.at, turn)
		if state, err := c.a.queue.state(t.Context(), e); err != nil || state != poison || c.a.hasFailed(e) {
			t.Errorf("what became of it: %q, %v", state, err)
		}
		c.a.fails("recent", 1)
		c.a.mu.Lock()
		c.a.failed["old"] = failure{1, time.Now().Add(-failedFor - time.Second)}
		c.a.mu.Unlock()
		c.a.lookAgain(t.Context())
		if c.a.hasFailed("old") || !c.a.hasFailed("recent") {
			t.Error("old failures are not forgotten, or others are")
		}
	})
}

// What fails is not given up while it may be that the homeserver can do nothing,
// or asks for patience, or when more depends on it than one thing that was said.
func TestPatience(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		c.start()
		ask := func(f matrixtest.Fault) error {
			defer p.Always(matrixtest.On("GET", "/whoami$"), f).Stop()
			_, err := c.a.device().Client.Whoami(t.Context())
			return err
		}
		a, began := &Adapter{}, time.Now()
		said, missing := &row{evt: &event.Event{Type: event.EventReaction}}, &row{evt: &event.Event{Type: gap}}
		often := failure{times: maxFails + 1, since: began}
		broken, busy, cut := ask(matrixtest.Fails(502, "")), ask(matrixtest.TooMany(time.Second)), ask(matrixtest.Cuts())
		for n, is := range []struct {
			read bool // the homeserver has told since what is new
			r    *row
			f    failure
			err  error
			want bool
		}{
			{false, said, often, broken, false},
			{true, said, often, broken, true},
			{true, said, often, cut, true},
			{true, said, failure{times: maxFails, since: began}, broken, false},
			{true, said, often, busy, false},
			{true, said, often, errLater{time.Second}, false},
			{true, missing, often, broken, false},
			{true, missing, failure{times: maxFails + 1, since: began.Add(-failFor - time.Second)}, broken, true},
		} {
			if a.read = began.Add(-time.Minute); is.read {
				a.read = began.Add(time.Minute)
			}
			if got := a.hopeless(is.r, is.f, is.err); got != is.want {
				t.Errorf("%d: %v is hopeless: %v", n, is.err, got)
			}
		}
	})
}
