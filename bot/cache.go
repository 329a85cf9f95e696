package bot

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/render"
)

// A cache keeps folded games in memory, those that were used last, so that a
// turn costs the same however long its game is. What it holds was committed, or
// read from the store. It may be used from many goroutines.
//
// It is a list and a map rather than a library because it drops games by their
// length: one of 2,000 turns takes the memory of a hundred short ones.
type cache struct {
	mu     sync.Mutex
	most   int        // weight that is kept
	weight int        // of what is kept
	used   *list.List // of *cachedGame, the last used first
	games  map[match.GameID]*list.Element
	epoch  int // grows when everything is dropped
}

// A cachedGame holds the last positions of a game, the newest first: posts are
// worded, and pictures drawn, when the next turn may have been made already. And
// it holds the last scenes: a board is shown to a room, under its opening, and to
// everybody who looks.
type cachedGame struct {
	id     match.GameID
	latest []*match.Position
	scenes []cachedScene // the newest last
	abouts []cachedAbout // the newest last
}

type cachedScene struct {
	of    *match.Position
	key   sceneKey
	scene render.Scene
}

type cachedAbout struct {
	of *match.Position
	about
}

// A sceneKey is what a scene follows from besides its position.
type sceneKey struct {
	lang  string
	names render.Names
	look  render.Options
	about about
}

// Limits of a cache. A position weighs as much as its events, each of which takes
// about 300 bytes, and the memory of a game that it shares with no other.
const (
	cachedWeight    = 150_000 // 45 MB
	cachedPositions = 3       // of a game
	cachedScenes    = 3
	positionWeight  = 20
)

func newCache() *cache {
	return &cache{most: cachedWeight, used: list.New(), games: map[match.GameID]*list.Element{}}
}

func (g *cachedGame) weight() int {
	return len(g.latest[0].Events) + positionWeight*(len(g.latest)+len(g.scenes))
}

// get returns the last position that is kept of a game not after event seq, or
// nil. If it is not that after seq, the events up to seq may be there all the same,
// from a later position. With them comes the epoch, for keep.
func (c *cache) get(id match.GameID, seq int) (p *match.Position, events []match.Event, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.games[id]
	if e == nil {
		return nil, nil, c.epoch
	}
	c.used.MoveToFront(e)
	for _, p := range e.Value.(*cachedGame).latest {
		if p.Seq() <= seq {
			return p, events, c.epoch
		}
		events = p.Events[:seq]
	}
	return nil, events, c.epoch
}

// keep keeps a position that follows from what is stored, unless everything has
// been dropped since the epoch in which it was read.
func (c *cache) keep(id match.GameID, p *match.Position, epoch int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if epoch != c.epoch {
		return
	}
	e := c.games[id]
	if e == nil {
		e = c.used.PushFront(&cachedGame{id: id})
		c.games[id] = e
	} else {
		c.weight -= e.Value.(*cachedGame).weight()
		c.used.MoveToFront(e)
	}
	g := e.Value.(*cachedGame)
	i := 0
	for i < len(g.latest) && g.latest[i].Seq() > p.Seq() {
		i++
	}
	if i < len(g.latest) && g.latest[i].Seq() == p.Seq() {
		g.latest[i] = p
	} else {
		g.latest = slices.Insert(g.latest, i, p)
		g.latest = g.latest[:min(len(g.latest), cachedPositions)]
	}
	c.weight += g.weight()
	c.shrink()
}

// shrink drops the games that were not used for longest, until what is left is
// light enough.
func (c *cache) shrink() {
	for c.weight > c.most && c.used.Len() > 1 {
		oldest := c.used.Back()
		c.weight -= oldest.Value.(*cachedGame).weight()
		delete(c.games, oldest.Value.(*cachedGame).id)
		c.used.Remove(oldest)
	}
}

// scene returns a scene of a position that is kept, and has it made if it is not
// kept, too.
func (c *cache) scene(id match.GameID, p *match.Position, key sceneKey, draw func() render.Scene) render.Scene {
	c.mu.Lock()
	g := c.holds(id, p)
	if g != nil {
		for _, s := range g.scenes {
			if s.of == p && s.key == key {
				c.mu.Unlock()
				return s.scene
			}
		}
	}
	c.mu.Unlock()
	scene := draw()
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.holds(id, p); g != nil {
		c.weight -= g.weight()
		g.scenes = append(g.scenes, cachedScene{p, key, scene})
		g.scenes = g.scenes[max(0, len(g.scenes)-cachedScenes):]
		c.weight += g.weight()
		c.shrink()
	}
	return scene
}

// estimated returns the estimate of a position, if it has been made and kept.
func (c *cache) estimated(id match.GameID, p *match.Position) (a about, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.games[id]; e != nil {
		for _, a := range e.Value.(*cachedGame).abouts {
			if a.of == p {
				return a.about, true
			}
		}
	}
	return about{}, false
}

// keepEstimate keeps the estimate of a position that is kept. It takes next to no
// memory.
func (c *cache) keepEstimate(id match.GameID, p *match.Position, a about) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.holds(id, p); g != nil {
		g.abouts = append(g.abouts, cachedAbout{p, a})
		g.abouts = g.abouts[max(0, len(g.abouts)-cachedPositions):]
	}
}

// holds returns a game that is kept, if the position is.
func (c *cache) holds(id match.GameID, p *match.Position) *cachedGame {
	if e := c.games[id]; e != nil {
		if g := e.Value.(*cachedGame); slices.Contains(g.latest, p) {
			return g
		}
	}
	return nil
}

// now is the epoch, for keep.
func (c *cache) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// drop drops a game.
func (c *cache) drop(id match.GameID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.games[id]; e != nil {
		c.weight -= e.Value.(*cachedGame).weight()
		delete(c.games, id)
		c.used.Remove(e)
	}
}

// clear drops everything. It is to be called after stored events have been
// changed or deleted: what was read before is not kept after.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.weight = 0
	c.used.Init()
	clear(c.games)
}

// position returns how a match stood after event seq. Its error may be errNotReplayed.
func (b *Bot) position(ctx context.Context, m match.Match, seq int) (*match.Position, error) {
	if seq < 0 || seq > m.Seq {
		return nil, fmt.Errorf("game %s has no event %d: %w", m.ID, seq, ErrNotFound)
	}
	p, events, epoch := b.cache.get(m.ID, seq)
	if p != nil && p.Seq() == seq {
		return p, nil
	}
	after := 0
	if p != nil {
		after = p.Seq()
	}
	var err error
	if events != nil {
		events = events[after:]
	} else if events, err = b.store.Events(ctx, m.ID, after, seq); err != nil {
		return nil, err
	}
	if p != nil {
		p, err = p.Next(m, events...)
	} else {
		p, err = match.Fold(m, events)
	}
	if err == nil {
		err = p.Prove()
	}
	if err != nil {
		b.cache.drop(m.ID) // and look at the whole log the next time
		return nil, fmt.Errorf("%w: %w", errNotReplayed, err)
	}
	b.cache.keep(m.ID, p, epoch)
	return p, nil
}
