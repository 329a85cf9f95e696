package web

import "sync"

// A cache keeps the last n things that were put into it.
type cache[T any] struct {
	mu    sync.Mutex
	n     int
	kept  map[string]T
	order []string
}

func newCache[T any](n int) *cache[T] { return &cache[T]{n: n, kept: map[string]T{}} }

func (c *cache[T]) put(key string, v T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[key]; !ok {
		if len(c.order) == c.n {
			delete(c.kept, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	c.kept[key] = v
}

func (c *cache[T]) get(key string) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.kept[key]
	return v, ok
}
