//go:build goolm

package matrix

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
)

// late holds back the keys that a device sends to the bot until now is closed;
// then they come with the next answer that there is.
func (c *club) late(p *matrixtest.Proxy, of *eavesdropper, now <-chan struct{}) {
	c.Helper()
	user, device := of.Client.UserID, of.Client.DeviceID
	answer, err := of.Client.QueryKeys(c.Context(), &mautrix.ReqQueryKeys{DeviceKeys: mautrix.DeviceKeysRequest{user: {device}}})
	if err != nil {
		c.Fatal(err)
	}
	sender := answer.DeviceKeys[user][device].Keys.GetCurve25519(device).String()
	var mu sync.Mutex
	var held []any
	p.Always(matrixtest.Syncing, matrixtest.Changes(func(body []byte) []byte {
		var whole map[string]any
		if json.Unmarshal(body, &whole) != nil {
			return body
		}
		toDevice, _ := whole["to_device"].(map[string]any)
		events, _ := toDevice["events"].([]any)
		mu.Lock()
		defer mu.Unlock()
		var passed []any
		for _, e := range events {
			content, _ := e.(map[string]any)["content"].(map[string]any)
			if content["sender_key"] == sender {
				held = append(held, e)
			} else {
				passed = append(passed, e)
			}
		}
		select {
		case <-now:
			passed, held = append(passed, held...), nil
		default:
		}
		whole["to_device"] = map[string]any{"events": passed}
		body, _ = json.Marshal(whole)
		return body
	}))
}

// Taking back and changing what was said in an encrypted room means what it means
// in one that is not, also while the bot lacks the key of what was said, and when
// it was said while the bot was away.
func TestTakenBackUnread(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		w := c.watch()
		c.start()
		r := c.talkers(true)
		r.gathers()
		phone := r.people[0]
		laptop := &talker{Player: phone.Player, c: c, r: r, dev: c.besides(phone.User)}
		keys := make(chan struct{})
		c.late(p, laptop.dev, keys)
		phone.says("", "!new two-button 5x5 opponent:me")
		root := phone.sees("Game 1 begins")
		phone.seesIn(root, " to play, for example ")
		became := func(e id.EventID, want string) {
			t.Helper()
			c.await(want, func() bool { state, err := c.a.queue.state(t.Context(), e); return err == nil && state == want })
		}
		unread := func(e id.EventID) id.EventID { t.Helper(); became(e, keyless); return e }

		gone := unread(laptop.says(root, "!place A1"))
		phone.Redacts(r.at, gone)
		became(gone, ignored)
		changed := unread(laptop.says(root, "!place B2"))
		otherwise := unread(laptop.says(root, "!place A2"))
		both := unread(laptop.says(root, "!place A3"))
		bothEdit := unread(laptop.edits(both, "!place A4"))
		phone.Redacts(r.at, both)
		became(both, ignored)
		late := unread(laptop.says(root, "!place D3"))

		phone.edits(changed, "!place C3")
		phone.seesIn(root, "Black C3")
		became(changed, ignored)
		became(phone.edits(otherwise, "never mind"), ignored)
		became(otherwise, ignored)
		done := phone.says(root, "!place C4")
		phone.seesIn(root, "White C4")
		tooLate := unread(laptop.edits(done, "!place E5"))

		close(keys)
		phone.says("", "a nice game") // so that there is an answer
		became(late, accepted)
		phone.seesIn(root, "Black D3")
		became(tooLate, refused)
		phone.seesIn(root, edited)
		became(bothEdit, ignored)
		c.settled()
		want := []string{"C3", "C4", "D3"}
		asked := func() (at []string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, q := range w.asked {
				if q.Command == "place" {
					at = append(at, q.Args["at"])
				}
			}
			return at
		}
		if got := asked(); !slices.Equal(got, want) {
			t.Errorf("asked for %q, want %q", got, want)
		}

		// The same while the bot is away, and more than one answer tells.
		c.halt()
		back := phone.says(root, "!place A5")
		phone.edits(phone.says(root, "!place A4"), "!place D4")
		phone.edits(phone.says(root, "!place B4"), "never mind")
		phone.edits(phone.says(root, "what do you think"), "!place D2")
		phone.Redacts(r.at, back)
		phone.says(root, "a nice game")
		p.Once(matrixtest.Syncing, matrixtest.Shortens(1))
		c.start()
		phone.seesIn(root, "Black D2")
		c.settled()
		want = append(want, "D4", "D2")
		if got := asked(); !slices.Equal(got, want) {
			t.Errorf("asked for %q, want %q", got, want)
		}
		said := 0
		for _, m := range phone.heard() {
			if strings.Contains(m["body"].(string), edited) {
				said++
			}
		}
		if said != 1 {
			t.Errorf("that it stays was said %d times", said)
		}
		c.sealed(phone, r.at)
	})
}

