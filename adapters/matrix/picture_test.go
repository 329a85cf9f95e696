package matrix

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// turns plays turns of a game in a room, Black first, and waits for the words of
// each, which come with or without their picture.
func (t *board) turns(root id.EventID, game, from int, points ...string) {
	t.Helper()
	for k, at := range points {
		[]*guest{t.black, t.white}[(from+k)%2].asks(root, "!place "+at)
		t.black.reads(fmt.Sprintf("Game %d, move %d:", game, from+k+1))
	}
}

// another begins another game in the same room.
func (t *board) another(rules string, number int) (root id.EventID) {
	t.Helper()
	t.black.asks("", "!new "+rules)
	root = t.black.reads(fmt.Sprintf("opens game %d", number)).ID
	t.white.asks(root, "!join")
	t.black.Await(t.black.at, "the game to begin", func(v matrixtest.View) bool {
		return slices.ContainsFunc(v.From(t.user.ID), func(m *matrixtest.Message) bool {
			return m.Thread == root && strings.Contains(m.Text(), "Black to play")
		})
	})
	return root
}

// pictures gives the names of the pictures of boards that somebody sees in a
// thread, answers aside.
func (t *board) pictures(root id.EventID) (names []string) {
	for _, m := range t.black.View(t.black.at).Pictures(t.user.ID) {
		if m.Thread == root && strings.HasPrefix(m.Picture.Name, "game-") {
			names = append(names, m.Picture.Name)
		}
	}
	return names
}

// follows waits until the newest picture in a thread is that of the board which
// the bot has shown last there, and gives all of the thread.
func (t *board) follows(root id.EventID, number int) []string {
	t.Helper()
	var seq int
	if err := t.cfg.DB.QueryRow(t.Context(), "SELECT seq FROM game JOIN game_channel ON game_channel.game = game.id WHERE number = $1", number).Scan(&seq); err != nil {
		t.Fatal(err)
	}
	want := boardName(number, seq)
	t.await("the picture "+want, func() bool { return slices.Contains(t.pictures(root), want) })
	t.settle()
	t.await("nothing more to follow", func() bool {
		t.a.promises.mu.Lock()
		defer t.a.promises.mu.Unlock()
		return !slices.ContainsFunc(slices.Collect(maps.Values(t.a.promises.m)), (*promise).board)
	})
	names := t.pictures(root)
	if last := names[len(names)-1]; last != want {
		t.Errorf("the last picture is %s and not %s: %v", last, want, names)
	}
	t.once(t.black, t.black.at)
	return names
}

// However uploading fails, the words of a board come without its picture, of all
// games; so do answers. When it works again the pictures follow.
func TestUploadsThatFail(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]matrixtest.Fault{
		"500":         matrixtest.Fails(500, "M_UNKNOWN"),
		"502 in HTML": matrixtest.Fails(502, ""),
		"403":         matrixtest.Fails(403, "M_FORBIDDEN"),
		"404":         matrixtest.Fails(404, "M_UNRECOGNIZED"),
		"429":         matrixtest.TooMany(700 * time.Millisecond),
		"cut":         matrixtest.Cuts(),
		"no answer":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				p := c.through()
				release := make(chan struct{})
				if fault == nil {
					fault = matrixtest.Holds(release)
				}
				c.start()
				g := c.begins("two-button 5x5")
				before := g.follows(g.root, 1)
				failing := p.Always(matrixtest.Uploading, fault)
				second := g.another("button 5x5", 2) // in the same room
				g.turns(g.root, 1, 0, "C3", "C4")
				g.turns(second, 2, 0, "B2")
				words := g.black.reads("Game 1, move 2:")
				if words.Picture != nil || !strings.Contains(words.Text(), "A B C D E") {
					t.Errorf("the words are %q", words.Text())
				}
				g.black.asks(g.root, "!board")
				g.black.asks(g.root, "!sgf")
				failing.Stop()
				if name == "no answer" {
					close(release)
				}
				if names := g.follows(g.root, 1); len(names) != len(before)+1 {
					t.Errorf("pictures %v, before there were %v", names, before)
				}
				g.follows(second, 2)
				for _, file := range []string{"board.png", ".sgf"} {
					g.black.Await(g.black.at, "the "+file+" that was asked for", func(v matrixtest.View) bool {
						return slices.ContainsFunc(v.From(c.user.ID), func(m *matrixtest.Message) bool {
							name, _ := m.Content["filename"].(string)
							return strings.HasSuffix(name, file)
						})
					})
				}
				g.turns(g.root, 1, 2, "D3")
				g.follows(g.root, 1)
				g.shows("Game 1, move 3:")
			})
		})
	}
}

