package render

import (
	"image"
	"slices"
)

// An op is one thing to be painted: a sprite, a letter or a filled rectangle.
// A picture is a list of ops, from the background up. Two pictures can differ only
// where one list has an op that the other does not have.
type op struct {
	x0, y0, x1, y1 int16
	color          rgb   // of a letter
	fill           uint8 // of a rectangle, an index
	sprite         *sprite
	glyph          *glyph
}

func (o *op) box() image.Rectangle {
	return image.Rectangle{image.Point{int(o.x0), int(o.y0)}, image.Point{int(o.x1), int(o.y1)}}
}

// A displayList collects the ops of a picture.
type displayList struct {
	ops     []op
	palette *palette
}

// fill paints a rectangle.
func (l *displayList) fill(r image.Rectangle, with rgb) {
	l.ops = append(l.ops, op{x0: int16(r.Min.X), y0: int16(r.Min.Y), x1: int16(r.Max.X), y1: int16(r.Max.Y), fill: l.palette.of(with)})
}

// stamp lays a sprite with its middle on x, y; no sprite leaves no trace.
func (l *displayList) stamp(x, y int, s *sprite) {
	if s == nil {
		return
	}
	x, y = x-s.cx, y-s.cy
	l.ops = append(l.ops, op{x0: int16(x), y0: int16(y), x1: int16(x + s.w), y1: int16(y + s.h), sprite: s})
}

// differ marks the boxes of the ops by which two lists differ. Ops that both have,
// in the same order, leave the same pixels where nothing else is painted.
func differ(old, now []op, mark func(image.Rectangle)) {
	const ahead = 48 // how far to look for where the lists meet again
	i, j := 0, 0
	for i < len(old) && j < len(now) {
		if old[i] == now[j] {
			i, j = i+1, j+1
			continue
		}
		skipOld := slices.Index(old[i:min(i+ahead, len(old))], now[j])
		skipNow := slices.Index(now[j:min(j+ahead, len(now))], old[i])
		switch {
		case skipOld > 0 && (skipNow < 0 || skipOld <= skipNow):
			for range skipOld {
				mark(old[i].box())
				i++
			}
		case skipNow > 0:
			for range skipNow {
				mark(now[j].box())
				j++
			}
		default:
			mark(old[i].box())
			mark(now[j].box())
			i, j = i+1, j+1
		}
	}
	for ; i < len(old); i++ {
		mark(old[i].box())
	}
	for ; j < len(now); j++ {
		mark(now[j].box())
	}
}
