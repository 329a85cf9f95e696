package discord

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/discordtest"
	"github.com/halfpoint-go/halfpoint/adapters/discord/interaction"
	"github.com/halfpoint-go/halfpoint/bot"
)

// eachOption returns the options below some words, with the words by which each is typed:
// "go room settings size".
func eachOption(words string, options []option) iter.Seq2[string, option] {
	return func(yield func(string, option) bool) {
		for _, o := range options {
			at := words + " " + o.Name
			if !yield(at, o) {
				return
			}
			for at, o := range eachOption(at, o.Options) {
				if !yield(at, o) {
					return
				}
			}
		}
	}
}

// characters counts the characters of a command as Discord does: names, descriptions and
// values of all that is below it, of each the longest translation.
func characters(c command) int {
	longest := func(text string, in map[discordgo.Locale]string) int {
		n := utf8.RuneCountInString(text)
		for _, t := range in {
			n = max(n, utf8.RuneCountInString(t))
		}
		return n
	}
	n := longest(c.Name, c.Names) + longest(c.Description, c.Descriptions)
	for _, o := range eachOption(c.Name, c.Options) {
		n += len(o.Name) + longest(o.Description, o.Descriptions)
		for _, ch := range o.Choices {
			n += longest(ch.Name, ch.NameLocalizations) + len(fmt.Sprint(ch.Value))
		}
	}
	return n
}

// The commands at the top are few, and the same everywhere. The double holds them to
// Discord's limits; there is room for more commands and longer translations.
func TestProjection(t *testing.T) {
	const most = 7000 // characters, of the 8000 that Discord takes
	for _, guild := range []bool{false, true} {
		var at []string
		options := map[string]option{}
		for _, c := range project(bot.Commands(), guild) {
			at = append(at, c.Name)
			if guild && (c.Contexts != nil || c.Installs != nil) {
				t.Errorf("%s of a server has contexts", c.Name)
			}
			if !guild && (len(c.Contexts) != 3 || len(c.Installs) != 2) {
				t.Errorf("%s is for %v of %v", c.Name, c.Contexts, c.Installs)
			}
			if n := characters(c); n > most {
				t.Errorf("/%s has %d characters", c.Name, n)
			} else {
				t.Logf("/%s has %d characters", c.Name, n)
			}
			options[c.Name] = option{Description: c.Description, Options: c.Options}
			for words, o := range eachOption(c.Name, c.Options) {
				options[words] = o
				if len(o.Options) > 25 {
					t.Errorf("/%s has %d options", words, len(o.Options))
				}
			}
		}
		if want := []string{"new", "place", "pass", "button", "delay", "score", "board", "show", "go", wordMenuInvite, wordMenuShow}; !slices.Equal(slices.Sorted(slices.Values(at)), slices.Sorted(slices.Values(want))) {
			t.Errorf("at the top are %q", at)
		}
		if n := len(options["go"].Options); n > 25 {
			t.Errorf("/go has %d options", n)
		}
		for _, c := range bot.Commands() {
			p, want := options[path(c)], 0
			for _, o := range c.Options {
				if !inForm(c.Name, o.Name) {
					want++
				}
			}
			if _, takes := diagramOption(c.Name); takes { // also from a file
				want++
			}
			if len(p.Options) != want || p.Description == "" {
				t.Errorf("/%s is registered as %+v", path(c), p)
			}
			if commandAt(path(c)) != c.Name || pathOf(c.Name) != path(c) {
				t.Errorf("/%s is %s, and %s is /%s", path(c), commandAt(path(c)), c.Name, pathOf(c.Name))
			}
		}
	}
	for name := range reserved {
		if _, ok := bot.FindCommand(name); !ok {
			t.Errorf("there is no command %s to reserve", name)
		}
	}
	// An entry of a menu is there when its command is.
	if out := project([]bot.Command{{Name: "help", Summary: "Help"}}, false); len(out) != 1 {
		t.Errorf("%+v", out)
	}
	for _, m := range menus {
		out := project([]bot.Command{{Name: m.command, Summary: "x", Options: []bot.Option{{Name: m.option, Summary: "y"}}}}, false)
		if len(out) != 2 || out[1].Name != m.name {
			t.Errorf("%+v", out)
		}
	}
}

