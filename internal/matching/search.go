package matching

import "slices"

// A label says how a vertex or blossom hangs in the forest that a stage grows from the
// vertices without a partner.
type label int8

const (
	unreached label = iota
	outer           // an even number of edges from a root: it may give up its partner
	inner           // an odd number: it is there with its partner, which is outer
)

// A node is a vertex, or a blossom: an odd cycle of nodes.
type node struct {
	parent   int // blossom of which it is a part; none if it is in no other
	base     int // the vertex within it whose partner is outside
	children []int
	joins    [][2]int // joins[i] leads from children[i] to the next one: a vertex in each
	price    int

	label label
	via   [2]int // the edge over which it was reached: a vertex outside and one inside; none for a root
}

const none = -1

var root = [2]int{none, none}

// A search finds a matching. Nodes 0 to n-1 are the vertices.
type search struct {
	n       int
	weights [][]int // doubled
	near    [][]int // neighbours of each vertex
	nodes   []node
	unused  []int // blossoms that are no longer there
	top     []int // of each vertex: the node that contains it and is in no other
	mate    []int
	queue   []int // outer vertices whose edges have to be looked at
}

func newSearch(n int) *search {
	s := &search{n: n, nodes: make([]node, n), top: make([]int, n), mate: make([]int, n), weights: make([][]int, n), near: make([][]int, n)}
	for v := range n {
		s.nodes[v] = node{parent: none, base: v}
		s.top[v], s.mate[v], s.weights[v] = v, none, make([]int, n)
	}
	return s
}

func (s *search) edge(e Edge) {
	a, b, w := e.A, e.B, 2*e.Weight
	switch {
	case !slices.Contains(s.near[a], b):
		s.near[a], s.near[b] = append(s.near[a], b), append(s.near[b], a)
	case w <= s.weights[a][b]:
		return
	}
	s.weights[a][b], s.weights[b][a] = w, w
}

// start gives all vertices the lowest price that is enough for every edge.
func (s *search) start(heaviest int) {
	for v := range s.n {
		s.nodes[v].price = heaviest
	}
}

// slack is how much more than its weight an edge between two top nodes is worth.
func (s *search) slack(v, w int) int { return s.nodes[v].price + s.nodes[w].price - s.weights[v][w] }

// leaves calls f for each vertex in a node.
func (s *search) leaves(b int, f func(v int)) {
	if b < s.n {
		f(b)
		return
	}
	for _, c := range s.nodes[b].children {
		s.leaves(c, f)
	}
}

// stage matches two more vertices, and reports whether that is possible.
func (s *search) stage() bool {
	s.queue = s.queue[:0]
	for b := range s.nodes {
		s.nodes[b].label = unreached
	}
	for v := range s.n {
		if b := s.top[v]; s.nodes[b].base == v && s.mate[v] == none {
			s.reach(b, outer, root)
		}
	}
	for {
		for len(s.queue) > 0 {
			v := s.queue[len(s.queue)-1]
			s.queue = s.queue[:len(s.queue)-1]
			for _, w := range s.near[v] {
				if s.top[v] != s.top[w] && s.slack(v, w) == 0 && s.use(v, w) {
					return true
				}
			}
		}
		if !s.reprice() {
			return false
		}
	}
}

// reach puts a node into the forest.
func (s *search) reach(b int, l label, via [2]int) {
	s.nodes[b].label, s.nodes[b].via = l, via
	if l == outer {
		s.leaves(b, func(v int) { s.queue = append(s.queue, v) })
	}
}

// use looks at an edge from an outer vertex that is worth no more than its weight. It
// reports whether two more vertices are matched by it.
func (s *search) use(v, w int) bool {
	switch b := s.top[w]; s.nodes[b].label {
	case unreached:
		s.reach(b, inner, [2]int{v, w})
		base := s.nodes[b].base
		s.reach(s.top[s.mate[base]], outer, [2]int{base, s.mate[base]})
	case outer:
		if meet := s.meeting(v, w); meet != none {
			s.shrink(meet, v, w)
			return false
		}
		s.augment(v, w)
		s.augment(w, v)
		return true
	}
	return false
}

// above returns the outer node from which the path to an outer node b came; none for a root.
func (s *search) above(b int) int {
	if s.nodes[b].via == root {
		return none
	}
	return s.top[s.nodes[s.top[s.nodes[b].via[0]]].via[0]]
}

// meeting returns the outer node in which the paths from two outer vertices to their roots
// meet; none if they come from different roots.
func (s *search) meeting(v, w int) int {
	seen := map[int]bool{}
	for b := s.top[v]; b != none; b = s.above(b) {
		seen[b] = true
	}
	for b := s.top[w]; b != none; b = s.above(b) {
		if seen[b] {
			return b
		}
	}
	return none
}

// shrink makes a blossom of the cycle that an edge closes between the paths from its ends to
// the node where these meet.
func (s *search) shrink(meet, v, w int) {
	b := node{parent: none, base: s.nodes[meet].base, label: outer, via: s.nodes[meet].via}
	for c := s.top[v]; c != meet; c = s.top[s.nodes[c].via[0]] {
		b.children, b.joins = append(b.children, c), append(b.joins, s.nodes[c].via)
	}
	b.children = append(b.children, meet)
	slices.Reverse(b.children)
	slices.Reverse(b.joins)
	b.joins = append(b.joins, [2]int{v, w})
	for c := s.top[w]; c != meet; c = s.top[s.nodes[c].via[0]] {
		via := s.nodes[c].via
		b.children, b.joins = append(b.children, c), append(b.joins, [2]int{via[1], via[0]})
	}
	at := len(s.nodes)
	if n := len(s.unused); n > 0 {
		at, s.unused = s.unused[n-1], s.unused[:n-1]
		s.nodes[at] = b
	} else {
		s.nodes = append(s.nodes, b)
	}
	for _, c := range b.children {
		s.nodes[c].parent = at
		if s.nodes[c].label == inner { // its vertices are outer now
			s.leaves(c, func(v int) { s.queue = append(s.queue, v) })
		}
	}
	s.leaves(at, func(v int) { s.top[v] = at })
}

