package render

import (
	"image"
	"image/color"
	"math"
	"sync"

	"github.com/fogleman/gg"

	"github.com/halfpoint-go/halfpoint/rules"
)

// scales are the sizes in quarters of the medium one.
var scales = map[string]int{"small": 3, "medium": 4, "large": 6}

// The layouts are in units: pixels of the medium picture.
const (
	labelBand = 26 // beside the outermost stones, for the coordinates
	maxCell   = 122
)

// A background holds what all pictures of one look, number of colours and size
// share: the rows of pixels under everything, the objects of the panel, the
// palette. It is read-only.
type background struct {
	sizeKey
	*layout
	theme   *theme
	wood    []uint8 // every row of the board, with the panel beside it
	plain   []uint8 // every row under the board
	palette *palette
	bits    int // of a pixel in a PNG, 8 or 4

	tile   [3][2]*sprite // by colour, and whether it is their turn
	tick   *sprite       // on the tile of a player who has accepted
	turn   *sprite       // behind the last turn
	banner *sprite
	icon   [3]*sprite // the stone of the last turn
	dot    [3]*sprite // and its mark
	bowl   bowlSprites
	button *sprite
	small  *sprite // button of the legend
	zone   *sprite
	chip   [3]*sprite // by colour: a stone in a line of a sheet
}

// row returns the pixels under those of a row of the picture.
func (g *background) row(y int) []uint8 {
	if y < g.u(g.board.Max.Y) {
		return g.wood
	}
	return g.plain
}

// bowlSprites are the lid of a bowl and the objects in it.
type bowlSprites struct {
	lid      *sprite
	stone    [3]*sprite // by colour
	ultimate [3]*sprite
}

// u turns units into pixels.
func (k sizeKey) u(units int) int { return (units*k.quarter + 2) / 4 }

// sprites are the background and the sprites for one distance of lines. They are
// read-only.
type sprites struct {
	*background
	cell   int // pixels from line to line
	line   int // thickness of a line
	labels int // size of the coordinates
	shadow *sprite
	stone  [3]*sprite            // by colour
	mark   [markKinds][3]*sprite // by colour
	star   *sprite
	pill   *sprite
}

// A backgroundKey identifies a background, a spritesKey a set of sprites.
type backgroundKey struct {
	look
	sizeKey
}

type spritesKey struct {
	backgroundKey
	cell int
}

// maxSprites bounds the number of sets of sprites in the cache. A set takes up to
// half a megabyte, and 40 ms to draw.
const maxSprites = 64

// spriteCache holds the sets of sprites drawn so far.
var spriteCache = struct {
	sync.RWMutex
	palettes    map[backgroundKey]*palette
	backgrounds map[backgroundKey]*background
	sprites     map[spritesKey]*sprites
}{palettes: map[backgroundKey]*palette{}, backgrounds: map[backgroundKey]*background{}, sprites: map[spritesKey]*sprites{}}

// spritesFor returns the sprites for a board of w columns and h rows.
func spritesFor(o Options, w, h int) *sprites {
	th := looks[look{o.Theme, o.Panel}]
	gk := backgroundKey{look{o.Theme, o.Panel}, o.sizeKey()}
	key := spritesKey{gk, gk.cellOf(w, h)}
	spriteCache.RLock()
	k := spriteCache.sprites[key]
	spriteCache.RUnlock()
	if k != nil {
		return k
	}
	spriteCache.Lock()
	defer spriteCache.Unlock()
	if k := spriteCache.sprites[key]; k != nil {
		return k
	}
	if len(spriteCache.sprites) >= maxSprites {
		clear(spriteCache.sprites)
		clear(spriteCache.backgrounds)
	}
	pk := gk
	pk.sizeKey = sizeKey{}
	if spriteCache.palettes[pk] == nil {
		spriteCache.palettes[pk] = newPalette(th)
	}
	if spriteCache.backgrounds[gk] == nil {
		spriteCache.backgrounds[gk] = newBackground(th, gk.sizeKey, spriteCache.palettes[pk])
	}
	k = newSprites(spriteCache.backgrounds[gk], key.cell)
	spriteCache.sprites[key] = k
	return k
}

// cellOf returns the distance of lines in pixels: even, so that halving the
// picture keeps lines sharp, and as large as the board leaves room for.
func (k sizeKey) cellOf(w, h int) int {
	room := (layouts[k.layout].board.Dy() - 2*labelBand) * k.quarter / 4 / max(w, h)
	return min(room, maxCell*k.quarter/4) &^ 1
}

