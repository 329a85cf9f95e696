package matrix

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
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
	t.await("nothing more to follow", func() bool { return t.decorations("kind = 'attach' AND game <> ''") == 0 })
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

// Reactions are put also if the homeserver says that it is too much, or fails, each
// once and in their order, and nothing waits for them.
func TestReactionsUnderLimit(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		g := c.begins("two-button 5x5")
		c.settled()
		reactions := func(to id.EventID) (keys []string) {
			caughtUp(g.black.Player, g.black.at)
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
		for k, fault := range []matrixtest.Fault{matrixtest.TooMany(500 * time.Millisecond), matrixtest.Fails(500, "M_UNKNOWN"), matrixtest.Loses()} {
			g.black.asks("", "!new two-button 5x5")
			root := g.black.reads(fmt.Sprintf("opens game %d", k+2)).ID
			c.settled()
			failing := p.Once(matrixtest.On("PUT", "/send/m.reaction/"), fault)
			g.white.asks(root, "!join")
			failing.Await(t, 1)
			c.settled()
			if got := reactions(root); !slices.Equal(got, want) {
				t.Errorf("the reactions are %q, want %q", got, want)
			}
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
			sent, _, err := c.a.Deliver(t.Context(), outbox.Post{ID: fmt.Sprint("reminder ", k), Kind: match.Status, Attempt: 1, Replaces: last, Text: says,
				Where: match.Room{Platform: Name, Channel: anna.at.String()}})
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

// A quay is uploads that end when the test says so.
type quay struct {
	*testing.T
	*uploads
	now time.Time
	end map[string]chan error
}

func newQuay(t *testing.T) *quay {
	return &quay{t, newUploads(), time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC), map[string]chan error{}}
}

// starts begins an upload, and returns whether it is known, and under way.
func (q *quay) starts(line, key string) (known bool, under *upload) {
	end := make(chan error)
	p, under, _ := q.begin(line, key, q.now, func() (message.Picture, error) {
		err := <-end
		q.ended(err, q.now)
		return message.Picture{Name: key}, err
	})
	if under != nil && q.end[under.key] == nil {
		q.end[under.key] = end
	}
	return p != nil, under
}

func (q *quay) ends(under *upload, err error) {
	q.end[under.key] <- err
	delete(q.end, under.key)
	<-under.done
}

// In each line one upload is under way, and what was uploaded is known.
func TestUploadLines(t *testing.T) {
	q := newQuay(t)
	_, first := q.starts("game 1", "1")
	if _, under := q.starts("game 1", "2"); under != first {
		t.Error("two are under way in a line")
	}
	_, other := q.starts("game 2", "other")
	q.ends(first, nil)
	q.ends(other, nil)
	if known, _ := q.starts("game 1", "1"); !known {
		t.Error("what is uploaded is uploaded again")
	}
	for n := range uploadsMost {
		if _, under := q.starts(fmt.Sprint("line ", n), fmt.Sprint("key ", n)); under == nil {
			t.Fatalf("only %d at once", n)
		}
	}
	if _, under := q.starts("one more", "one more"); under != nil {
		t.Error("too many at once")
	}
	for _, end := range q.end {
		end <- nil
	}
}

// After a failure there are none for a while, the longer the more often; then one
// alone is tried.
func TestUploadsRest(t *testing.T) {
	q := newQuay(t)
	var rests []time.Duration
	for n := range 10 {
		_, under := q.starts("game 1", fmt.Sprint(n))
		if _, second := q.starts("game 2", "other"); n > 0 && second != nil {
			t.Error("two are tried")
		} else if second != nil {
			q.ends(second, nil)
		}
		q.ends(under, errors.New("cut"))
		if _, under := q.starts("game 2", "another"); under != nil {
			t.Error("another is begun at once")
		}
		rests = append(rests, q.rest(q.now))
		q.now = q.now.Add(q.rest(q.now))
	}
	if want := []time.Duration{500e6, 1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9, 60e9, 60e9}; !slices.Equal(rests, want) {
		t.Errorf("it rests %v, want %v", rests, want)
	}
	_, under := q.starts("game 1", "works")
	q.ends(under, nil)
	if _, under := q.starts("game 2", "another"); under == nil || q.rest(q.now) != 0 {
		t.Error("none is begun after one has worked")
	} else {
		q.ends(under, nil)
	}
}
