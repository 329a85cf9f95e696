package bot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
)

const threePasses = `
name: three-passes
title: AGA, three passes
base: aga
komi: 6.5
moves:
  pass:
    - a pass hands the opponent a pass stone
    - when 3 passes have been made in a row, play stops
`

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A ruleset that the owner composed is chosen, played, recited and compared like
// the others, and its games replay when the file is gone.
func TestCustomRulesets(t *testing.T) {
	own, err := bot.ReadRulesets([]string{written(t, "three.yaml", threePasses)})
	if err != nil {
		t.Fatal(err)
	}
	k := newTalk(t)
	k.start(bot.Config{Rulesets: own})
	say := func(who, text, want string) {
		t.Helper()
		a, posts := k.say(t, who, text)
		all := a.Text
		for _, p := range posts {
			all += "\n" + p.Text
		}
		if !strings.Contains(all, want) {
			t.Errorf("%s> %s: %q is not in %q", who, text, want, all)
		}
	}
	say("ada", "/rules", "custom/three-passes: AGA, three passes")
	say("ada", "/rules three-passes", "when 3 passes have been made in a row, play stops")
	say("ada", "/new three-passes 5x5 opponent:me", "AGA, three passes, 5×5, komi 6½")
	say("ada", "/place C3", "Black C3")
	say("ada", "/pass", "White passes")
	say("ada", "/pass", "White to play")
	say("ada", "/compare", "custom/three-passes")
	k.start(bot.Config{}) // the file is gone
	say("ada", "/pass", "Play has stopped")
	say("ada", "/new three-passes", "I know no ruleset")
	say("ada", "/new custom/three-passes@0123456789abcdef 5x5", "I know no ruleset")
	if a, _ := k.say(t, "ada", "/sgf"); a.File == nil || !strings.Contains(string(a.File.Data), "RU[custom/three-passes@") {
		t.Error("the record does not say what it was played under")
	}

	for text, want := range map[string]string{
		strings.Replace(threePasses, "a pass hands", "a pass throws", 1): "custom ruleset three-passes: moves, pass, sentence 1: ",
		strings.Replace(threePasses, "base: aga", "base: agga", 1):       "did you mean",
		strings.Replace(threePasses, "title:", "titel:", 1):              "titel",
		"name: [":             "three.yaml: ",
		"name: x\nmoves: 7\n": "three.yaml: ",
		strings.Replace(threePasses, "when 3 passes have been made in a row, play stops", "", 1): "custom ruleset three-passes",
	} {
		if _, err := bot.ReadRulesets([]string{written(t, "three.yaml", text)}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line with %q", text, err, want)
		}
	}
	if _, err := bot.ReadRulesets([]string{written(t, "a.yaml", threePasses), written(t, "b.yaml", threePasses)}); err == nil || !strings.Contains(err.Error(), "there are two") {
		t.Errorf("two of a name: %v", err)
	}
}
