package bot_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
)

// An option of yes or no that is neither is refused, whichever command it is for, and
// nothing changes.
func TestNeitherYesNorNo(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "ada> /new japanese 5x5 opponent:me", "ada> /place C3")
	events := len(k.events(t, 1))
	tried := 0
	for _, c := range bot.Commands() {
		for _, o := range c.Options {
			if o.Type != bot.BoolOption && o.Name != "confirm" {
				continue
			}
			tried++
			args := map[string]string{o.Name: "maybe"}
			for _, other := range c.Options {
				if other.Required {
					args[other.Name] = "D4"
				}
			}
			r, err := k.request("ada", "/help")
			must(t, err)
			r.Command, r.Args = c.Name, maps.Clone(args)
			a, err := own(k.bot.Ask(t.Context(), r))
			must(t, err)
			if !a.Refused || !a.Private || !strings.Contains(a.Text, o.Name) || !strings.Contains(a.Text, "“maybe”") || len(k.posts(t)) != 0 {
				t.Errorf("/%s %s:maybe: %q", c.Name, o.Name, a.Text)
			}
		}
	}
	if tried < 15 || len(k.events(t, 1)) != events {
		t.Errorf("%d options were tried, and the game has %v", tried, k.events(t, 1))
	}
	// However it is written, yes is yes and no is no.
	for _, yes := range []string{"yes", "Y", " TRUE", "on"} {
		if a := k.ask(t, "ada", "/score"); strings.Contains(a.Text, "C3") {
			t.Fatal(a.Text)
		}
		r, err := k.request("ada", "/score")
		must(t, err)
		r.Args = map[string]string{"share": yes}
		if a, err := own(k.bot.Ask(t.Context(), r)); err != nil || a.Private {
			t.Errorf("share:%s is not shared: %v %v", yes, a, err)
		}
	}
}
