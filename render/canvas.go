package render

import (
	"image"
	"image/color"
)

// An rgb is an opaque colour.
type rgb struct{ r, g, b uint8 }

func hex(v uint32) rgb { return rgb{uint8(v >> 16), uint8(v >> 8), uint8(v)} }

// over returns c laid over the colour under it, with a from 0 to 1. The
// conversions keep processors from fusing the operations, each of which then
// rounds everywhere alike.
func (c rgb) over(under rgb, a float64) rgb {
	mix := func(x, y uint8) uint8 {
		return uint8(float64(float64(x)*a) + float64(float64(y)*(1-a)) + 0.5)
	}
	return rgb{mix(c.r, under.r), mix(c.g, under.g), mix(c.b, under.b)}
}

// alpha returns c with an opacity from 0 to 1, for package gg.
func (c rgb) alpha(a float64) color.Color {
	return color.NRGBA{c.r, c.g, c.b, uint8(float64(a*255) + 0.5)}
}

// A canvas is a picture being drawn, one byte a pixel. It has the form in which
// a PNG wants it: before each row stands a 0, which means "no filter".
type canvas struct {
	w, h    int
	pix     []uint8
	palette *palette
}

func newCanvas(w, h int) *canvas { return &canvas{w: w, h: h, pix: make([]uint8, (w+1)*h)} }

// span returns the pixels from x0 to x1 of a row.
func (c *canvas) span(y, x0, x1 int) []uint8 {
	start := y*(c.w+1) + 1
	return c.pix[start+x0 : start+x1]
}

// bounds returns the whole of the canvas.
func (c *canvas) bounds() image.Rectangle { return image.Rect(0, 0, c.w, c.h) }

// paint carries out ops within a part of the canvas, on a background. The pixels of the part become the same as when everything is
// painted, because each depends only on the earlier pixel at its own place.
func (c *canvas) paint(under *background, l []op, part image.Rectangle) {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		copy(c.span(y, part.Min.X, part.Max.X), under.row(y)[part.Min.X:part.Max.X])
	}
	for i := range l {
		o := &l[i]
		if int(o.x0) >= part.Max.X || int(o.y0) >= part.Max.Y || int(o.x1) <= part.Min.X || int(o.y1) <= part.Min.Y {
			continue
		}
		box := o.box()
		in := box.Intersect(part)
		switch {
		case o.sprite != nil && in == box:
			c.stamp(box.Min.X, box.Min.Y, o.sprite)
		case o.sprite != nil:
			c.stampPart(box.Min.X, box.Min.Y, o.sprite, in)
		case o.glyph != nil:
			c.mask(box, in, o.glyph.mask, o.color)
		default:
			for y := in.Min.Y; y < in.Max.Y; y++ {
				row := c.span(y, in.Min.X, in.Max.X)
				for x := range row {
					row[x] = o.fill
				}
			}
		}
	}
}

// mask paints a colour through a mask of the size of box, within in.
func (c *canvas) mask(box, in image.Rectangle, mask []uint8, with rgb) {
	for y := in.Min.Y; y < in.Max.Y; y++ {
		at := (y-box.Min.Y)*box.Dx() + in.Min.X - box.Min.X
		row := c.span(y, in.Min.X, in.Max.X)
		for i, a := range mask[at : at+in.Dx()] {
			if a == 0 {
				continue
			}
			under, a := c.palette.colors[row[i]], uint32(a)
			row[i] = c.palette.index(
				div255(uint32(with.r)*a+uint32(under.r)*(255-a)),
				div255(uint32(with.g)*a+uint32(under.g)*(255-a)),
				div255(uint32(with.b)*a+uint32(under.b)*(255-a)))
		}
	}
}

// A sprite is a small picture made once and copied often, with the middle that
// is laid on a point. It is kept as runs of pixels, row by row: solid ones are
// copied, the others laid over what is there.
type sprite struct {
	w, h   int
	cx, cy int
	runs   []run
}

type run struct {
	x, y  int
	solid []uint8    // indexes
	thin  [][4]uint8 // red, green, blue, premultiplied, and 255 less the opacity
}

// sprite makes one of a picture that package gg has drawn.
func (p *palette) sprite(img image.Image, cx, cy int) *sprite {
	m := img.(*image.RGBA)
	s := &sprite{w: m.Rect.Dx(), h: m.Rect.Dy(), cx: cx, cy: cy}
	for y := range s.h {
		for x := 0; x < s.w; {
			r := run{x: x, y: y}
			alpha := func() uint8 { return m.Pix[y*m.Stride+4*x+3] }
			for ; x < s.w && alpha() == 255; x++ {
				q := m.Pix[y*m.Stride+4*x:]
				r.solid = append(r.solid, p.of(rgb{q[0], q[1], q[2]}))
			}
			if r.solid == nil {
				for ; x < s.w && alpha() > 0 && alpha() < 255; x++ {
					q := m.Pix[y*m.Stride+4*x:]
					r.thin = append(r.thin, [4]uint8{q[0], q[1], q[2], 255 - q[3]})
				}
			}
			if r.solid == nil && r.thin == nil {
				x++
				continue
			}
			s.runs = append(s.runs, r)
		}
	}
	return s
}

// stamp lays down a sprite from x, y on.
func (c *canvas) stamp(x, y int, s *sprite) {
	for i := range s.runs {
		r := &s.runs[i]
		row := c.pix[(y+r.y)*(c.w+1)+1+x+r.x:]
		copy(row, r.solid)
		c.blend(row[:len(r.thin)], r.thin)
	}
}

// stampPart lays down the part of a sprite within in.
func (c *canvas) stampPart(x, y int, s *sprite, in image.Rectangle) {
	for i := range s.runs {
		r := &s.runs[i]
		if y+r.y < in.Min.Y || y+r.y >= in.Max.Y {
			continue
		}
		n := len(r.solid) + len(r.thin)
		from, to := max(0, in.Min.X-x-r.x), min(n, in.Max.X-x-r.x)
		if from >= to {
			continue
		}
		row := c.span(y+r.y, x+r.x+from, x+r.x+to)
		if r.solid != nil {
			copy(row, r.solid[from:to])
		} else {
			c.blend(row, r.thin[from:to])
		}
	}
}

// blend lays pixels over those of a row.
func (c *canvas) blend(row []uint8, thin [][4]uint8) {
	for i, p := range thin {
		under, keep := c.palette.colors[row[i]], uint32(p[3])
		row[i] = c.palette.index(
			p[0]+div255(uint32(under.r)*keep),
			p[1]+div255(uint32(under.g)*keep),
			p[2]+div255(uint32(under.b)*keep))
	}
}

// div255 divides by 255 and rounds, for x up to 255*255.
func div255(x uint32) uint8 { return uint8((x + 128 + (x+128)>>8) >> 8) }
