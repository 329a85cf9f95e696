package render

import (
	"embed"
	"image"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

//go:embed fonts/*.ttf
var fontFiles embed.FS

// A weight is one of the three cuts of the one typeface.
type weight uint8

const (
	regular weight = iota
	medium
	bold
)

// capHeight is the height of capital letters and digits in parts of the size.
const capHeight = 0.711

// A glyph is the mask of a letter, at one of the quarters of a pixel.
type glyph struct {
	mask    []uint8
	box     image.Rectangle // around the pen, which stands on the line at 0, 0
	advance fixed.Int26_6
}

type glyphKey struct {
	weight  weight
	size    int // pixels
	quarter uint8
	letter  rune
}

// The faces of package opentype may not be used by two goroutines at a time.
// Letters are therefore drawn once, under this lock, and kept: the font has a
// few hundred, and pictures a dozen sizes.
var letters = struct {
	sync.Mutex
	fonts  [3]*opentype.Font
	faces  map[glyphKey]font.Face // by weight and size
	glyphs map[glyphKey]*glyph
}{faces: map[glyphKey]font.Face{}, glyphs: map[glyphKey]*glyph{}}

func init() {
	for w, name := range []string{"Regular", "Medium", "Bold"} {
		data, err := fontFiles.ReadFile("fonts/RobotoCondensed-" + name + ".ttf")
		if err == nil {
			letters.fonts[w], err = opentype.Parse(data)
		}
		if err != nil {
			panic("render: " + err.Error())
		}
	}
}

// letter gives the glyph of a rune, nil if the font lacks it. The caller holds
// the lock of letters.
func letter(k glyphKey) *glyph {
	if g, ok := letters.glyphs[k]; ok {
		return g
	}
	g := rasterize(k)
	letters.glyphs[k] = g
	return g
}

func rasterize(k glyphKey) *glyph {
	fk := glyphKey{weight: k.weight, size: k.size}
	face, ok := letters.faces[fk]
	if !ok {
		var err error
		face, err = opentype.NewFace(letters.fonts[k.weight], &opentype.FaceOptions{Size: float64(k.size), DPI: 72})
		if err != nil {
			panic("render: " + err.Error())
		}
		letters.faces[fk] = face
	}
	if i, err := letters.fonts[k.weight].GlyphIndex(nil, k.letter); err != nil || i == 0 {
		return nil
	}
	box, mask, at, advance, ok := face.Glyph(fixed.Point26_6{X: fixed.Int26_6(k.quarter) * 16}, k.letter)
	if !ok {
		return nil
	}
	g := &glyph{box: box, advance: advance}
	alpha := mask.(*image.Alpha)
	for y := range box.Dy() {
		from := alpha.PixOffset(at.X, at.Y+y)
		g.mask = append(g.mask, alpha.Pix[from:from+box.Dx()]...)
	}
	return g
}

// A style is how a text is set; size is in pixels of the picture.
type style struct {
	weight weight
	size   int
	color  rgb
}

// width gives the width of a text in pixels.
func (st style) width(s string) int {
	letters.Lock()
	defer letters.Unlock()
	var x fixed.Int26_6
	for _, r := range s {
		if g := letter(glyphKey{st.weight, st.size, 0, r}); g != nil {
			x += g.advance
		}
	}
	return x.Ceil()
}

// text sets a text from x on, with its capitals centred on the height y.
func (c *canvas) text(x, y int, s string, st style) {
	letters.Lock()
	defer letters.Unlock()
	base := y + int(float64(st.size)*capHeight/2+0.5)
	pen := fixed.I(x)
	for _, r := range s {
		g := letter(glyphKey{st.weight, st.size, uint8(pen & 63 / 16), r})
		if g == nil {
			continue
		}
		c.mask(g.box.Add(image.Pt(pen.Floor(), base)), g.mask, st.color)
		pen += g.advance
	}
}

// centred sets a text around x.
func (c *canvas) centred(x, y int, s string, st style) { c.text(x-st.width(s)/2, y, s, st) }

// right sets a text that ends at x.
func (c *canvas) right(x, y int, s string, st style) { c.text(x-st.width(s), y, s, st) }

// fit makes a text as large as st or smaller, not under least, so that it is at
// most w pixels wide; if that is too much, it cuts the text.
func (st style) fit(s string, w, least int) (string, style) {
	for st.size > least && st.width(s) > w {
		st.size--
	}
	return st.cut(s, w), st
}

// cut ends a text that is wider than w pixels with "…".
func (st style) cut(s string, w int) string {
	if st.width(s) <= w {
		return s
	}
	room := fixed.I(w - st.width("…"))
	letters.Lock()
	defer letters.Unlock()
	for i, r := range s {
		if g := letter(glyphKey{st.weight, st.size, 0, r}); g != nil {
			room -= g.advance
		}
		if room < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// wrap breaks a text into as few lines as it can, at most w pixels wide and
// about equally long.
func (st style) wrap(s string, w int) []string {
	lines := st.broken(s, w)
	for narrow := w - w/16; narrow > w/2 && len(lines) > 1; narrow -= w / 16 {
		narrower := st.broken(s, narrow)
		if len(narrower) > len(lines) {
			break
		}
		lines = narrower
	}
	for i := range lines {
		lines[i] = st.cut(lines[i], w)
	}
	return lines
}

// broken breaks a text into lines at most w pixels wide, but for long words.
func (st style) broken(s string, w int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		longer := word
		if line != "" {
			longer = line + " " + word
		}
		if line != "" && st.width(longer) > w {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// drawable gives what the font can show of a text, whatever it is; if no
// letter or digit is left of it, it gives instead.
func drawable(s, instead string) string {
	letters.Lock()
	defer letters.Unlock()
	any := false
	s = strings.Map(func(r rune) rune {
		if letter(glyphKey{weight: medium, size: 24, letter: r}) == nil {
			return -1
		}
		any = any || unicode.IsLetter(r) || unicode.IsDigit(r)
		return r
	}, norm.NFC.String(s))
	if !any {
		return instead
	}
	return strings.Join(strings.Fields(s), " ")
}
