//go:build goolm

package matrix

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/e2ee"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// clear returns what the bot has said in the clear after an event, reactions aside.
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

// secrets returns how many encrypted events the bot has sent.
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
		r := c.talkers(false)
		r.gathers()
		anna, bob := r.people[0], r.people[1]
		anna.says("", "!new 5x5")
		root := bob.sees("opens game 1")
		bob.says(root, "!join")
		anna.sees(" to play, for example ")
		anna.says(root, "!place C3")
		anna.sees("1. Black C3")
		c.settled()
		uploaded := make(chan struct{})
		upload := proxy.Once(matrixtest.Uploading, matrixtest.HoldsAnswer(uploaded))
		bob.says(root, "!place D3")
		upload.Await(t, 1)
		now := r.becomesSealed()
		before := len(proxy.Requests(matrixtest.Uploading))
		close(uploaded)
		anna.sees("2. White D3")
		anna.says(root, "!place C4")
		bob.sees("3. Black C4")
		anna.says(root, "!score")
		anna.sees("If the game ended now")
		bob.says(root, "!place D4")
		anna.sees("4. White D4")
		anna.says(root, "!place I9")
		anna.sees("no column I")
		c.settled()
		if said := c.clear(anna.View(r.at), now); len(said) > 0 {
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
		c.await("all that is said in the clear", func() bool { return c.decorations("kind <> 'attach' AND sleeps = 0") == 0 })
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
