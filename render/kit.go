package render

import (
	"image"
	"image/color"
	"math"
	"sync"

	"github.com/fogleman/gg"
)

// A theme is the colours of a picture.
type theme struct {
	wood        [2]rgb // the lightest and the darkest of the grain
	line, label rgb
	shadow      rgb
	flat        bool // discs instead of stones, without shadows

	blackStone, whiteStone, rim rgb
	mark, markOnBlack           rgb // blue, not red: it survives all three kinds of colour blindness on wood
	onMark                      rgb

	panel, footer, rule    rgb
	text, dim, faint       rgb
	gain, loss, due        rgb
	blackTile, blackBorder rgb
	whiteTile, whiteBorder rgb
}

var wood = theme{
	wood: [2]rgb{hex(0xE6BB74), hex(0xDAAA60)}, line: hex(0x4A2E12), shadow: hex(0x241203), label: hex(0x5A3A18),
	blackStone: hex(0x17171A), whiteStone: hex(0xF7F5EF), rim: hex(0x8E877C),
	mark: hex(0x0B5CD5), markOnBlack: hex(0x3E9BFF), onMark: hex(0xFFFFFF),
	panel: hex(0x23211F), footer: hex(0x37332E), rule: hex(0x4A4641),
	text: hex(0xF4F1EA), dim: hex(0xAEA69B), faint: hex(0x857E75),
	gain: hex(0x6FBBFF), loss: hex(0xFFAE5C), due: hex(0xF2B53C),
	blackTile: hex(0x0D0D0F), blackBorder: hex(0x55504A),
	whiteTile: hex(0xF4F1EA), whiteBorder: hex(0xC9C3B8),
}

var themes = map[string]*theme{"wood": &wood, "dark": dark(), "paper": paper()}

// dark is a board that does not shine in the night.
func dark() *theme {
	t := wood
	t.wood = [2]rgb{hex(0x7A6041), hex(0x6E5538)}
	t.line, t.label = hex(0x1C1208), hex(0xE2CDA8)
	t.mark, t.markOnBlack = hex(0x0B5CD5), hex(0x5AAAFF)
	return &t
}

// paper looks like a diagram in a book.
func paper() *theme {
	t := wood
	t.wood = [2]rgb{hex(0xFBFAF6), hex(0xFBFAF6)}
	t.line, t.label = hex(0x3A3A3A), hex(0x3A3A3A)
	t.flat, t.rim = true, hex(0x111111)
	t.blackStone, t.whiteStone = hex(0x111111), hex(0xFFFFFF)
	return &t
}

// Themes gives the names that Options.Theme takes.
func Themes() []string { return []string{"wood", "dark", "paper"} }

// Sizes gives the names that Options.Size takes.
func Sizes() []string { return []string{"small", "medium", "large"} }

// scales are the sizes in quarters of the medium one.
var scales = map[string]int{"small": 3, "medium": 4, "large": 6}

// The layout is in units: pixels of the medium picture.
const (
	wide      = 960
	high      = 660
	boardSide = 660 // of the square that the board lies in
	labelBand = 26  // beside the outermost stones, for the coordinates
	maxCell   = 122
)

// A ground is what all pictures of one theme and size share: wood and panel
// under everything, the tiles of the players, the palette. It is read-only.
type ground struct {
	theme   *theme
	quarter int // scale in quarters
	base    *canvas
	tiles   [3][2]*sprite // by colour, and whether it is their turn
	icon    [3]*sprite    // the stone of the last turn
	dot     [3]*sprite    // and its mark
	palette *palette
}

// u turns units into pixels.
func (g *ground) u(units int) int { return (units*g.quarter + 2) / 4 }

// A kit is the sprites for one distance of lines. It is read-only.
type kit struct {
	*ground
	cell   int // pixels from line to line
	line   int // thickness of a line
	labels int // size of the coordinates
	shadow *sprite
	stone  [3]*sprite // by colour
	ghost  [3]*sprite
	square [3]*sprite
	last   [3]*sprite // the mark on the last stone, by the stone's colour
	cross  [3]*sprite // on ghosts
	ring   [3]*sprite // on stones in seki
	star   *sprite
	pill   *sprite
}

