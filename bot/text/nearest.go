package text

import (
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Nearest returns the name that differs from s by at most two letters, otherwise the
// first one that begins with s; "" if there is none.
func Nearest(s string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		switch d := rules.Distance(s, n); {
		case d >= len(n):
		case d < at, best != "" && d == at && !swapped(s, best) && swapped(s, n):
			best, at = n, d
		}
	}
	if best == "" && len(s) > 1 {
		for _, n := range names {
			if strings.HasPrefix(n, s) {
				return n
			}
		}
	}
	return best
}

// swapped reports whether two words have the same letters, in another order.
func swapped(a, b string) bool {
	sorted := func(s string) []byte { return slices.Sorted(slices.Values([]byte(s))) }
	return slices.Equal(sorted(a), sorted(b))
}
