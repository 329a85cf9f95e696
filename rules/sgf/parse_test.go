package sgf

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Brackets, names and values that stand where they cannot leave the moves around them alone.
func TestBrackets(t *testing.T) {
	for record, want := range map[string]string{
		// brackets
		"SZ[9];B[ee]((;W[gc]))":                              "B place E5, W place G7 / the record does not begin with a bracket; a second opening bracket in a row is passed over",
		"(;SZ[9];B[ee](;W)[gc];W[cc])":                       "B place E5, W place C7 / an empty variation is passed over; a value without a property is passed over; properties without a value are passed over: W",
		"(;SZ[9];B[ee]()W[gc])":                              "B place E5, W place G7 / an empty variation is passed over",
		"(;SZ[9]);B[ee])":                                    " / moves after the record are passed over",
		"(;SZ[9];B[ee](;C[a])(;W[gc])":                       "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;C[a])(;W[gc]":                        "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](][a];N-[b](())][a];N-[b](());W[gc]))": "B place E5, W place G7 / move 1: a closing bracket outside of a value is passed over; a value without a property is passed over; move 1: text between values is passed over; a second opening bracket in a row is passed over; an empty variation is passed over",

		// names
		"(;SZ[9];Black[Ada];W[gc])": " / ",
		"(;SZ[9];B[ee];KO":          "B place E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee];W2":          "B place E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee];W)":          "B place E5 / properties without a value are passed over: W",
		"(;SZ[9];AB;B[ee])":         "B place E5 / properties without a value are passed over: AB",
		"(;SZ[9];B[ee]W([gc]))":     "B place E5 / a value without a property is passed over; properties without a value are passed over: W",

		// a character that is cut in two, and hides a bracket
		"(;-) (;GM[1]SZ[9]GN[\x88\xe4\x8eR\x97T\x91\xbe\x96]PB[\x97\xd1];B[ee])": "B place E5 / the record does not name its encoding: it is read as Shift_JIS; text before the record is passed over; some characters of the record are cut in two",
	} {
		if got := readAs(t, record); got != want {
			t.Errorf("%q: %s\nwant %s", record, got, want)
		}
	}
}

// A file takes memory for what it has, not for the largest record.
func TestMemoryOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.sgf")
	if err := os.WriteFile(path, []byte("(;SZ[9];B[ee])"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec, err := Read(f)
	runtime.ReadMemStats(&after)
	if err != nil || len(rec.Turns) != 1 {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > MaxSize/4 {
		t.Errorf("%d bytes", took)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(f); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// The first record of a text begins at the mark.
func TestBegin(t *testing.T) {
	for _, x := range []struct{ text, flaw string }{
		{"‸(;SZ[9];B[ee])", ""},
		{"Hello! ‸(;SZ[9];B[ee])", ""},
		{"‸SZ[9] (;B[ee])", noBracket},
		{"‸(SZ[9];B[ee])", noNode},
		{"‸SZ[9];B[ee])", noBracket},
		{"Dear A. Black, W. White, see [[here]]: ‸SZ[9];B[ee])", noBracket},
		{"‸SZ[9];B[ee](;[x];W[cc])", noBracket},
		{"‸(;[x];B[ee](;[y];W[cc])", ""},
		{"‸(;[9]PB[x];B[ee] (;B[cc]))", ""},
		{"(;[9]PB[x]) ‸(;B[cc])", textBefore},
	} {
		before, after, _ := strings.Cut(x.text, "‸")
		if at, flaw := begin([]byte(before + after)); at != len(before) || flaw != x.flaw {
			t.Errorf("%s: at %d, %q", x.text, at, flaw)
		}
	}
	for _, text := range []string{"", "a (b) [c]", "(;-)", "B[ee]"} {
		if at, _ := begin([]byte(text)); at >= 0 {
			t.Errorf("%s: at %d", text, at)
		}
	}
}
