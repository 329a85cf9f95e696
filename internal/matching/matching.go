// Package matching finds perfect matchings of greatest weight in graphs: every vertex gets a
// partner, and no other choice of partners weighs more. It pairs the players of a round.
//
// The method is that of Edmonds, as Galil explains it ("Efficient algorithms for finding
// maximum matching in graphs", ACM Computing Surveys 18, 1986): the vertices get prices such
// that the prices at the ends of an edge are worth at least its weight, and only edges that
// are worth exactly that are used. Where such edges form an odd cycle, the cycle is shrunk
// to one vertex, a blossom, with a price of its own. The prices are returned, as the proof
// that nothing weighs more, see [Matching.Check].
package matching

import (
	"errors"
	"fmt"
)

// An Edge is a pair that is possible. The ends are numbers of vertices, from 0.
type Edge struct{ A, B, Weight int }

// A Matching is a perfect matching of a graph, and the proof that none weighs more.
//
// All prices are twice what the theory has, so that they are whole numbers: for each edge
// the sum of the prices of its ends and of the sets that contain both is at least twice its
// weight, and for each pair that is matched it is exactly that.
type Matching struct {
	Mate   []int // of each vertex
	Weight int
	Prices []int // of each vertex
	Sets   []Set
}

// A Set is an odd number of vertices of which all but one are matched with each other.
type Set struct {
	Vertices []int
	Price    int // at least 0
}

// ErrImpossible means that a graph has no perfect matching.
var ErrImpossible = errors.New("not everybody can be paired")

// maxWeight is the greatest weight, either way. Sums of prices fit an int by far.
const maxWeight = 1 << 50

// Perfect returns a perfect matching of the greatest weight among n vertices. Of several
// edges between two vertices the heaviest counts. Its time grows with the cube of n.
// Its error is ErrImpossible, or that the edges make no sense.
func Perfect(n int, edges []Edge) (Matching, error) {
	if n%2 == 1 {
		return Matching{}, ErrImpossible
	}
	s := newSearch(n)
	heaviest := -maxWeight
	for _, e := range edges {
		switch {
		case e.A < 0 || e.A >= n || e.B < 0 || e.B >= n || e.A == e.B:
			return Matching{}, fmt.Errorf("edge between %d and %d among %d vertices", e.A, e.B, n)
		case e.Weight > maxWeight || e.Weight < -maxWeight:
			return Matching{}, fmt.Errorf("weight %d is too great", e.Weight)
		}
		s.edge(e)
		heaviest = max(heaviest, e.Weight)
	}
	s.start(heaviest)
	for range n / 2 {
		if !s.stage() {
			return Matching{}, ErrImpossible
		}
	}
	return s.matching(), nil
}

// Check returns an error unless the matching is a perfect one of the graph, and its prices
// prove that none weighs more. It shares no code with Perfect.
func (m Matching) Check(n int, edges []Edge) error {
	weights := map[[2]int]int{}
	for _, e := range edges {
		for _, ends := range [][2]int{{e.A, e.B}, {e.B, e.A}} {
			if known, ok := weights[ends]; !ok || e.Weight > known {
				weights[ends] = e.Weight
			}
		}
	}
	if len(m.Mate) != n || len(m.Prices) != n {
		return fmt.Errorf("%d partners and %d prices for %d vertices", len(m.Mate), len(m.Prices), n)
	}
	total, worth := 0, 0
	for v, w := range m.Mate {
		if w < 0 || w >= n || m.Mate[w] != v {
			return fmt.Errorf("%d has no partner of its own", v)
		}
		weight, ok := weights[[2]int{v, w}]
		if !ok {
			return fmt.Errorf("%d and %d cannot be matched", v, w)
		}
		total += weight // each pair twice
		worth += m.Prices[v]
	}
	within := make([][]bool, len(m.Sets))
	for i, set := range m.Sets {
		within[i] = make([]bool, n)
		for _, v := range set.Vertices {
			if v < 0 || v >= n || within[i][v] {
				return fmt.Errorf("a set contains %d wrongly", v)
			}
			within[i][v] = true
		}
		if set.Price < 0 || len(set.Vertices)%2 == 0 {
			return fmt.Errorf("a set of %d has the price %d", len(set.Vertices), set.Price)
		}
		worth += set.Price * (len(set.Vertices) / 2)
	}
	for ends, weight := range weights {
		price := m.Prices[ends[0]] + m.Prices[ends[1]]
		for i, set := range m.Sets {
			if within[i][ends[0]] && within[i][ends[1]] {
				price += set.Price
			}
		}
		if price < 2*weight {
			return fmt.Errorf("%d and %d are worth %d and weigh %d", ends[0], ends[1], price, 2*weight)
		}
	}
	// No matching weighs more than its edges are worth, and none of those can be worth more
	// than all prices, since a set of 2k+1 vertices holds at most k pairs.
	if total != worth || total != 2*m.Weight {
		return fmt.Errorf("twice the weight is %d, said to be %d, and the prices sum up to %d", total, 2*m.Weight, worth)
	}
	return nil
}