const black, white = 1, 2 // rules.Black and rules.White as an index

func newBackground(t *theme, size sizeKey, p *palette) *background {
	g := &background{sizeKey: size, layout: layouts[size.layout], theme: t, palette: p, bits: 8}
	if p.n <= 16 {
		g.bits = 4
	}
	// The grain is the same in every row: the compressor then needs to look no
	// further than the row above.
	g.wood, g.plain = make([]uint8, g.u(g.wide)), make([]uint8, g.u(g.wide))
	for x := range g.wood {
		g.plain[x] = p.of(t.panel)
		switch {
		case x >= g.u(g.board.Max.X):
			g.wood[x] = p.of(t.panel)
		case g.bits == 4: // a grain of two shades would be stripes
			g.wood[x] = p.of(t.wood[0])
		default:
			g.wood[x] = p.of(t.grain(float64(4*x) / float64(g.quarter)))
		}
	}
	g.draws()
	return g
}

// grainLevels is the number of shades that the wood is made of.
const grainLevels = 5

// grain returns the shade of the wood x units from the left.
func (t *theme) grain(x float64) rgb {
	level := math.Round(grainDepth(x) * (grainLevels - 1))
	return t.wood[1].over(t.wood[0], level/(grainLevels-1))
}

// grainDepth returns how dark the grain is, from 0 to 1.
func grainDepth(x float64) float64 {
	v := math.Sin(x/97) + 0.6*math.Sin(x/31+2) + 0.35*math.Sin(x/11.3+1) + 0.2*math.Sin(x/4.7)
	return (v/2.15 + 1) / 2
}

// newKit draws the sprites. Proportions are in parts of the distance of lines.
func newSprites(g *background, cell int) *sprites {
	k := &sprites{background: g, cell: cell}
	t := g.theme
	s := float64(cell)
	unit := float64(g.quarter) / 4
	k.line = t.lineOf(cell)
	k.labels = labelSize(cell, unit)

	k.stone[black], k.stone[white] = k.drawn(0.5, 1, k.blackStone), k.drawn(0.5, 1, k.whiteStone)
	k.mark[ghostMark][black], k.mark[ghostMark][white] = k.drawn(0.5, 0.42, k.blackStone), k.drawn(0.5, 0.52, k.whiteStone)
	k.shadow = k.drawn(0.75, 1, k.dropShadow)

	k.star = k.drawn(0.25, 1, k.spot(math.Max(0.118, 3*unit/s), t.line))
	k.mark[lastMark][white] = k.drawn(0.5, 1, k.spot(0.235, t.mark))
	k.mark[lastMark][black] = k.drawn(0.5, 1, k.spot(0.300, t.onMark), k.spot(0.225, t.markOnBlack))
	k.mark[lastMark][rules.None] = k.mark[lastMark][white]

	k.mark[crossMark][white] = k.drawn(0.5, 1, k.strokes(0.10, t.mark, crossPath))
	k.mark[crossMark][black] = k.drawn(0.5, 1, k.strokes(0.19, t.whiteStone, crossPath), k.strokes(0.10, t.mark, crossPath))

	k.mark[ringMark][black], k.mark[ringMark][white] = k.drawn(0.5, 1, k.strokes(0.09, t.whiteStone, ringPath)), k.drawn(0.5, 1, k.strokes(0.09, t.blackStone, ringPath))
	k.mark[koMark][rules.None] = k.drawn(0.5, 1, k.strokes(0.17, t.onPill, koPath), k.strokes(0.09, t.pill, koPath))

	k.mark[squareMark][black] = k.marker(t.blackStone, t.blackRimOr(t.blackStone))
	k.mark[squareMark][white] = k.marker(t.whiteStone, t.line)

	side := style{bold, k.labels, t.onMark}.width("20") + g.u(3)
	dc := gg.NewContext(side, side)
	dc.DrawRoundedRectangle(0, 0, float64(side), float64(side), float64(side)/4)
	dc.SetColor(t.pill.alpha(1))
	dc.Fill()
	k.pill = k.palette.sprite(dc.Image(), side/2, side/2)
	return k
}

