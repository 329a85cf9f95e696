package text

import (
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Nearest returns the name that differs from s by at most two letters, otherwise the
// first one that begins with s; "" if there is none.
func Nearest(s string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		if d := rules.Distance(s, n); d < at && d < len(n) {
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