// What the homeserver does not take at all for its size is not tried again.
func TestUploadsThatAreTooLarge(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		g.follows(g.root, 1)
		p.Forget()
		large := p.Always(matrixtest.Uploading, matrixtest.Fails(http.StatusRequestEntityTooLarge, "M_TOO_LARGE"))
		g.turns(g.root, 1, 0, "C3", "C4")
		if words := g.black.reads("Game 1, move 2:"); words.Picture != nil || !strings.Contains(words.Text(), "A B C D E") {
			t.Errorf("the words are %q", words.Text())
		}
		g.settled()
		if n := large.Made(); n != 2 {
			t.Errorf("%d uploads of two boards", n)
		}
		large.Stop()
		g.turns(g.root, 1, 2, "D3")
		g.follows(g.root, 1)
	})
}

// Of each game one picture is under way, and of those that wait the newest is
// shown.
func TestOnePictureAtATime(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.cfg.Slow = 400 * time.Millisecond
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		second := g.another("button 5x5", 2)
		before := g.follows(g.root, 1)
		g.follows(second, 2)
		p.Forget()
		release := make(chan struct{})
		var mu sync.Mutex
		flying, most := map[string]int{}, map[string]int{} // by game
		hold := matrixtest.Holds(release)
		held := p.Always(matrixtest.Uploading, func(x *matrixtest.Exchange) {
			game := x.Request.Query.Get("filename")[:len("game-1")]
			mu.Lock()
			flying[game]++
			most[game] = max(most[game], flying[game])
			mu.Unlock()
			hold(x)
			mu.Lock()
			flying[game]--
			mu.Unlock()
		})
		g.turns(g.root, 1, 0, "C3", "C4", "D3", "D4", "B3", "B4")
		g.turns(second, 2, 0, "C3", "C4", "D3")
		close(release)
		names := g.follows(g.root, 1)
		if len(names) != len(before)+1 {
			t.Errorf("pictures %v, before there were %v", names, before)
		}
		g.follows(second, 2)
		held.Stop()
		mu.Lock()
		defer mu.Unlock()
		if most["game-1"] != 1 || most["game-2"] != 1 {
			t.Errorf("at once there were under way %v", most)
		}
		if n := len(p.Requests(matrixtest.Uploading)); n >= 6+3 { // of each the first and the last, and what a slow machine tries again
			t.Errorf("%d uploads of 9 boards", n)
		}
	})
}

// The picture follows its words also if the homeserver says that it is too much,
// fails, or answers nothing when it is sent.
func TestPictureFollowsAllTheSame(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.cfg.Slow = 400 * time.Millisecond
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		g.follows(g.root, 1)
		points := []string{"C3", "C4", "D3", "D4"}
		for k, fault := range []matrixtest.Fault{matrixtest.TooMany(300 * time.Millisecond), matrixtest.Fails(500, "M_UNKNOWN"), matrixtest.Cuts(), matrixtest.Loses()} {
			release := make(chan struct{})
			held := p.Once(matrixtest.Uploading, matrixtest.Holds(release))
			g.turns(g.root, 1, k, points[k])
			held.Await(t, 1)
			g.settle()
			fails := p.Times(1, matrixtest.On("PUT", "/send/m.room.message/"), fault)
			close(release)
			fails.Await(t, 1)
			g.follows(g.root, 1)
		}
	})
}

