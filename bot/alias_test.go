package bot

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Every old name is understood, whether typed or below an old message, and no list of
// commands shows it.
func TestAliases(t *testing.T) {
	for name, a := range aliases {
		h, ok := find(a.command)
		if !ok {
			t.Errorf("%s is now %s, which is no command", name, a.command)
		}
		if _, ok := find(name); ok {
			t.Errorf("%s is listed", name)
		}
		if got, args, err := Parse("/" + name); err != nil || got != a.command || !maps.Equal(args, a.args) {
			t.Errorf("/%s is read as %s %v, %v", name, got, args, err)
		}
		for _, now := range a.renamed {
			if !slices.ContainsFunc(h.Options, func(o Option) bool { return o.Name == now }) {
				t.Errorf("%s: %s has no option %s", name, a.command, now)
			}
		}
	}
	for typed, want := range map[string]match.Control{
		"/handicap D4 points:Q16": {Command: "place", Args: map[string]string{"at": "Q16", "handicap": "yes"}},
		"/review 12 game:3":       {Command: "board", Args: map[string]string{"move": "12", "game": "3"}},
		"/why 3 share:yes":        {Command: "score", Args: map[string]string{"game": "3", "why": "yes", "share": "yes"}},
		"/Cancel 8":               {Command: "delete", Args: map[string]string{"game": "8", "how": "cancel"}},
		"/pause pause:no":         {Command: "clock", Args: map[string]string{"pause": "no"}},
		"/place D4 Q16 3":         {Command: "place", Args: map[string]string{"at": "D4 Q16", "game": "3"}},
		"/score why":              {Command: "score", Args: map[string]string{"why": "yes"}},
		"/score 3 Why share:no":   {Command: "score", Args: map[string]string{"game": "3", "why": "yes", "share": "no"}},
		"/compare share C3":       {Command: "compare", Args: map[string]string{"dead": "C3", "share": "yes"}},
		"/show .X. share":         {Command: "show", Args: map[string]string{"diagram": ".X. share"}},
	} {
		name, args, err := Parse(typed)
		if err != nil || name != want.Command || !maps.Equal(args, want.Args) {
			t.Errorf("%s is read as %s %v, %v", typed, name, args, err)
		}
	}
	old := match.Control{Label: "Place handicap stones…", Command: "handicap", Args: map[string]string{"game": "3", "seq": "17"}, Ask: "points"}
	if c := Current(old); c.Command != "place" || c.Ask != "at" || c.Args["seq"] != "17" || c.Label != old.Label || old.Args["handicap"] != "" {
		t.Errorf("%+v is now %+v", old, c)
	}
	if c := (match.Control{Command: "pass", Args: map[string]string{"seq": "3"}}); !maps.Equal(Current(c).Args, c.Args) || Current(c).Command != "pass" {
		t.Errorf("%+v is now %+v", c, Current(c))
	}
}

// Somebody who types the wrong name, or its beginning, is told the right one.
func TestNear(t *testing.T) {
	for typed, want := range map[string]string{
		"/palce": " Did you mean /place?", "/comp": " Did you mean /compare?", "/pl": " Did you mean /place?",
		"/replace": " Did you mean /event what:replace?", "/late": " Did you mean /event what:late?",
		"/komi": " /help lists them all.", "/p": " /help lists them all.",
	} {
		if _, _, err := Parse(typed); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", typed, err)
		}
	}
}

// Help lists the everyday commands first, then the groups, each together.
func TestGroups(t *testing.T) {
	everydays := "new join place pass button delay score board undo resign accept dead link event more help"
	var listed, order []string
	for _, c := range Commands() {
		if c.Group == everyday {
			listed = append(listed, c.Name)
		}
		if len(order) == 0 || order[len(order)-1] != c.Group {
			order = append(order, c.Group)
		}
		if n := utf8.RuneCountInString(c.Summary); n > mostSummary {
			t.Errorf("%s is summed up in %d characters", c.Name, n)
		}
	}
	if got := strings.Join(listed, " "); got != everydays {
		t.Errorf("the everyday commands are %s", got)
	}
	if !slices.Equal(order, append([]string{everyday}, groups...)) {
		t.Errorf("the groups stand in the order %q", order)
	}
	for _, g := range groups {
		if _, ok := FindCommand(g); ok {
			t.Errorf("%s is a group and a command", g)
		}
	}
}
