package matrixtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

func TestAPlayerSeesARoomAsPeopleDo(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		anna, ben := s.Player(t, "Anna"), s.Player(t, "Ben")
		room := anna.Makes(Room{Name: "Go", Invite: []id.UserID{ben.ID}})
		if from := ben.AwaitInvite(room); from != anna.ID {
			t.Fatalf("the invitation is from %s", from)
		}
		ben.Joins(room)
		root := anna.Says(room, "!new 9x9", ben.ID)
		anna.SaysIn(room, root, "!place D4")
		shown := ben.Says(room, "Black D4.\nWhite to play.")
		first := ben.SaysIn(room, root, "thinking")
		ben.Edits(room, first, "thinking hard")
		ben.Edits(room, first, "thought")
		// Nobody can change what somebody else has said.
		forged := words("I resign")
		forged.SetEdit(first)
		anna.Sends(room, event.EventMessage, forged)
		reply := words("played E5", anna.ID)
		reply.RelatesTo = (&event.RelatesTo{}).SetThread(root, "").SetReplyTo(first)
		ben.Sends(room, event.EventMessage, reply)
		anna.Reacts(room, shown, "✅")
		ben.Reacts(room, shown, "✅")
		flag := ben.Reacts(room, shown, "🏳")
		ben.Redacts(room, flag)
		slip := anna.Says(room, "oops")
		anna.Redacts(room, slip)
		late := anna.Says(room, "done")

		want := `── Go
· Anna: join
· Ben: invite
· Ben: join
Anna: !new 9x9
    (pings Ben)
Anna: !place D4
    (in the thread of Anna: !new 9x9)
Ben: Black D4.
    White to play.
    (✅ Anna, Ben)
Ben: thought
    (in the thread of Anna: !new 9x9)
    (edited)
Ben: played E5
    (in the thread of Anna: !new 9x9)
    (to Ben: thought)
    (pings Anna)
Anna: (removed)
Anna: done
`
		anna.AwaitEvent(room, late)
		ben.AwaitEvent(room, late)
		if got := anna.Sees(room); got != want {
			t.Errorf("Anna sees\n%s\nnot\n%s", got, want)
		}
		// Ben was not in the room when it began: what he sees is the same from
		// his invitation on, as the history is visible to members.
		if got := ben.Sees(room); got != want {
			t.Errorf("Ben sees\n%s\nnot\n%s", got, want)
		}
		if m := anna.View(room).Message(first); m.Edits != 2 || m.Thread != root || m.ReplyTo != "" {
			t.Errorf("the edited message is %+v", m)
		}

		// Somebody who comes when all is over, through a timeline too short for
		// it, sees the same.
		token, device := s.Login(t, anna.User)
		again := s.NewPlayer(t, s.URL, User{anna.ID, anna.Password, token, device})
		again.AwaitEvent(room, late)
		if got := again.Sees(room); got != want {
			t.Errorf("another device sees\n%s\nnot\n%s", got, want)
		}
	})
}

// The rules for edits: the latest by the clock, ties by the greater ID, only
// the author's own, none that was taken back.
func TestWhichEditIsShown(t *testing.T) {
	of := func(n int, sender, body string, time int64) *Event {
		fresh := map[string]any{"msgtype": "m.text", "body": body}
		return &Event{ID: id.EventID(fmt.Sprint("$", n)), Sender: id.UserID(sender), Type: "m.room.message", Time: time,
			Content: map[string]any{"msgtype": "m.text", "body": "* " + body, "m.new_content": fresh, "m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": "$0"}}}
	}
	first := &Event{ID: "$0", Sender: "@a:x", Type: "m.room.message", Time: 10, Content: map[string]any{"msgtype": "m.text", "body": "first"}}
	gone := func(n int) *Event {
		return &Event{ID: "$r", Sender: "@a:x", Type: "m.room.redaction", Content: map[string]any{"redacts": fmt.Sprint("$", n)}}
	}
	for want, edits := range map[string][]*Event{
		"first":  {of(1, "@b:x", "forged", 20)},
		"late":   {of(1, "@a:x", "late", 30), of(2, "@a:x", "early", 20)},
		"higher": {of(2, "@a:x", "higher", 20), of(1, "@a:x", "lower", 20)},
		"kept":   {of(1, "@a:x", "kept", 20), of(2, "@a:x", "taken back", 30), gone(2)},
	} {
		v := resolve("!r:x", nil, append([]*Event{first}, edits...))
		if len(v.Messages) != 1 || v.Messages[0].Body != want {
			t.Errorf("shown is %q, not %q", v, want)
		}
	}
	v := resolve("!r:x", nil, []*Event{first, gone(0), of(1, "@a:x", "back?", 20)})
	if len(v.Messages) != 1 || !v.Messages[0].Redacted || v.Messages[0].Body != "" {
		t.Errorf("of a redacted message is shown %q", v)
	}
}

func TestATypistAndAReaderAreSeen(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		anna, ben := s.Player(t, "Anna"), s.Player(t, "Ben")
		room := anna.Makes(Room{Invite: []id.UserID{ben.ID}})
		ben.Joins(room)
		said := anna.Says(room, "!place D4")
		if err := ben.Client.MarkRead(t.Context(), room, said); err != nil {
			t.Fatal(err)
		}
		if _, err := ben.Client.UserTyping(t.Context(), room, true, patience); err != nil {
			t.Fatal(err)
		}
		anna.Await(room, "Ben to read and type", func(v View) bool {
			return slices.Contains(v.Read[ben.ID], said) && v.Typed[ben.ID] == 1
		})
	})
}

func TestHTMLIsReadAsItIsShown(t *testing.T) {
	for source, want := range map[string]string{
		"<p>Black <strong>D4</strong>.</p><p>White &lt;3</p>": "Black D4.\nWhite <3",
		"a<br>b<br/>c":                        "a\nb\nc",
		"one\n two   three":                   "one two three",
		`<a href="https://example.org">x</a>`: "x",
		"<details><summary>board</summary><pre><code> A B\n1 . O\n</code></pre></details>then": "▸ board\n A B\n1 . O\nthen",
		"a &amp;lt; b": "a &lt; b",
		"a < b":        "a < b",
	} {
		if got := readHTML(source); got != want {
			t.Errorf("%s is read as %q, not %q", source, got, want)
		}
	}
	if strings.Contains(readHTML("<b>x</b>"), "<") {
		t.Error("marks are shown")
	}
}
