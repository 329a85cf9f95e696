//go:build goolm

package matrix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/matrixtest"
	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// files returns the names of the files that the bot has put into a room, as far as
// somebody there can read.
func (g *guest) files(at id.RoomID) (names []string) {
	for _, m := range g.View(at).From(g.c.user.ID) {
		if m.Kind == string(event.MsgFile) {
			names = append(names, m.Body)
		}
	}
	return names
}

// with is the club's room of somebody alone with the bot, which the bot has made.
func (c *club) with(g *guest) (at []id.RoomID) {
	c.Helper()
	rooms, err := c.a.device().Client.JoinedRooms(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	for _, r := range rooms.JoinedRooms {
		members, err := c.a.device().Client.Members(c.Context(), r)
		if err != nil {
			c.Fatal(err)
		}
		hers, others := false, false
		for _, e := range members.Chunk {
			switch who := e.GetStateKey(); {
			case who == g.ID.String():
				hers = e.Content.AsMember().Membership == event.MembershipInvite || e.Content.AsMember().Membership == event.MembershipJoin
			case who != c.user.ID.String():
				others = true
			}
		}
		if hers && !others {
			at = append(at, r)
		}
	}
	return at
}

// What is kept of somebody is shown where nobody else is, nor may come: not in a
// room of which only its maker says that it is a direct one.
func TestWhatIsKeptIsForOneAlone(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna, bob := c.guest("Anna"), c.guest("Bob")
		three := anna.Makes(matrixtest.Room{Direct: true, Invite: []id.UserID{c.user.ID, bob.ID}})
		bob.AwaitInvite(three)
		c.await("the bot to come", func() bool { return c.a.room(three).joined })
		// Bob, who is only asked into it, will read what is said there now.
		anna.at = three
		anna.asks("", "!privacy export")
		anna.reads("directly")
		bob.Joins(three)
		club := c.room(matrixtest.Room{Name: "Go club"}, "Carl", "Dora")[0]
		club.Invites(club.at, anna.ID)
		anna.AwaitInvite(club.at)
		anna.Joins(club.at)
		c.await("the mark of a direct room", func() bool {
			at, err := c.a.queue.marked(t.Context(), "direct", anna.ID.String())
			return err == nil && at != ""
		})
		// As if that were the room in which she is to be reached.
		if err := c.a.queue.mark(t.Context(), "direct", anna.ID.String(), three.String(), time.Now()); err != nil {
			t.Fatal(err)
		}
		anna.at = club.at
		anna.asks("", "!privacy export")
		anna.reads("directly")
		for _, g := range []*guest{bob, anna, club} {
			for _, at := range []id.RoomID{three, club.at} {
				if files := g.files(at); len(files) > 0 {
					t.Errorf("%s sees %q", g.ID, files)
				}
			}
		}
		if at := c.with(anna); len(at) != 2 { // the first is not where the mark points, and nobody goes through all rooms
			t.Errorf("rooms of hers alone: %v", at)
		}
		again := c.with(anna)
		anna.asks("", "!privacy export") // and the one that there is now is used again
		anna.reads("directly")
		if at := c.with(anna); len(at) != len(again) {
			t.Errorf("rooms of hers alone: %v, before %v", at, again)
		}
	})
}

// A secret answer, and a private post about no game, reach one person in a direct room, and
// nobody else.
func TestSecretsGoToOneAlone(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")[0]
		e := anna.asks("", "!help")
		reply, err := json.Marshal(route{Room: anna.at, Reply: e, Key: "answer of " + e.String()})
		if err != nil {
			t.Fatal(err)
		}
		user := outbox.User{Platform: Name, ID: anna.ID.String(), Name: "Anna"}
		for _, p := range []outbox.Post{
			{ID: "answer", Where: match.Room{Platform: Name, Channel: anna.at.String()}, Kind: match.Answer, Private: true, Secret: true, Asker: user, Text: "the secret", Reply: string(reply)},
			{ID: "notice", Where: match.Room{Platform: Name}, Kind: match.Notice, Private: true, Notify: []outbox.User{user}, Text: "Firefox is now you."},
		} {
			p.Attempt = 1
			if sent, _, err := c.a.Deliver(t.Context(), p); err != nil || sent == "" {
				t.Fatalf("%s: %q, %v", p.ID, sent, err)
			}
		}
		anna.reads(wordDirectly)
		caughtUp(anna.Player, anna.at)
		if seen := anna.Sees(anna.at); strings.Contains(seen, "secret") || strings.Contains(seen, "Firefox") {
			t.Errorf("the room reads\n%s", seen)
		}
		with := c.with(anna)
		if len(with) != 1 {
			t.Fatalf("rooms of hers alone: %v", with)
		}
		anna.AwaitInvite(with[0])
		anna.Joins(with[0])
		anna.Await(with[0], "both, encrypted", func(v matrixtest.View) bool { return len(v.From(c.user.ID)) == 2 })
	})
}

