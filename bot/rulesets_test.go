package bot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/bot"
)

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file that composes no ruleset is refused, in one line that says why.
func TestBadRulesets(t *testing.T) {
	file, err := os.ReadFile("testdata/three-passes.yaml")
	must(t, err)
	threePasses := string(file)
	for text, want := range map[string]string{
		strings.Replace(threePasses, "a pass gives", "a pass throws", 1): "custom ruleset three-passes: moves, pass, rule 1: ",
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
