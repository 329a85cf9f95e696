package rules

import "slices"

// A Judgement is what playouts make of the stones on a board: points by whole
// chains, sorted. All other chains look alive; an unsettled chain is
// listed by its more likely fate.
type Judgement struct {
	Dead      []Point // look dead
	Seki      []Point // look alive in seki
	Unsettled []Point // may become either player's
}

// How many playouts a judgement, and a glance, is made from; in half of them Black
// moves first, in half White.
const (
	playouts = 500
	glanced  = 50
)

// Judge says what becomes of the stones on b, from the position alone: whose
// turn it is and what came before play no part. It plays the position to its end
// many times at random, by players who see what is in atari, keep their eyes and
// do not fill the liberties of a seki, and looks whose the points become. The
// same position and seed give the same judgement.
//
// It is an opinion and never more than a proposal. It does not read: it may well
// be wrong of a fight that hangs on one sequence, of a ko, and of a seki in which a
// few stones can be sacrificed; mostly it then finds them unsettled. On a board
// that is not finished, much is. Bent four in the corner it takes for dead.
func Judge(b Board, seed uint64) Judgement { return judge(b, seed, playouts) }

// Glance is Judge with a tenth of the playouts: enough where something else, as the
// result that players noted, confirms what it finds.
func Glance(b Board, seed uint64) Judgement { return judge(b, seed, glanced) }

func judge(b Board, seed uint64, playouts int) Judgement {
	var becomes [cells][edge]int // by point and owner
	p := newPlayout(&b, mix(seed^b.key))
	for n := range playouts {
		p.restart()
		p.finish([]Color{Black, White}[n%2])
		p.count(&becomes)
	}
	var j Judgement
	for _, chain := range b.allChains() {
		c, all := b.At(chain[0]), playouts*len(chain)
		var sum [edge]int
		shares := false
		for _, q := range chain {
			i := b.index(q)
			for owner, n := range becomes[i] {
				sum[owner] += n
			}
			for _, d := range b.around(i) { // a liberty that mostly nobody could fill
				shares = shares || b.cell[d] == None && 2*becomes[d][None] > playouts
			}
		}
		// Two in five are enough, because those who play at random let dead stones
		// live more often than they kill living ones. On real games little depends on
		// where exactly the limits are.
		switch lost := sum[c.Opponent()]; {
		case 5*lost > 2*all:
			j.Dead = append(j.Dead, chain...)
		case shares:
			j.Seki = append(j.Seki, chain...)
		}
		if 3*max(sum[Black], sum[White]) < 2*all {
			j.Unsettled = append(j.Unsettled, chain...)
		}
	}
	for _, ps := range [][]Point{j.Dead, j.Seki, j.Unsettled} {
		slices.SortFunc(ps, comparePoints)
	}
	return j
}

// finish plays until neither player finds a point worth playing. It stops
// cycles that are too long for it.
func (p *playout) finish(first Color) {
	c, passes := first, 0
	for n := 3 * int(p.w) * int(p.h); n > 0 && passes < 2; n-- {
		if p.policyMove(c) {
			passes = 0
		} else {
			passes++
		}
		c = c.Opponent()
	}
}

// count adds one to the owner of each point: whose stone stands there or whose
// naive territory it is, None for what neither could fill.
func (p *playout) count(becomes *[cells][edge]int) {
	var f flood
	for i, c := range &p.cell {
		switch {
		case c == Black || c == White:
			becomes[i][c]++
		case c == None && !f.seen[i]:
			start := f.n
			f.from(&p.Board, i)
			r := Region{}
			for _, j := range f.found[start:f.n] {
				for _, d := range p.around(int(j)) {
					r.Black = r.Black || p.cell[d] == Black
					r.White = r.White || p.cell[d] == White
				}
			}
			for _, j := range f.found[start:f.n] {
				becomes[j][r.Owner()]++
			}
		}
	}
}

// allChains returns the chains of the board.
func (b *Board) allChains() (chains [][]Point) {
	var f flood
	for i, c := range &b.cell {
		if (c == Black || c == White) && !f.seen[i] {
			start := f.n
			f.from(b, i)
			chains = append(chains, b.pointsOf(f.found[start:f.n]))
		}
	}
	return chains
}