// However often the answer is lost, a room for somebody is made once.
func TestRoomIsMadeOnce(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")[0]
		lost := p.Times(2, matrixtest.On("POST", "/createRoom$"), matrixtest.Loses())
		anna.asks("", "!privacy export")
		anna.reads("directly")
		if made := c.with(anna); len(made) != 1 || lost.Made() != 1 {
			t.Errorf("made %v after %d lost answers", made, lost.Made())
		}
		lost.Stop()
		at := c.with(anna)[0]
		if from := anna.AwaitInvite(at); from != c.user.ID {
			t.Errorf("she is invited by %s", from)
		}
		anna.Joins(at)
		anna.Await(at, "what is kept", func(v matrixtest.View) bool { return len(v.From(c.user.ID)) == 1 })
		if word, err := c.a.queue.marked(t.Context(), "making", anna.ID.String()); err != nil || word != "" {
			t.Errorf("still being made: %q, %v", word, err)
		}
		// Two who make one at once make one.
		bob := c.server.Player(t, "Bob")
		found := make(chan id.RoomID, 4)
		for range cap(found) { // the homeserver need not know at once whom it has asked
			go func() {
				at, err := c.a.directly(t.Context(), c.a.device(), bob.ID, true)
				if err != nil {
					t.Error(err)
				}
				found <- at
			}()
		}
		one := <-found
		for range cap(found) - 1 {
			if at := <-found; at != one {
				t.Errorf("rooms %s and %s", one, at)
			}
		}
	})
}

// What the bot says first in a room that it has just made can be read by whom it has
// invited, though the homeserver does not say yet who that is, nor that the room is
// encrypted; also if the bot has looked by then whether everybody else has left the room.
func TestFirstWordsInARoomOfItsOwn(t *testing.T) {
	for name, later := range map[string]time.Duration{"at once": 0, "a little later": 5 * time.Second} {
		t.Run(name, func(t *testing.T) { firstWords(t, later) })
	}
}

func firstWords(t *testing.T, later time.Duration) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		c.start()
		pair := c.talkers(true)
		pair.gathers()
		anna := pair.people[0]
		anna.says("", "!help")
		anna.sees("!new") // and the bot knows who is in the club's room
		p.Always(matrixtest.On("GET", "/members$"), matrixtest.Changes(func([]byte) []byte {
			return fmt.Appendf(nil, `{"chunk":[{"type":"m.room.member","sender":%[1]q,"state_key":%[1]q,"content":{"membership":"join"}}]}`, c.user.ID)
		}))
		p.Always(matrixtest.On("GET", "/state/m.room.encryption/$"), matrixtest.Fails(404, "M_NOT_FOUND"))
		at, err := c.a.directly(t.Context(), c.a.device(), anna.ID, true)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(later)
		if _, err := c.a.send(t.Context(), c.a.device(), at, message.Text(message.Content{Text: "for you alone"}), "first", nil); err != nil {
			t.Fatal(err)
		}
		anna.AwaitInvite(at)
		anna.Joins(at)
		pair.at = at
		anna.sees("for you alone")
		if m := anna.View(at).From(c.user.ID); len(m) != 1 || !m[0].Encrypted {
			t.Errorf("the homeserver sees %+v", m)
		}
	})
}

