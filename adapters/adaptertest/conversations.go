package adaptertest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the conversations anew")

// Conversations plays the conversations of testdata/*.txt, those named or all, in
// parallel. A conversation contains what people do, and indented below it the outcome.
// play takes a conversation and returns it with the present outcome, which must be the
// same; with -update Conversations writes it instead.
func Conversations(t *testing.T, play func(t *testing.T, text string) string, names ...string) {
	EachConversation(t, func(t *testing.T, file, text string) {
		got := play(t, text)
		calledOnce(t, file, got)
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

var (
	acts  = regexp.MustCompile(`^(\w+)(?: in [^>]*| edits)?> `)
	calls = regexp.MustCompile(`^\s+\(calls (.*)\)$`)
)

// calledOnce reports what somebody does by which a person is mentioned more than once,
// or they themselves.
func calledOnce(t *testing.T, file, text string) {
	called := map[string]bool{}
	by := ""
	for i, line := range strings.Split(text, "\n") {
		if m := acts.FindStringSubmatch(line); m != nil {
			by = m[1]
			clear(called)
		}
		m := calls.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for name := range strings.SplitSeq(m[1], ", ") {
			if strings.EqualFold(name, by) || called[name] {
				t.Errorf("%s:%d: %s is mentioned, by what %s has done", file, i+1, name, by)
			}
			called[name] = true
		}
	}
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
