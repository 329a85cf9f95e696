//go:build race

package matrix

// What waits for other people's programs says the race detector little, and it
// takes long.
func init() { raced = true }
