package bot_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A record is found in what somebody pastes or attaches, to show it and to set it up alike,
// and both have one limit.
func TestDrawings(t *testing.T) {
	const record = "(;SZ[9];B[ee];W[gc];B[cc])"
	sjis, err := japanese.ShiftJIS.NewEncoder().String("(;SZ[9]PB[ソ]PW[表\n十];B[ee];W[gc];B[cc])")
	must(t, err)
	long := "(;SZ[9]C[" + strings.Repeat("x", match.MaxDiagram-40) + "];B[ee];W[gc];B[cc])"
	for name, x := range map[string]struct{ drawing, want string }{
		"a record":                 {record, ""},
		"in a code block":          {"```sgf\n" + record + "\n```", ""},
		"a diagram in a block":     {"```\n.X.\nXO.\n```", ""},
		"on one line in a block":   {"```.XO./XO../....```", ""},
		"in a quotation":           {"> (;SZ[9]\n> ;B[ee];W[gc]\n> ;B[cc])\n", "text between values"},
		"after words":              {"my game (;-) from today: " + record + " what do you think?", "text before the record"},
		"without its bracket":      {"SZ[9];B[ee];W[gc];B[cc])", "one begins with"},
		"in Shift_JIS":             {sjis, "Shift_JIS"},
		"as long as it may be":     {long, ""},
		"longer than it may be":    {long + strings.Repeat(" ", 40), "at most 2 MB"},
		"words alone":              {"no record (;-) here", "no “n”"},
		"a bracket alone":          {"(no record)", "no game record"},
		"a diagram":                {".X./XO.", ""},
		"a diagram with a heading": {"$$B a title (;-)\n$$ | . X .\n$$ | X O .", ""},
	} {
		for _, command := range []string{"show", "setup"} {
			k := newTalk(t)
			a := k.press(t, "ada", match.Control{Command: command, Args: map[string]string{"diagram": x.drawing}})
			said := a.Text
			for _, p := range k.posts(t) {
				said += p.Text
			}
			if !strings.Contains(strings.ToLower(said), strings.ToLower(x.want)) || x.want == "" && (strings.Contains(said, "How I read") || strings.Contains(said, "I cannot read")) {
				t.Errorf("%s, /%s: %q", name, command, said)
			}
			if a.Scene != nil && len(a.Scene.Board) == 9 {
				if got := strings.Join(a.Scene.Board, ""); strings.Count(got, "X") != 2 || strings.Count(got, "O") != 1 || !strings.HasPrefix(got, "....................X...O") {
					t.Errorf("%s: %s", name, got)
				}
			}
		}
	}
}
