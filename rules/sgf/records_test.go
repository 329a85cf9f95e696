package sgf

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A result is what others found of a real game.
type result struct {
	File                string
	Size                [2]int
	KM                  float64
	HA                  string
	Dead                []string // points of SGF
	AreaWminusB         float64  // stones and territory once the dead are lifted, no komi
	TerritoryAllWminusB float64  // territory and prisoners, no komi
	CapsB, CapsW        int      // black and white stones captured during play
}

// realGames returns the records of HALFPOINT_RECORDS, by default beside the
// repository; relative to its root.
func realGames(t *testing.T) (dir string, results []result) {
	dir = os.Getenv("HALFPOINT_RECORDS")
	if dir == "" {
		dir = filepath.Join("..", "shared", "data", "records")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	if os.IsNotExist(err) {
		t.Skip("no real games to test with: HALFPOINT_RECORDS names no directory with results.jsonl")
	} else if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var x result
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		results = append(results, x)
	}
	if len(results) == 0 {
		t.Fatal("results.jsonl is empty")
	}
	return dir, results
}

func realGame(t *testing.T, dir, file string) *Record {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := Read(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return rec
}

// Real games come to the count that others found, under every ruleset.
func TestRealGames(t *testing.T) {
	dir, results := realGames(t)
	for _, x := range results {
		t.Run(x.File, func(t *testing.T) {
			rec := realGame(t, dir, x.File)
			s := rec.Setup
			if ha := fmt.Sprint(s.Handicap); s.W != x.Size[0] || s.H != x.Size[1] || s.Komi.Decimal() != fmt.Sprint(x.KM) ||
				ha != x.HA && !(s.Handicap == 0 && (x.HA == "" || x.HA == "1")) {
				t.Errorf("%+v, want %+v", s, x)
			}
			var dead []rules.Point
			for _, v := range x.Dead {
				p, err := point(v, s.H)
				if err != nil {
					t.Fatal(err)
				}
				dead = append(dead, p)
			}
			played(t, rec)
			for _, r := range rules.Catalogue {
				if r.Name == "ultimate" {
					continue
				}
				if g, err := rec.Under(r, 0, dead, nil); err != nil {
					t.Errorf("%s: %v", r.Name, err)
				} else {
					counted(t, g, x)
				}
			}
		})
	}
}

// played plays a record as it is written, and writes and reads it.
func played(t *testing.T, rec *Record) {
	r, _, err := rec.Ruleset()
	if err != nil {
		t.Fatal(err)
	}
	g, err := rec.Play(r, rec.Setup.Komi)
	if err != nil {
		t.Fatalf("as it is written under %s: %v", r.Name, err)
	}
	same(t, again(t, g), g)
}

// counted compares a game that was brought to its end with what others found.
func counted(t *testing.T, g *rules.Game, x result) {
	name := g.Rules().Name
	board := g.Counted()
	if g.Phase() != rules.Over || float64(-board.Area()) != x.AreaWminusB {
		t.Errorf("%s: %v, area %d, want %v", name, g.Phase(), -board.Area(), x.AreaWminusB)
	}
	inPlay := beforeLifting(t, g)
	capsB, capsW := inPlay.Captured(rules.Black), inPlay.Captured(rules.White)
	lifted := g.Captured(rules.Black) - capsB + g.Captured(rules.White) - capsW
	if capsB != x.CapsB || capsW != x.CapsW || lifted != len(x.Dead) {
		t.Errorf("%s: captured %d and %d, want %d and %d; lifted %d of %d", name, capsB, capsW, x.CapsB, x.CapsW, lifted, len(x.Dead))
	}
	black, white := board.Territory()
	if d := white + g.Captured(rules.Black) - black - g.Captured(rules.White); float64(d) != x.TerritoryAllWminusB {
		t.Errorf("%s: territory and prisoners %d, want %v", name, d, x.TerritoryAllWminusB)
	}
	// the margin, for those rulesets in which it is one of these numbers
	given := rules.Points(max(g.Setup().Handicap-1, 0)) * rules.One
	want, known := rules.Points(0), true
	switch name {
	case "tromp-taylor", "area-2", "area-agreement", "aga":
		want = -rules.Points(x.AreaWminusB)*rules.One - given
	case "japanese":
		want = -rules.Points(x.TerritoryAllWminusB) * rules.One
	default:
		known = false
	}
	if m := g.Score().Margin(); known && m != want {
		t.Errorf("%s: margin %v, want %v", name, m, want)
	}
}

// beforeLifting returns the game after its last turn, before anything was said of
// dead stones.
func beforeLifting(t *testing.T, g *rules.Game) *rules.Game {
	t.Helper()
	var log []rules.Turn
	for _, turn := range g.Log() {
		if turn.Kind.IsTurn() || turn.Kind == rules.Resume {
			log = append(log, turn)
		}
	}
	before, err := rules.Replay(g.Rules(), g.Setup(), log)
	if err != nil {
		t.Fatal(err)
	}
	return before
}

// Two of the real games look broken to a reader that plays all variations one
// after another: game-068 would go on after two passes, with the branch that a
// slip of the operator began, and in game-131 Black would move twice in a row.
// Their main lines are sound.
func TestRealGamesWithVariations(t *testing.T) {
	dir, _ := realGames(t)
	for file, turns := range map[string]int{"game-068.sgf": 87, "game-131.sgf": 33} {
		rec := realGame(t, dir, file)
		if len(rec.Turns) != turns {
			t.Errorf("%s: %d turns, want %d", file, len(rec.Turns), turns)
		}
		for i, turn := range rec.Turns[1:] {
			if turn.By == rec.Turns[i].By {
				t.Errorf("%s: move %d is out of turn", file, i+2)
			}
			if turn.Kind == rules.Pass && rec.Turns[i].Kind == rules.Pass && i+2 < len(rec.Turns) {
				t.Errorf("%s: play goes on after move %d", file, i+2)
			}
		}
	}
}

// Two games, under Japanese rules, end with three passes: the third says
// nothing.
func TestRealGamesWithThreePasses(t *testing.T) {
	dir, results := realGames(t)
	var three []string
	for _, x := range results {
		rec := realGame(t, dir, x.File)
		g, err := rec.Play(&rules.Japanese, 0)
		if err != nil {
			t.Errorf("%s: %v", x.File, err)
		} else if g.Turns() != len(rec.Turns) {
			three = append(three, x.File)
		}
	}
	if !slices.Equal(three, []string{"game-083.sgf", "game-141.sgf"}) {
		t.Error(three)
	}
}
