//go:build goolm

package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

const notEncrypted = "Your message was not encrypted"

// inClear says something unencrypted, as a homeserver can in everybody's name.
func (p *talker) inClear(thread id.EventID, text string) id.EventID {
	if thread == "" {
		return p.Says(p.r.at, text)
	}
	return p.SaysIn(p.r.at, thread, text)
}

// count returns how many of the bot's messages say something.
func (p *talker) count(what string) (n int) {
	for _, m := range p.heard() {
		if strings.Contains(fmt.Sprint(m["body"]), what) {
			n++
		}
	}
	return n
}

// becomesSealed has a room encrypted, and gives its people devices that encrypt.
func (r *pair) becomesSealed() (by id.EventID) {
	c := r.people[0].c
	c.Helper()
	by = r.people[0].Sets(r.at, event.StateEncryption, "", matrixtest.Encryption())
	for _, p := range r.people {
		p.dev = c.secretly(p.User)
		c.await("the state of the room", func() bool { return p.dev.State.IsInRoom(c.Context(), r.at, c.user.ID) })
	}
	return by
}

// seals makes a game in an encrypted room in which Black has played C3.
func (c *club) seals() *pair {
	c.Helper()
	r := c.talkers(true)
	r.gathers()
	anna, bob := r.people[0], r.people[1]
	anna.says("", "!new 5x5")
	r.root = anna.sees("opens game 1")
	bob.says(r.root, "!join")
	anna.sees(" to play, for example ")
	anna.says(r.root, "!place C3")
	bob.sees("1. Black C3")
	return r
}

// In an encrypted room nothing is done that is said in the clear, and its author hears why;
// what is chat stays chat. An event that was encrypted for another room is none of this one.
func TestInClearInAnEncryptedRoom(t *testing.T) {
	matrixtest.Each(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := c.seals()
		bob := r.people[1]
		var last id.EventID
		for n, command := range []string{"!place D3", "!resign confirm:yes", "D3"} {
			last = bob.inClear(r.root, command)
			c.dealt(r.at, last)
			c.await("the refusal of "+command, func() bool { return bob.count(notEncrypted) == n+1 })
		}
		edit := &event.MessageEventContent{MsgType: event.MsgText, Body: "!delete 1"}
		edit.SetEdit(last)
		c.dealt(r.at, bob.Sends(r.at, event.EventMessage, edit))
		c.await("the refusal of an edit", func() bool { return bob.count(notEncrypted) == 4 })
		for _, chat := range []string{"Hello", "A good game.", "E5, I think."} {
			c.dealt(r.at, bob.inClear(r.root, chat))
		}
		other := r.elsewhere()
		said := other.people[1].says("", "!new 5x5")
		other.people[1].sees("opens game 1")
		for _, e := range bob.View(other.at).Events {
			if e.ID == said {
				c.dealt(r.at, bob.Sends(r.at, event.EventEncrypted, e.Content))
			}
		}
		bob.says(r.root, "!place D3")
		r.people[0].sees("2. White D3")
		c.settled()
		if n := bob.count(notEncrypted); n != 4 {
			t.Errorf("%d refusals, also of chat", n)
		}
		if n := bob.count("opens game"); n != 1 {
			t.Errorf("%d games are open", n)
		}
	})
}

// Of what the homeserver gives out for the bot's own message the bot repeats only what it has
// encrypted itself.
func TestRepeatsOnlyItself(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		r := c.seals()
		c.settled()
		const said = "It was a good game."
		dev, bob := c.a.device(), r.people[1]
		own, err := dev.Client.SendMessageEvent(t.Context(), r.at, event.EventMessage, &event.MessageEventContent{MsgType: event.MsgText, Body: said}, mautrix.ReqSendEvent{DontEncrypt: true})
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]id.EventID{
			"another's":               bob.says(r.root, said),
			"another's, in the clear": bob.inClear(r.root, said),
			"the bot's, in the clear": own.EventID,
		} {
			p := outbox.Post{Where: match.Room{Platform: Name, Channel: r.at.String()}}
			if err := c.a.leave(t.Context(), dev, r.at, e, p); !errors.Is(err, outbox.ErrGone) {
				t.Errorf("%s is edited: %v", name, err)
			}
			if words, err := c.a.words(t.Context(), dev, r.at, e, lookTries); words != "" || err != nil {
				t.Errorf("%s is repeated: %q, %v", name, words, err)
			}
		}
	})
}