// A room that the bot has made for somebody without hearing of it is not theirs
// alone any more once they have asked another into it.
func TestRoomIsMadeForOneAlone(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")[0]
		bob := c.server.Player(t, "Bob")
		if err := c.a.queue.mark(t.Context(), "making", anna.ID.String(), "a word", time.Now()); err != nil { // and the answer was lost
			t.Fatal(err)
		}
		made, err := c.a.device().Client.CreateRoom(t.Context(), &mautrix.ReqCreateRoom{Preset: "trusted_private_chat", IsDirect: true,
			Invite: []id.UserID{anna.ID}, CreationContent: map[string]any{intent: "a word"}})
		if err != nil {
			t.Fatal(err)
		}
		anna.AwaitInvite(made.RoomID)
		anna.Joins(made.RoomID)
		anna.Invites(made.RoomID, bob.ID)
		c.await("the bot to know who is there", func() bool {
			with, err := c.a.company(t.Context(), c.a.device(), made.RoomID)
			return err == nil && with[bob.ID]
		})
		anna.asks("", "!privacy export")
		anna.reads("directly")
		if files := anna.files(made.RoomID); len(files) > 0 {
			t.Errorf("where Bob may come stands %q", files)
		}
		if at := c.with(anna); len(at) != 1 {
			t.Errorf("rooms of hers alone: %v", at)
		}
	})
}

// Who is in a room is read whatever else their clients have written there.
func TestOddMembers(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		p := c.through()
		p.Always(matrixtest.On("GET", "/members$"), matrixtest.Changes(func(body []byte) []byte {
			return bytes.ReplaceAll(body, []byte(`"displayname":"Anna"`), []byte(`"displayname":5`))
		}))
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna", "Bob")[0]
		for range 2 {
			anna.asks("", "!privacy export")
			anna.reads("directly")
		}
		if at := c.with(anna); len(at) != 1 {
			t.Errorf("rooms of hers alone: %v", at)
		}
	})
}

// A picture can show the user id of somebody with a name that it cannot draw.
func TestNamesWithoutLettersToDraw(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.through().Always(matrixtest.On("GET", "/members$|/sync"), matrixtest.Changes(func(body []byte) []byte {
			return bytes.ReplaceAll(body, []byte(`"displayname":"Anna"`), []byte(`"displayname":"عمر"`))
		}))
		c.start()
		anna := c.room(matrixtest.Room{Name: "Go club"}, "Anna")[0]
		anna.asks("", "!privacy export")
		anna.reads("everything")
		if people := c.dump()["person"]; !strings.Contains(people, "عمر (anna)") {
			t.Errorf("people are known as %s", people)
		}
	})
}

// keeps returns the tables in which somebody's id or name stands.
func (c *club) keeps(who ...string) (tables []string) {
	for table, text := range c.dump() {
		for _, s := range who {
			if strings.Contains(text, s) && !strings.HasPrefix(table, "crypto_") {
				tables = append(tables, table)
				break
			}
		}
	}
	return tables
}

