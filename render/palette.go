package render

// maxColors is how many colours a picture has at most: with more it looks the
// same and takes more bytes. An animation needs one besides, for "as it was".
const maxColors = 192

// A palette is the colours that pictures of a theme are made of. It comes from
// the theme alone, so that the same scene has the same bytes whatever was drawn
// before. It is read-only.
type palette struct {
	colors [256]rgb
	n      int // how many there are
	// nearest holds the index for a colour of which six bits a channel are
	// looked at.
	nearest [1 << 18]uint8
	exact   map[rgb]uint8
}

// index returns the colour nearest to one.
func (p *palette) index(r, g, b uint8) uint8 {
	return p.nearest[int(r)>>2<<12|int(g)>>2<<6|int(b)>>2]
}

// of returns the index for a colour that areas are painted with.
func (p *palette) of(c rgb) uint8 {
	if i, ok := p.exact[c]; ok {
		return i
	}
	return p.index(c.r, c.g, c.b)
}

// newPalette takes the colours that must be exact and then the ways between
// any two that meet, leaving out what is near to a colour already taken, by
// about the smallest distance with which maxColors suffice. A flat theme names
// all its colours itself.
func newPalette(t *theme) *palette {
	if t.few != nil {
		return paletteOf(t.few, t.few)
	}
	exact := t.exact()
	ways := t.ways()
	// Colours that are left out lie in the other's reach: try reaches until
	// few enough remain.
	for d := int32(0); ; d += d/8 + 4 {
		colors := append([]rgb(nil), exact...)
		for _, c := range ways {
			if _, far := closest(colors, c); far > d {
				colors = append(colors, c)
			}
			if len(colors) > maxColors {
				break
			}
		}
		if len(colors) <= maxColors {
			return paletteOf(colors, exact)
		}
	}
}

func paletteOf(colors, exact []rgb) *palette {
	p := &palette{n: len(colors), exact: map[rgb]uint8{}}
	copy(p.colors[:], colors)
	p.fillTable(colors)
	for i := len(exact) - 1; i >= 0; i-- {
		c := exact[i]
		p.nearest[int(c.r)>>2<<12|int(c.g)>>2<<6|int(c.b)>>2] = uint8(i)
		p.exact[c] = uint8(i)
	}
	return p
}

// closest returns the colour that looks nearest to c, and how far it is.
func closest(colors []rgb, c rgb) (int, int32) {
	best, at := int32(1)<<30, 0
	for i, x := range colors {
		dr, dg, db := int32(x.r)-int32(c.r), int32(x.g)-int32(c.g), int32(x.b)-int32(c.b)
		if d := 3*dr*dr + 4*dg*dg + 2*db*db; d < best {
			best, at = d, i
		}
	}
	return at, best
}

// fillTable looks up every colour of six bits a channel. Of a cube of 4×4×4
// such colours only those of the palette come into question that are no
// farther from its near side than some colour is from its far side.
func (p *palette) fillTable(colors []rgb) {
	const cube = 16 // shades along a side
	var near [256]int32
	var some []rgb
	var at []uint8
	for r := 0; r < 256; r += cube {
		for g := 0; g < 256; g += cube {
			for b := 0; b < 256; b += cube {
				reach := int32(1) << 30
				for i, c := range colors {
					var far int32
					near[i] = 0
					for ch, v := range [3]int32{int32(c.r) - int32(r), int32(c.g) - int32(g), int32(c.b) - int32(b)} {
						weight := [3]int32{3, 4, 2}[ch]
						to := max(v, cube-1-v)
						far += weight * to * to
						if out := max(-v, v-(cube-1)); out > 0 {
							near[i] += weight * out * out
						}
					}
					reach = min(reach, far)
				}
				some, at = some[:0], at[:0]
				for i, c := range colors {
					if near[i] <= reach {
						some, at = append(some, c), append(at, uint8(i))
					}
				}
				for x := range 64 {
					// the middle of the colours that share six bits
					c := rgb{uint8(r + x>>4<<2 | 2), uint8(g + x>>2&3<<2 | 2), uint8(b + x&3<<2 | 2)}
					i, _ := closest(some, c)
					p.nearest[int(c.r)>>2<<12|int(c.g)>>2<<6|int(c.b)>>2] = at[i]
				}
			}
		}
	}
}