// The picture follows its words also if the program ends before: after the words
// were sent, and in the moment at which they are.
func TestPictureFollowsAfterRestart(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.cfg.Slow = 400 * time.Millisecond
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		before := g.follows(g.root, 1)
		release := make(chan struct{})
		held := p.Always(matrixtest.Uploading, matrixtest.Holds(release))
		g.turns(g.root, 1, 0, "C3")
		g.settle()
		c.kill()
		close(release)
		held.Stop()
		c.start()
		if names := g.follows(g.root, 1); len(names) != len(before)+1 {
			t.Errorf("pictures %v, before there were %v", names, before)
		}

		release = make(chan struct{})
		held = p.Always(matrixtest.Uploading, matrixtest.Holds(release))
		lost := p.Once(matrixtest.On("PUT", "/send/m.room.message/"), matrixtest.HoldsAnswer(release))
		g.white.asks(g.root, "!place C4")
		lost.Await(t, 1)
		g.black.reads("Game 1, move 2:")
		c.kill()
		close(release)
		held.Stop()
		c.start()
		c.expires()
		if names := g.follows(g.root, 1); len(names) != len(before)+2 {
			t.Errorf("pictures %v, before there were %v", names, before)
		}
		if n := c.says(g.black, "Game 1, move 2:"); n != 1 {
			t.Errorf("the words came %d times", n)
		}
	})
}

// expires frees what a program had in hand that was killed.
func (c *club) expires() {
	c.Helper()
	if _, err := c.cfg.DB.Exec(c.Context(), "UPDATE post SET due = 0 WHERE state = 'waiting'"); err != nil {
		c.Fatal(err)
	}
	c.bot.Wake()
}

// Reactions are put also if the homeserver says that it is too much, each once
// and in their order, and nothing waits for them.
func TestReactionsUnderLimit(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		c.settled()
		limited := p.Once(matrixtest.On("PUT", "/send/m.reaction/"), matrixtest.TooMany(500*time.Millisecond))
		second := g.another("two-button 5x5", 2)
		limited.Await(t, 1)
		reactions := func(to id.EventID) (keys []string) {
			for _, r := range g.black.View(g.black.at).Message(to).Reactions {
				keys = append(keys, r.Key)
				if len(r.By) != 1 {
					t.Errorf("%s is there %d times", r.Key, len(r.By))
				}
			}
			return keys
		}
		want := reactions(g.root)
		if len(want) < 3 {
			t.Fatalf("without a limit there are %q", want)
		}
		c.await("the reactions", func() bool {
			c.a.spare.mu.Lock()
			c.a.spare.limited = time.Time{} // as if it were long ago
			c.a.spare.mu.Unlock()
			return len(reactions(second)) >= len(want)
		})
		if got := reactions(second); !slices.Equal(got, want) {
			t.Errorf("the reactions are %q, want %q", got, want)
		}
	})
}

// A reaction that could not be put is not overtaken by those that come later for
// the same message.
func TestReactionsInTurn(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		g := c.begins("two-button 5x5")
		c.settled()
		on := g.shows("Black to play").ID
		if err := c.a.queue.mark(t.Context(), "press", receipt(g.black.at, on)+" ✋", "0", time.Now()); err != nil {
			t.Fatal(err)
		}
		c.a.spare.putLater(time.Now().Add(300 * time.Millisecond))
		c.a.press(t.Context(), g.black.at, on, []bot.Control{{Command: "pass"}, {Command: "score"}})
		var keys []string
		c.await("the reactions", func() bool {
			keys = nil
			for _, r := range g.black.View(g.black.at).Message(on).Reactions {
				keys = append(keys, r.Key)
			}
			return len(keys) >= 3
		})
		if want := []string{"✋", "⏭️", "🧮"}; !slices.Equal(keys, want) {
			t.Errorf("the reactions are %q, want %q", keys, want)
		}
	})
}

// What takes the place of a message in a room that has moved is a new message
// there, and the next change is one of that.
func TestReplacedAfterAMove(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")[0]
		old := receipt("!before:"+id.RoomID(c.user.ID.Homeserver()), "$gone")
		last := old
		for k, says := range []string{"Five minutes are left.", "Four minutes are left.", "Three minutes are left."} {
			sent, _, err := c.a.Deliver(t.Context(), bot.Post{ID: fmt.Sprint("reminder ", k), Kind: bot.Status, Attempt: 1, Replaces: last, Text: says,
				Where: bot.Room{Platform: Name, Channel: anna.at.String()}})
			if err != nil {
				t.Fatal(err)
			}
			if string(sent) == old || k > 0 && string(sent) != last {
				t.Errorf("%q is %s, the last was %s", says, sent, last)
			}
			last = string(sent)
			anna.reads(says)
		}
		if said := anna.View(anna.at).From(c.user.ID); len(said) != 1 {
			t.Errorf("%d messages:\n%s", len(said), anna.Sees(anna.at))
		}
	})
}

