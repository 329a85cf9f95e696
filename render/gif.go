package render

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"iter"

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

// GIF writes an animation that goes on for ever: each scene for delay
// milliseconds, the last for hold. Every frame after the first holds only what
// has changed. Scenes are drawn as they come, so that a long game takes no more
// memory than a short one.
func GIF(w io.Writer, scenes iter.Seq[Scene], o Options, delay, hold int) error {
	var a animation
	for s := range scenes {
		if err := a.frame(w, &s, o, delay); err != nil {
			return err
		}
	}
	return a.end(w, hold)
}

// An animation is a GIF being written. A frame is held back until it is known
// whether another follows.
type animation struct {
	series series
	shown  []uint8 // the pixels of the frame before
	frames int
	out    bytes.Buffer // the frame held back
	part   []uint8
	zip    lzw
}

// asBefore is the colour of what a frame leaves as it was.
const asBefore = 255

var errNoScenes = errors.New("render: an animation of no scenes")

// frame draws a scene and writes the one before.
func (a *animation) frame(w io.Writer, s *Scene, o Options, delay int) error {
	if err := a.series.draw(s, o); err != nil {
		return err
	}
	c := &a.series.canvas
	if a.frames == 0 {
		a.shown = make([]uint8, len(c.pix))
		if err := a.start(w, c); err != nil {
			return err
		}
	} else if err := a.flush(w, delay); err != nil {
		return err
	}
	if len(a.shown) != len(c.pix) {
		return errors.New("render: all scenes of an animation have one size")
	}
	// The smallest rectangle around what has changed.
	box := image.Rectangle{}
	for _, part := range a.series.parts {
		box = box.Union(a.changed(c, part))
	}
	if a.frames == 0 {
		box = c.bounds()
	}
	if box.Empty() {
		box = image.Rect(0, 0, 1, 1)
	}
	a.part = a.part[:0]
	for y := box.Min.Y; y < box.Max.Y; y++ {
		at := y*(c.w+1) + 1
		was := a.shown[at+box.Min.X : at+box.Max.X]
		for i, v := range c.span(y, box.Min.X, box.Max.X) {
			if a.frames > 0 && was[i] == v {
				a.part = append(a.part, asBefore)
			} else {
				a.part = append(a.part, v)
			}
		}
		copy(was, c.span(y, box.Min.X, box.Max.X))
	}
	a.frames++
	a.compress(box)
	return nil
}

// changed narrows a part down to the pixels that differ from what was shown.
func (a *animation) changed(c *canvas, part image.Rectangle) image.Rectangle {
	out := image.Rectangle{}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		at := y*(c.w+1) + 1
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

// start writes what stands before the frames.
func (a *animation) start(w io.Writer, c *canvas) error {
	var b []byte
	b = append(b, "GIF89a"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(c.w))
	b = binary.LittleEndian.AppendUint16(b, uint16(c.h))
	b = append(b, 0xF7, 0, 0) // a table of 256 colours for all frames
	for _, c := range c.palette.colors {
		b = append(b, c.r, c.g, c.b)
	}
	b = append(b, "\x21\xFF\x0BNETSCAPE2.0\x03\x01\x00\x00\x00"...) // for ever
	_, err := w.Write(b)
	return err
}

// compress holds a frame back, but for how long it stays.
func (a *animation) compress(box image.Rectangle) {
	a.out.Reset()
	b := a.out.AvailableBuffer()
	b = append(b, 0x2C)
	for _, v := range []int{box.Min.X, box.Min.Y, box.Dx(), box.Dy()} {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	b = append(b, 0, 8) // bits of a pixel
	a.out.Write(b)
	a.zip.compress(&a.out, a.part)
}

// flush writes the frame held back, which stays for delay milliseconds.
func (a *animation) flush(w io.Writer, delay int) error {
	if a.frames == 0 {
		return errNoScenes
	}
	transparent := byte(1)
	if a.frames == 1 {
		transparent = 0
	}
	b := []byte{0x21, 0xF9, 4, 1<<2 | transparent}
	b = binary.LittleEndian.AppendUint16(b, uint16(min(max((delay+5)/10, 2), 65535)))
	b = append(b, asBefore, 0)
	if _, err := w.Write(b); err != nil {
		return err
	}
	_, err := w.Write(a.out.Bytes())
	return err
}

// end writes the last frame and closes the file.
func (a *animation) end(w io.Writer, hold int) error {
	if err := a.flush(w, hold); err != nil {
		return err
	}
	_, err := w.Write([]byte{0x3B})
	return err
}
