package rules

import "slices"

// A playout plays a position on at random, fast. Every placement is legal under
// positional superko without suicide, and none fills an eye of its own. Stones
// are taken by the Board as in any game; what a playout adds is what it knows of
// the chains, by which it sees what is legal without trying.
type playout struct {
	Board
	chains chains
	start  Board
	fresh  chains      // at the start
	moves  []stone     // placements since the start
	keys   []uint64    // of the start and of the position after each placement
	filter bloomFilter // of the keys
	empty  []int16     // the empty points, in any order
	gone   []int16     // the points from which the last placement took stones
	seed   uint64
}

type stone struct {
	at int16
	c  Color
}

// A bloomFilter holds one bit for each of many keys: a key whose bit is not set is
// new.
type bloomFilter [1024]uint64

func (s *bloomFilter) has(key uint64) bool { return s[key>>6&1023]>>(key&63)&1 != 0 }
func (s *bloomFilter) add(key uint64)      { s[key>>6&1023] |= 1 << (key & 63) }

// newPlayout begins a playout from b. The same seed plays the same turns.
func newPlayout(b *Board, seed uint64) *playout {
	p := &playout{start: *b, seed: seed}
	p.Board, _ = NewBoard(b.Size())
	for i, c := range &b.cell {
		if c == Black || c == White {
			p.put(i, c)
			p.fresh.placed(&p.Board, i)
		}
	}
	p.restart()
	return p
}

// restart begins anew from the same position, with other turns to come.
func (p *playout) restart() {
	p.Board, p.chains, p.filter = p.start, p.fresh, bloomFilter{}
	p.moves, p.keys, p.empty, p.gone = p.moves[:0], p.keys[:0], p.empty[:0], p.gone[:0]
	for i, c := range &p.cell {
		if c == None {
			p.empty = append(p.empty, int16(i))
		}
	}
	p.remember()
}

func (p *playout) remember() {
	p.keys = append(p.keys, p.key)
	p.filter.add(p.key)
}

// below returns a random number below n.
func (p *playout) below(n int) int {
	p.seed += 0x9e3779b97f4a7c15
	return int(mix(p.seed) >> 32 * uint64(n) >> 32)
}

// random plays a stone of colour c anywhere, and reports whether there was a
// point for it; the player passes if not. With avoidSelfAtari it leaves out
// placements that only lose stones.
func (p *playout) random(c Color, avoidSelfAtari bool) bool {
	for left := len(p.empty); left > 0; left-- {
		n := p.below(left)
		i := int(p.empty[n])
		if p.legal(i, c) && !p.eye(i, c) && !(avoidSelfAtari && p.selfAtari(i, c)) {
			p.play(n, c)
			return true
		}
		p.empty[n], p.empty[left-1] = p.empty[left-1], p.empty[n]
	}
	return false
}

// place plays a stone of colour c on the empty point i, where it is legal.
func (p *playout) place(i int, c Color) { p.play(slices.Index(p.empty, int16(i)), c) }

// play plays a stone of colour c on the nth of the empty points.
func (p *playout) play(n int, c Color) {
	i := int(p.empty[n])
	last := len(p.empty) - 1
	p.empty[n] = p.empty[last]
	p.put(i, c)
	p.chains.placed(&p.Board, i)
	p.gone = p.capture(i, c.Opponent(), &p.chains, p.gone[:0])
	p.chains.taken(&p.Board, p.gone)
	p.empty = append(p.empty[:last], p.gone...)
	p.moves = append(p.moves, stone{int16(i), c})
	p.remember()
}

// legal reports whether c may place a stone on the empty point i.
func (p *playout) legal(i int, c Color) bool {
	s, means := int(p.w)+1, &meanings[c&3]
	seen := means[p.beside(i-s)] | means[p.beside(i-1)] | means[p.beside(i+1)] | means[p.beside(i+s)]
	key := p.key ^ zobrist[c&3][i]
	if seen&takes != 0 {
		around := p.around(i)
		for n, d := range around {
			if p.cell[d] == c.Opponent() && !p.chains.of(d).several() && !p.among(around[:n], d) {
				key ^= p.chains.of(d).key
			}
		}
	}
	return seen != 0 && (!p.filter.has(key) || p.isNew(i, c, key))
}

// The meaning of a point for a stone that is to be placed beside it.
const (
	breathes = 1 // it leaves the stone a liberty
	takes    = 2 // the chain there is taken
)

// meanings is by the stone and by what is beside it.
var meanings = [4][8]uint8{
	Black: {2 * None: breathes, 2*None + 1: breathes, 2*Black + 1: breathes, 2 * White: takes},
	White: {2 * None: breathes, 2*None + 1: breathes, 2*White + 1: breathes, 2 * Black: takes},
}

// beside returns a code for the stone on i: twice its colour, and one more if its
// chain has several liberties, which means nothing on an empty point. It does not branch:
// chance would mislead the processor.
func (p *playout) beside(i int) int {
	n := int(p.cell[i]&3) * 2
	if p.chains.of(i).several() {
		n++
	}
	return n
}

// among reports whether one of the points belongs to the chain on i.
func (p *playout) among(points []int, i int) bool {
	for _, d := range points {
		if p.cell[d] == p.cell[i] && p.chains.head[d] == p.chains.head[i] {
			return true
		}
	}
	return false
}

// isNew reports whether the position with a stone of colour c on i, which has
// this key, has not stood before. If the key has, boards are compared, but in a
// ko, where it is plain that they are the same.
func (p *playout) isNew(i int, c Color, key uint64) bool {
	for n := len(p.keys) - 1; n >= 0; n-- {
		if p.keys[n] != key {
			continue
		}
		if n == len(p.keys)-2 && p.retakes(i, c) {
			return false
		}
		next := p.Board
		next.Play(next.point(i), c)
		if p.after(n) == next {
			return false
		}
	}
	return true
}

// retakes reports whether the opponent's last placement took a single stone, from
// i, and a stone of colour c there would take that one alone. Any other stone that
// it could take would be of the same chain.
func (p *playout) retakes(i int, c Color) bool {
	if len(p.gone) != 1 || int(p.gone[0]) != i {
		return false
	}
	last := p.moves[len(p.moves)-1]
	l := p.chains.of(int(last.at))
	return last.c != c && l.size == 1 && l.last() == i
}

// after returns the board after n placements.
func (p *playout) after(n int) Board {
	b := p.start
	for _, s := range p.moves[:n] {
		b.Play(b.point(int(s.at)), s.c)
	}
	return b
}

// eye reports whether i is an eye of c that is not false: all its neighbours are
// c's, and at most one of its diagonals is the opponent's, none at the edge.
func (p *playout) eye(i int, c Color) bool {
	them := c.Opponent()
	for _, d := range p.around(i) {
		if x := p.cell[d]; x == None || x == them {
			return false
		}
	}
	s := int(p.w) + 1
	theirs, off := 0, 0
	for _, d := range [4]int{i - s - 1, i - s + 1, i + s - 1, i + s + 1} {
		switch p.cell[d] {
		case them:
			theirs++
		case edge:
			off = 1
		}
	}
	return theirs+off < 2
}
