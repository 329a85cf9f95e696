package message_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Whatever a post offers is a reaction or can be typed as it is listed; and what a
// reaction asks for is a command.
func TestControlsHaveEquivalents(t *testing.T) {
	commands := bot.Commands()
	for _, c := range slices.Concat(match.Controls, match.More) {
		c.Args = maps.Clone(c.Args)
		if emoji, ok := message.Reaction(c, false); ok {
			asked, known := message.CommandOf(emoji)
			if !known || asked != message.Asked(c).Command {
				t.Errorf("%s: %s asks for %q", c.Label, emoji, asked)
			}
			continue
		}
		typed, ok := strings.CutPrefix(message.Legend([]match.Control{c}, false, false), "!")
		if !ok {
			t.Errorf("%s: neither a reaction nor a text", c.Label)
			continue
		}
		command, args, err := bot.Parse("/" + strings.Replace(typed, "…", "C3", 1))
		want := maps.Clone(c.Args)
		if c.Ask != "" {
			if want == nil {
				want = map[string]string{}
			}
			want[c.Ask] = "C3"
		}
		if err != nil || command != c.Command || !maps.Equal(args, want) {
			t.Errorf("%s: !%s is %s %v, %v", c.Label, typed, command, args, err)
		}
	}
	for _, r := range message.Reactions {
		now, ok := bot.FindCommand(r.Command)
		if !ok || !slices.ContainsFunc(commands, func(c bot.Command) bool { return c.Name == now.Name }) {
			t.Errorf("%s asks for %s, which is no command", r.Emoji, r.Command)
		}
	}
}
