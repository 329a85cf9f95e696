package render

import (
	"cmp"
	"fmt"
	"image"
	"image/png"
	"io"
	"slices"
	"sync"
)

// Options are how a scene is drawn. The zero value is the wooden board with a
// dark panel beside it at 960 by 660 pixels.
type Options struct {
	Theme       string // one of [Themes]; "" is "wood"
	Panel       string // "dark" or "light"; "" is what goes with the theme
	Size        string // "small" 720×495, "medium" or "" 960×660, "large" 1440×990 pixels; in portrait 498×798, 664×1064, 996×1596
	Coordinates string // one of [Coordinates]; "" is "letters"
	Layout      string // "landscape" or "": the panel beside the board; "portrait": under it
}

// Bounds returns the width and height of the picture in pixels.
func (o Options) Bounds() (w, h int, err error) {
	if o, err = o.complete(); err != nil {
		return 0, 0, err
	}
	w, h = sizeKey{scales[o.Size], o.Layout}.pixels()
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

// over returns o, and what it leaves out as other has it.
func (o Options) over(other Options) Options {
	return Options{
		Theme: cmp.Or(o.Theme, other.Theme), Panel: cmp.Or(o.Panel, other.Panel), Size: cmp.Or(o.Size, other.Size),
		Coordinates: cmp.Or(o.Coordinates, other.Coordinates), Layout: cmp.Or(o.Layout, other.Layout),
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
	return encode(w, &p.canvas)
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
	for name := range layouts {
		for _, quarter := range scales {
			k := sizeKey{quarter, name}
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

// encode writes a canvas as a PNG.
func encode(w io.Writer, c *canvas) error {
	return encoder.Encode(w, &image.Paletted{Pix: c.pix, Stride: c.w, Rect: c.bounds(), Palette: c.palette.model})
}

// encoder compresses as fast as it can: a byte less costs more time than it takes to send.
var encoder = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &encoderPool{}}

// An encoderPool keeps the memory of encoders for reuse.
type encoderPool struct{ pool sync.Pool }

func (p *encoderPool) Get() *png.EncoderBuffer {
	b, _ := p.pool.Get().(*png.EncoderBuffer)
	return b
}

func (p *encoderPool) Put(b *png.EncoderBuffer) { p.pool.Put(b) }