// sealed: all that the bot has said in a room by now is encrypted, and somebody
// there has seen it and can read it.
func (c *club) sealed(p *talker, at id.RoomID) {
	c.Helper()
	caughtUp(p.Player, at)
	v := p.View(at)
	if said := c.clear(v, v.Events[0].ID); len(said) > 0 {
		c.Errorf("it has said in the clear: %q", said)
	}
	for _, e := range v.Events {
		if e.Sender == c.user.ID && e.Type == "m.room.encrypted" && len(e.Content) > 0 { // its key may come after it
			c.await(fmt.Sprintf("%s to be able to read %s", p.ID, e.ID), func() bool { return p.dev.opens(at, e) != nil })
		}
	}
}

// What is said in the room that takes the place of another belongs to the games of
// that one, also if the bot has not yet dealt with the news that it has moved.
func TestMovedIsDealtWithLate(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		w := c.watch()
		c.start()
		r := c.pair(false)
		anna := r.people[0]
		held, released := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(released) })
		t.Cleanup(release)
		w.sets(func(r bot.Request) error {
			if r.Command == "help" {
				close(held)
				<-released
			}
			return nil
		})
		anna.says("", "!help")
		<-held // what is said after it in that room waits
		r.moves(r.successor())
		c.await("the bot to follow", func() bool { return c.a.room(r.at).joined })
		anna.says("", "!place A1")
		anna.seesIn(anna.sees("Game 1 goes on here"), "1. ")
		release()
		c.settled()
	})
}

// An encrypted room is upgraded in the middle of a game: it goes on in the new
// one, which is encrypted from its first event on, and nothing is said there in
// the clear. What was owed when the room moved is said there.
func TestUpgradedEncryptedRoom(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		r := c.pair(true)
		anna, bob := r.people[0], r.people[1]
		anna.says(r.root, "!place A1")
		anna.seesIn(r.root, "1. ")
		c.settled()
		old, root := r.at, r.root
		made := r.successor()
		uploaded := make(chan struct{})
		held := p.Once(matrixtest.Uploading, matrixtest.Holds(uploaded))
		bob.says(root, "!place C1")
		held.Await(t, 1)
		r.moves(made)
		c.await("the bot to know the room", func() bool { return c.a.room(r.at).joined && c.a.current(old).id == r.at })
		close(uploaded)
		anna.says("", "!place A3")
		goes := anna.sees("Game 1 goes on here")
		anna.seesIn(goes, "3. ")
		c.halt()
		bob.says(goes, "!place C3")
		c.start()
		bob.seesIn(goes, "4. ")
		c.settled()
		c.sealed(anna, r.at)
		shown := map[int]bool{}
		for _, at := range []id.RoomID{old, r.at} {
			r.at = at
			c.sealed(anna, at)
			for _, m := range anna.heard() {
				if m["msgtype"] == "m.image" {
					shown[moveOf(m["body"].(string))] = true
					anna.looks(m)
				}
			}
		}
		if len(shown) != 5 {
			t.Errorf("the boards of moves %v were shown", shown)
		}
	})
}

// Of what was changed before the bot came to it, it does what it became; what
// became something else, or was taken back, is not done at all.
func TestChangedWhileAway(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		for _, short := range []bool{false, true} { // what was said comes in an answer, or has to be fetched
			c := newClub(t, s)
			p := c.through()
			w := c.watch()
			c.start()
			g := c.begins("two-button 5x5")
			c.settle()
			c.halt()
			at, before := g.black.at, len(w.in(g.black.at))
			turn := g.black.SaysIn(at, g.root, "!place C3")
			g.black.Edits(at, turn, "!place C4")
			last := g.black.Edits(at, turn, "!place D4")
			not := g.black.Says(at, "!games")
			g.black.Edits(at, not, "!rules")
			g.black.Edits(at, not, "what games are there?")
			gone := g.black.Says(at, "!rules")
			g.black.Edits(at, gone, "!games")
			g.black.Redacts(at, gone)
			hers := g.white.Says(at, "!help")
			g.black.Edits(at, hers, "!games") // which nobody can
			if short {
				p.Once(matrixtest.Syncing, matrixtest.Shortens(1))
			}
			c.start()
			end := g.black.asks("", "!settings")
			g.shows("Black D4")
			want := []id.EventID{last, hers, end}
			if got := w.in(at)[before:]; !slices.Equal(got, want) {
				t.Errorf("asked about %v, want %v", got, want)
			}
			// Done is done, by whichever way.
			c.dealt(at, g.black.Edits(at, turn, "!place E5"))
			g.black.reads("Editing a message does not change")
			c.once(g.black, at)
		}
	})
}

// edited is what somebody reads who has edited a command.
var edited = strings.ReplaceAll(wordEdited, "{/undo}", "!undo")
