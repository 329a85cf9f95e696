package render

import (
	"image"
	"io"
	"sync"
)

// A Canvas draws pictures of one game one after the other, and only what has
// changed from one to the next. Its pictures are those of [PNG], byte for byte,
// whatever scenes and options follow each other. The zero value is ready. It
// takes about a megabyte at medium size, and may not be used from two
// goroutines at a time.
type Canvas struct {
	canvas   canvas
	kit      *kit
	now, old list
	packed   []byte
	tiles    []bool // what differs; none of them outside of draw
	parts    []image.Rectangle
}

// PNG writes the picture of a scene.
func (c *Canvas) PNG(w io.Writer, s Scene, o Options) error {
	if err := c.draw(&s, o); err != nil {
		return err
	}
	if c.kit.bits == 4 {
		if c.packed == nil {
			c.parts = append(c.parts[:0], c.canvas.bounds())
		}
		for _, part := range c.parts {
			c.packed = pack(c.packed, &c.canvas, part)
		}
	}
	return encode(w, &c.canvas, c.kit.bits, c.packed)
}

// tile is the side of the squares in which changes are noted, in pixels.
const tile = 16

// draw paints what differs from the picture before, and leaves in c.parts
// where that is.
func (c *Canvas) draw(s *Scene, o Options) error {
	k, o, err := kitOf(s, o)
	if err != nil {
		return err
	}
	c.parts = c.parts[:0]
	c.now, c.old = c.old, c.now
	c.now.of(k, s, o)
	if k != c.kit {
		if c.kit == nil || c.kit.quarter != k.quarter {
			c.canvas = *newCanvas(size(k.quarter))
		}
		c.kit, c.canvas.palette, c.packed = k, k.palette, nil
		c.parts = append(c.parts, c.canvas.bounds())
		c.canvas.paint(k.row, c.now.ops, c.canvas.bounds())
		return nil
	}
	across, down := (c.canvas.w+tile-1)/tile, (c.canvas.h+tile-1)/tile
	if len(c.tiles) != across*down {
		c.tiles = make([]bool, across*down)
	}
	differ(c.old.ops, c.now.ops, func(r image.Rectangle) {
		r = r.Intersect(c.canvas.bounds())
		if r.Empty() {
			return
		}
		for y := r.Min.Y / tile; y <= (r.Max.Y-1)/tile; y++ {
			for x := r.Min.X / tile; x <= (r.Max.X-1)/tile; x++ {
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
			for ; y1 < down && all(c.tiles[y1*across+x:y1*across+x1]); y1++ {
				clear(c.tiles[y1*across+x : y1*across+x1])
			}
			part := image.Rect(x*tile, y*tile, x1*tile, y1*tile).Intersect(c.canvas.bounds())
			c.parts = append(c.parts, part)
			c.canvas.paint(k.row, c.now.ops, part)
		}
	}
	return nil
}

func all(set []bool) bool {
	for _, is := range set {
		if !is {
			return false
		}
	}
	return true
}

// A Cache keeps a [Canvas] for each of the games that were drawn last. It may
// be used from any number of goroutines.
type Cache struct {
	mu    sync.Mutex
	most  int
	clock int
	kept  map[string]*kept
}

type kept struct {
	sync.Mutex
	canvas Canvas
	used   int // guarded by the lock of the cache
}

// NewCache gives a cache of at most n canvases.
func NewCache(n int) *Cache { return &Cache{most: max(n, 1), kept: map[string]*kept{}} }

// PNG writes the picture of a scene of a game, which is named as the caller
// likes.
func (c *Cache) PNG(w io.Writer, game string, s Scene, o Options) error {
	k := c.get(game)
	k.Lock()
	defer k.Unlock()
	return k.canvas.PNG(w, s, o)
}

func (c *Cache) get(game string) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.kept[game]
	if k == nil {
		if len(c.kept) >= c.most {
			oldest := ""
			for name, k := range c.kept {
				if oldest == "" || k.used < c.kept[oldest].used {
					oldest = name
				}
			}
			delete(c.kept, oldest)
		}
		k = &kept{}
		c.kept[game] = k
	}
	c.clock++
	k.used = c.clock
	return k
}

// Forget drops what is kept of a game.
func (c *Cache) Forget(game string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.kept, game)
}
