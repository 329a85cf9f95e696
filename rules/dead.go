package rules

import (
	"math/rand/v2"
	"slices"
)

// A Judgement is what playouts make of the stones on a board, by whole chains.
// What it does not name it takes for alive.
type Judgement struct {
	Dead      []Point // stones that look dead
	Seki      []Point // stones that look alive in seki
	Unsettled []Point // stones about which the playouts do not agree
}

const playouts = 400 // of one judgement, half of them with either player first

// Judge says what becomes of the stones on b, from the position alone. The same
// position and seed give the same judgement. It is an opinion, formed by
// playing to the end many times at random, and never more than a proposal.
func Judge(b Board, seed uint64) Judgement {
	var owned [cells][3]int
	p := playout{rnd: rand.New(rand.NewPCG(seed, b.key))}
	for n := range playouts {
		p.start(&b)
		p.run([]Color{Black, White}[n%2])
		for _, q := range b.Points() {
			i := b.index(q)
			owned[i][p.owner(i)]++
		}
	}
	var j Judgement
	var done [cells]bool
	for _, q := range b.Points() {
		if c := b.At(q); c != None && !done[b.index(q)] {
			chain := b.Chain(q)
			var sum [3]int
			for _, r := range chain {
				done[b.index(r)] = true
				for o, n := range owned[b.index(r)] {
					sum[o] += n
				}
			}
			all := playouts * len(chain)
			own, lost := sum[c], sum[c.Opponent()]
			switch {
			case lost*2 > all:
				j.Dead = append(j.Dead, chain...)
			case b.shares(chain, &owned):
				j.Seki = append(j.Seki, chain...)
			}
			if own*4 < all*3 && lost*4 < all*3 {
				j.Unsettled = append(j.Unsettled, chain...)
			}
		}
	}
	for _, ps := range [][]Point{j.Dead, j.Seki, j.Unsettled} {
		slices.SortFunc(ps, comparePoints)
	}
	return j
}

// shares reports whether the chain has a liberty that neither player fills.
func (b *Board) shares(chain []Point, owned *[cells][3]int) bool {
	for _, q := range chain {
		for _, d := range b.around(b.index(q)) {
			if b.cell[d] == None && owned[d][None]*2 > playouts {
				return true
			}
		}
	}
	return false
}

// Propose says which stones of g look dead and which look alive in seki, by
// whole chains, sorted: a proposal that both players must accept. It looks at
// the position alone, whether play has stopped or not, so that where what
// stands at the end is alive it can warn before a pass. The same position and
// seed give the same answer.
func Propose(g *Game, seed uint64) (dead, seki []Point) {
	j := Judge(g.board, seed)
	return j.Dead, j.Seki
}

// Unsettled gives the stones of g, by whole chains, sorted, of which Propose
// with the same seed is not sure.
func Unsettled(g *Game, seed uint64) []Point { return Judge(g.board, seed).Unsettled }
