package matrix

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A witness stands between the adapter and a bot, writes down what is asked, and
// does what the test wants before it is.
type witness struct {
	bot.Service
	before func(bot.Request) error // may be nil, panic and wait

	mu    sync.Mutex
	asked []bot.Request
	said  []string // "away", "back" and the ids of requests in their order
	rooms []string // in which the bot is, as it was told last
}

// watch puts a witness between a club's adapter and its bot. It stays over
// restarts.
func (c *club) watch() *witness {
	w := &witness{}
	c.between = func(service bot.Service) bot.Service {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.Service = service
		return w
	}
	return w
}

func (w *witness) Ask(ctx context.Context, r bot.Request) (bot.Answer, error) {
	w.mu.Lock()
	before := w.before
	w.mu.Unlock()
	if before != nil {
		if err := before(r); err != nil {
			return bot.Answer{}, err
		}
	}
	w.mu.Lock()
	w.asked, w.said = append(w.asked, r), append(w.said, r.ID)
	w.mu.Unlock()
	return w.Service.Ask(ctx, r)
}

func (w *witness) Report(ctx context.Context, r bot.Report) error {
	w.mu.Lock()
	switch r := r.(type) {
	case bot.Away:
		w.said = append(w.said, "away")
	case bot.Back:
		w.said = append(w.said, "back")
	case bot.Encrypted:
		w.said = append(w.said, "encrypted "+r.Where.Channel)
	case bot.Servers:
		w.rooms = slices.Clone(r.In)
	}
	w.mu.Unlock()
	return w.Service.Report(ctx, r)
}

func (w *witness) sets(before func(bot.Request) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = before
}

// in returns the events of a room about which the bot was asked, in their order.
func (w *witness) in(at id.RoomID) (events []id.EventID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.asked {
		if r.Where.Channel == at.String() {
			events = append(events, id.EventID(strings.TrimPrefix(r.ID, Name+":")))
		}
	}
	return events
}

// heard returns what was said to the service since, and how much it is.
func (w *witness) heard(since int) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said[since:])
}

// through has the bot talk to the homeserver through a proxy.
func (c *club) through() *matrixtest.Proxy {
	p := c.server.Proxy(c.T)
	c.cfg.Homeserver = p.URL
	return p
}

// faults has a fault made for the next request for what is new, and waits for it.
// Something is said, so that the request before has an answer.
func (g *guest) faults(p *matrixtest.Proxy, f matrixtest.Fault) *matrixtest.Order {
	g.c.Helper()
	o := p.Once(matrixtest.Syncing, f)
	g.Says(g.at, "a nice game")
	o.Await(g.c, 1)
	return o
}

// A board is a room with a game in it.
type board struct {
	*club
	black, white *guest
	root         id.EventID
}

// begins begins a game of two people, Black and White.
func (c *club) begins(rules string) *board {
	c.Helper()
	people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
	t := &board{club: c, black: people[0], white: people[1]}
	t.black.asks("", "!new "+rules)
	t.root = t.black.reads("opens game").ID
	t.white.asks(t.root, "!join")
	t.black.reads(" to play, for example ")
	return t
}

// shows waits until somebody sees a board that says something, and gives it.
func (t *board) shows(what string) *matrixtest.Message {
	t.Helper()
	return t.black.AwaitMessage(t.black.at, t.user.ID, what, func(m *matrixtest.Message) bool {
		return m.Picture != nil && strings.Contains(m.Text(), what)
	})
}

// once: nothing that the bot has said in a room is there twice.
func (c *club) once(g *guest, at id.RoomID) {
	c.Helper()
	said := map[string]string{}
	for _, e := range g.View(at).Events {
		mark, _ := e.Content[marker].(string)
		if e.Sender != c.user.ID || mark == "" {
			continue
		}
		if body, _ := e.Content["body"].(string); said[mark] != "" {
			c.Errorf("said twice: %q and %q", said[mark], body)
		} else {
			said[mark] = "“" + body + "”"
		}
	}
}

// says counts the messages of the bot that say something.
func (c *club) says(g *guest, what string) (n int) {
	for _, m := range g.View(g.at).From(c.user.ID) {
		if strings.Contains(m.Text(), what) {
			n++
		}
	}
	return n
}

