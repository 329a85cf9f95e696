package discordtest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// TestDiscordJS holds the double against a client that nobody here wrote: it
// logs in, registers commands and answers them in every way, is told to
// reconnect, resumes, and reads along.
func TestDiscordJS(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	begun := time.Now()
	s := New(t, Options{Now: func() time.Time { return begun }, Privileged: intentContent, Lax: true, Patience: tier.Patience(t)})
	club := s.Guild("Go club")
	room := club.Channel("games")
	alice, bob := club.Member("alice"), club.Member("bob")
	js := stranger(t, s, "bot")
	ready := js.Next("ready")
	if ready["user"] != "Halfpoint" || !reflect.DeepEqual(ready["guilds"], []any{"Go club"}) {
		t.Fatalf("ready is %v", ready)
	}
	js.Next("registered")

	choices, err := alice.Autocomplete(room, "place", Opt("at", "D"))
	if err != nil || !reflect.DeepEqual(choices, []Choice{{"D4 (legal)", "D4"}}) {
		t.Errorf("choices are %v, %v", choices, err)
	}
	board := alice.Slash(room, "place", Opt("at", "D4")).Answer()
	if board == nil || board.Attachments[0].Alt != "One stone." {
		t.Fatalf("the answer is %+v", board)
	}
	if m := js.Next("message"); m["content"] != "Black D4. "+alice.user.mention() {
		t.Errorf("discord.js sees %v", m)
	}
	if m := bob.Press(board, "Pass").Answer(); m == nil || m.Content != "bob chose pass." || m.Controls != nil || len(m.Attachments) != 1 {
		t.Errorf("after the press the message is %+v", m)
	}

	slow := alice.Slash(room, "slow")
	js.Next("interaction")
	s.Wait(func() bool { return len(slow.i.followUps) == 1 && slow.i.followUps[0].edits == 1 })
	if more := slow.FollowUps(); len(more) != 1 || more[0].Content != "And much more." || more[0].To != "alice" {
		t.Errorf("the follow-ups are %+v", more)
	}

	asked := alice.Slash(room, "ask")
	if m := asked.Modal(); m == nil || m.Title != "Where?" || m.Fields[0].Label != "Point" {
		t.Fatalf("the modal is %+v", m)
	}
	if m := alice.Submit(asked, map[string]any{"at": "E5"}).Answer(); m == nil || m.Content != "At E5." {
		t.Errorf("the answer to the modal is %+v", m)
	}

	alice.Slash(room, "new")
	if n := js.Next("new"); n["same"] != true || n["read"] != 1.0 || n["dm"] != true || len(n["commands"].([]any)) != 6 {
		t.Errorf("the new game is %v", n)
	}
	thread := room.Threads()[0]
	if m := bob.Select(thread.Last(), "Seat", "White").Answer(); m == nil || m.Content != "Seat w." {
		t.Errorf("after the choice the message is %+v", m)
	}
	if m := bob.MessageCommand(board, "Show as a Go board").Answer(); m == nil || m.Content != "It says: bob chose pass." {
		t.Errorf("the message command answers %+v", m)
	}
	if m := bob.UserCommand(room, alice, "Challenge to Go").Answer(); m == nil || m.Content != "alice is challenged." {
		t.Errorf("the user command answers %+v", m)
	}

	if list := js.Disagreements(room, thread); list != nil {
		t.Errorf("discord.js sees other messages: %q", list)
	}

	// Told to reconnect, it resumes at the resume address and loses nothing.
	session := s.Sessions()[0]
	session.Deafen() // so that this is missed for certain
	alice.Say(room, "Are you there?")
	session.Reconnect()
	js.Next("resumed")
	if session.Path() != "/resume" || s.Gateway().Resumed != 1 {
		t.Errorf("resumed %d times, at %q", s.Gateway().Resumed, session.Path())
	}
	for _, seen := range js.Seen() {
		if seen.What == "error" || seen.What == "warning" {
			t.Errorf("discord.js says %v", seen.Data)
		}
	}
	var said bool
	for _, seen := range js.Seen() {
		said = said || seen.What == "message" && seen.Data["content"] == "Are you there?"
	}
	if !said {
		js.Next("message")
	}
	want := strings.TrimLeft(`
── Go club #games
alice: /place at:D4
Halfpoint: Black D4. @alice
    [file board.png: One stone.]
    [Pass]
    [Resign]
bob: presses [Pass]
Halfpoint changes it to: bob chose pass.
    [file board.png: One stone.]
alice: /slow
Halfpoint (to alice alone): There you are.
    [file late.png: ]
Halfpoint (to alice alone): And more.
Halfpoint (to alice alone) changes it to: And much more.
alice: /ask
· (to alice alone) a form: Where?
alice: submits “Where?”: E5
Halfpoint (to alice alone): At E5.
alice: /new
Halfpoint: A challenge.
· Halfpoint started the thread “Two Button 9x9”
bob: “Show as a Go board” on a message of Halfpoint
Halfpoint (to bob alone): It says: bob chose pass.
bob: “Challenge to Go” on alice
Halfpoint: alice is challenged.
alice: Are you there?

── Go club #games › Two Button 9x9
Halfpoint: Who plays?
    [Seat]
Halfpoint changes it to: Who plays first?
    [Seat]
bob: chooses White
Halfpoint changes it to: Seat w.

── direct messages with alice
Halfpoint: It begins.
`, "\n")
	if got := s.Transcript(); got != want {
		t.Errorf("the transcript is\n%s", got)
	}
}

// TestDiscordJSWatches lets discord.js read along and lose its session.
func TestDiscordJSWatches(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	s := New(t, Options{Privileged: intentContent, IdentifyEvery: time.Millisecond, Patience: tier.Patience(t)})
	club := s.Guild("Go club")
	room := club.Channel("games")
	alice := club.Member("alice")
	js := Watch(t, s)
	js.Next("ready")
	alice.Say(room, "Hello, "+alice.user.mention())
	if m := js.Next("message"); m["content"] != "Hello, "+alice.user.mention() || m["author"] != "alice" {
		t.Errorf("discord.js sees %v", m)
	}
	// What it has not seen is noticed, and what is gone.
	lonely := s.Guild("Chess club").Channel("alone")
	s.Guild("Chess club").BotPermissions(0)
	s.Guild("Chess club").Everyone(0)
	alice.Say(lonely, "Nobody hears me.")
	if list := js.now(room, lonely); len(list) != 1 || !strings.Contains(list[0], "Nobody hears me.") {
		t.Errorf("disagreements are %q", list)
	}
	gone := alice.Say(room, "Gone soon.")
	js.Next("message")
	s.mu.Lock()
	gone.m.gone = true // and nobody tells
	s.mu.Unlock()
	if list := js.now(room); len(list) != 1 || !strings.Contains(list[0], "Gone soon.") {
		t.Errorf("disagreements are %q", list)
	}
	s.Sessions()[0].Cut()
	js.Next("resumed")
	old := s.Sessions()[0].id
	s.Sessions()[0].Invalidate(false)
	s.Wait(func() bool { return len(s.connected()) == 1 && s.connected()[0].id != old })
	alice.Say(room, "Still there?")
	if m := js.Next("message"); m["content"] != "Still there?" {
		t.Errorf("discord.js sees %v", m)
	}
	s.Sessions()[0].Close(4004)
	if d := js.Next("disconnected"); d["code"] != 4004.0 {
		t.Errorf("discord.js is %v", d)
	}
}

// now is Disagreements without waiting.
func (w *Stranger) now(channels ...*Channel) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disagreements(channels)
}
