package render

import (
	"embed"
	"image"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

//go:embed fonts/*.ttf fonts/*.otf
var fontFiles embed.FS

// A weight is one of the three cuts of the one typeface.
type weight uint8

const (
	regular weight = iota
	medium
	bold
)

// capHeight is the height of capital letters and digits in parts of the size.
const (
	capHeight = 0.711
	capMille  = 711
)

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

type faceKey struct {
	font *opentype.Font
	size int
}

// maxGlyphs is how many letters are kept; a picture needs about a hundred.
const maxGlyphs = 4096

// The faces of package opentype may not be used by two goroutines at a time.
// Letters are therefore drawn once, under this lock, and kept.
var letters = struct {
	sync.RWMutex
	faces  map[faceKey]font.Face
	glyphs map[glyphKey]*glyph
	parts  sfnt.Buffer
}{faces: map[faceKey]font.Face{}, glyphs: map[glyphKey]*glyph{}}

// fonts are the cuts of the typeface, by weight; cjk has the letters that they lack.
// Each is parsed when the first of its letters is drawn: most commands draw none.
var (
	fonts = [3]func() *opentype.Font{
		regular: lazyFont("RobotoCondensed-Regular.ttf"), medium: lazyFont("RobotoCondensed-Medium.ttf"), bold: lazyFont("RobotoCondensed-Bold.ttf"),
	}
	cjk = lazyFont("NotoSansCJK-subset.otf")
)

// lazyFont returns a function that parses a font of the program once.
func lazyFont(name string) func() *opentype.Font {
	return sync.OnceValue(func() *opentype.Font {
		data, err := fontFiles.ReadFile("fonts/" + name)
		if err != nil {
			panic("render: " + err.Error())
		}
		f, err := opentype.Parse(data)
		if err != nil {
			panic("render: " + err.Error())
		}
		return f
	})
}

// letter returns the glyph of a rune, nil if no font has it.
func letter(k glyphKey) *glyph {
	letters.RLock()
	g, ok := letters.glyphs[k]
	letters.RUnlock()
	if ok {
		return g
	}
	letters.Lock()
	defer letters.Unlock()
	if g, ok = letters.glyphs[k]; ok {
		return g
	}
	if len(letters.glyphs) >= maxGlyphs {
		clear(letters.glyphs)
	}
	g = rasterize(k)
	letters.glyphs[k] = g
	return g
}

// rasterize draws a letter. The caller holds the lock.
func rasterize(k glyphKey) *glyph {
	switch k.letter {
	case '≈':
		k.letter = '~'
		return doubled(rasterize(k), (k.size+5)/10)
	case '▲', '▼':
		return arrow(k.size, k.letter == '▼')
	case '▸':
		return turned(arrow(k.size, false))
	}
	f, size := fonts[k.weight](), k.size
	if i, err := f.GlyphIndex(&letters.parts, k.letter); err != nil || i == 0 {
		f, size = cjk(), k.size*15/16 // its letters are taller
		if i, err := f.GlyphIndex(&letters.parts, k.letter); err != nil || i == 0 {
			return nil
		}
	}
	face, ok := letters.faces[faceKey{f, size}]
	if !ok {
		var err error
		if face, err = opentype.NewFace(f, &opentype.FaceOptions{Size: float64(size), DPI: 72}); err != nil {
			return nil
		}
		letters.faces[faceKey{f, size}] = face
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

// doubled returns a glyph twice, one as far above as the other is below its place:
// no font here has "≈".
func doubled(g *glyph, apart int) *glyph {
	width := g.box.Dx()
	out := &glyph{box: g.box, advance: g.advance}
	out.box.Min.Y -= apart
	out.box.Max.Y += apart
	out.mask = make([]uint8, width*out.box.Dy())
	copy(out.mask, g.mask)
	for i, a := range g.mask {
		at := &out.mask[2*apart*width+i]
		*at = max(*at, a)
	}
	return out
}

// arrow returns a triangle that points up or down, a bit less than half as wide as a
// letter is high and in the middle of its height: no font here has one.
func arrow(size int, down bool) *glyph {
	w := max(size*2/5, 4)
	h := max(w*7/8, 3)
	top := -(int(float64(size)*capHeight) + h) / 2
	g := &glyph{box: image.Rect(0, top, w, top+h), advance: fixed.I(w + size/16)}
	const parts = 4 // of a pixel, across and down
	for y := range h {
		for x := range w {
			in := 0
			for i := range parts * parts {
				px, py := x*parts+i%parts, y*parts+i/parts
				if down {
					py = h*parts - 1 - py
				}
				if d := 2*px + 1 - w*parts; max(d, -d)*h < (2*py+1)*w/2 { // from the middle, and from the tip
					in++
				}
			}
			g.mask = append(g.mask, uint8(255*in/(parts*parts)))
		}
	}
	return g
}

// turned returns a triangle that points to the right, from one that points up.
func turned(up *glyph) *glyph {
	w, h := up.box.Dx(), up.box.Dy()
	out := &glyph{box: image.Rect(0, 0, h, w), advance: up.advance}
	out.box = out.box.Add(image.Pt(0, (up.box.Min.Y+up.box.Max.Y-w)/2))
	for y := range w {
		for x := range h {
			out.mask = append(out.mask, up.mask[(h-1-x)*w+y])
		}
	}
	return out
}

// A style is how a text is set; size is in pixels of the picture.
type style struct {
	weight weight
	size   int
	color  rgb
}

// width returns the width of a text in pixels.
func (st style) width(s string) int {
	var x fixed.Int26_6
	for _, r := range s {
		if g := letter(glyphKey{st.weight, st.size, 0, r}); g != nil {
			x += g.advance
		}
	}
	return x.Ceil()
}

// text sets a text from x on, with its capitals centred on the height y.
func (l *displayList) text(x, y int, s string, st style) {
	base := y + int(float64(st.size)*capHeight/2+0.5)
	pen := fixed.I(x)
	for _, r := range s {
		g := letter(glyphKey{st.weight, st.size, uint8(pen & 63 / 16), r})
		if g == nil {
			continue
		}
		if !g.box.Empty() {
			b := g.box.Add(image.Pt(pen.Floor(), base))
			l.ops = append(l.ops, op{x0: int16(b.Min.X), y0: int16(b.Min.Y), x1: int16(b.Max.X), y1: int16(b.Max.Y), color: st.color, glyph: g})
		}
		pen += g.advance
	}
}

// centred sets a text around x.
func (l *displayList) centred(x, y int, s string, st style) { l.text(x-st.width(s)/2, y, s, st) }

// right sets a text that ends at x.
func (l *displayList) right(x, y int, s string, st style) { l.text(x-st.width(s), y, s, st) }

// fit makes a text as large as st or smaller, not under least, so that it is at
// most w pixels wide; if that is too much, it cuts the text.
func (st style) fit(s string, w, least int) (string, style) {
	for st.size > least && st.width(s) > w {
		st.size--
	}
	return st.cut(s, w), st
}

// cut ends a text that is wider than w pixels with "…", after a word if it has more
// than one.
func (st style) cut(s string, w int) string {
	if st.width(s) <= w {
		return s
	}
	room := fixed.I(w - st.width("…"))
	for i, r := range s {
		if g := letter(glyphKey{st.weight, st.size, 0, r}); g != nil {
			room -= g.advance
		}
		if room < 0 {
			head := s[:i]
			if at := strings.LastIndexByte(head, ' '); at > 0 && r != ' ' {
				head = head[:at]
			}
			return strings.TrimRight(head, " ") + "…"
		}
	}
	return s
}

// elided returns a text without its middle, so that it is at most w pixels wide: the
// ends tell names apart.
func (st style) elided(s string, w int) string {
	letters := []rune(s)
	head, tail := (len(letters)+1)/2, len(letters)/2
	for st.width(s) > w && head > 0 {
		if head > tail {
			head--
		} else {
			tail--
		}
		s = strings.TrimRight(string(letters[:head]), " ") + "…" + strings.TrimLeft(string(letters[len(letters)-tail:]), " ")
	}
	return s
}

// A span is a part of a line in one style.
type span struct {
	text  string
	style style
}

type spans []span

func (all spans) width() int {
	n := 0
	for _, s := range all {
		n += s.style.width(s.text)
	}
	return n
}

// mixed sets a line in which the numbers keep their size while the words around
// them shrink until it is at most w pixels wide. The last words go if that is not
// enough.
func (k *sprites) mixed(s string, w int, st style) spans {
	for least, largest := k.u(leastSize), st.size; ; st.size-- {
		var out spans
		for i, r := range s {
			here := st
			if strings.ContainsRune("0123456789½+−", r) {
				here.size = max(st.size, k.u(k.number))
			}
			if n := len(out); n > 0 && out[n-1].style == here {
				out[n-1].text = out[n-1].text + s[i:i+utf8.RuneLen(r)]
			} else {
				out = append(out, span{s[i : i+utf8.RuneLen(r)], here})
			}
		}
		if out.width() <= w {
			return out
		}
		if st.size <= least {
			at := strings.LastIndexByte(strings.TrimRight(s, "… "), ' ')
			if at <= 0 {
				return out
			}
			s, st.size = s[:at]+"…", largest+1
		}
	}
}

// runs sets a mixed line from x on, with the capitals of its first style centred on
// the height y.
func (l *displayList) runs(x, y int, all spans) {
	largest := 0
	for _, s := range all {
		largest = max(largest, s.style.size)
	}
	for _, s := range all {
		l.text(x, y+int(float64(largest-s.style.size)*capHeight/2+0.5), s.text, s.style)
		x += s.style.width(s.text)
	}
}

// wrap breaks a text into as few lines as it can, at most w pixels wide and
// about equally long.
func (st style) wrap(s string, w int) []string {
	if st.width(s) <= w {
		return []string{s}
	}
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

// broken breaks a text into lines at most w pixels wide: between words, and
// before any letter of a script that is written without spaces.
func (st style) broken(s string, w int) []string {
	var lines []string
	line := ""
	for _, word := range words(s) {
		longer := line + word
		if line != "" && st.width(strings.TrimRight(longer, " ")) > w {
			lines = append(lines, strings.TrimRight(line, " "))
			longer = word
		}
		line = longer
	}
	if line = strings.TrimRight(line, " "); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// words returns the parts of a text between which a line may end, each with the
// space behind it.
func words(s string) []string {
	var out []string
	start := 0
	for i, r := range s {
		if i > start && (r >= 0x2E80 && r < 0xA000 || r >= 0xF900 && r < 0xFAFF) || i > start && s[i-1] == ' ' && r != ' ' {
			out = append(out, s[start:i])
			start = i
		}
	}
	return append(out, s[start:])
}