// Whatever /sync answers, the bot goes on reading.
func TestFailedSyncs(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		body := func(s string) matrixtest.Fault {
			return func(x *matrixtest.Exchange) { x.Say(http.StatusOK, "application/json", s) }
		}
		faults := map[string]matrixtest.Fault{
			"500":                 matrixtest.Fails(500, "M_UNKNOWN"),
			"502 in HTML":         matrixtest.Fails(502, ""),
			"404 in HTML":         matrixtest.Fails(404, ""),
			"429":                 matrixtest.TooMany(100 * time.Millisecond),
			"cut":                 matrixtest.Cuts(),
			"half an answer":      matrixtest.Halves(),
			"answered and cut":    matrixtest.Loses(),
			"another page":        func(x *matrixtest.Exchange) { x.Say(http.StatusOK, "text/html", "<html>Log in to the hotel</html>") },
			"garbage":             body(`{"next_batch": "x`),
			"nothing":             body(`{}`),
			"null":                body(`null`),
			"a list":              body(`[]`),
			"the unknown place":   matrixtest.UnknownPosition(),
			"a token not liked":   matrixtest.Fails(400, "M_INVALID_PARAM"),
			"rooms that are none": matrixtest.Changes(func(b []byte) []byte { return []byte(strings.Replace(string(b), `{`, `{"presence":null,`, 1)) }),
		}
		for _, name := range slices.Sorted(maps.Keys(faults)) {
			before := len(w.in(anna.at))
			o := anna.faults(p, faults[name])
			e := anna.Says(anna.at, "!games")
			c.await("an answer after "+name, func() bool { return len(w.in(anna.at)) > before })
			if got := w.in(anna.at)[before:]; !slices.Equal(got, []id.EventID{e}) {
				t.Errorf("%s: asked %v and not %v", name, got, e)
			}
			o.Stop()
		}
		// And it did not hammer.
		if n := len(p.Requests(matrixtest.Syncing)); n > 20*len(faults) {
			t.Errorf("%d requests for %d faults", n, len(faults))
		}
		c.once(anna, anna.at)
	})
}

// A homeserver that cannot be reached for long is away; it is back before
// anything else is asked.
func TestAway(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		g := c.begins("two-button 5x5")
		from := len(w.heard(0))
		cut := p.Always(matrixtest.Any, matrixtest.Fails(503, ""))
		c.await("an outage", func() bool { return slices.Contains(w.heard(from), "away") })
		e := g.black.SaysIn(g.black.at, g.root, "!place C3")
		cut.Stop()
		g.shows("Black C3")
		heard := slices.DeleteFunc(w.heard(from), func(s string) bool { return s == "away" })
		if want := []string{"back", Name + ":" + e.String()}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
		// What came before an outage and could not be dealt with waits for its end,
		// too, also over a restart.
		w.sets(func(bot.Request) error { return errors.New("the disk is full") })
		e = g.white.SaysIn(g.white.at, g.root, "!place C4")
		c.await("the move on disk", func() bool { state, _ := c.a.queue.state(t.Context(), e); return state == waiting })
		from = len(w.heard(0))
		cut = p.Always(matrixtest.Any, matrixtest.Fails(503, ""))
		c.await("another outage", func() bool { return slices.Contains(w.heard(from), "away") })
		synctest.Wait() // it may have been asked just before
		w.sets(nil)
		time.Sleep(1500 * time.Millisecond) // it would be tried again by now
		if heard := w.heard(from); slices.Contains(heard, Name+":"+e.String()) {
			t.Errorf("asked while it is away: %q", heard)
		}
		w.sets(func(bot.Request) error { return errors.New("the disk is full") })
		cut.Stop()
		c.halt()
		w.sets(nil)
		from = len(w.heard(0))
		p.Once(matrixtest.Syncing, matrixtest.Fails(503, ""))
		c.start()
		g.shows("White C4")
		if heard = w.heard(from); heard[0] != "back" && heard[0] != "away" || slices.Index(heard, "back") > slices.Index(heard, Name+":"+e.String()) {
			t.Errorf("heard %q", heard)
		}
		c.once(g.black, g.black.at)
	})
}

