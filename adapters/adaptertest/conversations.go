package adaptertest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the conversations anew")

// Conversations plays the conversations of testdata/*.txt, those named or all,
// beside each other. In a conversation stands what people do, and indented under
// it what comes of it. Play is given one and gives it as it is now, which must be
// the same; with -update it is written instead.
func Conversations(t *testing.T, play func(t *testing.T, text string) string, names ...string) {
	EachConversation(t, func(t *testing.T, file, text string) {
		got := play(t, text)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if diff := cmp.Diff(text, got); diff != "" {
			t.Errorf("it goes otherwise now (−was +is; go test -run Conversations -update writes it):\n%s", diff)
		}
	}, names...)
}

// EachConversation gives each of those conversations to a test of its own.
func EachConversation(t *testing.T, test func(t *testing.T, file, text string), names ...string) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		played++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			test(t, file, string(text))
		})
	}
	if played == 0 || played < len(names) {
		t.Errorf("of %v there are %d conversations", names, played)
	}
}
