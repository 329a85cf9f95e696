package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// seededBugs are patches that put a bug into the program, each of a kind that programs on several
// machines have. The first line of each is the command of tests that have to notice it.
func seededBugs(t *testing.T) []string {
	t.Helper()
	bugs, err := filepath.Glob(filepath.Join("testdata", "bugs", "*.patch"))
	if err != nil || len(bugs) == 0 {
		t.Fatal("no bugs", err)
	}
	return bugs
}

// apply applies a patch to a copy of the program, or checks that it could be.
func apply(t *testing.T, bug, root string, flags ...string) {
	t.Helper()
	patch, err := filepath.Abs(bug)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("git", append(append([]string{"apply"}, flags...), patch)...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s does not apply: %v\n%s", bug, err, out)
	}
}

// Whoever changes a line to which a bug belongs changes the bug, too.
func TestBugsApply(t *testing.T) {
	tier.Change(t)
	for _, bug := range seededBugs(t) {
		apply(t, bug, filepath.Join("..", ".."), "--check")
	}
}

// The tests notice the bugs.
func TestSeededBugs(t *testing.T) {
	tier.Soak(t)
	root := t.TempDir()
	if err := copyProgram(filepath.Join("..", ".."), root); err != nil {
		t.Fatal(err)
	}
	for _, bug := range seededBugs(t) {
		t.Run(strings.TrimSuffix(filepath.Base(bug), ".patch"), func(t *testing.T) {
			text, err := os.ReadFile(bug)
			if err != nil {
				t.Fatal(err)
			}
			command, _, _ := strings.Cut(string(text), "\n")
			c := exec.Command("sh", "-c", command)
			c.Dir, c.Env = root, append(os.Environ(), "HALFPOINT_TIER=change", "GOFLAGS=-tags=goolm -trimpath") // what is built elsewhere need not be built again
			apply(t, bug, root)
			defer apply(t, bug, root, "--reverse")
			out, err := c.CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("not caught by %s", command)
			case !bytes.Contains(out, []byte("--- FAIL: ")):
				t.Errorf("%v\n%s", err, out)
			default:
				t.Logf("caught by %s\n%s", command, failedLines(string(out)))
			}
		})
	}
}

// failedLines returns the lines of a log of tests that say what failed.
func failedLines(log string) (lines string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "_test.go:") && len(lines) < 1000 || strings.Contains(line, "--- FAIL: ") {
			lines += line[:min(len(line), 300)]
		}
	}
	return lines
}

// copyProgram copies the module without what Git keeps.
func copyProgram(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		local, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, local), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, local), data, 0o644)
	})
}
