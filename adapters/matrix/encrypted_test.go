//go:build goolm

package matrix

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Two people with a client that nobody here wrote play in a room that is
// encrypted and in one that is not. The program is killed meanwhile. They can read everything, see every picture, and see that the bot is who it says.
func TestStrangers(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	c := lively(t, matrixtest.Shared(t))
	// Dendrite does not say that it knows threads, without which matrix-js-sdk
	// makes none of its own.
	proxy := c.server.Proxy(t)
	proxy.Always(matrixtest.On("GET", "/client/versions$"), matrixtest.Changes(func(body []byte) []byte {
		return bytes.Replace(body, []byte(`"v1.2"`), []byte(`"v1.2","v1.3","v1.4"`), 1)
	}))
	zoe := matrixtest.NewStranger(t, proxy.URL, c.server.Register(t, "Zoe"))
	yan := matrixtest.NewStranger(t, proxy.URL, c.server.Register(t, "Yan"))
	// The program as it is shipped plays, and is killed. What the race detector is
	// to look at is built into the test, and is stopped.
	start, interrupt, end := c.start, func() { _ = c.stop() }, func() { _ = c.stop() }
	if !raced {
		path, err := program()
		if err != nil {
			t.Fatal(err)
		}
		var s *served
		start = func() { s = c.serve(path) }
		interrupt = func() { s.kill() }
		end = func() {
			s.Process.Signal(syscall.SIGTERM)
			<-s.ended
		}
	}
	start()
	var rooms []id.RoomID
	for _, encrypted := range []bool{false, true} {
		at := zoe.Makes(matrixtest.Room{Name: "Go club", Encrypted: encrypted, Invite: []id.UserID{yan.ID, c.user.ID}})
		yan.AwaitInvite(at)
		yan.Joins(at)
		for _, user := range []id.UserID{yan.ID, c.user.ID} {
			zoe.AwaitMember(at, user)
			yan.AwaitMember(at, user)
		}
		rooms = append(rooms, at)
	}
	t.Cleanup(func() {
		for _, at := range rooms {
			for _, s := range zoe.Sees(at) {
				if t.Failed() && s.StateKey == nil {
					t.Logf("%s %s: %.30q%s in %s %s", s.Sender, s.Type, s.Body(), s.Key, s.Thread, s.Failure)
				}
			}
		}
	})
	// reads waits until the bot has said something in a thread, or with "" in the
	// room itself.
	reads := func(who *matrixtest.Stranger, at id.RoomID, thread id.EventID, what string) matrixtest.Sight {
		t.Helper()
		return who.AwaitSight(at, what, func(s matrixtest.Sight) bool {
			return s.Sender == c.user.ID && s.Thread == thread && strings.Contains(s.Body(), what)
		})
	}
	games, turns, acceptances, seed := soonOver, 0, 0, rand.New(rand.NewPCG(5, 6))
	if raced {
		games = games[:2]
	}
	for n, game := range games {
		roots := map[id.RoomID]id.EventID{}
		for _, at := range rooms {
			zoe.Says(at, game.opens)
		}
		for _, at := range rooms {
			root := reads(yan, at, "", "opens game "+string(rune('1'+n))).ID
			roots[at] = root
			if n == 0 {
				yan.Reacts(at, root, "✋")
			} else {
				yan.SaysIn(at, root, "!join")
			}
		}
		for _, at := range rooms {
			reads(zoe, at, roots[at], " to play: ")
		}
		for line := range strings.SplitSeq(strings.TrimSpace(game.turns), "\n") {
			name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			says, read, _ := strings.Cut(rest, ":")
			if strings.Contains(read, "accepts the count") { // which is told in a line
				acceptances++
			}
			who, other := zoe, yan
			if name == "white" {
				who, other = yan, zoe
			}
			for _, at := range rooms {
				who.SaysIn(at, roots[at], says)
			}
			if turns++; turns%4 == 3 {
				time.Sleep(time.Duration(seed.IntN(200)) * time.Millisecond) // at any moment of dealing with it
				interrupt()
				start()
			}
			for _, at := range rooms {
				reads(other, at, roots[at], strings.TrimSpace(read))
			}
		}
	}
	end()
	c.start()
	// What is for her eyes alone comes in a room that the bot makes for her, which
	// is encrypted wherever she asks.
	zoe.Says(rooms[0], "!privacy export")
	reads(yan, rooms[0], "", "I have sent it to you directly")
	alone, err := c.a.queue.marked(t.Context(), "direct", zoe.ID.String())
	if err != nil {
		t.Fatal(err)
	}
	zoe.AwaitInvite(id.RoomID(alone))
	zoe.Joins(id.RoomID(alone))
	if got := reads(zoe, id.RoomID(alone), "", "everything that I store about you"); got.Kind() != "m.file" || !got.Encrypted || got.Failure != "" || got.Content["file"] == nil {
		t.Errorf("she sees %+v", got)
	}
	c.settled()
	for _, at := range rooms { // what was said before is seen before
		last := zoe.Says(at, "…")
		zoe.AwaitEvent(at, last)
		yan.AwaitEvent(at, last)
	}
	for _, who := range []*matrixtest.Stranger{zoe, yan} {
		for k, at := range rooms {
			// Once more, with all signatures known.
			c.seen(who, who.Looks(at), k == 1, turns+len(games)-acceptances)
		}
	}
}

