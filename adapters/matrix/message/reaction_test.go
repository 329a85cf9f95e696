package message_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

func TestReactions(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range message.Reactions {
		c, ok := bot.FindCommand(r.Command)
		if !ok {
			t.Errorf("there is no command %s", r.Command)
			continue
		}
		if slices.ContainsFunc(c.Options, func(o bot.Option) bool { return o.Required }) {
			t.Errorf("%s says nothing without its options", r.Command)
		}
		if seen[r.Command] {
			t.Errorf("%s is there twice", r.Command)
		}
		seen[r.Command] = true
		if emoji, ok := message.Emoji(r.Command); !ok || emoji != r.Emoji {
			t.Errorf("%s is %q, not %q", r.Command, emoji, r.Emoji)
		}
		if command, ok := message.CommandOf(r.Emoji); !ok || command != r.Command {
			t.Errorf("%q asks for %q, not for %s", r.Emoji, command, r.Command)
		}
	}
	for _, dangerous := range []string{"resign", "delete", "cancel", "privacy", "adjudicate", "claim"} {
		if emoji, ok := message.Emoji(dangerous); ok {
			t.Errorf("%s is asked for by %q alone", dangerous, emoji)
		}
	}
}

func TestCommandOf(t *testing.T) {
	for key, want := range map[string]string{
		"⏭️": "pass", "⏭": "pass", "⏭︎": "pass", "↩️": "undo", "↩": "undo", "✅": "accept", "✅️": "accept",
		"✋": "join", "✋🏽": "join", "✋🏿": "join", "🤝🏻": "draw", "▶": "resume",
		"": "", "👍": "", "pass": "", "!pass": "", "⏭️⏭️": "", "⏭️ ": "", "🏽": "", "\ufe0f": "", "⏭\u200d": "",
		"⏭️\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f\ufe0f": "",
	} {
		if got, ok := message.CommandOf(key); got != want || ok != (want != "") {
			t.Errorf("%q asks for %q, not %q", key, got, want)
		}
	}
}

func TestLegend(t *testing.T) {
	game := func(n string, more ...string) map[string]string {
		args := map[string]string{"game": n, "seq": "17"}
		for i := 0; i < len(more); i += 2 {
			args[more[i]] = more[i+1]
		}
		return args
	}
	for _, c := range []struct {
		controls []match.Control
		want     string
	}{
		{nil, ""},
		{[]match.Control{
			{Command: "place", Ask: "at", Args: game("3")}, {Command: "pass", Args: game("3")}, {Command: "button", Args: game("3")}, {Command: "undo", Args: game("3")},
		}, "!place … · ⏭️ !pass · 🔘 !button · ↩️ !undo"},
		{[]match.Control{{Command: "dead", Ask: "points", Args: game("3")}, {Command: "accept", Args: game("3")}, {Command: "accept", Args: game("3")}}, "!dead … · ✅ !accept"},
		{[]match.Control{{Command: "pass", Args: game("3", "anyway", "yes")}}, "!pass anyway:yes"},
		{[]match.Control{{Command: "resign", Args: game("3", "confirm", "yes")}}, "!resign yes"},
		{[]match.Control{{Command: "demo", Args: map[string]string{"lesson": "ko", "step": "2", "share": "yes"}}}, "!demo ko step:2 share:yes"},
		{[]match.Control{{Command: "place", Args: game("3", "at", "D4")}, {Command: "place", Args: game("5", "at", "D4")}}, "!place D4 game:3 · !place D4 game:5"},
		{[]match.Control{{Command: "pass", Args: game("3")}, {Command: "pass", Args: game("5")}}, "!pass game:3 · !pass game:5"},
		{[]match.Control{{Command: "pass", Args: game("3", "dead", "C3  D5\nE5")}}, "!pass C3 D5 E5"},
		{[]match.Control{{Command: "dispute", Args: game("3", "back", "yes")}, {Command: "dispute", Args: game("3")}}, "🔙 !dispute back:yes · ⚔️ !dispute"},
	} {
		if got := message.Legend(c.controls, false, false); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
		typed := c.want
		for _, r := range message.Reactions {
			typed = strings.ReplaceAll(typed, r.Emoji+" ", "")
		}
		if got := message.Legend(c.controls, false, true); got != typed {
			t.Errorf("%q, not %q", got, typed)
		}
	}
	for _, c := range []match.Control{
		{Command: "place", Ask: "at"}, {Command: "pass", Args: game("3", "anyway", "yes")}, {Command: "resign", Args: game("3")}, {Command: "pass", Ask: "dead"},
	} {
		if emoji, ok := message.Reaction(c, false); ok {
			t.Errorf("%+v is %q", c, emoji)
		}
	}
	if emoji, ok := message.Reaction(match.Control{Command: "pass", Args: game("3")}, false); !ok || emoji != "⏭️" {
		t.Errorf("%q", emoji)
	}
}

// In an encrypted room no reaction is a turn or agrees to something that ends a game: what it
// stands for elsewhere is listed to be typed.
func TestLegendOfASealedRoom(t *testing.T) {
	var controls []match.Control
	for _, command := range []string{"pass", "button", "accept", "draw", "decline", "undo", "score"} {
		controls = append(controls, match.Control{Command: command})
	}
	controls = append(controls, match.Control{Command: "dispute", Args: map[string]string{"back": "yes"}})
	const want = "!pass · !button · !accept · !draw · ❌ !decline · ↩️ !undo · 🧮 !score · !dispute back:yes"
	if got := message.Legend(controls, true, false); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	for _, command := range []string{"pass", "button", "delay", "accept", "draw", "dead", "return"} {
		if !message.MustBeTyped(command) {
			t.Errorf("a reaction is enough for %s", command)
		}
	}
	if got := message.Typed("return"); got != "!dispute back:yes" {
		t.Errorf("return is typed as %s", got)
	}
}
