package render

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Options are how a scene is drawn. The zero value is the wooden board with a
// dark panel beside it at 960 by 660 pixels.
type Options struct {
	Theme       string // one of [Themes]; "" is "wood"
	Panel       string // "dark" or "light"; "" is what goes with the theme
	Size        string // "small" 720×495, "medium" or "" 960×660, "large" 1440×990 pixels; in portrait 498×798, 664×1064, 996×1596
	Coordinates string // one of [Coordinates]; "" is "letters"
	Layout      string // "landscape" or "": the panel beside the board; "portrait": under it; "card": beside it, for previews, 1200×630 pixels at every size
	Prefix      string // of the ids in an SVG, where several stand on a page; "" is "b"
}

// Bounds returns the width and height of the picture in pixels.
func (o Options) Bounds() (w, h int, err error) {
	if o, err = o.complete(); err != nil {
		return 0, 0, err
	}
	w, h = o.sizeKey().pixels()
	return w, h, nil
}

// A sizeKey is what the size of a picture follows from.
type sizeKey struct {
	quarter int // scale in quarters
	layout  string
}

func (k sizeKey) pixels() (w, h int) {
	l := layouts[k.layout]
	return l.wide * k.quarter / 4, l.high * k.quarter / 4
}

// sizeKey returns what the size of a picture follows from, of complete options.
func (o Options) sizeKey() sizeKey {
	return sizeKey{cmp.Or(layouts[o.Layout].scale, scales[o.Size]), o.Layout}
}

// over returns o, and what it leaves out as other has it.
func (o Options) over(other Options) Options {
	return Options{
		Theme: cmp.Or(o.Theme, other.Theme), Panel: cmp.Or(o.Panel, other.Panel), Size: cmp.Or(o.Size, other.Size),
		Coordinates: cmp.Or(o.Coordinates, other.Coordinates), Layout: cmp.Or(o.Layout, other.Layout),
		Prefix: cmp.Or(o.Prefix, other.Prefix),
	}
}

// complete fills in what was left out.
func (o Options) complete() (Options, error) {
	if o.Theme == "" {
		o.Theme = "wood"
	}
	if now, ok := formerThemes[o.Theme]; ok {
		o.Theme = now
	}
	if o.Size == "" {
		o.Size = "medium"
	}
	if o.Coordinates == "" {
		o.Coordinates = "letters"
	}
	if o.Layout == "" {
		o.Layout = "landscape"
	}
	switch {
	case !slices.Contains(Themes(), o.Theme):
		return o, fmt.Errorf("render: no such theme: %q", o.Theme)
	case looks[look{o.Theme, o.Panel}] == nil:
		return o, fmt.Errorf("render: no such panel: %q", o.Panel)
	case scales[o.Size] == 0:
		return o, fmt.Errorf("render: no such size: %q", o.Size)
	case !slices.Contains(Coordinates(), o.Coordinates):
		return o, fmt.Errorf("render: no such coordinates: %q", o.Coordinates)
	case layouts[o.Layout] == nil:
		return o, fmt.Errorf("render: no such layout: %q", o.Layout)
	}
	return o, nil
}

// PNG writes the picture of a scene. The same scene and options give the same
// bytes. If the scene names a series, PNG paints only what has changed since the
// last picture of that series, which takes two thirds of the time. It may be
// called concurrently.
func PNG(w io.Writer, s Scene, o Options) error {
	if s.Series != "" {
		c, err := seriesOf(&s, o)
		if err != nil {
			return err
		}
		return c.png(w, &s, o)
	}
	p, err := bufferOf(&s, o)
	if err != nil {
		return err
	}
	defer buffers[p.sprites.sizeKey].Put(p)
	return encode(w, &p.canvas, p.sprites.bits, nil)
}

// A buffer holds the memory for making a picture, for reuse.
type buffer struct {
	canvas  canvas
	list    displayList
	sprites *sprites
}

// buffers has a pool for each size.
var buffers = map[sizeKey]*sync.Pool{}

func init() {
	for layout := range layouts {
		for size := range scales {
			k := Options{Layout: layout, Size: size}.sizeKey()
			buffers[k] = &sync.Pool{New: func() any { return &buffer{canvas: *newCanvas(k.pixels())} }}
		}
	}
}

// bufferOf returns a buffer with the picture of a scene. The caller puts it back.
func bufferOf(s *Scene, o Options) (*buffer, error) {
	k, o, err := spritesOf(s, o)
	if err != nil {
		return nil, err
	}
	p := buffers[k.sizeKey].Get().(*buffer)
	p.sprites = k
	p.list.of(k, s, o)
	p.canvas.palette = k.palette
	p.canvas.paint(k.background, p.list.ops, p.canvas.bounds())
	return p, nil
}