// seen is what holds of what a stranger sees of the bot in a room.
func (c *club) seen(who *matrixtest.Stranger, all []matrixtest.Sight, encrypted bool, boards int) {
	c.Helper()
	pictures := map[string]bool{}
	for _, s := range all {
		if s.Sender != c.user.ID || s.StateKey != nil {
			continue
		}
		if s.Failure != "" {
			c.Errorf("%s cannot read %s: %s", who.ID, s.ID, s.Failure)
			continue
		}
		if s.Type == "m.reaction" {
			continue // which nobody encrypts
		}
		c.wellFormed(s.Content)
		if s.Encrypted != encrypted {
			c.Errorf("%s sees that it is encrypted: %t: %q", who.ID, s.Encrypted, s.Body())
		}
		if encrypted {
			if !s.SignedByOwner || s.Shield != "none" {
				c.Errorf("%s sees the shield %q (%s): %q", who.ID, s.Shield, s.ShieldReason, s.Body())
			}
			for _, key := range s.Clear {
				if !slices.Contains([]string{"algorithm", "ciphertext", "device_id", "sender_key", "session_id", "m.relates_to"}, key) {
					c.Errorf("%s is in the clear: %q", key, s.Body())
				}
			}
		}
		if s.Kind() == "m.image" {
			if s.Media == nil || s.Media.Encrypted != encrypted {
				c.Errorf("the media of %q: %+v", s.Body(), s.Media)
				continue
			}
			who.Picture(s)
			name, _ := s.Content["filename"].(string)
			if pictures[name] {
				c.Errorf("%s sees %s twice", who.ID, name)
			}
			pictures[name] = true
		}
	}
	if len(pictures) != boards {
		c.Errorf("%s has seen %d boards and not %d", who.ID, len(pictures), boards)
	}
}

// clear gives what the bot has said in the clear after an event, reactions aside.
func (c *club) clear(v matrixtest.View, after id.EventID) (out []string) {
	from := slices.IndexFunc(v.Events, func(e *matrixtest.Event) bool { return e.ID == after })
	if from < 0 {
		c.Fatal("no such event")
	}
	for _, e := range v.Events[from:] {
		if e.Sender == c.user.ID && e.Type == "m.room.message" {
			out = append(out, e.Content["body"].(string))
		}
	}
	return out
}

// secrets gives how many encrypted events the bot has sent.
func (c *club) secrets(v matrixtest.View) (n int) {
	for _, e := range v.Events {
		if e.Sender == c.user.ID && e.Type == "m.room.encrypted" {
			n++
		}
	}
	return n
}

// Who still has a device in hand that was closed, for the bot ends or logs in
// again, neither takes for nothing what was said nor for forbidden what is to be
// sent: both come about with the next device.
func TestClosedDevice(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := c.talkers(true)
		r.gathers()
		anna := r.people[0]
		said := anna.says("", "!games")
		anna.sees("no game")
		dev := c.a.device()
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
		for _, e := range anna.View(r.at).Events {
			if e.ID != said {
				continue
			}
			state, _, err := c.a.deal(t.Context(), dev, &row{room: r.at, event: said, evt: sealedEvent(r.at, e)})
			if state != "" || !errors.Is(err, e2ee.ErrClosed) {
				t.Errorf("what was said is %q, %v", state, err)
			}
		}
		_, err := c.a.send(t.Context(), dev, r.at, message.Text(message.Content{Text: "Hello"}), "hello", nil)
		if !errors.Is(err, e2ee.ErrClosed) || errors.As(botError(err), new(outbox.Forbidden)) {
			t.Errorf("what is to be sent is %v", err)
		}
	})
}

// What the homeserver says of keys says nothing of the room: if it does not give
// them, neither is an answer left out nor the room set aside.
func TestKeysThatAreRefused(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		for _, is := range []struct {
			path       string
			status     int
			code       string
			said, want string
		}{
			{"/keys/query$", http.StatusForbidden, "M_FORBIDDEN", "!games", "no game"},
			{"/keys/claim$", http.StatusNotFound, "M_NOT_FOUND", "!new 5x5", "opens game"},
			{"/sendToDevice/m.room.encrypted/", http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "!new 5x5", "opens game"},
		} {
			r := c.talkers(true)
			r.gathers()
			o := p.Once(matrixtest.On("", is.path), matrixtest.Fails(is.status, is.code))
			r.people[0].says("", is.said)
			o.Await(t, 1)
			r.people[0].sees(is.want)
		}
	})
}

