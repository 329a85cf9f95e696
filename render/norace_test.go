//go:build !race

package render

// race is true under the race detector, where tests do less.
const race = false
