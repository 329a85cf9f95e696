package sgf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// drawn returns what a record shows: its board after its turns, who began, and
// the turns.
func drawn(t *testing.T, rec *Record) string {
	t.Helper()
	g, err := rec.Play(&rules.TrompTaylor, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := g.Board()
	out := strings.Join(b.Rows(), "\n")
	for _, turn := range rec.Turns {
		out += "\n" + turn.Turn.String()
	}
	return out
}

func TestDiagram(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"rows": {`
			. X O
			X O .
			. . .`, ".XO\nXO.\n..."},
		"all numbers":      {"123/456/789/...", ".O.\nO.O\nXOX\n...\nB place A4\nW place B4\nB place C4\nW place A3\nB place B3\nW place C3\nB place A2\nW place B2\nB place C2"},
		"rows on one line": {"..X/.O./X..", "..X\n.O.\nX.."},
		"a heading apart from its sign": {`
			$$ W
			$$  ---------
			$$ | . . . . |
			$$ | . X O . |
			$$ | . . 1 . |
			$$  ---------`, "....\n.XO.\n..O.\nW place C1"},
		"a whole board of Sensei's, with a title, a heading and marks": {`
			$$B The end
			$$  -----------
			$$ | . . # C 1 |
			$$ | . X , O 2 |
			$$ | a Q T . . |
			$$  -----------
			$$ This is what is said below it.`, "..X.X\n.X.OO\n.O...\nB place E3\nW place E2"},
		"White first, ten turns": {`
			$$Wm31
			$$ ---------------
			$$ | 1 2 3 4 5 6 |
			$$ | . . . . . . |
			$$ | 7 8 9 0 . . |
			$$ ---------------`, "OXOXOX\n......\nOXOX..\nW place A3\nB place B3\nW place C3\nB place D3\nW place E3\nB place F3\nW place A1\nB place B1\nW place C1\nB place D1"},
		"the lower left corner": {`
			$$c5
			$$ | . .
			$$ | X O
			$$  ----`, ".....\n.....\n.....\n.....\nXO..."},
		"the upper right corner": {`
			$$5
			$$ ----
			$$  X O |`, "...XO\n.....\n.....\n.....\n....."},
		"all ten numbers":                      {"1234567890", ".O.O.O.O.O\nB place A1\nW place B1\nB place C1\nW place D1\nB place E1\nW place F1\nB place G1\nW place H1\nB place J1\nW place K1"},
		"all letters of Sensei's":              {"$$ | a m z X |\n$$ ---", strings.Repeat("....\n", 18) + "...X"},
		"a title of short words":               {"$$ B to X\n$$ . X", ".X"},
		"a part of nowhere lies in the middle": {"$$5\n$$ . X .\n$$ . O .\n$$ . . .", ".....\n..X..\n..O..\n.....\n....."},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := Diagram(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := drawn(t, rec); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	rec, err := Diagram("$$ | X .\n$$ | . .")
	if err != nil || rec.Setup.W != 19 || rec.Setup.H != 19 || !slices.Equal(rec.Setup.Black, []rules.Point{{X: 0, Y: 10}}) {
		t.Errorf("a part of the left side: %+v, %v", rec, err)
	}
	for text, want := range map[string]string{
		"":                           "there is no diagram in it",
		"|":                          "there is no diagram in it",
		"$$B1000000000\n$$ . X":      "a board has 1 to 25 lines a side",
		"$$B A title alone":          "there is no diagram in it",
		"..X\n.%.":                   "a diagram has no “%”: X is a black stone, O a white one, . an empty point",
		". 1 2 4":                    "the diagram has a move 4 and no move 3",
		". 1 1":                      "the diagram has two moves 1",
		strings.Repeat(".", 26):      "a board has 1 to 25 lines a side",
		strings.Repeat(".\n", 26):    "a board has 1 to 25 lines a side",
		"$$B99\n$$ | . X\n":          "a board has 1 to 25 lines a side",
		"$$B99\n$$ | . X |\n":        "a board has 1 to 25 lines a side",
		"Please show me what I mean": "a diagram has no “P”",
	} {
		if rec, err := Diagram(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %+v, error %q, want %q", text, rec, fmt.Sprint(err), want)
		}
	}
}

func FuzzDiagram(f *testing.F) {
	f.Add("$$B13m5 Title\n$$ | . X 1 |\n$$ ---\n")
	f.Add("..X/.O.")
	f.Fuzz(func(t *testing.T, text string) {
		rec, err := Diagram(text)
		if err != nil {
			return
		}
		s := rec.Setup
		if s.W < 1 || s.H < 1 || s.W > rules.MaxLines || s.H > rules.MaxLines {
			t.Errorf("a board of %d×%d", s.W, s.H)
		}
		b, err := rules.NewBoard(s.W, s.H)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range slices.Concat(s.Black, s.White) {
			if !b.Has(p) {
				t.Errorf("%v is not on a board of %d×%d", p, s.W, s.H)
			}
		}
	})
}

// The largest board is 25×25.
func TestDiagramOfTheLargestBoard(t *testing.T) {
	row := strings.Repeat(". ", 24) + "X\n"
	rec, err := Diagram(strings.Repeat(row, 25))
	if err != nil || rec.Setup.W != 25 || rec.Setup.H != 25 || len(rec.Setup.Black) != 25 {
		t.Errorf("%+v, %v", rec, err)
	}
	for _, text := range []string{strings.Repeat(row, 26), strings.Repeat(". "+row, 25)} {
		if _, err := Diagram(text); err == nil || !strings.Contains(err.Error(), "1 to 25 lines") {
			t.Error(err)
		}
	}
}