// Nothing is remembered of an event that is left alone.
func TestLeftAlone(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := &row{n: -1, room: "!room", event: "$event"}
		c.a.fails(r.event, 1)
		if err := c.a.setAside(t.Context(), r, errors.New("it fails")); err != nil {
			t.Fatal(err)
		}
		if c.a.hasFailed(r.event) {
			t.Error("it is remembered as one that failed")
		}
	})
}

// A harbour is uploads whose flights land when the test says so.
type harbour struct {
	*testing.T
	uploads
	now time.Time
	to  map[string]chan error
}

func newHarbour(t *testing.T) *harbour {
	return &harbour{T: t, now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC), to: map[string]chan error{}}
}

func (h *harbour) starts(line, key string) *flight {
	land, taken := make(chan error), make(chan struct{})
	f := &flight{key: key, done: make(chan struct{})}
	f.fly = func() {
		close(taken)
		f.err = <-land
		h.landed(f.err, h.now)
	}
	h.to[key] = land
	return h.begin(line, f, h.now)
}

// lands ends a flight that is under way.
func (h *harbour) lands(f *flight, err error) {
	h.Helper()
	select {
	case h.to[f.key] <- err:
		<-f.done
	case <-time.After(time.Minute):
		h.Fatalf("%s is not under way", f.key)
	}
}

func (f *flight) over() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// In each line one upload is under way and the newest waits.
func TestUploadLines(t *testing.T) {
	h := newHarbour(t)
	first, second := h.starts("game 1", "1"), h.starts("game 1", "2")
	other := h.starts("game 2", "other")
	if h.starts("game 1", "2") != second {
		t.Error("the same is uploaded twice")
	}
	third := h.starts("game 1", "3")
	<-second.done
	if first.over() || third.over() {
		t.Error("the newest does not wait in the place of an older one")
	}
	if _, err := second.result(); err != errUploading {
		t.Error(err)
	}
	h.lands(first, nil)
	h.lands(third, nil)
	h.lands(other, nil)
	if _, err := third.result(); err != nil {
		t.Error(err)
	}
	if h.starts("game 1", "3") != third {
		t.Error("what is uploaded is uploaded again")
	}
	h.mu.Lock()
	if len(h.uploads.lines) > 0 {
		t.Errorf("lines are left: %v", h.uploads.lines)
	}
	h.mu.Unlock()
	for n := range uploadsMost {
		if h.starts(fmt.Sprint("line ", n), fmt.Sprint("key ", n)) == nil {
			t.Fatalf("only %d at once", n)
		}
	}
	if h.starts("one more", "one more") != nil {
		t.Error("too many at once")
	}
}

// After a failure there are none for a while, the longer the more often; then one
// alone is tried.
func TestUploadsRest(t *testing.T) {
	h := newHarbour(t)
	failure := errors.New("cut")
	var rests []time.Duration
	for n := range 10 {
		f := h.starts("game 1", fmt.Sprint(n))
		waits := h.starts("game 1", fmt.Sprint("waits ", n))
		h.lands(f, failure)
		<-waits.done // it would fail too
		if h.starts("game 2", "other") != nil {
			t.Error("another is begun at once")
		}
		wait := h.grounded("game 2", h.now)
		rests = append(rests, wait)
		h.now = h.now.Add(wait)
	}
	if want := []time.Duration{500e6, 1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9, 60e9, 60e9}; !slices.Equal(rests, want) {
		t.Errorf("it rests %v, want %v", rests, want)
	}
	f := h.starts("game 1", "works")
	if h.starts("game 2", "other") != nil {
		t.Error("two are tried")
	}
	h.lands(f, nil)
	if f := h.starts("game 2", "other"); f == nil {
		t.Error("none is begun after one has worked")
	} else {
		h.lands(f, nil)
	}
	if wait := h.grounded("game 1", h.now); wait != 0 {
		t.Errorf("it rests %v after one has worked", wait)
	}
}
