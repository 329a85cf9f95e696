package sgf

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// The counts of every record of the repository under every ruleset are frozen in
// testdata/counts.txt: made by hand (testdata/hand), played by the engine at
// random (testdata/engine), the examples of the sources, the counterexamples
// and the flips.
func TestCounts(t *testing.T) {
	records := everyRecord(t)
	made := map[string]int{}
	var out strings.Builder
	for _, file := range slices.Sorted(maps.Keys(records)) {
		made[filepath.Base(filepath.Dir(file))]++
		fmt.Fprintf(&out, "%s\n", filepath.ToSlash(file))
		for _, row := range records[file].Compare(Count{}) {
			fmt.Fprintf(&out, "    %-19s %s\n", row.Rules.Name, told(row))
		}
	}
	if made["hand"] < 20 || made["engine"] < 20 {
		t.Errorf("%d records by hand and %d by the engine", made["hand"], made["engine"])
	}
	name := filepath.Join("testdata", "counts.txt")
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(golden), "\n"), strings.Split(out.String(), "\n")
	record, wrong := "", 0
	for i := range max(len(want), len(got)) {
		w, g := lineOf(want, i), lineOf(got, i)
		if !strings.HasPrefix(g, " ") {
			record = g
		}
		if w != g {
			if wrong++; wrong <= 5 {
				t.Errorf("%s:%d (%s)\nhas   %s\ncomes %s", name, i+1, record, w, g)
			}
		}
	}
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// told says what a row comes to: the totals, the result, and the lines.
func told(row Row) string {
	if row.Err != nil {
		return row.Err.Error()
	}
	s := row.Game.Score()
	var lines []string
	for _, l := range s.Lines {
		if l.N != 0 {
			lines = append(lines, fmt.Sprintf("%s %v×%v %v", l.Player.Letter(), l.N, l.Each, l.Thing))
		}
	}
	said := fmt.Sprintf("%v to %v, %s (%s)", s.Black, s.White, row.Game.Result(), strings.Join(lines, ", "))
	if row.Assumed {
		said += ", " + Assumed
	}
	return said
}

// A record that a game made tells the result of that game.
func TestRecordsTellTheirResult(t *testing.T) {
	for file, rec := range everyRecord(t) {
		r, note, err := rec.Ruleset()
		if err != nil {
			t.Fatal(err)
		}
		g, err := rec.Play(r, rec.Setup.Komi)
		if note != "" || strings.Contains(file, "superko-") || err == nil && g.Phase() != rules.Over {
			continue // other books, the illegal and the unfinished
		}
		if err != nil || rec.Info.Result != g.Result() {
			t.Errorf("%s: RE[%s], it comes to %q; %v", file, rec.Info.Result, g.Result(), err)
		}
	}
}

// Whoever names dead stones anew need not repeat which are in seki.
func TestSekiOfTheRecord(t *testing.T) {
	rec := read(t, "(;RU[japanese]SZ[3];B[bb];W[];B[];XS[B2]XT[accept])")
	for _, c := range []Count{{}, {Dead: []rules.Point{}}, {Dead: []rules.Point{}, Rules: &rules.Japanese}} {
		g, _, err := rec.Count(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Score().Margin(); got != 0 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A record with marks that its ruleset does not know is compared all the same.
func TestCompareWithUnknownMarks(t *testing.T) {
	rec := read(t, "(;RU[aga]SZ[9];B[ee];W[];B[];XS[E5])")
	for _, row := range rec.Compare(Count{}) {
		if row.Own && row.Err != nil {
			t.Error(row.Err)
		}
	}
}
