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

// A cache keeps the most recently used games in memory, already folded, so that a
// turn costs the same however long its game is. It holds only what was committed, or
// read from the store. Its methods may be called concurrently.
//
// It is a list and a map instead of a library because it drops games by their
// length: a game of 2,000 turns takes as much memory as a hundred short ones.
type cache struct {
	mu     sync.Mutex
	most   int        // weight that is kept
	weight int        // of what is kept
	used   *list.List // of *cachedGame, the last used first
	games  map[match.GameID]*list.Element
	epoch  int                         // grows when everything is dropped
	newest map[match.Room]match.GameID // the game of a channel that was changed last
	faults map[match.GameID]bool       // damaged games that were logged
}

// maxNewest is for how many channels a cache knows the game that was changed last.
const maxNewest = 10_000

// A cachedGame holds the last positions of a game, the newest first, because the
// next turn may come before the posts of the last one are worded and its picture is
// drawn. It also holds the last scenes, because a board is shown several times: in the
// room, in the status message, and on request.
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

// A sceneKey is what a scene depends on besides its position.
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
	return &cache{most: cachedWeight, used: list.New(), games: map[match.GameID]*list.Element{}, newest: map[match.Room]match.GameID{}}
}

func (g *cachedGame) weight() int {
	return len(g.latest[0].Events) + positionWeight*(len(g.latest)+len(g.scenes))
}

// get returns the last cached position of a game that is not after event seq, or nil.
// If it is before seq, events may hold the events up to seq, from a later position. The
// epoch is for keep.
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

// keep caches a position that was folded from stored events, unless the cache has been
// cleared since the epoch in which they were read.
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

// shrink drops the least recently used games until the rest is within the limit.
func (c *cache) shrink() {
	for c.weight > c.most && c.used.Len() > 1 {
		oldest := c.used.Back()
		c.weight -= oldest.Value.(*cachedGame).weight()
		delete(c.games, oldest.Value.(*cachedGame).id)
		c.used.Remove(oldest)
	}
}

// scene returns a scene of a position. It caches the scene if it caches the position.
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

// estimated returns the estimate of a position, if it is cached.
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

// keepEstimate caches the estimate of a cached position. It takes next to no memory.
func (c *cache) keepEstimate(id match.GameID, p *match.Position, a about) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.holds(id, p); g != nil {
		g.abouts = append(g.abouts, cachedAbout{p, a})
		g.abouts = g.abouts[max(0, len(g.abouts)-cachedPositions):]
	}
}

// holds returns the cached game of a position, if the position is cached.
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

// clear drops everything. Call it after stored events have been changed or deleted:
// positions read before that are not cached afterwards.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch++
	c.weight = 0
	c.used.Init()
	clear(c.games)
	clear(c.newest)
}

// changed notes which game of a channel was changed last.
func (c *cache) changed(m match.Match) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.newest) >= maxNewest {
		clear(c.newest)
	}
	c.newest[m.Where.WithoutThread()] = m.ID
}

// last returns the game of a channel that was changed last, or "" if that is not known.
func (c *cache) last(channel match.Room) match.GameID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest[channel]
}

// fresh notes that a game is damaged, and reports whether that is news.
func (c *cache) fresh(id match.GameID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.faults[id]
	if c.faults == nil {
		c.faults = map[match.GameID]bool{}
	}
	c.faults[id] = true
	return !known
}

// position returns the position of a match after event seq. Its error may be
// ErrDamaged.
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
		err = p.Prove(m)
	}
	if err != nil {
		b.cache.drop(m.ID) // and look at the whole log the next time
		if b.cache.fresh(m.ID) {
			b.log.Error("game is damaged, will leave it alone; halfpoint check looks at all games",
				"game", m.ID, "number", m.Number, "platform", m.Where.Platform, "channel", m.Where.Channel, "error", err)
		}
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	b.cache.keep(m.ID, p, epoch)
	return p, nil
}
