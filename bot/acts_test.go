package bot_test

import (
	"strings"
	"testing"
)

// Whoever asks what is stored about them reads what they did as a moderator, and nobody else does.
func TestExportHasActs(t *testing.T) {
	k := newTalk(t)
	k.lines(t, "mod> /settings size:13x13", "ada> /new aga 5x5")
	for who, want := range map[string]bool{"mod": true, "ada": false} {
		file := k.ask(t, who, "/privacy export").File
		if got := strings.Contains(string(file.Data), `"size:13x13"`); got != want {
			t.Errorf("%s reads of the settings: %v, want %v\n%s", who, got, want, file.Data)
		}
	}
}
