package discordtest_test

import (
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
)

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

// A reply to the bot's own message mentions it, so the bot reads it without a privileged
// intent; a reply to the answer of an interaction does not. The bot replies in turn, and
// calls nobody by that unless it says so.
func TestReplies(t *testing.T) {
	s := newStage(t, discordtest.Options{Lenient: true})
	i, got := s.slash()
	s.b.hook("POST", callbackPath(got), object{"type": 4, "data": object{"content": "an answer"}}).want(t, 204)
	path := "/channels/" + s.room.ID() + "/messages"
	s.b.do("POST", path, object{"content": "a message"}).want(t, 200)
	own := s.room.Last()
	for to, mentions := range map[*discordtest.Message]int{i.Answer(): 0, own: 1} {
		if m := s.alice.Reply(to, "Hello"); len(m.Mentions) != mentions || m.ReplyTo != to.ID {
			t.Errorf("a reply to %q: %+v", to.Content, m)
		}
		content := s.b.do("GET", path+"?limit=1", nil).want(t, 200).list[0].(object)["content"]
		if (content == "Hello") != (mentions > 0) {
			t.Errorf("of a reply to %q the bot reads %q", to.Content, content)
		}
	}
	said := s.alice.Say(s.room, "Hello")
	for _, c := range []struct {
		reference, allowed object
		status, pings      int
	}{
		{object{"message_id": said.ID}, object{"parse": []string{}}, 200, 0},
		{object{"message_id": said.ID}, object{"parse": []string{}, "replied_user": true}, 200, 1},
		{object{"message_id": "1", "fail_if_not_exists": false}, object{"parse": []string{}}, 200, 0},
		{object{"message_id": "1"}, object{"parse": []string{}}, 400, 0},
	} {
		s.b.do("POST", path, object{"content": "x", "message_reference": c.reference, "allowed_mentions": c.allowed}).want(t, c.status)
		if m := s.room.Last(); c.status == 200 && len(m.Pings) != c.pings {
			t.Errorf("%v %v calls %v", c.reference, c.allowed, m.Pings)
		}
	}
}
