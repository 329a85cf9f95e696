package sgf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// everyRecord returns the records of examples, conditions and flips, those made
// by hand and those played by the engine, by their path from here.
func everyRecord(t *testing.T) map[string]*Record {
	t.Helper()
	records := map[string]*Record{}
	for _, pattern := range []string{"testdata/*.sgf", "testdata/hand/*.sgf", "testdata/engine/*.sgf",
		"testdata/counterexamples/*.sgf", flipFolder + "/*.sgf"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			records[file] = readFile(t, file)
		}
	}
	return records
}

func readFile(t testing.TB, file string) *Record {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := Read(strings.NewReader(string(data)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return rec
}

// Every one of them comes to what the theorem says, under every
// ruleset.
func TestTheoremOfRecords(t *testing.T) {
	counted := 0
	for file, rec := range everyRecord(t) {
		for _, row := range rec.Compare(Count{}) {
			if row.Err == nil {
				followsTheorem(t, file, row.Game)
				counted++
			}
		}
	}
	if counted < 200 {
		t.Errorf("only %d counts", counted)
	}
}

// So do the real games, with the dead stones that others found.
func TestRealGamesTheorem(t *testing.T) {
	dir, results := realGames(t)
	for _, x := range results {
		rec := realGame(t, dir, x.File)
		dead := []rules.Point{}
		for _, v := range x.Dead {
			p, err := point(v, rec.Setup.H)
			if err != nil {
				t.Fatal(err)
			}
			dead = append(dead, p)
		}
		for _, row := range rec.Compare(Count{Dead: dead}) {
			switch {
			case row.Err == nil:
				followsTheorem(t, x.File, row.Game)
			case row.Rules.Name != "ultimate":
				t.Errorf("%s: %s: %v", x.File, row.Rules.Name, row.Err)
			}
		}
	}
}

// followsTheorem compares the margin of a counted game with the theorem, whose
// w is read from the log.
func followsTheorem(t *testing.T, name string, g *rules.Game) {
	t.Helper()
	if g.Phase() != rules.Over || strings.Contains(g.Result(), "R") || g.Result() == "Void" || len(g.Seki()) > 0 {
		return // not counted, or marked as seki in japanese
	}
	if got, want := g.Score().Margin(), theorem(g); got != want {
		t.Errorf("%s: %s: margin %v, the theorem says %v", name, g.Rules().Name, got, want)
	}
}

// byArea reports whether a ruleset counts stones on the board, so that it does not matter
// how many each player placed.
func byArea(r *rules.Ruleset) bool {
	return strings.Contains(r.Book(), "  - "+rules.CountStones.Name+"\n")
}

// theorem returns the margin, komi included, that docs/theorems.md gives a game
// that was counted.
func theorem(g *rules.Game) rules.Points {
	s, b := g.Setup(), g.Board()
	var placed [3]int
	placed[rules.Black], placed[rules.White] = len(s.Black), len(s.White)
	ahead := len(s.Black) - len(s.White) // e
	var passed, pressed rules.Color      // who passed first, who took the first button
	first := rules.None                  // who moved first
	var turns []rules.Turn
	for _, t := range g.Log() {
		if t.Kind.IsTurn() {
			turns = append(turns, t)
		}
	}
	lead, early, ended := 0, false, false // of territory-1
	for i, t := range turns {
		if first == rules.None {
			first = t.By
		}
		switch t.Kind {
		case rules.Place:
			placed[t.By]++
		case rules.Pass, rules.AcceptSuggestion:
			if passed == rules.None {
				passed = t.By
				early = i+1 < len(turns) && turns[i+1].Kind == rules.Place
			}
			ended = ended || i > 0 && turns[i-1].Kind == rules.Pass
		case rules.Button:
			if pressed == rules.None {
				pressed = t.By
			}
		}
		if !ended {
			lead = placed[rules.Black] - placed[rules.White]
		}
	}
	if first == rules.White {
		ahead--
	}
	w := map[rules.Color]int{rules.White: 1}
	a := b.Area()
	black, white := b.Territory()
	handicap := max(s.Handicap-1, 0)
	var d rules.Points
	switch r := g.Rules(); r.Name {
	case "area-1":
		d = rules.Points(b.Stones(rules.Black)-b.Stones(rules.White)-handicap) * rules.One
	case "japanese":
		d = rules.Points(black-white+g.Captured(rules.White)-g.Captured(rules.Black)) * rules.One
	default:
		first := passed
		if r.Has(rules.Button) {
			first = pressed
		}
		if byArea(r) {
			ahead = handicap
		}
		d, _ = r.Difference(a-ahead, w[first])
		switch {
		case r.Name == "territory-1" && early:
			d = rules.Points(a-lead) * rules.One
		case r.Name != "two-button-separate" && r.Has(rules.Button) && pressed == rules.None:
			d = rules.Points(a-ahead) * rules.One // nobody took it
		}
	}
	return d - s.Komi
}
