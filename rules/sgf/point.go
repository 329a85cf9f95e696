package sgf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// size reads SZ: "19", or columns and rows, "9:5".
func size(value string) (w, h int, err error) {
	columns, rows, two := strings.Cut(value, ":")
	if !two {
		rows = columns
	}
	w, errW := strconv.Atoi(columns)
	h, errH := strconv.Atoi(rows)
	if errW != nil || errH != nil {
		return 0, 0, says("SZ[{0}] is not the size of a board: write 19, or 9:13", cut(value, 20))
	}
	_, err = rules.NewBoard(w, h)
	return w, h, err
}

// point reads a point as SGF writes it: two letters, column from the left and
// row from the top. The point may lie off the board; that is an illegal turn
// and not a malformed record.
func point(value string, h int) (rules.Point, error) {
	if len(value) != 2 || strings.Trim(value, lineLetters) != "" {
		return rules.Point{}, says("[{0}] is not a point", cut(value, 20))
	}
	return rules.Point{X: int8(line(value[0])), Y: int8(h - 1 - line(value[1]))}, nil
}

const lineLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// line returns the number of the line that a letter names: a is 0, A is 26.
func line(c byte) int { return strings.IndexByte(lineLetters, c) }

// isPass reports whether a move to value is a pass: nothing, and up to 19×19
// also "tt", which lies off the board; or, which nobody defined, "zz" and the point beyond the
// last corner, "ss" on 18×18.
func isPass(value string, w, h int) (pass, odd bool) {
	if value == "" || value == "tt" && max(w, h) <= 19 {
		return true, false
	}
	odd = value == "zz" || value == name(rules.Point{X: int8(w), Y: -1}, h)
	return odd, odd
}

// area reads a point or a compressed list of them, "aa:cc", both corners on
// the board.
func area(value string, b *rules.Board) ([]rules.Point, error) {
	_, h := b.Size()
	from, to, two := strings.Cut(value, ":")
	if !two {
		to = from
	}
	p, errP := point(strings.TrimSpace(from), h)
	q, errQ := point(strings.TrimSpace(to), h)
	if err := cmp.Or(errP, errQ); err != nil {
		return nil, err
	}
	if !b.Has(p) || !b.Has(q) {
		return nil, says("[{0}] is not on the board", cut(value, 20))
	}
	var ps []rules.Point
	for y := min(p.Y, q.Y); y <= max(p.Y, q.Y); y++ {
		for x := min(p.X, q.X); x <= max(p.X, q.X); x++ {
			ps = append(ps, rules.Point{X: x, Y: y})
		}
	}
	return ps, nil
}

// name writes a point of a board of h rows as SGF does.
func name(p rules.Point, h int) string {
	return string([]byte{'a' + byte(p.X), 'a' + byte(h-1-int(p.Y))})
}

// named reads points in the coordinates of players, "C3 D4", each once.
func named(text string, w, h int) ([]rules.Point, error) {
	var ps []rules.Point
	for word := range strings.FieldsSeq(text) {
		p, err := rules.ParsePoint(word, w, h)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ps, p) {
			ps = append(ps, p)
		}
	}
	return ps, nil
}
