package rules

import "testing"

// Boards with a side of even length, or of 7 lines, have handicap points in their
// corners alone, and smaller ones have none.
func TestMostHandicapStones(t *testing.T) {
	for _, x := range []struct{ w, h, most int }{
		{9, 9, 9}, {13, 9, 9}, {19, 19, 9}, {25, 25, 9}, {9, 8, 4}, {8, 9, 4}, {18, 18, 4}, {7, 9, 4}, {9, 7, 4}, {7, 7, 4}, {6, 9, 0}, {9, 6, 0}, {2, 2, 0},
	} {
		for n := range 11 {
			ps, err := HandicapPoints(x.w, x.h, n)
			if want := n == 0 || n >= 2 && n <= x.most; (err == nil) != want || err == nil && len(ps) != n {
				t.Errorf("%d on %d×%d: %v, %v", n, x.w, x.h, ps, err)
			}
			seen := map[Point]bool{}
			for _, p := range ps {
				if seen[p] || int(p.X) >= x.w || int(p.Y) >= x.h || p.X < 2 || p.Y < 2 {
					t.Errorf("%d on %d×%d: %v", n, x.w, x.h, ps)
				}
				seen[p] = true
			}
		}
	}
}