// An event in progress when an outage began is not handled before its end.
func TestAwayMeanwhile(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		g := c.begins("two-button 5x5")
		c.settled()
		fetched := make(chan struct{})
		target := p.Once(matrixtest.On("GET", "/event/"), matrixtest.HoldsAnswer(fetched))
		e := g.black.Reacts(g.black.at, g.shows(" to play, for example ").ID, "⏭️")
		target.Await(t, 1)
		from := len(w.heard(0))
		cut := p.Always(matrixtest.Syncing, matrixtest.Fails(503, ""))
		c.await("an outage", func() bool { return slices.Contains(w.heard(from), "away") })
		close(fetched)
		synctest.Wait()
		if heard := w.heard(from); slices.Contains(heard, Name+":"+e.String()) {
			t.Errorf("asked while it is away: %q", heard)
		}
		cut.Stop()
		g.shows("1. Black passes")
	})
}

// The bot handles messages sent while it was away, in their order.
func TestGaps(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		rooms, runs := 3, 2
		if tier.Soaking() {
			rooms, runs = 20, 50
		}
		c := newClub(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		var people []*guest
		for n := range rooms {
			people = append(people, c.room(matrixtest.Room{Name: fmt.Sprint("Club ", n)}, "Anna")[0])
		}
		for run := range runs {
			c.halt()
			var checks []func()
			for n, g := range people {
				want := w.in(g.at)
				for k := range 4 + 9*n + 14*run {
					if k%3 == 2 {
						g.Says(g.at, "a nice game")
					} else {
						want = append(want, g.Says(g.at, "!games"))
					}
				}
				checks = append(checks, func() {
					c.Helper()
					want = append(want, g.Says(g.at, "!games"))
					c.await(fmt.Sprintf("all of room %d, %d of %d", n, len(w.in(g.at)), len(want)), func() bool { return len(w.in(g.at)) >= len(want) })
					c.dealt(g.at, want[len(want)-1])
					if got := w.in(g.at); !slices.Equal(got, want) {
						t.Errorf("run %d, room %d: asked about\n%v, want\n%v", run, n, got, want)
					}
					c.once(g, g.at)
				})
			}
			short := p.Times(1, matrixtest.Syncing, matrixtest.Shortens(1+run))
			if run%2 == 0 { // and the first pages fail
				p.Times(2, matrixtest.Backfilling, matrixtest.Fails(500, "M_UNKNOWN"))
			}
			c.start()
			for _, check := range checks {
				check()
			}
			short.Stop()
		}
	})
}

// Nothing is done again when the bot has forgotten how far it has read, or the
// homeserver has.
func TestTokenLost(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		var want []id.EventID
		runs := 2
		if tier.Soaking() {
			runs = 100
		}
		for run := range runs {
			for range 3 {
				want = append(want, anna.asks("", "!games"))
			}
			for range 40 * (run % 2) { // more than an answer holds
				anna.Says(anna.at, "a nice game")
			}
			// The homeserver does not know the place any more.
			anna.faults(p, matrixtest.UnknownPosition())
			want = append(want, anna.asks("", "!games"))
			// The bot has lost it, while something was said.
			c.halt()
			e := anna.Says(anna.at, "!games")
			want = append(want, e)
			c.open()
			c.exec("DELETE FROM matrix_place")
			if err := c.closed(); err != nil {
				t.Fatal(err)
			}
			c.start()
			c.dealt(anna.at, e)
			want = append(want, anna.asks("", "!games"))
		}
		if got := w.in(anna.at); !slices.Equal(got, want) {
			t.Errorf("asked about\n%v, want\n%v", got, want)
		}
		c.once(anna, anna.at)
	})
}

