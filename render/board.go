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
	view        View
	x, y        int // of A1, in pixels, which may lie outside of the picture
}

func (k *sprites) grid(s *Scene, coordinates string) grid {
	w, h := s.Size()
	v := s.view()
	x, y := k.a1(v, k.cell)
	return grid{k, coordinates, w, h, v, x, y}
}

// a1 returns where A1 lies on a picture, which may be outside of the view.
func (k sizeKey) a1(v View, cell int) (x, y int) {
	cols, rows := v.size()
	board := layouts[k.layout].board
	// Lines lie on two pixels of which the first is even.
	x = (k.u(board.Dx())-(cols-1)*cell)/2 | 1
	y = (k.u(board.Dy())+(rows-1)*cell)/2 | 1
	return x - int(v.From.X)*cell, y + int(v.From.Y)*cell
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
	k, v := sizeKey{scales[o.Size], o.Layout}, s.view()
	cols, rows := v.size()
	cell = cellOf(k.quarter, cols, rows)
	x, y = k.a1(v, cell)
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
		if g.view.has(p) {
			x, y := g.at(p)
			l.stamp(x, y, sp)
		}
	}
	each := func(do func(p rules.Point, color rules.Color)) {
		for y := g.view.To.Y; y >= g.view.From.Y; y-- {
			for x := g.view.From.X; x <= g.view.To.X; x++ {
				p := rules.Point{X: x, Y: y}
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
	for _, st := range s.Ghosts {
		stamp(st.At, g.ghost[st.Color])
		if !slices.Contains(s.Ko, st.At) {
			stamp(st.At, g.cross[st.Color])
		}
	}
	for _, st := range s.Dead {
		stamp(st.At, g.ghost[st.Color])
		if !slices.ContainsFunc(s.Territory, func(owned Stone) bool { return owned.At == st.At }) {
			stamp(st.At, g.cross[st.Color])
		}
	}
	for _, st := range s.Territory {
		stamp(st.At, g.square[st.Color])
	}
	for _, p := range s.Seki {
		stamp(p, g.ring[s.at(p)])
	}
	for _, p := range s.Ko {
		stamp(p, g.ko)
	}
	last := cmp.Or(s.Last, s.Newest)
	if marked := l.marks(g, s, last, stamp); last != nil && !marked {
		stamp(*last, g.last[s.at(*last)])
	}
}

// marks draws the marks of a diagram, and reports whether one lies on the last
// stone, which then needs no other.
func (l *displayList) marks(g *grid, s *Scene, last *rules.Point, stamp func(rules.Point, *sprite)) (onLast bool) {
	for _, m := range s.Marks {
		if !s.has(m.At) || !g.view.has(m.At) {
			continue
		}
		onLast = onLast || last != nil && m.At == *last
		color := s.at(m.At)
		if m.Kind != Label {
			stamp(m.At, g.shapes[m.Kind][color])
			continue
		}
		ink := g.theme.label
		switch color {
		case rules.Black:
			ink = g.theme.whiteStone
		case rules.White:
			ink = g.theme.blackStone
		default:
			stamp(m.At, g.hole) // lines would run through the letter
		}
		text := drawable(cutRunes(m.Label, 3), "?")
		size := [...]float64{0.66, 0.58, 0.44}[min(max(len([]rune(text)), 1), 3)-1]
		st := style{bold, max(int(size*float64(g.cell)+0.5), 6), ink}
		x, y := g.at(m.At)
		l.centred(x, y, text, st)
	}
	return onLast
}

// cutRunes returns the first n letters of a text.
func cutRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// lines draws the lines and the stars. Where the board extends beyond the view
// the lines run on for half a cell.
func (l *displayList) lines(g *grid) {
	left, bottom := g.at(g.view.From)
	right, top := g.at(g.view.To)
	half := g.line / 2
	x0, y0, x1, y1 := left-half, top-half, right+half, bottom+half
	if g.view.From.X > 0 {
		x0 = left - g.cell/2
	}
	if int(g.view.To.X) < g.w-1 {
		x1 = right + g.cell/2
	}
	if g.view.From.Y > 0 {
		y1 = bottom + g.cell/2
	}
	if int(g.view.To.Y) < g.h-1 {
		y0 = top - g.cell/2
	}
	for x := left; x <= right; x += g.cell {
		l.fill(image.Rect(x-half, y0, x+half, y1), g.theme.line)
	}
	for y := top; y <= bottom; y += g.cell {
		l.fill(image.Rect(x0, y-half, x1, y+half), g.theme.line)
	}
	for _, p := range stars(g.w, g.h) {
		if g.view.has(p) {
			x, y := g.at(p)
			l.stamp(x, y, g.star)
		}
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

// coordinates writes the names of the lines on all four sides, those of the
// last move on a pill. Numbers and kanji stand above and on the right; below and on
// the left are always the letters that texts use.
func (l *displayList) coordinates(g *grid, s *Scene) {
	if g.coordinates == "none" {
		return
	}
	plain := style{medium, g.labels, g.theme.label}
	lit := style{bold, g.labels, g.theme.onPill}
	away := g.cell/2 + g.u(labelBand)/2
	left, bottom := g.at(g.view.From)
	right, top := g.at(g.view.To)
	write := func(x, y int, text string, last bool) {
		st := plain
		if last {
			l.stamp(x, y, g.pill)
			st = lit
		}
		if g.coordinates == "kanji" {
			text, st = st.fit(text, g.u(labelBand), 8)
		}
		l.centred(x, y, text, st)
	}
	seen := s.Last != nil && g.view.has(*s.Last)
	for x := g.view.From.X; x <= g.view.To.X; x++ {
		at, _ := g.at(rules.Point{X: x})
		last := seen && s.Last.X == x
		write(at, top-away, columnName(g.coordinates, int(x)), last)
		write(at, bottom+away, columnName("letters", int(x)), last)
	}
	for y := g.view.From.Y; y <= g.view.To.Y; y++ {
		_, at := g.at(rules.Point{Y: y})
		last := seen && s.Last.Y == y
		write(left-away, at, rowName("letters", int(y), g.h), last)
		write(right+away, at, rowName(g.coordinates, int(y), g.h), last)
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
