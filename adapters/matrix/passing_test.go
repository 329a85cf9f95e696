package matrix

import (
	"fmt"
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

		anna := c.guest("Anna")
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
		board := g.shows("2. ")
		happened = away(matrixtest.On("GET", "/event/"), http.StatusNotFound)
		g.black.Reacts(g.black.at, board.ID, "⏭️")
		happened()
		g.shows("3. Black passes")
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
		c.exec("DELETE FROM matrix_event WHERE event = $1", long) // as is done after a month
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
		missing := &row{n: n + 1, part: gapFirst, room: anna.at, at: time.Now(), evt: newGap(anna.at, now.Start, seen, sealing{})}
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
		c, p, g := playing(t, s)
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
		anna.reads("1. Black C3")
	})
}

// Where a room has moved its messages offer nothing any more, if the bot may still write
// there; the board itself stays.
func TestMovedRoomOffersNothing(t *testing.T) {
	for _, name := range []string{"thread", "thread whose opening was removed", "direct"} {
		direct, removed := name == "direct", name == "thread whose opening was removed"
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				c.start()
				var anna *guest
				root := id.EventID("")
				if direct {
					anna = c.room(matrixtest.Room{Direct: true}, "Anna")[0]
					anna.asks("", "!new two-button 5x5 opponent:me")
				} else {
					g := c.begins("two-button 5x5")
					anna, root = g.black, g.root
				}
				anna.asks(root, "!place C3")
				board := anna.reads("1. Black C3")
				c.settled()
				if removed {
					anna.Redacts(anna.at, root)
					caughtUp(anna.Player, anna.at)
				}
				old := anna.at
				anna.at = anna.moves()
				anna.reads("1. Black C3")
				c.settled()
				caughtUp(anna.Player, old)
				v := anna.View(old)
				left := v.Message(board.ID)
				if want := strings.Split(board.Text(), "\nYou can: ")[0]; left.Picture == nil || left.Picture.URL != board.Picture.URL || left.Text() != want || !strings.Contains(left.Body, "A B C D E") {
					t.Errorf("the old board says %q, not %q: %+v", left.Text(), want, left.Picture)
				}
				offering := []*matrixtest.Message{left}
				if removed {
					for _, m := range v.From(c.user.ID) {
						if strings.Contains(m.Text(), "goes on here") {
							t.Errorf("the opening is replaced where nobody plays: %q", m.Text())
						}
					}
				} else if !direct {
					offering = append(offering, v.Message(root))
				}
				for _, m := range offering {
					if strings.Contains(m.Body+m.HTML, "You can: ") || len(m.Reactions) > 0 {
						t.Errorf("it offers %q and %v", m.Text(), m.Reactions)
					}
				}
				c.once(anna, old)
			})
		})
	}
}

// Whatever the bot sends, it sends once, also if each answer of the homeserver is lost,
// which then forgets the transaction: boards, answers, edits of the root of a thread, and
// the news that a game goes on in another room; while the bot runs, and after restarts.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"running": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c, p, g := playing(t, s)
				c.settled()
				lost := make(chan string, 100)
				var mu sync.Mutex
				before := map[string]bool{}
				p.Always(matrixtest.On("PUT", "/send/m.room.message/"), func(x *matrixtest.Exchange) {
					mu.Lock()
					again := before[x.Request.Path]
					before[x.Request.Path] = true
					mu.Unlock()
					if again {
						x.Pass()
						return
					}
					lost <- x.Request.Path
					x.Request.Path += ".forgotten"
					_, _ = x.Forward()
					x.Cut()
				})
				says := func(who *guest, thread id.EventID, text, want string) {
					t.Helper()
					e := who.says(thread, text)
					<-lost
					if restarts {
						c.restart()
					}
					g.black.reads(want)
					c.dealt(who.at, e)
				}
				says(g.black, g.root, "!place C3", "1. ")
				says(g.black, g.root, "!place C4", "not your turn")
				says(g.white, g.root, "!place C4", "2. ")
				c.settled()
				old, to := g.black.at, g.black.moves()
				g.black.Invites(to, g.white.ID)
				g.white.AwaitInvite(to)
				g.white.Joins(to)
				c.await("the bot to follow", func() bool { at := c.a.current(old); return at.id == to && at.people == 3 })
				g.black.at = to
				says(g.black, "", "!place D3", "3. ")
				c.settled()
				caughtUp(g.black.Player, to)
				c.once(g.black, old)
				c.once(g.black, to)
				if len(lost) < 4 { // edits, and what follows the first of each turn
					t.Errorf("only %d more answers were lost", len(lost))
				}
			})
		})
	}
}

// moves has somebody's room move to another, into which the bot is asked.
func (g *guest) moves() id.RoomID {
	g.c.Helper()
	to := g.Makes(matrixtest.Room{Name: "New club", Succeeds: g.at, Invite: []id.UserID{g.c.user.ID}})
	g.Moves(g.at, to)
	return to
}
