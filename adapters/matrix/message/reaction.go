package message

import (
	"maps"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Reactions are the commands that have a reaction, and the emoji of each; old boards
// still have that of an old name. No command that cannot be
// taken back is among them, except that a draw is declared in Ultimate Go.
// Reactions are not encrypted, so that any may be the homeserver's: in an
// encrypted room the turns and agreements among the commands must be typed.
var Reactions = []struct {
	Command, Emoji string
	Typed          bool
}{
	{"pass", "⏭️", true},
	{"button", "🔘", true},
	{"delay", "⏳", true},
	{"accept", "✅", true},
	{"decline", "❌", false},
	{"draw", "🤝", true},
	{"undo", "↩️", false},
	{"join", "✋", false},
	{"dead", "💀", true},
	{"resume", "▶️", false},
	{"dispute", "⚔️", false},
	{"return", "🔙", true},
	{"score", "🧮", false},
	{"board", "👀", false},
	{"clock", "⏱️", false},
	{"rematch", "🔁", false},
}

// Emoji returns the reaction that asks for a command.
func Emoji(command string) (string, bool) {
	for _, r := range Reactions {
		if r.Command == command {
			return r.Emoji, true
		}
	}
	return "", false
}

// CommandOf returns the command that a reaction asks for. Clients write emoji with
// and without the mark that asks for their colours, and some hands in the colour
// of a skin.
func CommandOf(key string) (string, bool) {
	if len(key) > 40 {
		return "", false
	}
	key = baseEmoji(key)
	for _, r := range Reactions {
		if baseEmoji(r.Emoji) == key {
			return r.Command, true
		}
	}
	return "", false
}

// baseEmoji takes variation selectors and colours of skin off an emoji.
func baseEmoji(emoji string) string {
	return strings.Map(func(r rune) rune {
		if r == '\ufe0e' || r == '\ufe0f' || '\U0001f3fb' <= r && r <= '\U0001f3ff' {
			return -1
		}
		return r
	}, emoji)
}

// MustBeTyped reports whether no reaction asks for a command in a sealed room, one that is
// encrypted.
func MustBeTyped(command string) bool {
	for _, r := range Reactions {
		if r.Command == command {
			return r.Typed
		}
	}
	return false
}

// Typed returns what to type for the command of a reaction.
func Typed(command string) string {
	if command == "return" {
		return "!dispute back:yes"
	}
	return "!" + command
}

// Asked returns a control as a reaction asks for it: for /dispute back:yes by the name
// that it had once, since a reaction is a command alone.
func Asked(c match.Control) match.Control {
	if c.Command == "dispute" && c.Args["back"] == "yes" {
		c.Command, c.Args = "return", maps.Clone(c.Args)
		delete(c.Args, "back")
	}
	return c
}

// Reaction returns the reaction for a control: none if the control says more
// than which command, which game and after which event, or must be typed.
func Reaction(c match.Control, sealed bool) (string, bool) {
	if c.Ask != "" {
		return "", false
	}
	if c = Asked(c); sealed && MustBeTyped(c.Command) {
		return "", false
	}
	for k := range c.Args {
		if k != "game" && k != "seq" {
			return "", false
		}
	}
	return Emoji(c.Command)
}

// ReactionsOf returns the reactions that stand for controls, each once.
func ReactionsOf(controls []match.Control, sealed bool) (list []string) {
	for _, c := range controls {
		if emoji, ok := Reaction(c, sealed); ok && !slices.Contains(list, emoji) {
			list = append(list, emoji)
		}
	}
	return list
}

// maxSpelled is the longest control that is listed, in bytes.
const maxSpelled = 100

// Legend lists controls as they are typed, with their reactions:
// "!place … · ⏭️ !pass"; in a sealed room without reactions that it does not take, and
// without any if the controls are only typed. It names the game only where they are about
// several. It leaves out commands that are longer than somebody would type.
func Legend(controls []match.Control, sealed, typed bool) string {
	several := slices.ContainsFunc(controls, func(c match.Control) bool { return c.Args["game"] != controls[0].Args["game"] })
	var out []string
	for _, c := range controls {
		entry := spelled(c, several)
		if len(entry) > maxSpelled {
			continue
		}
		if emoji, ok := Reaction(c, sealed); ok && !several && !typed {
			entry = emoji + " " + entry
		}
		if !slices.Contains(out, entry) {
			out = append(out, entry)
		}
	}
	return strings.Join(out, wordBetween)
}

// spelled is a control as it is typed: the first option of its command stands
// alone, the others behind their names.
func spelled(c match.Control, game bool) string {
	out := "!" + c.Command
	all := bot.Commands()
	i := slices.IndexFunc(all, func(k bot.Command) bool { return k.Name == c.Command })
	if i < 0 {
		return out
	}
	for n, o := range all[i].Options {
		value := c.Args[o.Name]
		if len(value) <= maxSpelled { // else it is too long anyway
			value = strings.Join(strings.Fields(value), " ")
		}
		if o.Name == c.Ask {
			value = wordMore
		}
		switch {
		case value == "", o.Name == "game" && !game:
		case n == 0 && o.Name != "game":
			out += " " + value
		default:
			out += " " + o.Name + ":" + bot.Quoted(c.Command, o.Name, value)
		}
	}
	return out
}
