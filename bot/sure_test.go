package bot_test

import (
	"strings"
	"testing"
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