// of fills the list with the ops of a whole picture.
func (l *displayList) of(k *sprites, s *Scene, o Options) {
	l.ops, l.palette = l.ops[:0], k.palette
	g := k.grid(s, o.Coordinates)
	l.boardOf(&g, s)
	l.panel(k, s)
}

func spritesOf(s *Scene, o Options) (*sprites, Options, error) {
	o, err := o.over(s.Look).complete()
	if err != nil {
		return nil, o, err
	}
	if err := s.check(); err != nil {
		return nil, o, err
	}
	w, h := s.Size()
	return spritesFor(o, w, h), o, nil
}

// An encoder writes PNGs.
type encoder struct {
	out    bytes.Buffer
	zip    *flate.Writer
	packed []byte
}

// Levels of compression at which a byte less costs more time than it takes to
// send, for pixels of 8 and of 4 bits.
const compression8, compression4 = 3, 1

var encoders = map[int]*sync.Pool{
	8: {New: func() any { return newEncoder(compression8) }},
	4: {New: func() any { return newEncoder(compression4) }},
}

func newEncoder(level int) *encoder {
	e := &encoder{}
	e.zip, _ = flate.NewWriter(&e.out, level)
	return e
}

// encode writes a canvas as a PNG with pixels of so many bits. packed is the
// result of pack for this canvas, or nil.
func encode(w io.Writer, c *canvas, bits int, packed []byte) error {
	e := encoders[bits].Get().(*encoder)
	defer encoders[bits].Put(e)
	out := &e.out
	out.Reset()
	out.WriteString("\x89PNG\r\n\x1a\n")

	var header [13]byte
	binary.BigEndian.PutUint32(header[0:], uint32(c.w))
	binary.BigEndian.PutUint32(header[4:], uint32(c.h))
	header[8], header[9] = byte(bits), 3 // colours from a table
	start := e.chunk("IHDR")
	out.Write(header[:])
	e.end(start)
	start = e.chunk("PLTE")
	for _, c := range c.palette.colors[:c.palette.n] {
		out.Write([]byte{c.r, c.g, c.b})
	}
	e.end(start)
	pix := c.pix
	if bits == 4 {
		if packed == nil {
			e.packed = pack(e.packed, c, c.bounds())
			packed = e.packed
		}
		pix = packed
	}
	start = e.chunk("IDAT")
	out.WriteString("\x78\x5E") // zlib: a window of 32 KiB, compressed fast
	e.zip.Reset(out)
	if _, err := e.zip.Write(pix); err != nil {
		return err
	}
	if err := e.zip.Close(); err != nil {
		return err
	}
	out.Write(binary.BigEndian.AppendUint32(nil, adler32(pix)))
	e.end(start)
	e.end(e.chunk("IEND"))
	_, err := w.Write(out.Bytes())
	return err
}

// chunk begins a part of the file and returns its offset.
func (e *encoder) chunk(name string) int {
	start := e.out.Len()
	e.out.WriteString("\x00\x00\x00\x00" + name)
	return start
}

// end writes the length and the checksum of the part that began at start.
func (e *encoder) end(start int) {
	written := e.out.Bytes()[start:]
	binary.BigEndian.PutUint32(written, uint32(len(written)-8))
	e.out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(written[4:])))
}

// adler32 is the checksum of package hash/adler32, eight bytes at a time: it is
// a tenth of the work of writing a picture otherwise.
func adler32(p []byte) uint32 {
	const (
		mod  = 65521
		most = 5552 / 8 * 8 // bytes after which the sums still fit
		low  = 0x00FF00FF00FF00FF
	)
	a, b := uint64(1), uint64(0)
	for len(p) > 0 {
		q := p[:min(len(p), most)]
		p = p[len(q):]
		for ; len(q) >= 8; q = q[8:] {
			x := binary.LittleEndian.Uint64(q)
			even, odd := x&low, x>>8&low
			// The top 16 bits of such a product are a sum over the lanes.
			b += 8*a + even*0x0008000600040002>>48 + odd*0x0007000500030001>>48
			a += (even + odd) * 0x0001000100010001 >> 48
		}
		for _, v := range q {
			a += uint64(v)
			b += a
		}
		a, b = a%mod, b%mod
	}
	return uint32(b<<16 | a)
}

// pack puts two pixels into a byte, in a part of the picture; to is its result
// for the picture before, or anything. Pictures have an even width.
func pack(to []byte, c *canvas, part image.Rectangle) []byte {
	row := 1 + c.w/2
	if len(to) != row*c.h {
		to, part = make([]byte, row*c.h), c.bounds()
	}
	x0, x1 := part.Min.X/2, (part.Max.X+1)/2
	for y := part.Min.Y; y < part.Max.Y; y++ {
		from := c.span(y, 2*x0, 2*x1)
		into := to[y*row+1+x0 : y*row+1+x1]
		for i := range into {
			into[i] = from[2*i]<<4 | from[2*i+1]
		}
	}
	return to
}