// lineOf returns the thickness of a line in pixels, for a cell of so many.
func (t *theme) lineOf(cell int) int { return max(2, 2*int(t.lineWidth*float64(cell)/2+0.5)) }

// labelSize returns the size of the coordinates in pixels, for a cell of so many and a
// unit of so many.
func labelSize(cell int, unit float64) int {
	s := float64(cell)
	return int(min(max(0.65*s, 18*unit), 24*unit, 0.9*s) + 0.5)
}

// blackRimOr returns the colour round black stones.
func (t *theme) blackRimOr(c rgb) rgb {
	if t.flat {
		return t.blackRim
	}
	return c
}

// Paths of marks, for a cell of s pixels.
func crossPath(dc *gg.Context, s float64) {
	half := 0.18 * s
	dc.DrawLine(-half, -half, half, half)
	dc.DrawLine(-half, half, half, -half)
}

func ringPath(dc *gg.Context, s float64) { arc(dc, 0, 0, 0.24*s, 0, 2*math.Pi) }

func koPath(dc *gg.Context, s float64) { dc.DrawRectangle(-0.19*s, -0.19*s, 0.38*s, 0.38*s) }

func (k *sprites) spot(radius float64, c rgb) func(*gg.Context) {
	return func(dc *gg.Context) {
		arc(dc, 0, 0, radius*float64(k.cell), 0, 2*math.Pi)
		dc.SetColor(c.alpha(1))
		dc.Fill()
	}
}

// strokes draws along a path, width in cells.
func (k *sprites) strokes(width float64, c rgb, path func(*gg.Context, float64)) func(*gg.Context) {
	return func(dc *gg.Context) {
		path(dc, float64(k.cell))
		dc.SetLineWidth(width * float64(k.cell))
		dc.SetLineCapRound()
		dc.SetLineJoinRound()
		dc.SetColor(c.alpha(1))
		dc.Stroke()
	}
}

// drawn returns the sprite that strokes paint around the middle of a square that
// reaches half cells from there, with an opacity.
func (k *sprites) drawn(half, opacity float64, strokes ...func(*gg.Context)) *sprite {
	side := 2 * int(math.Ceil(half*float64(k.cell)))
	dc := gg.NewContext(side, side)
	dc.Translate(float64(side)/2, float64(side)/2)
	for _, stroke := range strokes {
		stroke(dc)
	}
	m := dc.Image().(*image.RGBA)
	for i, v := range m.Pix {
		m.Pix[i] = uint8(float64(float64(v)*opacity) + 0.5)
	}
	return k.palette.sprite(m, side/2, side/2)
}

// radius is that of a stone in parts of a cell.
const radius = 0.478

func (k *sprites) disc(dc *gg.Context, fill gg.Pattern) {
	arc(dc, 0, 0, radius*float64(k.cell), 0, 2*math.Pi)
	dc.SetFillStyle(fill)
	dc.Fill()
}

// A stop is a colour at a distance, from 0 to 1, and how much it covers.
type stop struct {
	at    float64
	color rgb
	alpha float64
}

// A glow is a gradient around a point, for package gg. It is written so that
// all processors round alike, which fused operations would not.
type glow struct {
	x, y, reach float64 // pixels
	stops       []stop
}

// gradient is a glow around x, y, in radii from the middle of a sprite that
// reaches half cells from there.
func (k *sprites) gradient(half, x, y, reach float64, stops ...stop) gg.Pattern {
	// Patterns do not know of dc.Translate: they live in pixels of the sprite.
	r := radius * float64(k.cell)
	mid := math.Ceil(half * float64(k.cell))
	return &glow{mid + float64(x*r), mid + float64(y*r), reach * r, stops}
}

// ColorAt returns the colour of a pixel.
func (g *glow) ColorAt(px, py int) color.Color {
	dx, dy := float64(px)+0.5-g.x, float64(py)+0.5-g.y
	at := math.Sqrt(float64(dx*dx)+float64(dy*dy)) / g.reach
	i := 0
	for i < len(g.stops)-1 && g.stops[i+1].at < at {
		i++
	}
	a, b := g.stops[i], g.stops[min(i+1, len(g.stops)-1)]
	t := 0.0
	if b.at > a.at {
		t = min(max((at-a.at)/(b.at-a.at), 0), 1)
	}
	mixed := b.color.over(a.color, t)
	alpha := float64(a.alpha*(1-t)) + float64(b.alpha*t)
	return color.NRGBA{mixed.r, mixed.g, mixed.b, uint8(float64(alpha*255) + 0.5)}
}

