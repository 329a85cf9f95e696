package render

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"io"
	"iter"
	"math/bits"
	"slices"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Scenes returns the scenes of a game after each turn from the first to the last
// of them; 0 is the board before the first turn.
func (w *Words) Scenes(g *rules.Game, n Names, first, last int) iter.Seq[Scene] {
	return func(yield func(Scene) bool) {
		first, last := max(first, 0), min(last, g.Turns())
		log := g.Log()
		at, err := rules.New(g.Rules(), g.Setup())
		if err != nil {
			return
		}
		show := func() bool {
			if at.Turns() < first {
				return true
			}
			return yield(w.Of(at, n))
		}
		if !show() {
			return
		}
		for i, t := range log {
			if at.Turns() >= last && t.Kind.IsTurn() {
				return
			}
			if at, err = at.Play(t); err != nil {
				return
			}
			// The talk after the last turn is shown once, when it is complete.
			if i+1 < len(log) && !log[i+1].Kind.IsTurn() {
				continue
			}
			if !show() {
				return
			}
		}
	}
}

// Scenes is [Words.Scenes] in English.
func Scenes(g *rules.Game, n Names, first, last int) iter.Seq[Scene] {
	return English.Scenes(g, n, first, last)
}

// GIF writes an animation that repeats for ever: each scene for delay
// milliseconds, the last for hold. Every frame after the first holds only what
// has changed. Frames are written as they are drawn, so that a long game takes no
// more memory than a short one.
func GIF(w io.Writer, scenes iter.Seq[Scene], o Options, delay, hold int) error {
	next, stop := iter.Pull(scenes)
	defer stop()
	s, ok := next()
	if !ok {
		return errors.New("render: an animation of no scenes")
	}
	a := animation{out: w}
	for ok {
		frame, err := a.frame(&s, o)
		if err != nil {
			return err
		}
		shown := delay
		if s, ok = next(); !ok {
			shown = hold
		}
		if err := a.write(frame, shown); err != nil {
			return err
		}
	}
	_, err := w.Write([]byte{0x3B})
	return err
}

// An animation is a GIF being written.
type animation struct {
	out    io.Writer
	series series
	shown  []uint8       // the pixels of the frame before
	colors color.Palette // the last of them leaves a pixel as it was
	pixels []uint8       // of a frame, for reuse
	file   bytes.Buffer  // for reuse
	begun  bool          // the header is written
}

// frame draws the part of a scene that differs from the scene before. Its pixels are
// overwritten by the next frame.
func (a *animation) frame(s *Scene, o Options) (*image.Paletted, error) {
	if err := a.series.draw(s, o); err != nil {
		return nil, err
	}
	c := &a.series.canvas
	if a.shown == nil {
		a.shown = slices.Clone(c.pix)
		a.colors = append(slices.Clone(c.palette.model), color.RGBA{})
		return &image.Paletted{Pix: a.shown, Stride: c.w, Rect: c.bounds(), Palette: a.colors}, nil
	}
	if len(a.shown) != len(c.pix) {
		return nil, errors.New("render: all scenes of an animation have one size")
	}
	// The smallest rectangle around what has changed.
	box := image.Rectangle{}
	for _, part := range a.series.parts {
		box = box.Union(a.changed(c, part))
	}
	if box.Empty() {
		box = image.Rect(0, 0, 1, 1)
	}
	asBefore := uint8(len(a.colors) - 1)
	a.pixels = a.pixels[:0]
	for y := box.Min.Y; y < box.Max.Y; y++ {
		was := a.shown[y*c.w+box.Min.X : y*c.w+box.Max.X]
		for i, v := range c.span(y, box.Min.X, box.Max.X) {
			if was[i] == v {
				v = asBefore
			}
			a.pixels = append(a.pixels, v)
		}
		copy(was, c.span(y, box.Min.X, box.Max.X))
	}
	return &image.Paletted{Pix: a.pixels, Stride: box.Dx(), Rect: box, Palette: a.colors}, nil
}

// changed narrows a part down to the pixels that differ from what was shown.
func (a *animation) changed(c *canvas, part image.Rectangle) image.Rectangle {
	out := image.Rectangle{}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		at := y * c.w
		now, was := c.pix[at+part.Min.X:at+part.Max.X], a.shown[at+part.Min.X:at+part.Max.X]
		if bytes.Equal(now, was) {
			continue
		}
		x0, x1 := 0, len(now)
		for now[x0] == was[x0] {
			x0++
		}
		for now[x1-1] == was[x1-1] {
			x1--
		}
		out = out.Union(image.Rect(part.Min.X+x0, y, part.Min.X+x1, y+1))
	}
	return out
}

// write adds a frame that stays for delay milliseconds. Package gif wants all frames
// at once. Therefore each is encoded as a file of its own, of which the header is
// written once and the end, one byte, is left to the caller.
func (a *animation) write(frame *image.Paletted, delay int) error {
	c := &a.series.canvas
	a.file.Reset()
	if err := gif.EncodeAll(&a.file, &gif.GIF{
		Image: []*image.Paletted{frame}, Disposal: []byte{gif.DisposalNone},
		Delay:  []int{min(max((delay+5)/10, 2), 65535)}, // in hundredths of a second
		Config: image.Config{ColorModel: a.colors, Width: c.w, Height: c.h},
	}); err != nil {
		return err
	}
	header := 13 + 3<<bits.Len(uint(len(a.colors)-1)) // the colours are padded to a power of two
	b := a.file.Bytes()
	if !a.begun {
		forEver := "\x21\xFF\x0BNETSCAPE2.0\x03\x01\x00\x00\x00"
		if _, err := a.out.Write(append(b[:header:header], forEver...)); err != nil {
			return err
		}
	}
	a.begun = true
	_, err := a.out.Write(b[header : len(b)-1])
	return err
}
