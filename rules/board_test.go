package rules

import (
	"fmt"
	"strings"
	"testing"
)

// boardOf reads a board from a drawing, the top row first: X or # is a black
// stone, O a white one, . an empty point; blanks are ignored. It is the inverse
// of Board.Rows and panics on anything else: drawings are source text.
func boardOf(rows ...string) Board {
	b, err := NewBoard(len(strings.ReplaceAll(rows[0], " ", "")), len(rows))
	if err != nil {
		panic(err)
	}
	for i, row := range rows {
		row = strings.ReplaceAll(row, " ", "")
		if len(row) != int(b.w) {
			panic("rules: rows of unequal length: " + row)
		}
		for x, c := range []byte(row) {
			p := Point{int8(x), b.h - 1 - int8(i)}
			switch c {
			case 'X', '#':
				b.put(b.index(p), Black)
			case 'O':
				b.put(b.index(p), White)
			case '.':
			default:
				panic(fmt.Sprintf("rules: %q in a drawing", c))
			}
		}
	}
	return b
}

// A chain has as many liberties as there are empty points next to its stones, each counted
// once; an empty point, and what is not on the board, has none.
func TestLiberties(t *testing.T) {
	b := boardOf(
		". X X O",
		"X . X O",
		"O X X O",
		". O . .")
	for p, want := range map[Point]int{{1, 3}: 3, {2, 1}: 3, {0, 2}: 2, {0, 1}: 1, {1, 0}: 2, {3, 2}: 1, {1, 2}: 0, {3, 0}: 0, {0, 4}: 0, {-1, 0}: 0} {
		if got := b.Liberties(p); got != want {
			t.Errorf("%s has %d liberties, not %d", p, got, want)
		}
	}
}
