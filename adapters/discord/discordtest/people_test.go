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
