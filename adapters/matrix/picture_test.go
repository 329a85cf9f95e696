package matrix

import (
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
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/lru"
)

// turns plays turns of a game in a room, Black first, and waits for the words of
// each, which come with or without their picture.
func (t *board) turns(root id.EventID, game, from int, points ...string) {
	t.Helper()
	for k, at := range points {
		[]*guest{t.black, t.white}[(from+k)%2].asks(root, "!place "+at)
		t.black.reads(fmt.Sprintf("%d. ", from+k+1))
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
			return m.Thread == root && strings.Contains(m.Text(), " to play, for example ")
		})
	})
	return root
}

// pictures returns the names of the pictures of boards that somebody sees in a
// thread, answers aside.
func (t *board) pictures(root id.EventID) (names []string) {
	for _, m := range t.black.View(t.black.at).Pictures(t.user.ID) {
		if m.Thread == root && strings.HasPrefix(m.Picture.Name, "game-") {
			names = append(names, m.Picture.Name)
		}
	}
	return names
}

// game returns the id of a game and its newest event.
func (c *club) game(number int) (id match.GameID, seq int) {
	c.Helper()
	if err := c.cfg.DB.QueryRow(c.Context(), "SELECT id, seq FROM game JOIN game_channel ON game_channel.game = game.id WHERE number = $1", number).Scan(&id, &seq); err != nil {
		c.Fatal(err)
	}
	return id, seq
}

// follows waits until the newest picture in a thread is that of the board which
// the bot has shown last there, and gives all of the thread.
func (t *board) follows(root id.EventID, number int) []string {
	t.Helper()
	_, seq := t.game(number)
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
				words := g.black.reads("2. ")
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
				for _, m := range g.black.View(g.black.at).Pictures(c.user.ID) {
					if !strings.Contains(m.Body, "A B C D E") {
						t.Errorf("%s has no alt text: %q", m.Picture.Name, m.Body)
					}
				}
				for _, file := range []string{"board.png", ".sgf"} {
					g.black.Await(g.black.at, "the "+file+" that was asked for", func(v matrixtest.View) bool {
						return slices.ContainsFunc(v.From(c.user.ID), func(m *matrixtest.Message) bool {
							name, _ := m.Content["filename"].(string)
							return strings.HasSuffix(name, file) && (file != "board.png" || strings.Contains(m.Body, "A B C D E"))
						})
					})
				}
				g.turns(g.root, 1, 2, "D3")
				g.follows(g.root, 1)
				g.shows("3. ")
				once := p.Once(matrixtest.Uploading, matrixtest.Fails(500, "M_UNKNOWN"))
				g.turns(g.root, 1, 3, "D4")
				if m := g.black.reads("4. "); m.Picture == nil || once.Made() != 1 {
					t.Errorf("after %d failures the words come alone", once.Made())
				}
			})
		})
	}
}

// A picture too large for the homeserver is not tried again.
func TestUploadsThatAreTooLarge(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		_, p, g := playing(t, s)
		g.follows(g.root, 1)
		p.Forget()
		large := p.Always(matrixtest.Uploading, matrixtest.Fails(http.StatusRequestEntityTooLarge, "M_TOO_LARGE"))
		g.turns(g.root, 1, 0, "C3", "C4")
		if words := g.black.reads("2. "); words.Picture != nil || !strings.Contains(words.Text(), "A B C D E") {
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

// While the homeserver asks to wait, nothing is uploaded for any game.
func TestUploadsThatAreTooMany(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		_, p, g := playing(t, s)
		second := g.another("button 5x5", 2)
		g.follows(g.root, 1)
		g.follows(second, 2)
		many := p.Always(matrixtest.Uploading, matrixtest.TooMany(30*time.Second))
		g.turns(g.root, 1, 0, "C3", "C4")
		g.turns(second, 2, 0, "C3", "C4")
		if n := many.Made(); n != 1 {
			t.Errorf("%d uploads", n)
		}
		many.Stop()
		g.follows(g.root, 1)
		g.follows(second, 2)
	})
}