// Who is forgotten is forgotten here too: what remains while they are in a room
// is that they are in it, and when they or the bot leave it not even that.
func TestForgotten(t *testing.T) {
	inMemory(t, func(t *testing.T, s *matrixtest.Server) {
		c := lively(t, s)
		c.start()
		people := c.room(matrixtest.Room{Name: "Go club"}, "Annabella", "Bob")
		anna, bob := people[0], people[1]
		other := c.room(matrixtest.Room{Name: "Another"}, "Carl")[0]
		other.Invites(other.at, anna.ID)
		anna.AwaitInvite(other.at)
		anna.Joins(other.at)
		anna.asks("", "!privacy export")
		anna.reads("directly")
		c.dealt(anna.at, anna.Sends(anna.at, event.EventEncrypted, sealed("hers")))
		anna.reads("I could not read")
		c.dealt(bob.at, bob.Sends(bob.at, event.EventEncrypted, sealed("his")))
		bob.Await(bob.at, "that it could not be read", func(matrixtest.View) bool { return c.says(bob, "I could not read") == 2 })
		bad := anna.asks("", "!games")
		c.exec("UPDATE matrix_event SET state = $1, body = $2 WHERE event = $3", poison,
			`{"sender":"`+anna.ID.String()+`","type":"m.room.message","content":{"body":"a secret"}}`, bad)
		alone := c.with(anna)
		anna.asks("", "!privacy delete")
		if n := len(c.keeps("a secret")); n != 1 {
			t.Errorf("before she has said that she is sure it is in %d tables", n)
		}
		anna.asks("", "!privacy delete yes")
		anna.reads("I have erased you")
		if tables := c.keeps(anna.ID.String(), "Annabella", "a secret"); len(tables) != 2 { // mx_user_profile and mx_room_state: she made the room
			t.Errorf("she stands in %v", tables)
		}
		if state, err := c.a.queue.state(t.Context(), bad); err != nil || state != poison {
			t.Errorf("what was left alone is %q, %v", state, err)
		}
		rows, err := c.a.queue.rows(t.Context(), "state = $1", keyless)
		if err != nil || len(rows) != 1 || rows[0].evt.Sender != bob.ID {
			t.Errorf("what Bob said waits for its key no longer: %v, %v", rows, err)
		}
		// She goes from one room, the bot from the others.
		anna.Leaves(other.at)
		c.await("the bot to see it", func() bool { return c.a.room(other.at).people == 2 })
		for _, at := range append(alone, anna.at) {
			if _, err := c.a.device().Client.LeaveRoom(t.Context(), at); err != nil {
				t.Fatal(err)
			}
			c.await("the bot to be away", func() bool { return !c.a.room(at).joined })
		}
		if err := c.a.queue.forget(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if tables := c.keeps(anna.ID.String(), "Annabella"); len(tables) > 0 {
			t.Errorf("she stands in %v", tables)
		}
		if tables := c.keeps("Carl"); len(tables) == 0 {
			t.Error("so nobody stands anywhere")
		}
		for _, at := range alone { // which is for ever
			if is, err := c.a.device().State.IsEncrypted(t.Context(), at); err != nil || !is && c.a.device().Crypto != nil {
				t.Errorf("it is not known any more that %s is encrypted, %v", at, err)
			}
		}
	})
}

// Of somebody who is forgotten nothing is left in the file of the database, nor in
// its write-ahead log.
func TestErasedLeavesNoTraces(t *testing.T) {
	ctx := t.Context()
	file := filepath.Join(t.TempDir(), "halfpoint.db")
	st, db, closed := openStore(t, file)
	defer closed()
	q := &queue{db}
	const anna, room = id.UserID("@zyxqanna:x"), id.RoomID("!room:x")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	b := batch{token: "t", marks: map[[2]string]string{{"direct", anna.String()}: "!own:x", {"making", anna.String()}: "word", {"invited", anna.String()}: "!own:x", {"unread", anna.String() + " !room:x"}: "1"}}
	for i := range 60 {
		sender := anna
		if i%2 > 0 {
			sender = id.UserID(fmt.Sprintf("@stays%d:x", i))
		}
		b.events = append(b.events, &event.Event{ID: id.EventID(fmt.Sprintf("$%d", i)), RoomID: room, Sender: sender, Type: event.EventMessage,
			Content: event.Content{Raw: map[string]any{"body": fmt.Sprintf("said by %s: %0200d", sender, i)}}})
	}
	_, err := q.take(ctx, b, now)
	must(err)
	rows, err := q.rows(ctx, "state = $1 ORDER BY n", waiting)
	must(err)
	for i, r := range rows {
		must(q.settle(ctx, r, []string{accepted, poison, keyless}[i/2%3], "session"))
	}
	must(q.erase(ctx, anna))
	must(st.Erase(ctx, bot.Forgetting{Person: "p1", Who: outbox.User{Platform: Name, ID: anna.String()}})) // as the bot does then
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(file + suffix)
		must(err)
		all = append(all, data...)
	}
	if n := bytes.Count(all, []byte("zyxq")); n > 0 {
		t.Errorf("%d traces of her", n)
	}
	if n := bytes.Count(all, []byte("said by @stays")); n < 20 {
		t.Errorf("%d traces of others", n)
	}
}
