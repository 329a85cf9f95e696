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

// GIF writes an animation that repeats for ever: each scene for delay
// milliseconds, the last for hold. Every frame after the first holds only what
// has changed. Scenes are drawn as they come, so that a long game takes no more
// memory than a short one. Another goroutine compresses and writes each frame
// while the next is being drawn; GIF returns when it has ended.
func GIF(w io.Writer, scenes iter.Seq[Scene], o Options, delay, hold int) error {
	frames, written := make(chan gifFrame), make(chan error, 1)
	go func() {
		defer close(written)
		written <- writeFrames(w, frames, delay, hold)
	}()
	if err := drawFrames(frames, written, scenes, o); err != nil {
		<-written
		return err
	}
	return <-written
}

// A gifFrame is what a frame of an animation changes.
type gifFrame struct {
	size    image.Point // of the whole picture
	palette *palette
	box     image.Rectangle
	pixels  []uint8 // of the box, row by row
}

// asBefore is the colour of what a frame leaves as it was.
const asBefore = 255

var errNoScenes = errors.New("render: an animation of no scenes")

// drawFrames sends the frames of an animation and closes the channel. It stops
// where they can no longer be written.
func drawFrames(frames chan<- gifFrame, written <-chan error, scenes iter.Seq[Scene], o Options) error {
	defer close(frames)
	var a animation
	for s := range scenes {
		f, err := a.frame(&s, o)
		if err != nil {
			return err
		}
		select {
		case frames <- f:
		case err := <-written:
			return err
		}
	}
	return nil
}

// An animation finds the frames of a GIF.
type animation struct {
	series series
	shown  []uint8 // the pixels of the frame before
	frames int
	// pixels belong to the frame being drawn and the one being compressed. When the
	// writer takes a frame it has finished the one before.
	pixels [2][]uint8
}

// frame draws a scene. The pixels of what it returns are overwritten by the frame
// after the next.
func (a *animation) frame(s *Scene, o Options) (gifFrame, error) {
	if err := a.series.draw(s, o); err != nil {
		return gifFrame{}, err
	}
	c := &a.series.canvas
	if a.frames == 0 {
		a.shown = make([]uint8, len(c.pix))
	}
	if len(a.shown) != len(c.pix) {
		return gifFrame{}, errors.New("render: all scenes of an animation have one size")
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
	pixels := a.pixels[a.frames%2][:0]
	for y := box.Min.Y; y < box.Max.Y; y++ {
		at := y*(c.w+1) + 1
		was := a.shown[at+box.Min.X : at+box.Max.X]
		for i, v := range c.span(y, box.Min.X, box.Max.X) {
			if a.frames > 0 && was[i] == v {
				pixels = append(pixels, asBefore)
			} else {
				pixels = append(pixels, v)
			}
		}
		copy(was, c.span(y, box.Min.X, box.Max.X))
	}
	a.pixels[a.frames%2] = pixels
	a.frames++
	return gifFrame{c.bounds().Max, c.palette, box, pixels}, nil
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

// writeFrames writes a GIF of the frames until the channel is closed. Each is
// held back until it is known whether another follows, which decides how many
// milliseconds it stays.
func writeFrames(w io.Writer, frames <-chan gifFrame, delay, hold int) error {
	var zip lzw
	var held bytes.Buffer
	n := 0
	for f := range frames {
		var err error
		if n == 0 {
			err = writeHeader(w, f.size, f.palette)
		} else {
			err = writeFrame(w, n, held.Bytes(), delay)
		}
		if err != nil {
			return err
		}
		held.Reset()
		b := append(held.AvailableBuffer(), 0x2C)
		for _, v := range []int{f.box.Min.X, f.box.Min.Y, f.box.Dx(), f.box.Dy()} {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
		held.Write(append(b, 0, 8)) // bits of a pixel
		zip.compress(&held, f.pixels)
		n++
	}
	if n == 0 {
		return errNoScenes
	}
	if err := writeFrame(w, n, held.Bytes(), hold); err != nil {
		return err
	}
	_, err := w.Write([]byte{0x3B})
	return err
}

// writeHeader writes what stands before the frames.
func writeHeader(w io.Writer, size image.Point, p *palette) error {
	var b []byte
	b = append(b, "GIF89a"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(size.X))
	b = binary.LittleEndian.AppendUint16(b, uint16(size.Y))
	b = append(b, 0xF7, 0, 0) // a table of 256 colours for all frames
	for _, c := range p.colors {
		b = append(b, c.r, c.g, c.b)
	}
	b = append(b, "\x21\xFF\x0BNETSCAPE2.0\x03\x01\x00\x00\x00"...) // for ever
	_, err := w.Write(b)
	return err
}

// writeFrame writes the nth compressed frame, which stays for delay milliseconds.
// The first covers everything.
func writeFrame(w io.Writer, n int, compressed []byte, delay int) error {
	transparent := byte(1)
	if n == 1 {
		transparent = 0
	}
	b := []byte{0x21, 0xF9, 4, 1<<2 | transparent}
	b = binary.LittleEndian.AppendUint16(b, uint16(min(max((delay+5)/10, 2), 65535)))
	b = append(b, asBefore, 0)
	if _, err := w.Write(b); err != nil {
		return err
	}
	_, err := w.Write(compressed)
	return err
}
