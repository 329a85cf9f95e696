package render

import (
	"image"
	"io"
	"slices"
	"sync"

	"github.com/halfpoint-go/halfpoint/internal/lru"
)

// A series draws pictures of one game one after the other and paints only what
// has changed from one to the next. Its pictures are those that [PNG] draws from
// scratch, byte for byte, whatever scenes and options follow each other. The zero
// value is ready. It takes about a megabyte at medium size.
type series struct {
	sync.Mutex // held while a picture is drawn
	canvas     canvas
	sprites    *sprites
	now, old   displayList
	packed     []byte
	tiles      []bool // where the two lists differ; all false outside draw
	parts      []image.Rectangle
}

// png writes the picture of a scene.
func (c *series) png(w io.Writer, s *Scene, o Options) error {
	c.Lock()
	defer c.Unlock()
	if err := c.draw(s, o); err != nil {
		return err
	}
	if c.sprites.bits == 4 {
		if c.packed == nil {
			c.parts = append(c.parts[:0], c.canvas.bounds())
		}
		for _, part := range c.parts {
			c.packed = pack(c.packed, &c.canvas, part)
		}
	}
	return encode(w, &c.canvas, c.sprites.bits, c.packed)
}

// A seriesKey tells series apart: a game may be drawn in several themes and sizes
// at a time.
type seriesKey struct {
	name    string
	sprites *sprites
}

// maxSeries bounds the memory of recent pictures to about 100 MB, which a bot
// reaches only with that many games in play.
const maxSeries = 128

// recent holds the series drawn last.
var recent = lru.New[seriesKey, *series](maxSeries)

// seriesOf returns the series of a scene, a new one if it has none yet.
func seriesOf(s *Scene, o Options) (*series, error) {
	k, _, err := spritesOf(s, o)
	if err != nil {
		return nil, err
	}
	fresh := &series{}
	if c, ok, _ := recent.PeekOrAdd(seriesKey{s.Series, k}, fresh); ok {
		recent.Get(seriesKey{s.Series, k}) // used just now
		return c, nil
	}
	return fresh, nil
}

// tile is the side of the squares in which changes are noted, in pixels.
const tile = 16

// draw paints what differs from the picture before, and notes those places in
// c.parts. The caller holds the lock.
func (c *series) draw(s *Scene, o Options) error {
	k, o, err := spritesOf(s, o)
	if err != nil {
		return err
	}
	c.parts = c.parts[:0]
	c.now, c.old = c.old, c.now
	c.now.of(k, s, o)
	if k != c.sprites {
		if c.sprites == nil || c.sprites.sizeKey != k.sizeKey {
			c.canvas = *newCanvas(k.pixels())
		}
		c.sprites, c.canvas.palette, c.packed = k, k.palette, nil
		c.parts = append(c.parts, c.canvas.bounds())
		c.canvas.paint(k.background, c.now.ops, c.canvas.bounds())
		return nil
	}
	across, down := (c.canvas.w+tile-1)/tile, (c.canvas.h+tile-1)/tile
	if len(c.tiles) != across*down {
		c.tiles = make([]bool, across*down)
	}
	differ(c.old.ops, c.now.ops, func(r image.Rectangle) {
		r = r.Intersect(c.canvas.bounds())
		for y := r.Min.Y / tile; y*tile < r.Max.Y; y++ {
			for x := r.Min.X / tile; x*tile < r.Max.X; x++ {
				c.tiles[y*across+x] = true
			}
		}
	})
	for y := range down {
		for x := 0; x < across; x++ {
			if !c.tiles[y*across+x] {
				continue
			}
			// as wide as it goes, and then as high
			x1, y1 := x, y
			for ; x1 < across && c.tiles[y*across+x1]; x1++ {
			}
			for ; y1 < down && !slices.Contains(c.tiles[y1*across+x:y1*across+x1], false); y1++ {
				clear(c.tiles[y1*across+x : y1*across+x1])
			}
			part := image.Rect(x*tile, y*tile, x1*tile, y1*tile).Intersect(c.canvas.bounds())
			c.parts = append(c.parts, part)
			c.canvas.paint(k.background, c.now.ops, part)
		}
	}
	return nil
}