type kitKey struct {
	theme, size string
	cell        int
}

// kits keeps every kit that was asked for. There are a few dozen distances of
// lines at most, so that the whole of it is bounded.
var kits = struct {
	sync.Mutex
	grounds  map[kitKey]*ground
	kits     map[kitKey]*kit
	palettes map[string]*palette
}{grounds: map[kitKey]*ground{}, kits: map[kitKey]*kit{}, palettes: map[string]*palette{}}

// kitFor gives the kit for a board of w columns and h rows.
func kitFor(themeName, size string, w, h int) *kit {
	cell := cellOf(scales[size], w, h)
	key := kitKey{themeName, size, cell}
	kits.Lock()
	defer kits.Unlock()
	if k := kits.kits[key]; k != nil {
		return k
	}
	gk := kitKey{themeName, size, 0}
	if kits.palettes[themeName] == nil {
		kits.palettes[themeName] = newPalette(themes[themeName])
	}
	if kits.grounds[gk] == nil {
		kits.grounds[gk] = newGround(themes[themeName], scales[size], kits.palettes[themeName])
	}
	kits.kits[key] = newKit(kits.grounds[gk], cell)
	return kits.kits[key]
}

// cellOf gives the distance of lines in pixels: even, so that halving the
// picture keeps lines sharp, and as large as the board leaves room for.
func cellOf(quarter, w, h int) int {
	room := (boardSide - 2*labelBand) * quarter / 4 / max(w, h)
	return min(room, maxCell*quarter/4) &^ 1
}

func newGround(t *theme, quarter int, p *palette) *ground {
	g := &ground{theme: t, quarter: quarter, palette: p}
	g.base = newCanvas(g.u(wide), g.u(high), p)
	// The grain is the same in every row: the compressor then needs to look no
	// further than the row above.
	for x := range g.u(boardSide) {
		g.base.fill(image.Rect(x, 0, x+1, g.base.h), t.grain(float64(4*x)/float64(quarter)))
	}
	g.base.fill(image.Rect(g.u(boardSide), 0, g.base.w, g.base.h), t.panel)
	g.base.stamp(g.u(675), g.u(579), g.box(272, 68, 12, 0, t.footer, t.footer))
	for i, border := range []rgb{t.blackBorder, t.due} {
		g.tiles[1][i] = g.box(132, 104, 10, 2+3*i, t.blackTile, border)
	}
	for i, border := range []rgb{t.whiteBorder, t.due} {
		g.tiles[2][i] = g.box(132, 104, 10, 2+3*i, t.whiteTile, border)
	}
	icons := newKit(g, g.u(32)&^1)
	g.icon, g.dot = icons.stone, icons.last
	return g
}

// grainLevels is the number of shades that the wood is made of.
const grainLevels = 10

// grain gives the shade of the wood x units from the left.
func (t *theme) grain(x float64) rgb {
	v := math.Sin(x/97) + 0.6*math.Sin(x/31+2) + 0.35*math.Sin(x/11.3+1) + 0.2*math.Sin(x/4.7)
	level := math.Round((v/2.15 + 1) / 2 * (grainLevels - 1))
	return t.wood[1].over(t.wood[0], level/(grainLevels-1))
}

// box gives a rectangle with round corners, sizes in units.
func (g *ground) box(w, h, radius, border int, inside, edge rgb) *sprite {
	dc := gg.NewContext(g.u(w), g.u(h))
	b := float64(g.u(border))
	r := float64(g.u(radius))
	fw, fh := float64(g.u(w)), float64(g.u(h))
	dc.DrawRoundedRectangle(0, 0, fw, fh, r)
	dc.SetColor(edge.alpha(1))
	dc.Fill()
	if border > 0 {
		dc.DrawRoundedRectangle(b, b, fw-2*b, fh-2*b, math.Max(r-b, 1))
		dc.SetColor(inside.alpha(1))
		dc.Fill()
	}
	return g.palette.sprite(dc.Image(), 0, 0)
}

