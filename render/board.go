package render

import (
	"image"
	"strconv"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A grid is where the lines of a board lie on a picture.
type grid struct {
	*kit
	w, h int
	x, y int // of A1, in pixels
}

func (k *kit) grid(w, h int) grid {
	side := k.u(boardSide)
	// Lines lie on two pixels of which the first is even.
	return grid{k, w, h, (side-(w-1)*k.cell)/2 | 1, (side+(h-1)*k.cell)/2 | 1}
}

// at gives the pixel right and below of the middle of a point.
func (g *grid) at(p rules.Point) (x, y int) {
	return g.x + int(p.X)*g.cell, g.y - int(p.Y)*g.cell
}

// board draws the square on the left.
func (c *canvas) board(k *kit, s *Scene) {
	w, h := s.Size()
	g := k.grid(w, h)
	c.lines(&g)
	c.coordinates(&g, s)

	stamp := func(p rules.Point, sp *sprite) {
		if s.has(p) {
			x, y := g.at(p)
			c.stamp(x, y, sp)
		}
	}
	each := func(do func(p rules.Point, color rules.Color)) {
		for y := range h {
			for x := range w {
				p := rules.Point{X: int8(x), Y: int8(y)}
				if color := s.at(p); color != rules.None {
					do(p, color)
				}
			}
		}
	}
	// All shadows first: no stone throws one onto its neighbour's face.
	if !k.theme.flat {
		each(func(p rules.Point, _ rules.Color) { stamp(p, k.shadow) })
	}
	each(func(p rules.Point, color rules.Color) { stamp(p, k.stone[color]) })
	for _, st := range s.Ghosts {
		stamp(st.At, k.ghost[st.Color])
		stamp(st.At, k.cross[st.Color])
	}
	owned := map[rules.Point]bool{}
	for _, st := range s.Territory {
		owned[st.At] = true
	}
	for _, st := range s.Dead {
		stamp(st.At, k.ghost[st.Color])
		if !owned[st.At] {
			stamp(st.At, k.cross[st.Color])
		}
	}
	for _, st := range s.Territory {
		stamp(st.At, k.square[st.Color])
	}
	for _, p := range s.Seki {
		if color := s.at(p); color != rules.None {
			stamp(p, k.ring[color])
		}
	}
	if s.Last != nil {
		stamp(*s.Last, k.last[s.at(*s.Last)])
	}
}

// lines draws the lines and the stars.
func (c *canvas) lines(g *grid) {
	left, bottom := g.at(rules.Point{})
	right, top := g.at(rules.Point{X: int8(g.w - 1), Y: int8(g.h - 1)})
	half := g.line / 2
	for x := left; x <= right; x += g.cell {
		c.fill(image.Rect(x-half, top-half, x+half, bottom+half), g.theme.line)
	}
	for y := top; y <= bottom; y += g.cell {
		c.fill(image.Rect(left-half, y-half, right+half, y+half), g.theme.line)
	}
	for _, p := range stars(g.w, g.h) {
		x, y := g.at(p)
		c.stamp(x, y, g.star)
	}
}

// stars gives the points that are marked on a board: the corners, and on sides
// of an odd number of lines, 13 or more, the middles; on smaller ones the
// centre alone.
func stars(w, h int) []rules.Point {
	along := func(n int) (at []int, middle bool) {
		switch {
		case n < 7:
			return nil, false
		case n < 13:
			at = []int{2, n - 3}
		default:
			at = []int{3, n - 4}
		}
		return at, n%2 == 1
	}
	if w == 1 && h == 1 {
		return []rules.Point{{}} // or there would be nothing to see
	}
	xs, xm := along(w)
	ys, ym := along(h)
	if xs == nil || ys == nil {
		return nil
	}
	var out []rules.Point
	add := func(x, y int) { out = append(out, rules.Point{X: int8(x), Y: int8(y)}) }
	for _, x := range xs {
		for _, y := range ys {
			add(x, y)
		}
	}
	if xm && ym && w >= 9 && h >= 9 {
		add(w/2, h/2)
	}
	if xm && w >= 15 {
		add(w/2, ys[0])
		add(w/2, ys[1])
	}
	if ym && h >= 15 {
		add(xs[0], h/2)
		add(xs[1], h/2)
	}
	return out
}

// coordinates writes letters and numbers on all four sides, those of the last
// move on a pill.
func (c *canvas) coordinates(g *grid, s *Scene) {
	plain := style{medium, g.labels, g.theme.label}
	lit := style{bold, g.labels, g.theme.onMark}
	away := g.cell/2 + g.u(labelBand)/2
	left, bottom := g.at(rules.Point{})
	right, top := g.at(rules.Point{X: int8(g.w - 1), Y: int8(g.h - 1)})
	write := func(x, y int, text string, last bool) {
		if last {
			c.stamp(x, y, g.pill)
			c.centred(x, y, text, lit)
		} else {
			c.centred(x, y, text, plain)
		}
	}
	for i := range g.w {
		p := rules.Point{X: int8(i)}
		x, _ := g.at(p)
		letter := p.String()[:1]
		last := s.Last != nil && int(s.Last.X) == i
		write(x, top-away, letter, last)
		write(x, bottom+away, letter, last)
	}
	for i := range g.h {
		_, y := g.at(rules.Point{Y: int8(i)})
		number := strconv.Itoa(i + 1)
		last := s.Last != nil && int(s.Last.Y) == i
		write(left-away, y, number, last)
		write(right+away, y, number, last)
	}
}
