package bot_test

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// In Ultimate Go players resign on their own turn. Whoever may not is told at once, and not
// only after they have confirmed.
func TestResignsOutOfTurn(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new ultimate 5x5", "bob> /join", "ada> /place C3")
	if a := k.ask(t, "ada", "/resign"); !a.Refused || len(a.Controls) != 0 || strings.Contains(a.Text, "/resign") {
		t.Errorf("asked to confirm: %q", a.Text)
	}
	if a := k.ask(t, "bob", "/resign"); len(a.Controls) != 1 {
		t.Errorf("whose turn it is: %q", a.Text)
	}
}

// After a repetition players may end the game without a result. That does not agree to a
// draw that the opponent has offered meanwhile.
func TestNoResultIsNoDraw(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new japanese 2x1 komi:0", "bob> /join", "ada> /place A1", "bob> /place B1", "ada> /pass", "bob> /pass", "ada> /resume",
		"ada> /place A1", "bob> /pass", "ada> /pass", "bob> /resume", "bob> /place B1", "ada> /pass", "bob> /pass", "ada> /resume", "ada> /place A1", "bob> /draw")
	if events := k.events(t, 1); !strings.HasPrefix(events[len(events)-1], "ask W draw") {
		t.Fatal(events)
	}
	k.lines(t, "ada> /accept no-result:yes")
	if m := k.matches(t, bot.Query{})[0]; m.Result != "" {
		t.Errorf("the game ends with %s", m.Result)
	}
	k.lines(t, "bob> /accept no-result:yes")
	if m := k.matches(t, bot.Query{})[0]; m.Result != "Void" {
		t.Errorf("the game ends with %q", m.Result)
	}
}

// Whoever plays both colours deletes their game alone, so they are asked first. The button
// deletes it, also where the command by itself would cancel.
func TestDeletesAlone(t *testing.T) {
	for _, begins := range []string{"ada> /new two-button 5x5 opponent:me", "ada> /setup .X./.O./..."} {
		k := newTalk(t)
		k.lines(t, begins)
		a := k.ask(t, "ada", "/delete how:forget")
		if len(a.Controls) != 1 || k.matches(t, bot.Query{})[0].State == match.Deleted {
			t.Fatalf("%s: deleted at once: %q", begins, a.Text)
		}
		if a = k.press(t, "ada", a.Controls[0]); a.Refused || k.matches(t, bot.Query{})[0].State != match.Deleted {
			t.Errorf("%s: not deleted: %q", begins, a.Text)
		}
	}
}
