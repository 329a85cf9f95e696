package rules

import "fmt"

// HandicapPoints returns the customary places of n handicap stones on a board of
// w columns and h rows: the corner points, then the centre and the sides,
// 3 lines from the edge on boards under 13 lines and 4 on larger ones. Its errors are
// of type [Saying].
func HandicapPoints(w, h, n int) ([]Point, error) {
	if n == 0 {
		return nil, nil
	}
	most := 9
	switch {
	case w < 7 || h < 7:
		most = 0
	case w%2 == 0 || h%2 == 0 || w == 7 || h == 7:
		most = 4
	}
	if n == 1 {
		return nil, saying("a handicap is 2 stones or more: instead of 1, play with a komi of ½")
	}
	if n < 0 || n > most {
		if most == 0 {
			return nil, saying("there are no handicap points on a {0} board", fmt.Sprintf("%d×%d", w, h))
		}
		return nil, saying("a handicap on {0} is 2 to {1} stones", fmt.Sprintf("%d×%d", w, h), most)
	}
	edge := func(lines int) (low, mid, high int8) {
		d := 2
		if lines >= 13 {
			d = 3
		}
		return int8(d), int8((lines - 1) / 2), int8(lines - 1 - d)
	}
	l, c, r := edge(w)
	b, m, t := edge(h)
	ps := []Point{{r, t}, {l, b}, {r, b}, {l, t}}
	centre, sides, ends := Point{c, m}, []Point{{l, m}, {r, m}}, []Point{{c, t}, {c, b}}
	switch n {
	case 2, 3, 4:
		return ps[:n], nil
	case 5:
		return append(ps, centre), nil
	case 6:
		return append(ps, sides...), nil
	case 7:
		return append(append(ps, sides...), centre), nil
	case 8:
		return append(append(ps, sides...), ends...), nil
	}
	return append(append(append(ps, sides...), ends...), centre), nil
}
