package rules

import "math/rand/v2"

// A playout plays a position to its end at random, as one does who knows what
// an eye is and little else. It plays through Board.Play; what it leaves out is
// repetition beyond the simple ko.
type playout struct {
	Board
	rnd   *rand.Rand
	ko    int     // the point that may not be taken back now, 0 for none
	empty []int16 // the empty points, in any order
}

// start begins anew from b.
func (p *playout) start(b *Board) {
	p.Board, p.ko, p.empty = *b, 0, p.empty[:0]
	for y := range b.h {
		for x := range b.w {
			if i := b.index(Point{x, y}); b.cell[i] == None {
				p.empty = append(p.empty, int16(i))
			}
		}
	}
}

// run plays until neither player has a move that is worth a try, by first.
func (p *playout) run(first Color) {
	passes := 0
	for c, n := first, 0; passes < 2 && n < 3*int(p.w)*int(p.h); c, n = c.Opponent(), n+1 {
		if p.move(c) {
			passes = 0
		} else {
			passes++
			p.ko = 0
		}
	}
}

// move plays a stone of colour c at random, and reports whether there was a
// point for it.
func (p *playout) move(c Color) bool {
	for left := len(p.empty); left > 0; left-- {
		at := p.rnd.IntN(left)
		i := int(p.empty[at])
		p.empty[at] = p.empty[left-1]
		p.empty[left-1] = int16(i)
		if i == p.ko || !p.sensible(i, c) {
			continue
		}
		last := len(p.empty) - 1
		p.empty[left-1], p.empty = p.empty[last], p.empty[:last]
		taken, _ := p.Play(p.point(i), c)
		p.ko = 0
		if len(taken) == 1 && p.Liberties(p.point(i)) == 1 && len(p.Chain(p.point(i))) == 1 {
			p.ko = p.index(taken[0])
		}
		for _, q := range taken {
			p.empty = append(p.empty, int16(p.index(q)))
		}
		return true
	}
	return false
}

// sensible reports whether c may play on i and would not harm itself plainly:
// by filling an eye, by suicide, or by putting more stones into atari than can
// be of use inside an eye.
func (p *playout) sensible(i int, c Color) bool {
	if p.eye(i, c) {
		return false
	}
	try := p.Board
	taken, own := try.Play(p.point(i), c)
	if len(own) > 0 {
		return false
	}
	if len(taken) > 0 {
		return true
	}
	return try.Liberties(p.point(i)) > 1 || len(try.Chain(p.point(i))) < 5
}

// eye reports whether i is an eye of c that opponents cannot make false: all
// its neighbours are c's, and at most one of its diagonals the opponent's, none
// at the edge.
func (p *playout) eye(i int, c Color) bool {
	for _, d := range p.around(i) {
		if p.cell[d] != c && p.cell[d] != edge {
			return false
		}
	}
	s := int(p.w) + 1
	theirs, off := 0, 0
	for _, d := range [4]int{i - s - 1, i - s + 1, i + s - 1, i + s + 1} {
		switch p.cell[d] {
		case c.Opponent():
			theirs++
		case edge:
			off = 1
		}
	}
	return theirs+off < 2
}

// owner tells whose point i is when the playout is over, None in a seki.
func (p *playout) owner(i int) Color {
	if p.cell[i] != None {
		return p.cell[i]
	}
	var f flood
	f.from(&p.Board, i)
	reaches := [edge + 1]bool{}
	for _, j := range f.found[:f.n] {
		for _, d := range p.around(int(j)) {
			reaches[p.cell[d]] = true
		}
	}
	switch {
	case reaches[Black] && !reaches[White]:
		return Black
	case reaches[White] && !reaches[Black]:
		return White
	}
	return None
}
