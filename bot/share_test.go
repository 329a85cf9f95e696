package bot_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// press lets somebody press a button.
func (k *talk) press(t testing.TB, who string, c match.Control) outbox.Post {
	t.Helper()
	r, err := k.request(who, "/help")
	must(t, err)
	r.Command, r.Args = c.Command, c.Args
	a, err := own(k.bot.Ask(t.Context(), r))
	must(t, err)
	return a
}

// Buttons below old boards ask by the names that their commands had then.
func TestOldButtons(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new japanese 5x5 handicap:2 placement:free clock:3d", "bob> /join")
	at := func(command string, more ...string) match.Control {
		args := map[string]string{"game": "1"}
		for i := 0; i < len(more); i += 2 {
			args[more[i]] = more[i+1]
		}
		return match.Control{Command: command, Args: args}
	}
	seq := strconv.Itoa(k.matches(t, bot.Query{})[0].Seq)
	if a := k.press(t, "ada", at("handicap", "points", "B2 D4", "seq", seq)); a.Refused {
		t.Fatal(a.Text)
	}
	if a := k.press(t, "ada", at("handicap", "points", "A1", "seq", seq)); !strings.Contains(a.Text, "has moved on") {
		t.Errorf("a button of an earlier board: %q", a.Text)
	}
	for _, x := range []struct {
		who, says string
		control   match.Control
	}{
		{"bob", "has no handicap stones", at("handicap", "points", "A1")},
		{"bob", "There is no trial", at("return")},
		{"bob", "White: komi", at("why")},
		{"bob", "Nothing has changed hands", at("ledger")},
		{"bob", "Game 1", at("review", "move", "0")},
		{"eve", "Only its players and moderators can cancel", at("cancel")},
	} {
		if a := k.press(t, x.who, x.control); !strings.Contains(a.Text, x.says) {
			t.Errorf("%s: %q, want %q", x.control.Command, a.Text, x.says)
		}
	}
	if a := k.press(t, "bob", at("whi")); !a.Refused || !strings.Contains(a.Text, "/score") {
		t.Errorf("a command that there is not: %q", a.Text)
	}
}

// The button of a private answer shows the same to everybody, in the language of the
// room, and says who asked.
func TestShare(t *testing.T) {
	k := newTalk(t)
	k.speaks = map[string]string{"eve": "de"}
	k.lines(t, "ada> /new aga 5x5 opponent:me", "ada> /place C3")
	for _, question := range []string{"/score", "/score why:yes", "/board", "/board 0", "/compare", "/rules aga", "/demo pass-fight 2", "/replay", "/show share:no .X."} {
		private := k.ask(t, "eve", question)
		var share *match.Control
		for _, c := range private.Controls {
			if c.Args["share"] != "" {
				share = &c
			}
		}
		if !private.Private || share == nil || len(bot.Unshared(private).Controls) != len(private.Controls)-1 {
			t.Fatalf("%s: %+v", question, private)
		}
		first := k.press(t, "eve", *share)
		if first.Private || first.Lang != "en" || !strings.HasPrefix(first.Text, "Eve ") || (first.Scene == nil) != (private.Scene == nil) || (first.File == nil) != (private.File == nil) {
			t.Errorf("%s is shared as %+v", question, first)
		}
		if again := k.press(t, "eve", *share); again.Text != first.Text {
			t.Errorf("%s is shared as %q and as %q", question, first.Text, again.Text)
		}
	}
	k.lines(t, "ada> /new aga 3x3 opponent:me")
	if a := k.ask(t, "eve", "/score share:yes"); len(a.Controls) != 2 || len(bot.Unshared(a).Controls) != 2 {
		t.Errorf("which game is to be shared can be chosen from %+v", bot.Unshared(a).Controls)
	}
	for _, question := range []string{"/score game:9", "/board 99", "/rules nonsense", "/help", "/games"} {
		if a := k.ask(t, "eve", question); strings.Contains(fmt.Sprint(a.Controls), "share:yes") {
			t.Errorf("%s can be shared: %+v", question, a)
		}
	}
}