// Messages from before the bot joined are not for it; all later ones are.
func TestBeforeItCame(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		anna := c.guest("Anna")
		anna.at = anna.Makes(matrixtest.Room{Name: "Go club", Public: true})
		for range 5 {
			anna.Says(anna.at, "!games")
		}
		// So much is said while it comes that the first answer does not hold it all.
		short := p.Always(matrixtest.Syncing, matrixtest.Shortens(2))
		release := make(chan struct{})
		come := p.Once(matrixtest.Joining, matrixtest.HoldsAnswer(release))
		anna.Invites(anna.at, c.user.ID)
		come.Await(t, 1)
		close(release)
		anna.Await(anna.at, "the bot to come", func(v matrixtest.View) bool { return v.Members[c.user.ID] == "join" })
		var want []id.EventID
		for range 6 {
			want = append(want, anna.Says(anna.at, "!games"))
			anna.Says(anna.at, "a nice game")
		}
		want = append(want, anna.asks("", "!games"))
		if got := w.in(anna.at); !slices.Equal(got, want) {
			t.Errorf("asked about\n%v, want\n%v", got, want)
		}
		// It is sent away and comes again.
		if _, err := anna.Client.KickUser(t.Context(), anna.at, &mautrix.ReqKickUser{UserID: c.user.ID}); err != nil {
			t.Fatal(err)
		}
		c.await("it to go", func() bool { return !c.a.room(anna.at).joined })
		anna.Says(anna.at, "!games")
		anna.Invites(anna.at, c.user.ID)
		c.await("it to come again", func() bool { return c.a.room(anna.at).joined })
		want = append(want, anna.asks("", "!games"))
		if got := w.in(anna.at); !slices.Equal(got, want) {
			t.Errorf("asked about\n%v, want\n%v", got, want)
		}
		short.Stop()
	})
}

// Taking a command back and changing it: before it was dealt with, and after.
func TestTakenBack(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		w := c.watch()
		c.start()
		g := c.begins("two-button 5x5")
		at, held := g.black.at, make(chan struct{})
		w.sets(func(r bot.Request) error {
			if r.Command == "games" {
				<-held
			}
			return nil
		})
		g.black.Says(at, "!games") // holds up what comes after
		gone := g.black.SaysIn(at, g.root, "!place A1")
		g.black.Redacts(at, gone)
		stays := g.black.SaysIn(at, g.root, "!place C3")
		// Somebody who may not cannot take back what others say.
		c.await("the move on disk", func() bool { state, _ := c.a.queue.state(t.Context(), stays); return state == waiting })
		if err := c.a.queue.takeBack(t.Context(), []redaction{{stays, g.white.ID, false}}); err != nil {
			t.Fatal(err)
		}
		c.await("the redaction on disk", func() bool { state, _ := c.a.queue.state(t.Context(), gone); return state == ignored })
		close(held)
		g.shows("Black C3")
		g.black.Redacts(at, stays) // too late
		g.white.asks(g.root, "!place C4")
		g.shows("White C4")
		asked := w.in(at)
		if slices.Contains(asked, gone) {
			t.Error("what was taken back was done")
		}

		// A refused command is asked anew; an accepted one stays done.
		wrong := g.black.asks(g.root, "!place C4")
		g.black.reads("C4")
		if e := g.black.Edits(at, wrong, "!place D4"); !slices.Contains(w.in(at), e) {
			c.dealt(at, e)
		}
		g.shows("Black D4")
		if m := g.black.View(at).Message(g.shows("Black D4").ID); m.Thread != g.root {
			t.Error("it is shown elsewhere than in the thread")
		}
		stay := "Editing a message does not change"
		n := c.says(g.black, stay)
		c.dealt(at, g.black.Edits(at, wrong, "!place E5")) // was refused, then changed to what was done
		g.black.Await(at, "that it stays", func(matrixtest.View) bool { return c.says(g.black, stay) == n+1 })
		c.dealt(at, g.white.Edits(at, wrong, "!place E5")) // not White's to change
		done := g.white.asks(g.root, "!place D3")
		g.shows("White D3")
		c.dealt(at, g.white.Edits(at, done, "!place E1"))
		g.black.Await(at, "that it stays", func(matrixtest.View) bool { return c.says(g.black, stay) == n+2 })
		c.dealt(at, g.white.Edits(at, done, "never mind"))
		if c.says(g.black, stay) != n+2 || c.says(g.black, "Black E5") > 0 || c.says(g.black, "White E1") > 0 {
			t.Error(g.black.Sees(at))
		}
		c.once(g.black, at)
	})
}

