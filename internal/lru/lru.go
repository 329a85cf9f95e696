// Package lru makes caches that keep the values used last.
package lru

import "github.com/hashicorp/golang-lru/v2"

// A Cache may be used concurrently.
type Cache[K comparable, V any] = lru.Cache[K, V]

// New returns a cache for size values, more than 0.
func New[K comparable, V any](size int) *Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic("lru: " + err.Error())
	}
	return c
}