// newKit draws the sprites. Proportions are in parts of the distance of lines.
func newKit(g *ground, cell int) *kit {
	k := &kit{ground: g, cell: cell}
	t := g.theme
	s := float64(cell)
	unit := float64(g.quarter) / 4
	k.line = max(2, 2*int(0.045*s/2+0.5))
	k.labels = int(math.Min(math.Max(0.65*s, 18*unit), 24*unit) + 0.5)

	const black, white = 1, 2
	k.stone[black], k.stone[white] = k.drawn(0.5, 1, k.blackStone), k.drawn(0.5, 1, k.whiteStone)
	k.ghost[black], k.ghost[white] = k.drawn(0.5, 0.42, k.blackStone), k.drawn(0.5, 0.52, k.whiteStone)
	k.shadow = k.drawn(0.75, 1, k.dropShadow)

	dot := func(radius float64, c rgb) func(*gg.Context) {
		return func(dc *gg.Context) {
			dc.DrawCircle(0, 0, radius*s)
			dc.SetColor(c.alpha(1))
			dc.Fill()
		}
	}
	k.star = k.drawn(0.25, 1, dot(math.Max(0.118, 3*unit/s), t.line))
	k.last[white] = k.drawn(0.5, 1, dot(0.235, t.mark))
	k.last[black] = k.drawn(0.5, 1, dot(0.300, t.onMark), dot(0.225, t.markOnBlack))
	k.last[0] = k.last[white]

	cross := func(c rgb, stroke float64) func(*gg.Context) {
		return func(dc *gg.Context) {
			const half = 0.18
			dc.SetLineWidth(stroke * s)
			dc.SetLineCapRound()
			dc.DrawLine(-half*s, -half*s, half*s, half*s)
			dc.DrawLine(-half*s, half*s, half*s, -half*s)
			dc.SetColor(c.alpha(1))
			dc.Stroke()
		}
	}
	k.cross[white] = k.drawn(0.5, 1, cross(t.mark, 0.10))
	k.cross[black] = k.drawn(0.5, 1, cross(t.onMark, 0.17), cross(t.mark, 0.10))

	ring := func(c rgb) func(*gg.Context) {
		return func(dc *gg.Context) {
			dc.SetLineWidth(0.09 * s)
			dc.DrawCircle(0, 0, 0.24*s)
			dc.SetColor(c.alpha(1))
			dc.Stroke()
		}
	}
	k.ring[black], k.ring[white] = k.drawn(0.5, 1, ring(t.whiteStone)), k.drawn(0.5, 1, ring(t.blackStone))

	k.square[black] = k.marker(t.blackStone, t.blackStone)
	k.square[white] = k.marker(t.whiteStone, t.line)

	side := style{bold, k.labels, t.onMark}.width("20") + g.u(3)
	dc := gg.NewContext(side, side)
	dc.DrawRoundedRectangle(0, 0, float64(side), float64(side), float64(side)/4)
	dc.SetColor(t.mark.alpha(1))
	dc.Fill()
	k.pill = k.palette.sprite(dc.Image(), side/2, side/2)
	return k
}

// drawn gives the sprite that some strokes make around the middle of a square
// reaching half cells from it, with an opacity.
func (k *kit) drawn(half, opacity float64, strokes ...func(*gg.Context)) *sprite {
	side := 2 * int(math.Ceil(half*float64(k.cell)))
	dc := gg.NewContext(side, side)
	dc.Translate(float64(side)/2, float64(side)/2)
	for _, stroke := range strokes {
		stroke(dc)
	}
	m := dc.Image().(*image.RGBA)
	for i, v := range m.Pix {
		m.Pix[i] = uint8(float64(v)*opacity + 0.5)
	}
	return k.palette.sprite(m, side/2, side/2)
}

// radius is that of a stone in parts of a cell.
const radius = 0.478

func (k *kit) disc(dc *gg.Context, fill gg.Pattern) {
	dc.DrawCircle(0, 0, radius*float64(k.cell))
	dc.SetFillStyle(fill)
	dc.Fill()
}

