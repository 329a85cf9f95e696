package rules

import (
	"fmt"
	"strings"
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