// What was said before the room was encrypted is played, also if it comes late and after a
// gap; what was said in the clear afterwards is not.
func TestInClearBeforeTheRoomWasEncrypted(t *testing.T) {
	for name, chat := range map[string]int{"in one answer": 0, "before a gap": timeline, "around a gap": timeline / 2} {
		t.Run(name, func(t *testing.T) {
			inMemory(t, func(t *testing.T, s *matrixtest.Server) {
				c := lively(t, s)
				c.start()
				r := c.talkers(false)
				r.gathers()
				anna, bob := r.people[0], r.people[1]
				anna.says("", "!new 5x5")
				root := anna.sees("opens game 1")
				bob.says(root, "!join")
				anna.sees(" to play, for example ")
				c.settled()
				c.halt()

				talks := func() {
					for n := range chat {
						anna.inClear("", fmt.Sprint("Hello ", n))
					}
				}
				anna.says(root, "!place C3")
				talks()
				r.becomesSealed()
				bob.inClear(root, "!place D3")
				talks()
				bob.inClear(root, "!resign confirm:yes")
				c.start()
				bob.sees("1. Black C3")
				c.await("the refusals", func() bool { return bob.count(notEncrypted) > 0 })
				before := bob.count(notEncrypted) // one or two: they are merged while they wait
				bob.says(root, "!place D4")
				anna.sees("2. White D4")
				bob.inClear(root, "!resign confirm:yes")
				c.await("a refusal", func() bool { return bob.count(notEncrypted) == before+1 })
			})
		})
	}
}

// A homeserver says that an encrypted room is not encrypted, or moves it to a room that is
// not: nothing is said or done in the clear.
func TestEncryptedRoomStaysSo(t *testing.T) {
	t.Run("by its word", func(t *testing.T) {
		inMemory(t, func(t *testing.T, s *matrixtest.Server) {
			c := lively(t, s)
			p := c.through()
			c.start()
			r := c.seals()
			bob := r.people[1]
			c.settled()
			p.Always(matrixtest.On("GET", "/state/m.room.encryption"), matrixtest.Fails(404, "M_NOT_FOUND"))
			lies := []string{`{"event_id":"$lie-1","sender":"` + bob.ID.String() + `","type":"m.room.encryption","state_key":"","content":{}}`,
				`{"event_id":"$lie-2","sender":"` + bob.ID.String() + `","type":"m.room.encryption","state_key":"","content":{"algorithm":7}}`}
			told := p.Once(matrixtest.Syncing, splices(r.at, lies))
			told.Await(t, 1)
			now := bob.inClear(r.root, "!place D3")
			c.await("the refusal", func() bool { return bob.count(notEncrypted) == 1 })
			if said := c.clear(bob.View(r.at), now); len(said) > 0 {
				t.Errorf("it has said in the clear: %q", said)
			}
		})
	})
	t.Run("by an upgrade", func(t *testing.T) {
		inMemory(t, func(t *testing.T, s *matrixtest.Server) {
			c := lively(t, s)
			c.start()
			r := c.seals()
			anna, bob := r.people[0], r.people[1]
			c.settled()
			next := anna.Makes(matrixtest.Room{Name: "New club", Succeeds: r.at, Invite: []id.UserID{bob.ID}})
			r.moves(next)
			bob.sees("goes on here")
			said := bob.inClear("", "!place D3")
			c.dealt(next, said)
			c.await("the refusal", func() bool { return bob.count(notEncrypted) == 1 })
			c.settled()
			for _, e := range bob.View(next).Events {
				if e.Sender == c.user.ID && e.Type == "m.room.message" {
					t.Errorf("it has said in the clear: %v", e.Content["body"])
				}
			}
		})
	})
}