// gradient is a light from the upper left; stops are by distance in radii.
func (k *kit) gradient(half, x, y, reach float64, stops ...any) gg.Pattern {
	// Patterns do not know of dc.Translate: they live in pixels of the sprite.
	r := radius * float64(k.cell)
	mid := math.Ceil(half * float64(k.cell))
	g := gg.NewRadialGradient(mid+x*r, mid+y*r, 0, mid+x*r, mid+y*r, reach*r)
	for i := 0; i < len(stops); i += 3 {
		g.AddColorStop(stops[i].(float64), stops[i+1].(rgb).alpha(stops[i+2].(float64)))
	}
	return g
}

func (k *kit) blackStone(dc *gg.Context) {
	c := k.theme.blackStone
	if k.theme.flat {
		k.disc(dc, gg.NewSolidPattern(c.alpha(1)))
		return
	}
	light := hex(0xFFFFFF)
	k.disc(dc, gg.NewSolidPattern(c.alpha(1)))
	k.disc(dc, k.gradient(0.5, 0, 0, 1, 0.0, c, 0.0, 0.80, c, 0.0, 0.90, hex(0x3A3A46), 0.75, 1.0, hex(0x08080A), 1.0))
	k.disc(dc, k.gradient(0.5, 0.32, 0.36, 1.0, 0.0, c, 0.0, 0.5, c, 0.0, 1.0, hex(0x050506), 0.35))
	k.disc(dc, k.gradient(0.5, -0.34, -0.40, 0.62, 0.0, light, 0.40, 0.35, light, 0.23, 1.0, light, 0.0))
}

func (k *kit) whiteStone(dc *gg.Context) {
	c := k.theme.whiteStone
	r := radius * float64(k.cell)
	if k.theme.flat {
		k.disc(dc, gg.NewSolidPattern(c.alpha(1)))
		dc.SetLineWidth(float64(k.line))
		dc.DrawCircle(0, 0, r-float64(k.line)/2)
		dc.SetColor(k.theme.rim.alpha(1))
		dc.Stroke()
		return
	}
	k.disc(dc, k.gradient(0.5, -0.30, -0.36, 1.50, 0.0, hex(0xFFFEFB), 1.0, 0.35, hex(0xFAF8F3), 1.0, 0.70, hex(0xE6E2DA), 1.0, 1.0, hex(0xBDB6AA), 1.0))
	dc.SetLineWidth(math.Max(1, r*0.045))
	dc.DrawCircle(0, 0, r-math.Max(1, r*0.045)/2)
	dc.SetColor(k.theme.rim.alpha(0.75))
	dc.Stroke()
}

// dropShadow lies to the lower right and grows soft over 0.22 cells.
func (k *kit) dropShadow(dc *gg.Context) {
	if k.theme.flat {
		return
	}
	const soft, darkest = 0.22, 0.46
	r := radius * float64(k.cell)
	inner, outer := (radius-soft/2)/radius, (radius+soft/2)/radius
	var stops []any
	for i := 0; i <= 8; i++ {
		t := float64(i) / 8
		stops = append(stops, (inner+(outer-inner)*t)/outer, k.theme.shadow, darkest*(1-t*t*(3-2*t)))
	}
	x, y := 0.055*float64(k.cell), 0.085*float64(k.cell)
	dc.SetFillStyle(k.gradient(0.75, x/r, y/r, outer, stops...))
	dc.DrawCircle(x, y, outer*r)
	dc.Fill()
	// What the stone itself will cover need not be drawn.
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

// marker is the small square on a point of territory, with whole pixels as
// edges.
func (k *kit) marker(inside, edge rgb) *sprite {
	side := int(0.375*float64(k.cell)+1) &^ 1
	rim := max(1, k.line/2)
	dc := gg.NewContext(side, side)
	dc.SetColor(edge.alpha(1))
	dc.Clear()
	dc.DrawRectangle(float64(rim), float64(rim), float64(side-2*rim), float64(side-2*rim))
	dc.SetColor(inside.alpha(1))
	dc.Fill()
	return k.palette.sprite(dc.Image(), side/2, side/2)
}