func (k *sprites) blackStone(dc *gg.Context) {
	c := k.theme.blackStone
	if k.theme.flat {
		k.flatStone(dc, c, k.theme.blackRim)
		return
	}
	light := hex(0xFFFFFF)
	k.disc(dc, gg.NewSolidPattern(c.alpha(1)))
	k.disc(dc, k.gradient(0.5, 0, 0, 1, stop{0, c, 0}, stop{0.80, c, 0}, stop{0.90, hex(0x3A3A46), 0.75}, stop{1, hex(0x08080A), 1}))
	k.disc(dc, k.gradient(0.5, 0.32, 0.36, 1, stop{0, c, 0}, stop{0.5, c, 0}, stop{1, hex(0x050506), 0.35}))
	k.disc(dc, k.gradient(0.5, -0.34, -0.40, 0.62, stop{0, light, 0.40}, stop{0.35, light, 0.23}, stop{1, light, 0}))
}

func (k *sprites) whiteStone(dc *gg.Context) {
	if k.theme.flat {
		k.flatStone(dc, k.theme.whiteStone, k.theme.rim)
		return
	}
	r := radius * float64(k.cell)
	k.disc(dc, k.gradient(0.5, -0.30, -0.36, 1.50, stop{0, hex(0xFFFEFB), 1}, stop{0.35, hex(0xFAF8F3), 1}, stop{0.70, hex(0xE6E2DA), 1}, stop{1, hex(0xBDB6AA), 1}))
	dc.SetLineWidth(math.Max(1, r*0.045))
	arc(dc, 0, 0, r-math.Max(1, r*0.045)/2, 0, 2*math.Pi)
	dc.SetColor(k.theme.rim.alpha(0.75))
	dc.Stroke()
}

// flatStone is a disc in a ring as thick as a line.
func (k *sprites) flatStone(dc *gg.Context, c, rim rgb) {
	line := float64(k.line)
	k.disc(dc, gg.NewSolidPattern(c.alpha(1)))
	dc.SetLineWidth(line)
	arc(dc, 0, 0, radius*float64(k.cell)-line/2, 0, 2*math.Pi)
	dc.SetColor(rim.alpha(1))
	dc.Stroke()
}

// dropShadow lies to the lower right and grows soft over 0.22 cells.
func (k *sprites) dropShadow(dc *gg.Context) {
	if k.theme.flat {
		return
	}
	const soft, darkest = 0.22, 0.46
	r := radius * float64(k.cell)
	inner, outer := (radius-soft/2)/radius, (radius+soft/2)/radius
	var stops []stop
	for i := 0; i <= 8; i++ {
		t := float64(i) / 8
		stops = append(stops, stop{(inner + float64((outer-inner)*t)) / outer, k.theme.shadow, darkest * (1 - float64(float64(t*t)*(3-float64(2*t))))})
	}
	x, y := 0.055*float64(k.cell), 0.085*float64(k.cell)
	dc.SetFillStyle(k.gradient(0.75, x/r, y/r, outer, stops...))
	arc(dc, x, y, outer*r, 0, 2*math.Pi)
	dc.Fill()
	// The stone itself covers the rest.
	m := dc.Image().(*image.RGBA)
	mid := dc.Width() / 2
	for y := range dc.Height() {
		for x := range dc.Width() {
			if math.Hypot(float64(x-mid)+0.5, float64(y-mid)+0.5) < r-1.5 {
				m.SetRGBA(x, y, color.RGBA{})
			}
		}
	}
}

// markerOf returns the side of the square on a point of territory and the width of its
// rim, in pixels.
func markerOf(cell, line int) (side, rim int) {
	return int(0.375*float64(cell)+1) &^ 1, max(1, line/2)
}

// marker is the small square on a point of territory, with whole pixels as
// edges.
func (k *sprites) marker(inside, edge rgb) *sprite {
	side, rim := markerOf(k.cell, k.line)
	dc := gg.NewContext(side, side)
	dc.SetColor(edge.alpha(1))
	dc.Clear()
	dc.DrawRectangle(float64(rim), float64(rim), float64(side-2*rim), float64(side-2*rim))
	dc.SetColor(inside.alpha(1))
	dc.Fill()
	return k.palette.sprite(dc.Image(), side/2, side/2)
}