// exact returns the colours of areas; where two share six bits a channel the
// first wins.
func (t *theme) exact() []rgb {
	colors := []rgb{t.panel, t.footer, t.text, t.blackTile, t.whiteTile, t.mark, t.markOnBlack, t.onMark, t.pill, t.onPill,
		t.due, t.gain, t.loss, t.dim, t.faint, t.line, t.label, t.rule, t.blackBorder, t.whiteBorder, t.blackStone, t.rim,
		t.banner, t.onBanner, t.bowl, t.bowlRim, t.button, t.buttonEdge}
	for i := range grainLevels {
		colors = append(colors, t.wood[1].over(t.wood[0], float64(i)/(grainLevels-1)))
	}
	var once []rgb
	for _, c := range colors {
		if _, d := closest(once, c); d > 0 {
			once = append(once, c)
		}
	}
	return once
}

// ways returns the colours between those that meet at an edge or in a shade.
func (t *theme) ways() []rgb {
	var out []rgb
	way := func(from, to rgb, steps int) {
		for i := 0; i <= steps; i++ {
			out = append(out, to.over(from, float64(i)/float64(steps)))
		}
	}
	// text
	way(t.panel, t.text, 12)
	way(t.panel, t.dim, 8)
	way(t.panel, t.faint, 5)
	way(t.panel, t.gain, 6)
	way(t.panel, t.loss, 6)
	way(t.footer, t.text, 10)
	way(t.footer, t.dim, 7)
	way(t.blackTile, t.text, 12)
	way(t.whiteTile, t.blackTile, 12)
	way(t.banner, t.onBanner, 6)
	way(t.pill, t.onPill, 6)
	way(t.panel, t.due, 4)
	way(t.due, t.whiteTile, 3)
	way(t.due, t.blackTile, 4)
	// stones
	middle := t.wood[1].over(t.wood[0], 0.5)
	white := hex(0xFFFEFB)
	if t.flat {
		way(t.blackStone, t.wood[0], 16)
		way(t.whiteStone, t.wood[0], 8)
	} else {
		way(hex(0x050506), hex(0x6A6A6C), 20)
		way(hex(0x17171A), hex(0x3A3A46), 5)
		way(white, hex(0xBDB6AA), 20)
		way(hex(0xBDB6AA), t.rim, 6)
		for _, w := range []rgb{middle, t.wood[0], t.wood[1]} {
			way(w, t.shadow.over(w, 0.72), 14)
			way(w, hex(0xBDB6AA), 3)
		}
		way(middle, hex(0x08080A), 8)
		way(t.rim, middle, 5)
		way(t.rim, t.shadow.over(middle, 0.46), 4)
		way(t.line, t.shadow.over(t.line, 0.6), 3)
		way(t.line, middle, 4)
		way(white, middle, 5)
	}
	// marks and coordinates
	way(middle, t.label, 7)
	way(t.mark, white, 7)
	way(t.markOnBlack, t.onMark, 6)
	way(t.mark, middle, 5)
	way(t.pill, middle, 4)
	for _, w := range t.wood {
		for _, c := range []rgb{hex(0xFDFBF7), hex(0xEBE7E0), hex(0xD0CAC0)} {
			way(w, c.over(w, 0.52), 2)
			way(t.line, c.over(t.line, 0.52), 1)
			way(t.mark, c.over(w, 0.52), 4)
		}
		way(w, t.blackStone.over(w, 0.42), 4)
		way(t.mark, t.blackStone.over(w, 0.42), 3)
	}
	// bowls and buttons
	way(t.panel, t.bowlRim, 3)
	way(t.bowl, t.bowlRim, 6)
	way(t.bowl, hex(0x000000), 3)
	way(t.button, t.buttonEdge, 4)
	way(t.button, white, 3)
	return out
}
