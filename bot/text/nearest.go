package text

import "github.com/halfpoint-go/halfpoint/rules"

// Nearest returns the name that differs from s by at most two letters, if there
// is one.
func Nearest(s string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		if d := rules.Distance(s, n); d < at && d < len(n) {
			best, at = n, d
		}
	}
	return best
}
