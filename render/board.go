package render

import (
	"cmp"
	"image"
	"slices"
	"strconv"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A grid is where the lines of a board lie on a picture.
type grid struct {
	*sprites
	coordinates string
	w, h        int // of the board
	x, y        int // of A1, in pixels
}

func (k *sprites) grid(s *Scene, coordinates string) grid {
	w, h := s.Size()
	x, y := k.a1(w, h, k.cell)
	return grid{k, coordinates, w, h, x, y}
}

// a1 returns where A1 of a board lies on a picture.
func (k sizeKey) a1(w, h, cell int) (x, y int) {
	board := layouts[k.layout].board
	// Lines lie on two pixels of which the first is even.
	return (k.u(board.Dx())-(w-1)*cell)/2 | 1, (k.u(board.Dy())+(h-1)*cell)/2 | 1
}

// Lines returns where the lines of the board lie on the picture of a scene: A1 at x and
// y, and each further line cell to the right or up, in pixels.
func (s Scene) Lines(o Options) (x, y, cell int, err error) {
	if o, err = o.over(s.Look).complete(); err == nil {
		err = s.check()
	}
	if err != nil {
		return 0, 0, 0, err
	}
	k := o.sizeKey()
	w, h := s.Size()
	cell = k.cellOf(w, h)
	x, y = k.a1(w, h, cell)
	return x, y, cell, nil
}

// at returns the pixel right and below of the middle of a point.
func (g *grid) at(p rules.Point) (x, y int) {
	return g.x + int(p.X)*g.cell, g.y - int(p.Y)*g.cell
}

// boardOf draws the board.
func (l *displayList) boardOf(g *grid, s *Scene) {
	l.lines(g)

	stamp := func(p rules.Point, sp *sprite) {
		if s.has(p) {
			x, y := g.at(p)
			l.stamp(x, y, sp)
		}
	}
	each := func(do func(p rules.Point, color rules.Color)) {
		for y := g.h - 1; y >= 0; y-- {
			for x := range g.w {
				p := rules.Point{X: int8(x), Y: int8(y)}
				if color := s.at(p); color != rules.None {
					do(p, color)
				}
			}
		}
	}
	// All shadows first: no stone throws one onto its neighbour's face.
	if !g.theme.flat {
		each(func(p rules.Point, _ rules.Color) { stamp(p, g.shadow) })
	}
	l.coordinates(g, s) // on which no shadow falls
	each(func(p rules.Point, color rules.Color) { stamp(p, g.stone[color]) })
	s.marks(func(p rules.Point, kind mark, color rules.Color) { stamp(p, g.mark[kind][color]) })
}

// A mark is what lies on a point besides a stone that stands.
type mark uint8

const (
	ghostMark  mark = iota // a stone that was taken, or is dead
	crossMark              // on a ghost
	squareMark             // on territory
	ringMark               // on a stone in seki
	koMark
	lastMark // on the last stone
	markKinds
)

// marks calls do with each mark of a board, from below: its point, which may lie
// off the board, and the colour of the stone on which it lies or, of a ghost or of
// territory, its own.
func (s *Scene) marks(do func(p rules.Point, kind mark, color rules.Color)) {
	for _, st := range s.Ghosts {
		do(st.At, ghostMark, st.Color)
		if !slices.Contains(s.Ko, st.At) {
			do(st.At, crossMark, st.Color)
		}
	}
	for _, st := range s.Dead {
		do(st.At, ghostMark, st.Color)
		if !slices.ContainsFunc(s.Territory, func(owned Stone) bool { return owned.At == st.At }) {
			do(st.At, crossMark, st.Color)
		}
	}
	for _, st := range s.Territory {
		do(st.At, squareMark, st.Color)
	}
	for _, p := range s.Seki {
		do(p, ringMark, s.at(p))
	}
	for _, p := range s.Ko {
		do(p, koMark, rules.None)
	}
	if newest := cmp.Or(s.Last, s.Newest); newest != nil {
		do(*newest, lastMark, s.at(*newest))
	}
}

// lines draws the lines and the stars.
func (l *displayList) lines(g *grid) {
	left, bottom := g.x, g.y
	right, top := left+(g.w-1)*g.cell, bottom-(g.h-1)*g.cell
	half := g.line / 2
	x0, y0, x1, y1 := left-half, top-half, right+half, bottom+half
	for x := left; x <= right; x += g.cell {
		l.fill(image.Rect(x-half, y0, x+half, y1), g.theme.line)
	}
	for y := top; y <= bottom; y += g.cell {
		l.fill(image.Rect(x0, y-half, x1, y+half), g.theme.line)
	}
	for _, p := range stars(g.w, g.h) {
		x, y := g.at(p)
		l.stamp(x, y, g.star)
	}
}

// stars returns the points that are marked on a board: the corners, and on sides
// of an odd number of lines, 15 or more, the middles; on smaller ones the
// centre alone.
func stars(w, h int) []rules.Point {
	if w == 1 && h == 1 {
		return []rules.Point{{}} // or there would be nothing to see
	}
	along := func(n int) []int {
		switch {
		case n < 7:
			return nil
		case n < 13:
			return []int{2, n - 3}
		case n < 15 || n%2 == 0:
			return []int{3, n - 4}
		}
		return []int{3, n / 2, n - 4}
	}
	var out []rules.Point
	for _, x := range along(w) {
		for _, y := range along(h) {
			out = append(out, rules.Point{X: int8(x), Y: int8(y)})
		}
	}
	centre := rules.Point{X: int8(w / 2), Y: int8(h / 2)}
	if w%2 == 1 && h%2 == 1 && min(w, h) >= 9 && !slices.Contains(out, centre) {
		out = append(out, centre)
	}
	return out
}

// coordinates writes the names of the lines, those of the last move on a pill.
func (l *displayList) coordinates(g *grid, s *Scene) {
	plain := style{medium, g.labels, g.theme.label}
	lit := style{bold, g.labels, g.theme.onPill}
	away := g.cell/2 + g.u(labelBand)/2
	s.labels(g.coordinates, func(p rules.Point, right, down int, text string, last bool) {
		x, y := g.at(p)
		x, y = x+right*away, y+down*away
		st := plain
		if last {
			l.stamp(x, y, g.pill)
			st = lit
		}
		if g.coordinates == "kanji" {
			text, st = st.fit(text, g.u(labelBand), 8)
		}
		l.centred(x, y, text, st)
	})
}

// labels calls write with each name of a line on all four sides: the last point of the
// line, the direction from there, 1 to the right and down, and whether it is that of
// the last move. Numbers and kanji stand above and on the right; below and on the left
// are always the letters that texts use.
func (s *Scene) labels(coordinates string, write func(p rules.Point, right, down int, text string, last bool)) {
	if coordinates == "none" {
		return
	}
	w, h := s.Size()
	seen := s.Last != nil && s.has(*s.Last)
	for x := range w {
		last := seen && int(s.Last.X) == x
		write(rules.Point{X: int8(x), Y: int8(h - 1)}, 0, -1, columnName(coordinates, x), last)
		write(rules.Point{X: int8(x)}, 0, 1, columnName("letters", x), last)
	}
	for y := range h {
		last := seen && int(s.Last.Y) == y
		write(rules.Point{Y: int8(y)}, -1, 0, rowName("letters", y, h), last)
		write(rules.Point{X: int8(w - 1), Y: int8(y)}, 1, 0, rowName(coordinates, y, h), last)
	}
}

// columnLetters are those of the columns. There is no I.
const columnLetters = "ABCDEFGHJKLMNOPQRSTUVWXYZ"

// columnName returns the name of a column, counted from 0 on the left.
func columnName(coordinates string, x int) string {
	if coordinates == "letters" {
		return columnLetters[x : x+1]
	}
	return strconv.Itoa(x + 1)
}

// rowName returns the name of a row, counted from 0 at the bottom of h. Only
// letters go with rows that are counted from there.
func rowName(coordinates string, y, h int) string {
	switch coordinates {
	case "letters":
		return strconv.Itoa(y + 1)
	case "kanji":
		return kanji(h - y)
	}
	return strconv.Itoa(h - y)
}

// kanji writes a number up to 29 as in Japanese and Chinese: 十九, 廿五.
func kanji(n int) string {
	digits := []string{"", "一", "二", "三", "四", "五", "六", "七", "八", "九"}
	tens := ""
	switch {
	case n >= 20:
		tens = "廿"
	case n >= 10:
		tens = "十"
	}
	return tens + digits[n%10]
}
