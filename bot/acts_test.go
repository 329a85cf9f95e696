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

// What is kept of events and of moderators is told before anybody asks for their data.
func TestPrivacyTellsOfEventsAndModerators(t *testing.T) {
	k := newTalk(t)
	for lang, want := range map[string][]string{"en": {"events", "/log"}, "de": {"Turnieren", "/log"}, "ja": {"大会", "/log"}} {
		k.lines(t, "ada> /settings whose:mine language:"+lang)
		got := k.ask(t, "ada", "/privacy").Text
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("in %s /privacy does not tell of %s:\n%s", lang, w, got)
			}
		}
	}
}
