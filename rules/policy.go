package rules

// policyMove plays a stone of colour c by the playout policy: it sees a stone in
// atari, knows the nakade point of an eye and does not throw stones away. It
// reports whether there was a point for it.
func (p *playout) policyMove(c Color) bool {
	if i := p.reply(c); i != 0 {
		p.place(i, c)
		return true
	}
	if p.below(2) == 0 {
		if i := p.adjacent(c); i != 0 {
			p.place(i, c)
			return true
		}
	}
	return p.random(c, true)
}

// reply returns a point that answers the opponent's last placement: the nakade point
// of the eye that it made by taking stones, or one that saves what it put into
// atari, if need be by taking. It is 0 if there is none.
func (p *playout) reply(c Color) int {
	if len(p.moves) == 0 || p.moves[len(p.moves)-1].c == c {
		return 0
	}
	if n := len(p.gone); n >= 3 && n <= maxNakade {
		if i, ok := p.nakadePoint(p.gone); ok && i != 0 && p.legal(i, c) {
			return i
		}
	}
	at := int(p.moves[len(p.moves)-1].at)
	for _, d := range p.around(at) {
		if p.cell[d] != c || p.chains.of(d).several() {
			continue
		}
		for j := d; ; { // what surrounds it may be in atari itself
			for _, e := range p.around(j) {
				if p.cell[e] == c.Opponent() {
					if i := p.chains.of(e).last(); i != 0 && p.legal(i, c) {
						return i
					}
				}
			}
			if j = int(p.chains.next[j]); j == d {
				break
			}
		}
		if i := p.chains.of(d).last(); i != 0 && p.legal(i, c) {
			if l, takes := p.with(i, c); takes || l.several() {
				return i
			}
		}
	}
	return 0
}

// adjacent returns a sensible point next to the last placement, 0 if there is none.
func (p *playout) adjacent(c Color) int {
	if len(p.moves) == 0 {
		return 0
	}
	i, s := int(p.moves[len(p.moves)-1].at), int(p.w)+1
	points := [8]int{i - s - 1, i - s, i - s + 1, i - 1, i + 1, i + s - 1, i + s, i + s + 1}
	for left := len(points); left > 0; left-- {
		n := p.below(left)
		i := points[n]
		if p.cell[i] == None && !p.eye(i, c) && p.legal(i, c) && !p.selfAtari(i, c) {
			return i
		}
		points[n] = points[left-1]
	}
	return 0
}

// selfAtari reports whether a stone of colour c on i, where it is legal, puts
// stones into atari that cannot be of use inside an eye of the opponent.
func (p *playout) selfAtari(i int, c Color) bool {
	l, takes := p.with(i, c)
	if takes || l.several() || l.size < 4 {
		return false
	}
	if l.size > maxNakade {
		return true
	}
	shape := make([]int16, 1, maxNakade)
	shape[0] = int16(i)
	around := p.around(i)
	for n, d := range around {
		if p.cell[d] == c && !p.among(around[:n], d) {
			for j := d; ; {
				shape = append(shape, int16(j))
				if j = int(p.chains.next[j]); j == d {
					break
				}
			}
		}
	}
	if _, ok := p.nakadePoint(shape); !ok {
		return true
	}
	for _, d := range p.around(l.last()) {
		if p.cell[d] == c.Opponent() {
			return false
		}
	}
	return true // the last liberty is an eye of its own
}

// with returns the chain that a stone of colour c on i would make, and whether it
// would take any.
func (p *playout) with(i int, c Color) (l chain, takes bool) {
	l.size = 1
	around := p.around(i)
	for n, d := range around {
		switch p.cell[d] {
		case None:
			l.add(d)
		case c:
			if !p.among(around[:n], d) {
				own := p.chains.of(d)
				l.size += own.size
				l.n += own.n
				l.sum += own.sum
				l.squares += own.squares
			}
			l.remove(i)
		case c.Opponent():
			takes = takes || !p.chains.of(d).several()
		}
	}
	return l, takes
}

// maxNakade is the largest size of an eye that can have exactly one nakade point.
const maxNakade = 6

// nakadePoint reports whether an eye of this shape, 2 to 6 connected points, becomes
// one eye only when the opponent plays first in it, and returns the point on which
// that hangs: the three, the pyramid, the crossed and the bulky five, the rabbity
// six, the bent four in the corner. The point is 0 when there is no such point,
// in a square of four, which is one eye as it is.
func (b *Board) nakadePoint(shape []int16) (point int, ok bool) {
	var degree [maxNakade]int
	sum, best := 0, 0
	for n, i := range shape {
		for _, j := range shape {
			if b.touch(i, j) {
				degree[n]++
			}
		}
		sum += degree[n]
		best = max(best, degree[n])
	}
	circles := sum/2 - (len(shape) - 1)
	if len(shape) == 4 && circles == 0 {
		for n, i := range shape {
			if degree[n] != 2 || !b.corner(int(i)) {
				continue
			}
			for m, j := range shape {
				if degree[m] == 2 && b.touch(i, j) {
					return int(j), true
				}
			}
		}
	}
	for n, i := range shape {
		if degree[n] == best && point == 0 {
			point = int(i)
		} else if degree[n] == best {
			return 0, best+min(circles, 1) >= len(shape)-1
		}
	}
	return point, best+min(circles, 1) >= len(shape)-1
}

// touch reports whether two points are neighbours.
func (b *Board) touch(i, j int16) bool {
	d, s := i-j, int16(b.w)+1
	return d == 1 || d == -1 || d == s || d == -s
}

// corner reports whether i is a corner of the board.
func (b *Board) corner(i int) bool {
	n := 0
	for _, d := range b.around(i) {
		if b.cell[d] == edge {
			n++
		}
	}
	return n == 2
}