// A command asks for the same at its place in the tree, and by its name alone, under which
// a client that has not heard of the tree yet sends it.
func TestCommandsOfOldClients(t *testing.T) {
	asked := func(data map[string]any) bot.Request {
		raw, err := json.Marshal(map[string]any{"id": "5", "token": "t", "type": 2, "channel_id": "3", "guild_id": "6", "member": map[string]any{"user": map[string]any{"id": "8"}}, "data": data})
		if err != nil {
			t.Fatal(err)
		}
		in, err := interaction.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		r := request(in, time.Time{})
		if !commanded(&r, in.Command) {
			t.Errorf("%s is not understood", raw)
		}
		return r
	}
	for _, c := range bot.Commands() {
		options := []any{}
		for _, o := range c.Options {
			options = append(options, map[string]any{"name": o.Name, "type": projectOption(o).Type, "value": "9"})
		}
		old := asked(map[string]any{"name": c.Name, "type": 1, "options": options})
		words := strings.Fields(path(c))
		for k := len(words) - 1; k > 0; k-- { // from the subcommand to its group
			kind := discordgo.ApplicationCommandOptionSubCommandGroup
			if k == len(words)-1 {
				kind = discordgo.ApplicationCommandOptionSubCommand
			}
			options = []any{map[string]any{"name": words[k], "type": kind, "options": options}}
		}
		now := asked(map[string]any{"name": words[0], "type": 1, "options": options})
		if !reflect.DeepEqual(now, old) || now.Command != c.Name || len(now.Args) != len(c.Options) {
			t.Errorf("/%s asks %+v; by its name alone %+v", path(c), now, old)
		}
	}
}

// Commands that were registered each by itself make way for the tree, at once. A client
// that still shows them is answered, and texts mention what there is.
func TestOldCommandsMakeWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newClub(t, discordtest.Options{})
		c.start()
		if !c.d.WaitCommands(1) {
			t.Fatal("the commands were not registered")
		}
		synctest.Wait() // until the bot knows, too, whose answers mention them
		here := c.registered("")
		old := []command{{Type: discordgo.ChatApplicationCommand, Name: "new", Description: "x"}}
		for _, name := range []string{"undo", "help", "why"} {
			old = append(old, command{Type: discordgo.ChatApplicationCommand, Name: name, Description: "x"})
		}
		if _, err := c.a.rest.PutCommands(t.Context(), "", old); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"help", "undo"} {
			if m := c.ok(c.alice.Slash(c.room, name)); m.To != "Alice" || m.Content == wordFailed || !strings.Contains(m.Content, "</go ") && name == "help" {
				t.Errorf("/%s: %q", name, m.Content)
			}
		}
		c.stop()
		c.start()
		if !c.d.WaitCommands(3) {
			t.Fatal("the tree was not registered again")
		}
		synctest.Wait()
		if n := c.registered(""); n != here {
			t.Errorf("%d commands are registered, and %d were", n, here)
		}
		if i := c.alice.Slash(c.room, "undo"); i.Refused() == nil {
			t.Error("the old command is still there")
		}
		said := c.ok(c.alice.Slash(c.room, "go help")).Content
		found := commandMark.FindAllStringSubmatch(said, -1)
		for _, m := range found {
			if !c.d.HasCommand(m[1], m[2]) {
				t.Errorf("%s is mentioned, and there is no such command", m[0])
			}
		}
		for _, name := range []string{"undo", "go undo", "/go undo"} {
			if m := c.ok(c.alice.Slash(c.room, "go help", opt("command", name))); !strings.HasPrefix(m.Content, "</go undo:") {
				t.Errorf("/go help command:%s: %q", name, m.Content)
			}
		}
		if len(found) < 13 || !strings.Contains(said, "</go undo:") {
			t.Errorf("%q", said)
		}
		c.stop()
		c.check()
	})
}