// augment gives an outer vertex a new partner, and those on the path from it to its root the
// partners that become free by that.
func (s *search) augment(v, partner int) {
	for {
		b := s.top[v]
		s.rebase(b, v)
		via := s.nodes[b].via
		s.mate[v] = partner
		if via == root {
			return
		}
		t := s.top[via[0]]
		v, partner = s.nodes[t].via[0], s.nodes[t].via[1]
		s.rebase(t, partner)
		s.mate[partner] = v
	}
}

// rebase changes the pairs within a node so that a vertex of it is the one whose partner is
// outside.
func (s *search) rebase(b, v int) {
	if b < s.n {
		return
	}
	at := s.part(b, v)
	children, joins := s.nodes[b].children, s.nodes[b].joins
	s.rebase(children[at], v)
	k := len(children)
	// From the old base to the new one there is an even number of edges on one side: there
	// the pairs change.
	first, end := 0, at
	if at%2 == 1 {
		first, end = at+1, k
	}
	for i := first; i < end; i += 2 {
		x, y := joins[i][0], joins[i][1]
		s.rebase(children[i], x)
		s.rebase(children[(i+1)%k], y)
		s.mate[x], s.mate[y] = y, x
	}
	s.nodes[b].base = v
	s.nodes[b].children = slices.Concat(children[at:], children[:at])
	s.nodes[b].joins = slices.Concat(joins[at:], joins[:at])
}

// part returns the place in a blossom of the child that contains a vertex.
func (s *search) part(b, v int) int {
	c := v
	for s.nodes[c].parent != b {
		c = s.nodes[c].parent
	}
	return slices.Index(s.nodes[b].children, c)
}

// reprice changes the prices of what is in the forest by as much as is possible, so that
// there is another edge to use or an inner blossom is worth nothing and is taken apart. It
// reports whether that is so.
func (s *search) reprice() bool {
	const endless = int(^uint(0) >> 1)
	delta := endless
	for v := range s.n {
		if s.nodes[s.top[v]].label != outer {
			continue
		}
		for _, w := range s.near[v] {
			switch l := s.nodes[s.top[w]].label; {
			case l == unreached:
				delta = min(delta, s.slack(v, w))
			case l == outer && s.top[v] != s.top[w]:
				delta = min(delta, s.slack(v, w)/2) // which is even: outer vertices have all changed alike
			}
		}
	}
	for b := s.n; b < len(s.nodes); b++ {
		if s.isTop(b) && s.nodes[b].label == inner {
			delta = min(delta, s.nodes[b].price/2)
		}
	}
	if delta == endless {
		return false
	}
	for v := range s.n {
		switch s.nodes[s.top[v]].label {
		case outer:
			s.nodes[v].price -= delta
			s.queue = append(s.queue, v)
		case inner:
			s.nodes[v].price += delta
		}
	}
	var worthless []int
	for b := s.n; b < len(s.nodes); b++ { // the edges within them are worth what they were
		switch {
		case !s.isTop(b):
		case s.nodes[b].label == outer:
			s.nodes[b].price += 2 * delta
		case s.nodes[b].label == inner:
			if s.nodes[b].price -= 2 * delta; s.nodes[b].price == 0 {
				worthless = append(worthless, b)
			}
		}
	}
	for _, b := range worthless {
		s.expand(b)
	}
	return true
}

// isTop reports whether a node is a blossom, and in no other.
func (s *search) isTop(b int) bool { return s.nodes[b].parent == none && s.nodes[b].children != nil }

// expand takes an inner blossom apart. The path through it stays in the forest, on the side
// with an even number of edges from where it was reached to its base.
func (s *search) expand(b int) {
	via, children, joins := s.nodes[b].via, s.nodes[b].children, s.nodes[b].joins
	i := s.part(b, via[1])
	for _, c := range children {
		s.nodes[c].parent, s.nodes[c].label = none, unreached
		s.leaves(c, func(v int) { s.top[v] = c })
	}
	s.nodes[b] = node{parent: none}
	s.unused = append(s.unused, b)
	onward := func() [2]int { // to the next node of the path
		join := joins[i]
		i = (i + 1) % len(children)
		return join
	}
	if i%2 == 0 {
		onward = func() [2]int {
			i--
			return [2]int{joins[i][1], joins[i][0]}
		}
	}
	s.reach(children[i], inner, via)
	for i != 0 {
		via = onward()
		s.reach(children[i], outer, via)
		via = onward()
		s.reach(children[i], inner, via)
	}
}

// matching returns what was found.
func (s *search) matching() Matching {
	m := Matching{Mate: s.mate, Prices: make([]int, s.n)}
	for v, w := range s.mate {
		m.Prices[v] = s.nodes[v].price
		if v < w {
			m.Weight += s.weights[v][w] / 2
		}
	}
	for b := s.n; b < len(s.nodes); b++ {
		if s.nodes[b].children != nil && s.nodes[b].price > 0 {
			set := Set{Price: s.nodes[b].price}
			s.leaves(b, func(v int) { set.Vertices = append(set.Vertices, v) })
			m.Sets = append(m.Sets, set)
		}
	}
	return m
}