// An event that panics, one that fails and one that takes long: the loop goes
// on, and other rooms do not notice.
func TestPoison(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		w := c.watch()
		c.start()
		bad := c.room(matrixtest.Room{Name: "Cellar"}, "Eve")[0]
		good := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		tried := map[string]int{}
		release := make(chan struct{})
		w.sets(func(r bot.Request) error {
			if r.Where.Channel != bad.at.String() {
				return nil
			}
			w.mu.Lock()
			tried[r.Command]++
			n := tried[r.Command]
			w.mu.Unlock()
			switch r.Command {
			case "rules":
				panic("cannot be")
			case "games":
				if n <= 4 {
					return errors.New("the disk is full")
				}
			case "help":
				<-release
			}
			return nil
		})
		poisoned := bad.Says(bad.at, "!rules")
		fails := bad.Says(bad.at, "!games")
		slow := bad.Says(bad.at, "!help")
		c.dealt(bad.at, fails)
		good.asks("", "!games")
		good.reads("no game")
		// After a restart the poison is still left alone, and still there.
		close(release)
		c.dealt(bad.at, slow)
		c.restart()
		c.dealt(bad.at, bad.Says(bad.at, "!settings"))
		w.mu.Lock()
		defer w.mu.Unlock()
		if tried["rules"] != 3 || tried["games"] != 5 || tried["help"] != 1 {
			t.Errorf("tried %v", tried)
		}
		if left, err := LeftAlone(t.Context(), c.cfg.DB); err != nil || len(left) != 1 || left[0] != (Abandoned{bad.at, poisoned}) {
			t.Errorf("left alone: %v, %v", left, err)
		}
		rows, err := c.a.queue.rows(t.Context(), "state = $1", poison)
		if err != nil || len(rows) != 1 || rows[0].event != poisoned || len(rows[0].evt.Content.Raw) == 0 {
			t.Errorf("left alone: %+v, %v", rows, err)
		}
		for _, keep := range []struct{ days, rows int }{{29, 1}, {31, 0}} {
			if err := c.a.queue.forget(t.Context(), time.Now().AddDate(0, 0, keep.days)); err != nil {
				t.Fatal(err)
			}
			if rows, err := c.a.queue.rows(t.Context(), "state = $1", poison); err != nil || len(rows) != keep.rows {
				t.Errorf("after %d days %d are left alone, %v", keep.days, len(rows), err)
			}
		}
		if s := c.log.String(); !strings.Contains(s, "gave up") || !strings.Contains(s, "cannot be") {
			t.Errorf("the log does not say so:\n%s", s)
		}
	})
}

// An event that ends the program each time it is handled is given up in the
// end.
func TestPoisonThatKills(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		w := c.watch()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		reached := make(chan int, 1)
		w.sets(func(r bot.Request) error {
			if r.Command != "rules" {
				return nil
			}
			// What a program leaves that is killed now is the row as it is.
			var tries int
			if err := c.cfg.DB.QueryRow(t.Context(), "SELECT tries FROM matrix_event WHERE event = $1", strings.TrimPrefix(r.ID, Name+":")).Scan(&tries); err != nil {
				return err
			}
			select {
			case reached <- tries:
			default:
			}
			return errors.New("the program is gone")
		})
		bad := anna.Says(anna.at, "!rules")
		starts := 0
		for tries := 0; tries < maxTries; starts++ {
			select {
			case tries = <-reached:
			case <-time.After(time.Minute):
				t.Fatal("it is never tried")
			}
			c.halt()
			select {
			case <-reached:
			default:
			}
			c.open()
			c.exec("UPDATE matrix_event SET tries = $1 WHERE event = $2", tries, bad)
			if err := c.closed(); err != nil {
				t.Fatal(err)
			}
			c.start()
		}
		e := anna.asks("", "!games")
		if state, err := c.a.queue.state(t.Context(), bad); state != poison || err != nil || starts < maxTries {
			t.Errorf("after %d starts it is %q, %v", starts, state, err)
		}
		if !slices.Contains(w.in(anna.at), e) {
			t.Error("what came after it was not asked")
		}
	})
}

// settle waits until all that is owed has been sent and written down.
func (c *club) settle() {
	c.Helper()
	c.await("what is owed", func() bool { return c.owed() == 0 })
}

