package bot

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// changes lets people wait for games and events to change. Its methods may be called concurrently.
type changes struct {
	mu      sync.Mutex
	waiting map[match.GameID]*waiting // for a change of which somebody has waited since the last one
}

// A waiting is somebody who waits for a game to change, or several.
type waiting struct {
	changed chan struct{} // closed when it does
	seq     int           // the oldest event that one of them has seen last; -1: not known yet
	asked   time.Time     // when somebody last said that they wait
}

// followedFor is after how long somebody who waits has gone. Those who stay ask again sooner.
const followedFor = time.Minute

// next returns a channel that is closed when a game changes.
func (c *changes) next(id match.GameID) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[id]
	if w == nil {
		if c.waiting == nil {
			c.waiting = map[match.GameID]*waiting{}
		}
		w = &waiting{changed: make(chan struct{}), seq: -1}
		c.waiting[id] = w
	}
	w.asked = time.Now()
	return w.changed
}

// saw notes which event of a game somebody has seen last who waits for the next change.
func (c *changes) saw(id match.GameID, seq int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.waiting[id]; w != nil && (w.seq < 0 || seq < w.seq) {
		w.seq = seq
	}
}

// followed returns the games for which somebody waits, and what they have seen.
func (c *changes) followed() map[match.GameID]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[match.GameID]int{}
	for id, w := range c.waiting {
		if w.seq >= 0 && time.Since(w.asked) < followedFor {
			seen[id] = w.seq
		}
	}
	return seen
}

// tell tells those who wait that a game has changed.
func (c *changes) tell(id match.GameID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.waiting[id]; w != nil {
		close(w.changed)
		delete(c.waiting, id)
	}
}

// lookAround looks every second, until ctx is done, whether other processes have changed games for
// which somebody here waits.
func (b *Bot) lookAround(ctx context.Context) {
	failed := false
	for backoff.Sleep(ctx, time.Second) == nil {
		seen := b.changes.followed()
		if len(seen) == 0 {
			continue
		}
		now, err := b.store.Seqs(ctx, slices.Sorted(maps.Keys(seen)))
		if err != nil && !failed && ctx.Err() == nil {
			b.log.Error("looking for changes of other processes failed, will retry", "error", err)
		}
		if failed = err != nil; failed {
			continue
		}
		for id, seq := range seen {
			if at, found := now[id]; !found || at != seq {
				b.changes.tell(id)
			}
		}
	}
}