// Of each game one picture is under way, and of those that wait the newest is
// shown.
func TestOnePictureAtATime(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		_, p, g := playing(t, s)
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

// A picture that comes after a newer board is left out, whenever it was begun.
func TestPictureOfAnOldBoard(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, _, g := playing(t, s)
		c.settled()
		game, seq := c.game(1)
		view, err := c.bot.View(t.Context(), bot.Viewing{Game: game, Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		for _, newest := range []int{seq + 1, seq} {
			p := outbox.Post{ID: "picture", Kind: outbox.Attach, Game: game, Number: 1, Seq: seq, Attempt: 1, Scene: &view.Scene, Data: `{"Post":"p"}`,
				Where: match.Room{Platform: Name, Channel: g.black.at.String()}, Replaces: receipt(g.black.at, g.root)}
			c.a.newest.Add(lineOf(p), newest)
			before := len(g.black.View(g.black.at).Pictures(c.user.ID))
			if _, _, err := c.a.Deliver(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			caughtUp(g.black.Player, g.black.at)
			if shown := len(g.black.View(g.black.at).Pictures(c.user.ID)) - before; shown != seq+1-newest {
				t.Errorf("with a board of event %d the picture of event %d is shown %d times", newest, seq, shown)
			}
		}
	})
}

// The picture follows its words also if the program ends in the moment at which these
// are sent.
func TestPictureFollowsAfterRestart(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, p, g := playing(t, s)
		before := g.follows(g.root, 1)
		release := make(chan struct{})
		held := p.Always(matrixtest.Uploading, matrixtest.Holds(release))
		lost := p.Once(matrixtest.On("PUT", "/send/m.room.message/"), matrixtest.HoldsAnswer(release))
		g.black.asks(g.root, "!place C3")
		lost.Await(t, 1)
		g.black.reads("1. ")
		c.kill()
		close(release)
		held.Stop()
		c.start()
		c.hurries("TRUE") // what it had in hand
		if names := g.follows(g.root, 1); len(names) != len(before)+1 {
			t.Errorf("pictures %v, before there were %v", names, before)
		}
		if n := c.says(g.black, "1. "); n != 1 {
			t.Errorf("the words came %d times", n)
		}
	})
}

// A board of which the picture is being uploaded when the bot is stopped comes with its
// picture when the bot is back.
func TestStoppedWhileUploading(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, p, g := playing(t, s)
		g.follows(g.root, 1)
		held := p.Always(matrixtest.Uploading, matrixtest.Holds(nil))
		g.black.asks(g.root, "!place C3")
		held.Await(t, 1)
		c.halt()
		held.Stop()
		c.start()
		c.hurries("TRUE") // what it had in hand
		if m := g.black.reads("1. "); m.Picture == nil {
			t.Error("the words come alone")
		}
		if n := c.says(g.black, "1. "); n != 1 {
			t.Errorf("the words came %d times", n)
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

// In each line one upload is under way, so many are altogether, and what was uploaded
// is known.
func TestUploadLines(t *testing.T) {
	u := uploads{known: lru.New[string, message.Picture](uploadsKnown), lines: map[string]*upload{}}
	end := make(chan error)
	begin := func(line, key string) *upload {
		return u.begin(line, key, func() (message.Picture, error) { return message.Picture{Name: key}, <-end })
	}
	first := begin("game 1", "1")
	if begin("game 1", "2") != first {
		t.Error("two are under way in a line")
	}
	for n := range uploadsMost - 1 {
		if under := begin(fmt.Sprint("line ", n), fmt.Sprint("key ", n)); under == nil || under == first {
			t.Fatalf("only %d at once", n+1)
		}
	}
	if begin("one more", "one more") != nil {
		t.Error("too many at once")
	}
	for range uploadsMost {
		end <- nil
	}
	<-first.done
	if known := begin("game 1", "1"); known == first || known.picture.Name != "1" {
		t.Error("what is uploaded is uploaded again")
	}
}
