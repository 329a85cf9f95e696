package sgf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// The worked examples of the sources as records; see testdata.
func TestWorkedExamples(t *testing.T) {
	examples := map[string]struct {
		phase        string
		black, white rules.Points // totals if play stopped now, in half points
		result       string
	}{
		"e1-button-equivalence":                 {"over", 61, 66, "W+2.5"},
		"e1-button":                             {"over", 86, 91, "W+2.5"},
		"g1-published":                          {"playing", 30, 12, ""},
		"g1-area-3":                             {"over", 85, 77, "B+4"},
		"g1-button":                             {"over", 86, 77, "B+4.5"},
		"g1-two-button":                         {"over", 33, 25, "B+4"},
		"g1-aga":                                {"over", 34, 24, "B+5"},
		"g1-reverse-button":                     {"over", 33, 24, "B+4.5"},
		"g1-half-pass-agreement":                {"over", 31, 23, "B+4"},
		"g1-territory-1":                        {"over", 32, 24, "B+4"},
		"two-button-pass-first":                 {"over", 4, 4, "0"},
		"two-button-point-first":                {"over", 3, 3, "0"},
		"two-button-separate-button-first":      {"over", 3, 3, "0"},
		"two-button-separate-point-first":       {"over", 3, 3, "0"},
		"two-button-separate-resumed":           {"playing", 2, 3, ""},
		"reverse-button-passes":                 {"over", 2, 3, "W+0.5"},
		"reverse-button-resumed":                {"over", 4, 5, "W+0.5"},
		"half-pass-h1":                          {"over", 24, 12, "B+6"},
		"area-3-w1":                             {"over", 24, 24, "0"},
		"ultimate-1x1":                          {"over", 0, 0, "Draw"},
		"button-lifts-bans-button":              {"playing", 8, 11, ""},
		"button-lifts-bans-button-equivalence":  {"playing", 3, 6, ""},
		"button-lifts-bans-two-button-separate": {"playing", 3, 6, ""},
		"superko-aga":                           {"illegal", 0, 0, "move 12 (White C3): the board would be the same as after move 10 (ko)"},
		"superko-half-pass":                     {"illegal", 0, 0, "move 12 (White C3): the board would be the same as after move 10 (ko)"},
		"superko-button":                        {"illegal", 0, 0, "move 12 (White C3): the board would be the same as after move 10 (ko)"},
	}
	files, err := filepath.Glob("testdata/*.sgf")
	if err != nil || len(files) != len(examples) {
		t.Errorf("%d records, %d examples; %v", len(files), len(examples), err)
	}
	for name, x := range examples {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name+".sgf"))
			if err != nil {
				t.Fatal(err)
			}
			rec := read(t, string(data))
			r, note, err := rec.Ruleset()
			if err != nil || !strings.Contains(name, r.Name) && note == "" && !strings.HasPrefix(name, "ultimate") {
				t.Errorf("%v %q %v", r, note, err)
			}
			g, err := rec.Play(r, rec.Setup.Komi)
			if x.phase == "illegal" {
				if err == nil || err.Error() != x.result || g.Turns() != 11 {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g.Phase().String() != x.phase || g.Result() != x.result {
				t.Errorf("%v, %q; want %s, %q", g.Phase(), g.Result(), x.phase, x.result)
			}
			if s := g.Score(); s != nil && (s.Black != x.black || s.White != x.white) {
				t.Errorf("%v to %v, want %v to %v: %+v", s.Black, s.White, x.black, x.white, s.Lines)
			}
			same(t, again(t, g), g)
		})
	}
}