// From the moment on at which a room becomes encrypted, nothing is said there in
// the clear: no answer, no change of what was said before, and not the board whose
// picture was being uploaded at that moment.
func TestRoomBecomesEncrypted(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		proxy := c.through()
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")
		anna, bob := people[0], people[1]
		anna.asks("", "!new 5x5")
		root := bob.reads("opens game 1").ID
		bob.asks(root, "!join")
		anna.asks(root, "!place C3")
		anna.reads("1. Black C3")
		c.settled()
		uploaded := make(chan struct{})
		upload := proxy.Once(matrixtest.Uploading, matrixtest.HoldsAnswer(uploaded))
		bob.SaysIn(bob.at, root, "!place D3")
		upload.Await(t, 1)
		now := anna.Sets(anna.at, event.StateEncryption, "", matrixtest.Encryption())
		before := len(proxy.Requests(matrixtest.Uploading))
		close(uploaded)
		anna.Await(anna.at, "the board", func(v matrixtest.View) bool { return c.secrets(v) >= 1 })
		anna.asks(root, "!place C4")
		anna.asks(root, "!score")
		bob.asks(root, "!place D4")
		anna.asks(root, "!place I9")
		anna.Await(anna.at, "answers", func(v matrixtest.View) bool { return c.secrets(v) >= 5 }) // boards, the count, a refusal
		c.settled()
		if said := c.clear(anna.View(anna.at), now); len(said) > 0 {
			t.Errorf("it has said in the clear: %q", said)
		}
		// The picture that was uploaded in the clear is not the one that was shown.
		if n := len(proxy.Requests(matrixtest.Uploading)) - before; n != 3 {
			t.Errorf("of three boards since then %d were uploaded", n)
		}
	})
}

// A picture that is to follow its words comes encrypted if the room has become so
// meanwhile, whenever it was uploaded.
func TestRoomBecomesEncryptedBeforeThePicture(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c, p, g := playing(t, s)
		c.settled()
		uploaded := make(chan struct{})
		upload := p.Once(matrixtest.Uploading, matrixtest.HoldsAnswer(uploaded))
		g.black.asks(g.root, "!place C3")
		upload.Await(t, 1)
		g.black.reads("1. ")
		c.settle()
		c.await("all that is said in the clear", func() bool { return c.decorations("kind <> 'attach'") == 0 })
		now := g.black.Sets(g.black.at, event.StateEncryption, "", matrixtest.Encryption())
		close(uploaded)
		g.black.Await(g.black.at, "the picture", func(v matrixtest.View) bool { return c.secrets(v) >= 1 })
		c.settled()
		if said := c.clear(g.black.View(g.black.at), now); len(said) > 0 {
			t.Errorf("it has said in the clear: %q", said)
		}
		uploads := p.Requests(matrixtest.Uploading)
		if last := uploads[len(uploads)-1]; last.Query.Has("filename") {
			t.Errorf("the last upload is %q, in the clear", last.Query.Get("filename"))
		}
	})
}

// Encryption cannot be ended: who writes that there is none has changed nothing.
func TestEncryptionIsForEver(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Encrypted: true}, "Anna", "Bob")
		anna := people[0]
		anna.asks("", "!help place")
		anna.Await(anna.at, "an answer", func(v matrixtest.View) bool { return c.secrets(v) == 1 })
		for n, no := range []any{map[string]any{}, map[string]any{"algorithm": "org.example.none"}} {
			now := anna.Sets(anna.at, event.StateEncryption, "", no)
			anna.asks("", "!help place")
			anna.Await(anna.at, "an answer", func(v matrixtest.View) bool { return c.secrets(v)+len(c.clear(v, now)) == n+2 })
			if said := c.clear(anna.View(anna.at), now); len(said) > 0 {
				t.Errorf("it has said in the clear: %q", said)
			}
		}
	})
}

// Before the homeserver has told anything of a room, it is asked whether the room
// is encrypted.
func TestSpeaksAtOnce(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		proxy := c.through()
		c.start()
		anna := c.server.Player(t, "Anna")
		at := anna.Makes(matrixtest.Room{Public: true, Encrypted: true})
		told := make(chan struct{})
		proxy.Always(matrixtest.Syncing, matrixtest.HoldsAnswer(told))
		defer close(told)
		if _, err := c.a.device().Client.JoinRoomByID(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.a.Deliver(t.Context(), outbox.Post{ID: "first", Where: match.Room{Platform: Name, Channel: at.String()}, Kind: match.Notice, Text: "Hello.", Attempt: 1}); err != nil {
			t.Fatal(err)
		}
		anna.Await(at, "the notice", func(v matrixtest.View) bool {
			for _, e := range v.Events {
				if e.Sender == c.user.ID && e.Type == "m.room.message" {
					t.Fatal("it is in the clear")
				}
			}
			return c.secrets(v) == 1
		})
	})
}
