package text

// Nearest gives the name that differs from s by at most two letters, if there
// is one.
func Nearest(s string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		if d := distance(s, n); d < at && d < len(n) {
			best, at = n, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 99
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