// Answers that hold what no event is do not stop the loop.
func TestReadSync(t *testing.T) {
	const good = `{"event_id":"$1","type":"m.room.message","sender":"@a:b","origin_server_ts":1,"content":{"msgtype":"m.text","body":"!games"}}`
	for name, odd := range map[string]string{
		"null":                 `null`,
		"a number":             `7`,
		"a time that is none":  `{"event_id":"$2","type":"m.room.message","sender":"@a:b","origin_server_ts":1e400,"content":{}}`,
		"half a millisecond":   `{"event_id":"$2","type":"m.room.message","sender":"@a:b","origin_server_ts":1.5,"content":{}}`,
		"a type that is none":  `{"event_id":"$2","type":{},"sender":"@a:b","origin_server_ts":1,"content":{}}`,
		"content that is none": `{"event_id":"$2","type":"m.room.message","sender":"@a:b","origin_server_ts":1,"content":"x"}`,
		"a state key":          `{"event_id":"$2","type":"m.room.message","sender":"@a:b","state_key":3,"content":{}}`,
		"unsigned":             `{"event_id":"$2","type":"m.room.message","sender":"@a:b","unsigned":"x","content":{}}`,
	} {
		body := `{"next_batch":"n","to_device":{"events":[` + odd + `]},"rooms":{"join":{"!x:y":null,"!r:s":{"timeline":{"limited":true,"prev_batch":"p","events":[` + good + `,` + odd + `]},"state":{"events":[` + odd + `]},"summary":{"m.joined_member_count":3}}},"invite":{"!i:s":{"invite_state":{"events":[` + odd + `]}}},"leave":{"!l:s":{}}}}`
		resp, _, err := readSync([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		j := resp.Rooms.Join["!r:s"]
		if j == nil || !j.Timeline.Limited || j.Timeline.PrevBatch != "p" || *j.Summary.JoinedMemberCount != 3 || len(j.Timeline.Events) == 0 || j.Timeline.Events[0].ID != "$1" {
			t.Errorf("%s: %+v", name, j)
		}
		if len(resp.Rooms.Leave) != 1 || len(resp.Rooms.Invite) != 1 || resp.NextBatch != "n" {
			t.Errorf("%s: %+v", name, resp)
		}
		for _, e := range slices.Concat(j.Timeline.Events, j.State.Events, resp.ToDevice.Events) {
			if e == nil {
				t.Errorf("%s: nothing among the events", name)
			}
		}
		page, end, _, err := readPage([]byte(`{"end":"e","chunk":[` + odd + `,` + good + `]}`))
		if err != nil || end != "e" || len(page) == 0 || page[len(page)-1].ID != "$1" {
			t.Errorf("%s: a page is %v, %q, %v", name, page, end, err)
		}
	}
}

// Whoever runs the bot sees since when the homeserver cannot be reached, or does not answer,
// when it last did, and when people last said something.
func TestHealth(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := newClub(t, s)
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		time.Sleep(10 * time.Minute)
		said := time.Now()
		g.black.SaysIn(g.black.at, g.root, "!place C3")
		g.shows("Black C3")
		time.Sleep(10 * time.Minute)
		h := c.a.Health()
		if !h.Connected || time.Since(h.Since) < 20*time.Minute || h.Event.Before(said) || h.Event.Sub(said) > time.Minute || time.Since(h.Heartbeat) > longPoll+time.Second {
			t.Errorf("connected: %+v", h)
		}
		cut := p.Always(matrixtest.Any, matrixtest.Fails(503, ""))
		time.Sleep(2 * time.Minute)
		if h := c.a.Health(); h.Connected || time.Since(h.Since) < time.Minute || time.Since(h.Heartbeat) < 2*time.Minute {
			t.Errorf("refused for two minutes: %+v", h)
		}
		cut.Stop()
		time.Sleep(time.Minute)
		if h := c.a.Health(); !h.Connected || time.Since(h.Since) > time.Minute {
			t.Errorf("back: %+v", h)
		}
		release := make(chan struct{})
		hung := p.Always(matrixtest.Syncing, matrixtest.Holds(release))
		time.Sleep(longPoll + silentFor)
		if h := c.a.Health(); h.Connected || h.Lacks == "" {
			t.Errorf("without an answer: %+v", h)
		}
		hung.Stop()
		close(release)
		time.Sleep(time.Minute)
		if h := c.a.Health(); !h.Connected {
			t.Errorf("answered at last: %+v", h)
		}
	})
}