// What is in the clear is told apart from what was said before the room was encrypted.
func TestSealing(t *testing.T) {
	for _, c := range []struct {
		before          bool
		state, timeline string
		want            sealing
	}{
		{false, ``, `{"type":"m.room.message"}`, sealing{from: 1}},
		{false, ``, ``, sealing{}},
		{true, ``, `{"type":"m.room.encryption","state_key":""}`, sealing{gap: true}},
		{false, `{"type":"m.room.encryption","state_key":"","event_id":"$x"}`, `{"type":"m.room.message"}`, sealing{gap: true, by: "$x"}},
		{false, `{"type":"m.room.encryption","state_key":"other","event_id":"$x"}`, `{"type":"m.room.message"}`, sealing{from: 1}},
		{false, ``, `{"type":"m.room.message"},{"type":"m.room.encryption","state_key":""},{"type":"m.room.message"}`, sealing{from: 2}},
		{false, ``, `{"type":"m.room.encryption"},{"type":"m.room.message"}`, sealing{from: 2}},
	} {
		whole := fmt.Sprintf(`{"rooms":{"join":{"!r:x":{"state":{"events":[%s]},"timeline":{"events":[%s]}}}}}`, c.state, c.timeline)
		resp, _, err := readSync([]byte(whole))
		if err != nil {
			t.Fatal(err)
		}
		if got := newSealing(c.before, resp.Rooms.Join["!r:x"]); got != c.want {
			t.Errorf("%t, %s | %s: %+v, not %+v", c.before, c.state, c.timeline, got, c.want)
		}
	}
}

// The bot hears that a room is encrypted before anybody asks there, or as soon as that is
// switched on, once after each start; and of the room whose games go on in an encrypted one.
func TestEncryptionIsReported(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		w := c.watch()
		c.start()
		check := func(at id.RoomID, want string) {
			t.Helper()
			var got []string
			c.await(want, func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				got = nil
				for _, said := range w.said {
					if said == "encrypted "+at.String() {
						got = append(got, "encrypted")
					} else if slices.ContainsFunc(w.asked, func(r bot.Request) bool { return r.ID == said && r.Where.Channel == at.String() }) {
						got = append(got, "asked")
					}
				}
				return len(got) >= len(strings.Fields(want))
			})
			if got := strings.Join(got, " "); got != want {
				t.Errorf("%s, not %s", got, want)
			}
		}
		r := c.talkers(true)
		r.gathers()
		anna := r.people[0]
		anna.says("", "!help place")
		check(r.at, "encrypted asked")
		bob := c.room(matrixtest.Room{Name: "open"}, "Bob")[0]
		bob.asks("", "!help place")
		carol := c.room(matrixtest.Room{Name: "moves"}, "Carol")[0]
		carol.asks("", "!help place")
		check(carol.at, "asked")
		check(bob.at, "asked")
		bob.Sets(bob.at, event.StateEncryption, "", matrixtest.Encryption())
		check(bob.at, "asked encrypted")
		carol.Moves(carol.at, carol.Makes(matrixtest.Room{Succeeds: carol.at, Encrypted: true, Invite: []id.UserID{c.user.ID}}))
		check(carol.at, "asked encrypted")
		c.restart()
		anna.says("", "!help place")
		anna.says("", "!help pass")
		check(r.at, "encrypted asked encrypted asked asked")
	})
}

// A post names the page of its game, but never in an encrypted room.
func TestLinkOfThePage(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		for _, encrypted := range []bool{false, true} {
			r := c.talkers(encrypted)
			r.gathers()
			c.await("the bot to know the room", func() bool { return c.a.room(r.at).joined })
			if _, _, err := c.a.Deliver(t.Context(), outbox.Post{ID: r.at.String(), Where: match.Room{Platform: Name, Channel: r.at.String()}, Kind: match.Show,
				Text: "5. Black E5", Link: "https://go.example.org/g/x/9", Attempt: 1}); err != nil {
				t.Fatal(err)
			}
			r.people[0].sees("5. Black E5")
			if got := r.people[0].count("Open the board: https://go.example.org/g/x/9"); got == 1 == encrypted {
				t.Errorf("encrypted %v: %d links", encrypted, got)
			}
		}
	})
}
