package main

import (
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"
)

// A firstLine takes what is written until the first line is complete.
type firstLine struct{ strings.Builder }

func (w *firstLine) Write(p []byte) (int, error) {
	if strings.Contains(w.String(), "\n") {
		return 0, errors.New("enough")
	}
	return w.Builder.Write(p)
}

// perft writes each depth when it has counted it.
func TestPerftWritesEachDepth(t *testing.T) {
	var out firstLine
	if status := run(strings.Fields("perft --rules tromp-taylor --size 2x2 --depth 3"), strings.NewReader(""), &out, io.Discard); status != 1 {
		t.Error(status)
	}
	if got := out.String(); got != "1 5\n" {
		t.Errorf("%q", got)
	}
}

// Commands that compute and end collect less garbage, unless somebody has said how much.
func TestCollectorOfCommandsThatEnd(t *testing.T) {
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	for _, x := range []struct {
		set, command string
		want         int
	}{{"", "version", 100}, {"50", "rules aga", 100}, {"", "rules aga", 400}} {
		t.Setenv("GOGC", x.set)
		run(strings.Fields(x.command), strings.NewReader(""), io.Discard, io.Discard)
		got := debug.SetGCPercent(100)
		if got != x.want {
			t.Errorf("GOGC=%q halfpoint %s: %d", x.set, x.command, got)
		}
	}
}
