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

// Brackets, names and values that stand where they cannot leave the moves around them alone, or are said.
func TestBrackets(t *testing.T) {
	const passed = "unknown properties, and those without a value, are passed over: "
	for record, want := range map[string]string{
		"(;SZ[9];B[ee](;W)[gc];W[cc])":          "B place E5 / text after the main line is passed over; unknown properties, and those without a value, are passed over: W",
		"(;SZ[9];B[ee]()W[gc])":                 "B place E5 / text after the main line is passed over",
		"(;SZ[9]);B[ee])":                       " / moves after the main line are passed over",
		"(;SZ[9];B[ee](;C[a])(;W[gc])":          "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;C[a])(;W[gc]":           "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee]()(;W[gc]))":              "B place E5 / the first variation has no moves: another may be the game",
		"(;SZ[9];B[ee](;W[gc])(;W[cc]))":        "B place E5, W place G7 / ",
		"(;SZ[9];B[ee](;W[gc]) hello (;W[cc]))": "B place E5, W place G7 / text after the main line is passed over",
		"(;SZ[9];B[ee];KO":                      "B place E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee];W)":                      "B place E5 / unknown properties, and those without a value, are passed over: W",
		"(;SZ[9]AB;B[ee]":                       "B place E5 / the record ends before its brackets close",
		"(;SZ[9];B[ee]AB;W[gc])":                "B place E5, W place G7 / unknown properties, and those without a value, are passed over: AB",
		"(;SZ[9];B[ee]W([gc]))":                 "B place E5 / a value without a property is passed over; unknown properties, and those without a value, are passed over: W",
		"(;SZ[9]\\r\\nKM[6.5]\\n;B[ee])":        "B place E5 / ",
		"(;SZ[9]\\tKM[6.5];B[ee])":              "B place E5 / text between values is passed over",
		"(;SZ[9]KM = [6.5];B[ee])":              "B place E5 / text between values is passed over; unknown properties, and those without a value, are passed over: KM",
		"(;GaMe[1]SiZe[9];Black[ee];White[gc])": "B place E5, W place G7 / ",
		"(;gm[1]sz[9];b[ee];w[gc])":             "B place E5, W place G7 / ",
		"(;SZ[9];B1[ee];W2[gc];B3[cc])":         " / unknown properties, and those without a value, are passed over: B1, W2, B3",
		"(;Size[9]Komi[6.5]Size[9];B[ee])":      "B place E15 / unknown properties, and those without a value, are passed over: Size, Komi",
		"(;SZ[9]MULTIGOGM[1]TT[1]ABC[1];B[ee])": "B place E5 / unknown properties, and those without a value, are passed over: ABC",
		"(;SZ[9]" + many(13) + ")":              " / " + passed + "size, sizess, sizessss, sizessssss, sizessssssss, sizessssssssss, sizessssssssssss, sizessssssssssssss, sizessssssssssssssss, sizessssssssssssssss…",
		// a character that is cut in two, and hides a bracket
		"(;-) (;GM[1]SZ[9]GN[\x88\xe4\x8eR\x97T\x91\xbe\x96]PB[\x97\xd1];B[ee])": "B place E5 / the record does not name its encoding: it is read as Shift_JIS; some characters of the record are cut in two; text before the record is passed over",
	} {
		if got := readAs(t, record); got != want {
			t.Errorf("%q: %s\nwant %s", record, got, want)
		}
	}
}

// many returns properties of as many unknown names.
func many(n int) (s string) {
	for i := range n {
		s += "size" + strings.Repeat("s", 2*i) + "[x]"
	}
	return s
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
	for _, text := range []string{
		"‸(;SZ[9];B[ee])", "Hello! ‸(;SZ[9];B[ee])", "‸(SZ[9];B[ee])", "SZ[9] ‸(;B[ee])", "(see (above)) and (;-) ‸(;;SZ[9])",
		"(;[9]PB[x]) ‸(;B[cc])", "‸(;", "‸(;)", "‸(;S", "‸( ;\n;)", "‸(;[x])", "(;) ‸( ; b[ee])", "‸(\n;(;GaMe [1]))", "‸((;SZ[9]))", "(;-‸( (;SZ[9];B[ee]))", "see (;[1]) ‸(;SZ[9])", "‸(; 1. SZ[9])",
	} {
		before, after, _ := strings.Cut(text, "‸")
		if at := begin([]byte(before + after)); at != len(before) {
			t.Errorf("%s: at %d", text, at)
		}
	}
	for _, text := range []string{"", "a (b) [c]", "(;-)", "B[ee]", "(SiZe[9])", "(see[1])", ";SZ[9];B[ee])"} {
		if at := begin([]byte(text)); at >= 0 {
			t.Errorf("%s: at %d", text, at)
		}
	}
}
