package sgf

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Records in the manner of the programs and servers that write them, each with its
// habits and mistakes, are read as expected.txt says.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/programs/*.sgf")
	if err != nil || len(files) < 25 {
		t.Fatal(files, err)
	}
	var out strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n%s\n", filepath.Base(file), reading(data))
	}
	golden(t, "testdata/programs/expected.txt", out.String())
}

// reading is what halfpoint score makes of a record.
func reading(data []byte) string {
	var out strings.Builder
	tell := func(format string, args ...any) { fmt.Fprintf(&out, "  "+format+"\n", args...) }
	rec, err := Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Sprintf("  refused: %v\n", err)
	}
	rec = rec.Fitted()
	r, note, err := rec.Ruleset()
	if err != nil {
		return fmt.Sprintf("  refused: %v\n", err)
	}
	rec = rec.Mended(r).Settled(r)
	s := rec.Setup
	g, err := rec.Play(r, s.Komi)
	tell("%d×%d, %s, komi %v, handicap %d, %s against %s, %d turns", s.W, s.H, r.Name, s.Komi, s.Handicap, rec.Info.Black, rec.Info.White, g.Turns())
	if note != "" {
		tell("%s", note)
	}
	for _, r := range rec.Repairs {
		tell("%v", r)
	}
	switch {
	case err != nil:
		tell("stops: %v", err)
	case rec.Stopped != nil:
		tell("stops: %v", rec.Stopped)
	case g.Phase() == rules.Over:
		tell("counted: %s", g.Result())
	default:
		tell("%v to play", g.ToPlay())
	}
	if said := rec.Against(g); said != nil {
		tell("it says %s", said.Words())
	}
	return out.String()
}
