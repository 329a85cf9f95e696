//go:build !race

package tier

// Race reports whether the race detector is on. It makes a test about ten times
// slower: what is not concurrent may do less.
const Race = false
