package discordtest_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

// TestTheTranscript reads like the channel: names for marks, how far a time is
// away, pictures by their alt text, controls as they are shown.
func TestTheTranscript(t *testing.T) {
	s := newStage(t, discordtest.Options{Privileged: 1 << 15})
	at := func(d time.Duration) string { return fmt.Sprintf("<t:%d:R>", noon.Add(d).Unix()) }
	day := 24 * time.Hour
	s.b.do("POST", s.messages(), object{
		"content": "<@" + s.alice.ID() + "> and <@1> in <#" + s.room.ID() + ">:\n" + strings.Join([]string{
			at(30 * time.Second), at(time.Minute), at(44 * time.Minute), at(3 * time.Hour), at(3*day + time.Hour), at(60 * day), at(800 * day), at(-2 * day)}, ", "),
		"components": append(row(
			object{"type": 2, "style": 2, "label": "Pass", "custom_id": "p", "emoji": object{"name": "⏭"}},
			object{"type": 2, "style": 2, "label": "Undo", "custom_id": "u", "disabled": true}),
			row(object{"type": 3, "custom_id": "m", "placeholder": "Dead", "options": []object{{"label": "C3", "value": "c", "default": true}, {"label": "D4", "value": "d"}}})...),
		"allowed_mentions": object{"parse": []string{}},
	}).want(t, 200)
	m := s.alice.SayFile(s.room, "My game", "game.sgf", []byte("(;)"))
	s.b.do("PATCH", s.messages()+"/"+s.room.Messages()[0].ID, object{"content": "Over.", "components": []object{}}).want(t, 200)
	m.Delete()
	want := strings.TrimLeft(`
── Go club #games
Halfpoint: @alice and @unknown-user in #games:
    in 30 seconds, in 1 minute, in 44 minutes, in 3 hours, in 3 days, in 2 months, in 2 years, 2 days ago
    [⏭ Pass] [Undo, disabled]
    [Dead ▾ C3* | D4]
alice: My game
    [file game.sgf]
Halfpoint changes it to: Over.
(gone: My game)
`, "\n")
	if got := s.d.Transcript(s.room); got != want {
		t.Errorf("the transcript is\n%s", got)
	}
}

// TestCommandsOnAMessage bring the message with its files, and those on a person the
// person.
func TestCommandsOnAMessage(t *testing.T) {
	s := newStage(t, discordtest.Options{})
	s.b.register(object{"name": "Show as a Go board", "type": 3}, object{"name": "Challenge to Go", "type": 2})
	s.alice.Rename("Alice Liddell")
	s.bob.Locale("fr")
	s.club.Locale("de")
	m := s.alice.SayFile(s.room, "My game", "game.sgf", []byte("(;)"))
	s.bob.MessageCommand(m, "Show as a Go board")
	brought := s.b.event("INTERACTION_CREATE")
	if brought["locale"] != "fr" || brought["guild_locale"] != "de" {
		t.Errorf("the locales are %v, %v", brought["locale"], brought["guild_locale"])
	}
	data := brought["data"].(object)
	got := data["resolved"].(object)["messages"].(object)[m.ID].(object)
	if data["target_id"] != m.ID || data["type"] != 3.0 || got["content"] != "My game" {
		t.Errorf("the command brings %v", data)
	}
	response, err := s.b.http.Get(got["attachments"].([]any)[0].(object)["url"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); string(text) != "(;)" {
		t.Errorf("the file is %q", text)
	}
	s.bob.UserCommand(s.room, s.alice, "Challenge to Go")
	data = s.b.event("INTERACTION_CREATE")["data"].(object)
	resolved := data["resolved"].(object)
	user, _ := resolved["users"].(object)[s.alice.ID()].(object)
	if data["target_id"] != s.alice.ID() || user["global_name"] != "Alice Liddell" || user["username"] != "alice_liddell" || resolved["members"].(object)[s.alice.ID()] == nil {
		t.Errorf("the command brings %v", data)
	}
	if s.bob.MessageCommand(m, "Challenge to Go").Refused() == nil {
		t.Error("a command for people was used on a message")
	}
}

// TestMemoryIsBounded: what a long run leaves behind is dropped.
func TestMemoryIsBounded(t *testing.T) {
	s := newStage(t, discordtest.Options{Keep: 100})
	for range 300 {
		_, got := s.slash()
		s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "x"}}).want(t, 204)
		s.d.Advance(time.Minute)
	}
	if n := len(s.room.Messages()); n > 100 {
		t.Errorf("%d messages are kept", n)
	}
	if n := len(s.d.Requests("")); n > 101 {
		t.Errorf("%d requests are kept", n)
	}
	old, got := s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "x"}}).want(t, 204)
	if old.Answer() == nil {
		t.Error("the newest is forgotten")
	}
}
