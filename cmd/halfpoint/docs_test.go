package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the repository.
var root = filepath.Join("..", "..")

// handWritten returns the documents that people write, by their paths in the repository.
func handWritten(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			docs[path] = string(data)
		}
	}
	return docs
}

var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```\n")

// Each block marked "console" in a document shows commands, in lines that begin with
// "$", and what they print, on standard error too. They run in the repository's root.
func TestExamples(t *testing.T) {
	examples := 0
	for path, doc := range handWritten(t) {
		now := consoleBlock.ReplaceAllStringFunc(doc, func(block string) string {
			var b strings.Builder
			for line := range strings.Lines(consoleBlock.FindStringSubmatch(block)[1]) {
				command, ok := strings.CutPrefix(line, "$ ")
				if !ok {
					continue
				}
				examples++
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = root
				said, err := cmd.CombinedOutput()
				if err != nil && len(said) == 0 {
					t.Errorf("%s: %s: %v", path, command, err)
				}
				b.WriteString(line)
				b.Write(said)
			}
			return "```console\n" + b.String() + "```\n"
		})
		if now == doc {
			continue
		}
		if *update {
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s shows other output than the program prints: go test ./cmd/halfpoint -run TestExamples -update writes\n%s", path,
			strings.Join(consoleBlock.FindAllString(now, -1), "\n"))
	}
	if examples == 0 {
		t.Error("the documents have no examples")
	}
}

// In documents, a log message is a code span before "in the log", "The log says" or
// the msg of a line of the log.
var logMessages = []*regexp.Regexp{
	regexp.MustCompile("`([^`]*)` in the log"),
	regexp.MustCompile("log (?:says|shows)\\s+`([^`]*)`"),
	regexp.MustCompile(`msg="([^"]*)"`),
}

// The program has every log message that a document quotes.
func TestQuotedLogMessages(t *testing.T) {
	var code bytes.Buffer
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		code.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	quotes := 0
	for path, doc := range handWritten(t) {
		for _, r := range logMessages {
			for _, quote := range r.FindAllStringSubmatch(doc, -1) {
				quotes++
				if !bytes.Contains(code.Bytes(), []byte(quote[1])) {
					t.Errorf("%s quotes a log message that no code writes: %s", path, quote[1])
				}
			}
		}
	}
	if quotes < 10 {
		t.Errorf("found only %d log messages in the documents", quotes)
	}
}
