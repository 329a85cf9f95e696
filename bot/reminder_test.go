package bot_test

import (
	"testing"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Whoever is called because a pause has ended is not reminded of the same turn
// minutes later.
func TestNoReminderRightAfterAPause(t *testing.T) {
	k := newTalk(t)
	k.say(t, "ada", "/new aga 5x5 clock:1d")
	k.say(t, "bob", "/join")
	k.say(t, "ada", "/place C3")
	k.wait(t, 11*time.Hour+50*time.Minute) // in ten minutes half of Bob's time is over
	k.say(t, "bob", "/pause")
	k.say(t, "ada", "/accept")
	if posts := k.wait(t, 20*time.Hour); len(posts) > 0 {
		t.Errorf("in the pause: %v", posts)
	}
	if _, posts := k.say(t, "ada", "/pause"); len(posts) != 2 || len(posts[1].Notify) != 1 {
		t.Fatalf("the end of the pause: %v", posts)
	}
	if posts := k.wait(t, 29*time.Minute); len(posts) > 0 {
		t.Errorf("minutes after the pause: %v", posts)
	}
	posts := k.wait(t, 6*time.Hour)
	if len(posts) != 1 || posts[0].Kind != match.Status { // a quarter is left
		t.Errorf("later: %v", posts)
	}
	if _, posts := k.say(t, "bob", "/place B2"); len(posts) != 2 || posts[0].Kind != match.Remove {
		t.Errorf("the turn, and the reminder that it takes away: %v", posts)
	}
}

// A reminder from before a pause is taken away by the turn all the same.
func TestReminderFromBeforeAPauseIsRemoved(t *testing.T) {
	k := newTalk(t)
	k.say(t, "ada", "/new aga 5x5 clock:1d")
	k.say(t, "bob", "/join")
	k.say(t, "ada", "/place C3")
	if posts := k.wait(t, 12*time.Hour+time.Minute); len(posts) != 1 || posts[0].Kind != match.Status {
		t.Fatalf("half of the time is over: %v", posts)
	}
	k.say(t, "bob", "/pause")
	k.say(t, "ada", "/accept")
	k.say(t, "ada", "/pause")
	if _, posts := k.say(t, "bob", "/place B2"); len(posts) != 2 || posts[0].Kind != match.Remove {
		t.Errorf("the turn, and the reminder that it takes away: %v", posts)
	}
}
