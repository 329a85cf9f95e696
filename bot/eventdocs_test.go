package bot_test

import (
	"os"
	"strings"
	"testing"
)

// The transcripts in docs/events.md are what the bot says in the conversations, lines left out.
func TestEventTranscriptsInDocs(t *testing.T) {
	docs, err := os.ReadFile("../docs/events.md")
	must(t, err)
	blocks := strings.Split(string(docs), "```text\n")[1:]
	for i, name := range []string{"english", "german", "japanese"} {
		said, err := os.ReadFile("testdata/event-" + name + ".txt")
		must(t, err)
		if i >= len(blocks) {
			t.Fatalf("docs/events.md has no transcript of event-%s.txt", name)
		}
		quoted, _, _ := strings.Cut(blocks[i], "```")
		rest := string(said)
		for line := range strings.Lines(quoted) {
			_, after, found := strings.Cut(rest, "\n"+line)
			if !found {
				t.Errorf("docs/events.md quotes a line that event-%s.txt does not have there: %s", name, line)
				continue
			}
			rest = "\n" + after
		}
	}
}
