package render

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// Options are how a scene is drawn. The zero value is the wooden board at 960
// by 660 pixels.
type Options struct {
	Theme string // one of [Themes]; "" is "wood"
	Size  string // "small" 720×495, "medium" or "" 960×660, "large" 1440×990 pixels
}

// Bounds gives the width and height of the picture in pixels.
func (o Options) Bounds() (w, h int, err error) {
	if o, err = o.complete(); err != nil {
		return 0, 0, err
	}
	w, h = size(scales[o.Size])
	return w, h, nil
}

func size(quarter int) (w, h int) { return wide * quarter / 4, high * quarter / 4 }

// complete fills in what was left out.
func (o Options) complete() (Options, error) {
	if o.Theme == "" {
		o.Theme = "wood"
	}
	if o.Size == "" {
		o.Size = "medium"
	}
	if themes[o.Theme] == nil {
		return o, fmt.Errorf("render: no such theme: %q", o.Theme)
	}
	if scales[o.Size] == 0 {
		return o, fmt.Errorf("render: no such size: %q", o.Size)
	}
	return o, nil
}

// PNG writes the picture of a scene. The same scene and options give the same
// bytes. It may be called from any number of goroutines.
func PNG(w io.Writer, s Scene, o Options) error {
	k, err := kitOf(&s, o)
	if err != nil {
		return err
	}
	p := presses[k.quarter].Get().(*press)
	defer presses[k.quarter].Put(p)
	p.draw(k, &s)
	return p.encode(w)
}

// Image gives the picture of a scene in memory, to be put into an animation.
func Image(s Scene, o Options) (*image.Paletted, error) {
	k, err := kitOf(&s, o)
	if err != nil {
		return nil, err
	}
	p := presses[k.quarter].Get().(*press)
	defer presses[k.quarter].Put(p)
	p.draw(k, &s)
	img := image.NewPaletted(image.Rect(0, 0, p.canvas.w, p.canvas.h), nil)
	for _, c := range k.palette.colors[:k.palette.n] {
		img.Palette = append(img.Palette, color.RGBA{c.r, c.g, c.b, 255})
	}
	for y := range p.canvas.h {
		copy(img.Pix[y*img.Stride:], p.canvas.span(y, 0, p.canvas.w))
	}
	return img, nil
}

func kitOf(s *Scene, o Options) (*kit, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	w, h := s.Size()
	return kitFor(o.Theme, o.Size, w, h), nil
}

// A press holds what making a picture needs, to be used again.
type press struct {
	canvas *canvas
	out    bytes.Buffer
	zip    *zlib.Writer
}

// presses has a pool for each scale.
var presses = map[int]*sync.Pool{3: pool(3), 4: pool(4), 6: pool(6)}

func pool(quarter int) *sync.Pool {
	return &sync.Pool{New: func() any {
		w, h := size(quarter)
		p := &press{canvas: newCanvas(w, h, nil)}
		p.zip, _ = zlib.NewWriterLevel(&p.out, compression)
		return p
	}}
}

// compression is the level at which a byte less costs more time than it takes
// to send.
const compression = 4

// draw makes the picture.
func (p *press) draw(k *kit, s *Scene) {
	p.canvas.palette = k.palette
	copy(p.canvas.pix, k.base.pix)
	p.canvas.board(k, s)
	p.canvas.panel(k, s)
}

// encode writes the canvas as a PNG.
func (p *press) encode(w io.Writer) error {
	out := &p.out
	out.Reset()
	out.WriteString("\x89PNG\r\n\x1a\n")

	var header [13]byte
	binary.BigEndian.PutUint32(header[0:], uint32(p.canvas.w))
	binary.BigEndian.PutUint32(header[4:], uint32(p.canvas.h))
	header[8], header[9] = 8, 3 // bits, colours from a table
	p.chunk("IHDR", func() { out.Write(header[:]) })
	p.chunk("PLTE", func() {
		for _, c := range p.canvas.palette.colors[:p.canvas.palette.n] {
			out.Write([]byte{c.r, c.g, c.b})
		}
	})
	var err error
	p.chunk("IDAT", func() {
		p.zip.Reset(out)
		if _, err = p.zip.Write(p.canvas.pix); err == nil {
			err = p.zip.Close()
		}
	})
	if err != nil {
		return err
	}
	p.chunk("IEND", func() {})
	_, err = w.Write(out.Bytes())
	return err
}

// chunk writes what body writes, with its length, name and checksum.
func (p *press) chunk(name string, body func()) {
	start := p.out.Len()
	p.out.WriteString("\x00\x00\x00\x00" + name)
	body()
	written := p.out.Bytes()[start:]
	binary.BigEndian.PutUint32(written, uint32(len(written)-8))
	p.out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(written[4:])))
}
