package matrix

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
)

// What the servers in front of a homeserver answer in its place, while it is started
// anew for example, is no refusal: nothing is lost by it, and no room set aside.
func TestServersInFront(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		away := func(m matrixtest.Match, status int) (happened func()) {
			o := p.Once(m, matrixtest.Fails(status, ""))
			return func() { t.Helper(); o.Await(t, 1) }
		}
		messages := matrixtest.On("PUT", "/send/m.room.message/")

		anna := &guest{Player: c.server.Player(t, "Anna"), c: c}
		happened := away(matrixtest.Joining, http.StatusNotFound)
		anna.at = anna.Makes(matrixtest.Room{Name: "Go club", Invite: []id.UserID{c.user.ID}})
		happened()
		c.await("the bot to come", func() bool { return c.a.room(anna.at).joined })

		for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout} {
			happened = away(messages, status)
			before := c.says(anna, "no game")
			anna.asks("", "!games") // which is answered
			happened()
			c.await(fmt.Sprint("the answer after ", status), func() bool { return c.says(anna, "no game") > before })
		}

		g := c.begins("two-button 5x5")
		c.settled()
		for k, status := range []int{http.StatusForbidden, http.StatusNotFound} {
			happened = away(messages, status)
			g.turns(g.root, 1, k, []string{"C3", "D3"}[k])
			happened()
			c.settled() // the next message is the next board
		}
		board := g.shows("move 2:")
		happened = away(matrixtest.On("GET", "/event/"), http.StatusNotFound)
		g.black.Reacts(g.black.at, board.ID, "⏭️")
		happened()
		g.shows("move 3: Black passes")
	})
}

// Once a gap is filled it is closed, also if the program ends before anything else
// is written down: nothing is looked for further back and asked once more.
func TestGapIsClosed(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p, w := c.through(), c.watch()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		long := anna.asks("", "!games")
		var seen id.EventID
		for range 5 {
			seen = anna.Says(anna.at, "a nice game")
		}
		last := anna.asks("", "!games")
		if _, err := c.cfg.DB.Exec(t.Context(), "DELETE FROM matrix_event WHERE event = $1", long); err != nil { // as is done after a month
			t.Fatal(err)
		}
		dev := c.a.device()
		now, err := dev.Client.Messages(t.Context(), anna.at, "", "", mautrix.DirectionBackward, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		p.Always(matrixtest.Backfilling, func(x *matrixtest.Exchange) { // few at a time
			q := x.R.URL.Query()
			q.Set("limit", "3")
			x.R.URL.RawQuery = q.Encode()
			x.Pass()
		})
		n, err := c.a.queue.newest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		missing := &row{n: n + 1, part: gapFirst, room: anna.at, at: time.Now(), evt: newGap(anna.at, now.Start, seen)}
		if _, err := c.a.queue.insert(t.Context(), missing); err != nil {
			t.Fatal(err)
		}
		if err := c.a.fill(t.Context(), dev, missing); err != nil {
			t.Fatal(err)
		}
		c.a.wake(anna.at) // as after a restart
		c.await("all to be dealt with", func() bool {
			r, err := c.a.queue.next(t.Context(), anna.at)
			return err == nil && r == nil
		})
		if got, want := w.in(anna.at), []id.EventID{long, last}; !slices.Equal(got, want) {
			t.Errorf("asked about %v, want %v", got, want)
		}
	})
}

// A room that moves may not be written to from that moment on: a board that comes
// just then is shown in the new room, as soon as the bot is there, and not set aside.
func TestBoardWhileTheRoomMoves(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		c.settled()
		anna, until := g.black, make(chan struct{})
		board := p.Once(matrixtest.On("PUT", "/send/m.room.message/"), matrixtest.Holds(until))
		anna.SaysIn(anna.at, g.root, "!place C3")
		board.Await(t, 1)
		follows := p.Once(matrixtest.Joining, matrixtest.Holds(until))
		to := anna.moves()
		anna.Sets(anna.at, event.StatePowerLevels, "", &event.PowerLevelsEventContent{Users: map[id.UserID]int{anna.ID: 100}, EventsDefault: 50})
		follows.Await(t, 1)
		close(until)
		anna.at = to
		anna.reads("Game 1, move 1: Black C3")
	})
}

// moves has somebody's room move to another, into which the bot is asked.
func (g *guest) moves() id.RoomID {
	g.c.Helper()
	to := g.Makes(matrixtest.Room{Name: "New club", Succeeds: g.at, Invite: []id.UserID{g.c.user.ID}})
	g.Moves(g.at, to)
	return to
}

// How a game stands is said once, also if it is not known whether it was said, and the
// homeserver has forgotten: while the bot runs, and after a restart.
func TestRootIsEditedOnce(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		for _, restarts := range []bool{false, true} {
			c := lively(t, s)
			p := c.through()
			c.start()
			g := c.begins("two-button 5x5")
			c.settled()
			lost := make(chan struct{})
			lose := sync.OnceFunc(func() { close(lost) })
			o := p.Always(matrixtest.On("PUT", "/send/m.room.message/"), func(x *matrixtest.Exchange) {
				body, err := io.ReadAll(x.R.Body)
				if err != nil {
					x.Cut()
				}
				x.R.Body = io.NopCloser(bytes.NewReader(body))
				select {
				case <-lost:
				default:
					if bytes.Contains(body, []byte("m.new_content")) {
						x.Request.Path += ".forgotten"
						_, _ = x.Forward()
						lose()
						x.Cut()
					}
				}
				x.Pass()
			})
			g.turns(g.root, 1, 0, "C3")
			<-lost
			if restarts {
				c.kill()
				c.start()
			}
			c.settled()
			o.Stop()
			caughtUp(g.black.Player, g.black.at)
			c.once(g.black, g.black.at)
		}
	})
}

// That a game goes on in a new room is said once, also if it is not known whether
// it was said, and the homeserver has forgotten.
func TestGoesOnOnce(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		c.settled()
		anna := g.black
		to := anna.moves()
		anna.Invites(to, g.white.ID)
		g.white.AwaitInvite(to)
		g.white.Joins(to)
		c.await("the bot to follow", func() bool { at := c.a.current(anna.at); return at.id == to && at.people == 3 })
		anna.at = to
		lost := p.Once(matrixtest.On("PUT", "/send/m.room.message/"), loses(true))
		anna.Says(to, "!place C3")
		lost.Await(t, 1)
		anna.reads("Game 1, move 1: Black C3")
		c.settled()
		n := 0
		for _, e := range anna.View(to).Events { // it may have been edited since
			if body, _ := e.Content["body"].(string); e.Sender == c.user.ID && strings.Contains(body, "goes on here") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("it goes on %d times\n%s", n, anna.Sees(to))
		}
		c.once(anna, to)
	})
}
