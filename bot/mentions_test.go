package bot

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot/text"
)

// Every command that a text tells people to give is one, with options that it has.
func TestMentionsAreCommands(t *testing.T) {
	for _, l := range text.Languages() {
		for key, m := range l.Mentions() {
			if strings.Contains(m.Command, "{") {
				continue // an argument
			}
			h, ok := find(m.Command)
			if !ok {
				t.Errorf("%s: %s mentions %s, which is no command", l.Tag, key, m)
			}
			for _, o := range m.Options {
				if !slices.ContainsFunc(h.Options, func(have Option) bool { return have.Name == o.Name }) && !strings.Contains(o.Name, "{") {
					t.Errorf("%s: %s mentions %s, which has no option %s", l.Tag, key, m, o.Name)
				}
			}
		}
	}
}

// Commands inside texts parse as the commands that they name.
func TestTypedMentions(t *testing.T) {
	for _, l := range text.Languages() {
		for key, m := range l.Mentions() {
			if strings.Contains(m.String(), "{") {
				continue
			}
			typed := Typed("/")(m)
			name, args, err := Parse(typed)
			if err != nil || name != m.Command || len(args) != len(m.Options) {
				t.Errorf("%s: %s is typed as %q and read as %s %v, %v", l.Tag, key, typed, name, args, err)
			}
			for _, o := range m.Options {
				if args[o.Name] != o.Value {
					t.Errorf("%s: %s is typed as %q and read as %s %v", l.Tag, key, typed, name, args)
				}
			}
		}
	}
	if got := Typed("!")(Mention{Command: "new", Options: []MentionedOption{{Name: "rules", Value: "two-button"}, {Name: "size", Value: "9x9"}}}); got != "!new two-button 9x9" {
		t.Errorf("typed after another prefix: %q", got)
	}
	comment := Mention{Command: "comment", Options: []MentionedOption{{Name: "text", Value: "Why not C3?"}, {Name: "move", Value: "12"}}}
	if got := Typed("/")(comment); got != "/comment Why not C3? move:12" {
		t.Errorf("after an option that takes the rest: %q", got)
	}
}
