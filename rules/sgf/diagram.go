package sgf

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// ErrNoDiagram is the error of Diagram for a text that holds none.
var ErrNoDiagram = errors.New("there is no diagram in it")

// Diagram reads a position as people write it in discussions: rows of ".XO" and
// digits, separated by line breaks or "/", or the notation of Sensei's Library (senseis.xmp.net/?HowDiagramsWork), of which
// the lines begin with "$$". Stones may be marked ("B W # @ Y Q Z P"), empty
// points too; the digits 1 to 9, and 0 for 10, are turns, by the colour that the
// heading names in turn ("$$W Title", else Black first). A diagram with edges
// ("|", "-" or "+") on some sides only is a part of a board of 19 lines, or of
// the size that its heading names ("$$B13"); one without any is a whole board.
//
// The record has the board, the stones and the turns; its ruleset is left open.
// Errors are for the person who wrote the diagram.
func Diagram(text string) (*Record, error) {
	d := diagram{first: rules.Black, signs: "XO.,+" + digits}
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '/' }) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "$$"); ok {
			if d.signs = points + letters + digits; d.heading(rest) {
				continue
			}
			line = strings.TrimSpace(rest)
		}
		if err := d.row(line); err != nil {
			return nil, err
		}
	}
	return d.record()
}

// A diagram is what has been read of one.
type diagram struct {
	first rules.Color
	size  int // named in the heading; 0: not
	rows  []string
	edges
	begun bool   // a heading or a row has been read
	signs string // of points: more of them, once a line began with "$$"
}

// edges are those of the board that a diagram shows.
type edges struct{ top, bottom, left, right bool }

// heading reads "$$cB13m5 Title", and reports whether it is one.
func (d *diagram) heading(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	if d.begun || s == "" {
		return false
	}
	switch t := strings.TrimSpace(s); {
	case t == "B", t == "W": // no board is that narrow
		word = t
	case s[0] == ' ': // a title, or already a row: then it is single signs
		title := slices.ContainsFunc(strings.Fields(s), func(word string) bool { return len(word) > 1 && strings.Trim(word, "-+|") != "" })
		return title && d.start()
	}
	named := headings.FindString(word)
	if named == "" {
		return false
	}
	if strings.Contains(named, "W") {
		d.first = rules.White
	}
	size, _ := strconv.Atoi(strings.Trim(named, "cBWm"))
	d.size = min(size, 100) // no board has so many lines
	return d.start()
}

// headings match the part of a heading that says something of the board: the coordinates, the player, the
// size. The number of the first move follows, but turns are numbered from 1 here.
var headings = regexp.MustCompile(`^[cBW0-9]*(?:m|$)`)

func (d *diagram) start() bool {
	d.begun = true
	return true
}

// row reads a row of points, or an edge.
func (d *diagram) row(line string) error {
	if line == "" {
		return nil
	}
	d.begun = true
	if strings.Trim(line, "-+| ") == "" && strings.Contains(line, "-") {
		if len(d.rows) == 0 {
			d.top = true
		} else {
			d.bottom = true
		}
		return nil
	}
	if d.bottom {
		return nil // a text below the board
	}
	if s, ok := strings.CutPrefix(line, "|"); ok {
		d.left, line = true, s
	}
	if s, ok := strings.CutSuffix(line, "|"); ok {
		d.right, line = true, s
	}
	row := strings.NewReplacer(" ", "", "\t", "").Replace(line)
	for _, r := range row {
		if !strings.ContainsRune(d.signs, r) {
			return fmt.Errorf("a diagram has no “%c”: X is a black stone, O a white one, . an empty point", r)
		}
	}
	if row == "" { // an edge of nothing
		return nil
	}
	d.rows = append(d.rows, row)
	return nil
}

// points are the signs of points, besides letters and digits. The first
// line are black stones, the second white ones, the third empty points.
const (
	blackStones = "XB#YZ"
	whiteStones = "OW@QP"
	emptyPoints = ".,CSTM*_?+"
	points      = blackStones + whiteStones + emptyPoints
	letters     = "abcdefghijklmnopqrstuvwxyz"
	digits      = "1234567890" // of turns, in their order
)

func (d *diagram) record() (*Record, error) {
	if len(d.rows) == 0 {
		return nil, ErrNoDiagram
	}
	columns := len(slices.MaxFunc(d.rows, func(a, b string) int { return len(a) - len(b) }))
	size := d.size
	if size == 0 && d.edges != (edges{}) {
		size = 19
	}
	w, left := span(columns, size, d.left, d.right)
	h, top := span(len(d.rows), size, d.top, d.bottom)
	if max(w, h) > rules.MaxLines {
		return nil, fmt.Errorf("a board has 1 to %d lines a side", rules.MaxLines)
	}
	rec := &Record{Setup: rules.Setup{W: w, H: h}}
	var moves [len(digits)]*rules.Point
	for y, row := range d.rows {
		for x, r := range row {
			p := rules.Point{X: int8(left + x), Y: int8(h - 1 - top - y)}
			switch n := strings.IndexRune(digits, r); {
			case strings.ContainsRune(blackStones, r):
				rec.Setup.Black = append(rec.Setup.Black, p)
			case strings.ContainsRune(whiteStones, r):
				rec.Setup.White = append(rec.Setup.White, p)
			case n >= 0 && moves[n] != nil:
				return nil, fmt.Errorf("the diagram has two moves %d", n+1)
			case n >= 0:
				moves[n] = &p
			}
		}
	}
	rec.Setup.First = d.first
	by := d.first
	for n, at := range moves {
		switch {
		case at == nil:
		case len(rec.Turns) < n:
			return nil, fmt.Errorf("the diagram has a move %d and no move %d", n+1, len(rec.Turns)+1)
		default:
			rec.Turns = append(rec.Turns, Turn{Turn: rules.Turn{Kind: rules.Place, By: by, At: *at}})
			by = by.Opponent()
		}
	}
	return rec, nil
}

// span returns how many lines a board has from one side to the other, and at which of them the shown ones begin, of
// which the first and the last may be edges: a part lies where its edge is, or in the middle.
func span(shown, size int, first, last bool) (lines, at int) {
	if lines = shown; !first || !last {
		lines = max(shown, size)
	}
	switch {
	case first:
		return lines, 0
	case last:
		return lines, lines - shown
	}
	return lines, (lines - shown) / 2
}
