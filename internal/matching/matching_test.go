package matching_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/matching"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// best returns the greatest weight of a perfect matching, by trying all.
func best(n int, edges []matching.Edge) (weight int, ok bool) {
	weights := map[[2]int]int{}
	for _, e := range edges {
		ends := [2]int{min(e.A, e.B), max(e.A, e.B)}
		if w, known := weights[ends]; !known || e.Weight > w {
			weights[ends] = e.Weight
		}
	}
	known := map[uint]struct {
		weight int
		ok     bool
	}{}
	var try func(matched uint) (int, bool)
	try = func(matched uint) (most int, ok bool) {
		if matched == 1<<n-1 {
			return 0, true
		}
		if k, done := known[matched]; done {
			return k.weight, k.ok
		}
		a := 0
		for matched&(1<<a) != 0 {
			a++
		}
		for b := a + 1; b < n; b++ {
			w, possible := weights[[2]int{a, b}]
			if !possible || matched&(1<<b) != 0 {
				continue
			}
			if rest, all := try(matched | 1<<a | 1<<b); all && (!ok || w+rest > most) {
				most, ok = w+rest, true
			}
		}
		known[matched] = struct {
			weight int
			ok     bool
		}{most, ok}
		return most, ok
	}
	return try(0)
}

func random(r *rand.Rand, n, density, weights int) (edges []matching.Edge) {
	for a := range n {
		for b := range a {
			if r.IntN(100) < density {
				edges = append(edges, matching.Edge{A: a, B: b, Weight: r.IntN(weights) - weights/3})
			}
		}
	}
	r.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return edges
}

// Nothing weighs more, as trying everything shows, and as the prices prove.
func TestPerfectAgainstTryingAll(t *testing.T) {
	graphs := tier.Pick(3_000, 100_000, 1_000_000)
	r := rand.New(rand.NewPCG(1986, 1))
	impossible := 0
	for i := range graphs {
		n := r.IntN(11)
		edges := random(r, n, 30+r.IntN(71), []int{2, 3, 6, 40, 1_000_000_000}[r.IntN(5)])
		want, possible := best(n, edges)
		m, err := matching.Perfect(n, edges)
		if !possible {
			if impossible++; !errors.Is(err, matching.ErrImpossible) {
				t.Fatalf("graph %d: %d, %v: %+v, %v", i, n, edges, m, err)
			}
			continue
		}
		if err == nil {
			err = m.Check(n, edges)
		}
		if err != nil || m.Weight != want {
			t.Fatalf("graph %d: %d, %v: weight %d, want %d: %v", i, n, edges, m.Weight, want, err)
		}
	}
	if impossible < graphs/10 || impossible > graphs*3/4 { // half of them have an odd number of vertices
		t.Errorf("%d of %d graphs have no perfect matching", impossible, graphs)
	}
}

// Large graphs, whose blossoms contain others, are proved by the prices alone.
func TestPerfectLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(1986, 2))
	nested := 0
	for range 40 {
		n := 2 * (10 + r.IntN(40))
		edges := random(r, n, 5+r.IntN(96), []int{4, 30, 1 << 40}[r.IntN(3)])
		m, err := matching.Perfect(n, edges)
		if errors.Is(err, matching.ErrImpossible) {
			continue
		}
		if err == nil {
			err = m.Check(n, edges)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range m.Sets {
			if len(set.Vertices) > 5 {
				nested++
			}
		}
	}
	if nested == 0 {
		t.Error("no set is large: this tests less than it says")
	}
}

func TestPerfectRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		n     int
		edges []matching.Edge
		want  string
	}{
		"an odd number":    {3, []matching.Edge{{0, 1, 1}, {1, 2, 1}, {0, 2, 1}}, "not everybody can be paired"},
		"two triangles":    {6, []matching.Edge{{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {3, 4, 1}, {4, 5, 1}, {3, 5, 1}}, "not everybody can be paired"},
		"nobody":           {2, nil, "not everybody can be paired"},
		"oneself":          {2, []matching.Edge{{1, 1, 5}}, "edge between 1 and 1 among 2 vertices"},
		"somebody unknown": {2, []matching.Edge{{0, 2, 5}}, "edge between 0 and 2 among 2 vertices"},
		"too great":        {2, []matching.Edge{{0, 1, 1 << 60}}, "weight 1152921504606846976 is too great"},
	} {
		if _, err := matching.Perfect(c.n, c.edges); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if m, err := matching.Perfect(0, nil); err != nil || m.Check(0, nil) != nil {
		t.Errorf("no vertices: %+v, %v", m, err)
	}
}

// Whoever changes a matching or its proof is found out.
func TestCheck(t *testing.T) {
	square := []matching.Edge{{0, 1, 5}, {1, 2, 7}, {2, 3, 5}, {3, 0, 7}, {0, 2, 1}}
	for name, change := range map[string]func(m *matching.Matching){
		"other partners":      func(m *matching.Matching) { m.Mate = []int{1, 0, 3, 2} },
		"an impossible pair":  func(m *matching.Matching) { m.Mate = []int{2, 3, 0, 1} },
		"a partner of two":    func(m *matching.Matching) { m.Mate[1] = 3 },
		"somebody unknown":    func(m *matching.Matching) { m.Mate[1] = 9 },
		"nobody":              func(m *matching.Matching) { m.Mate = m.Mate[:2] },
		"another weight":      func(m *matching.Matching) { m.Weight++ },
		"a price too high":    func(m *matching.Matching) { m.Prices[0]++ },
		"a price too low":     func(m *matching.Matching) { m.Prices[0]-- },
		"a worthless set":     func(m *matching.Matching) { m.Sets = []matching.Set{{[]int{0, 1, 2}, -2}} },
		"an even set":         func(m *matching.Matching) { m.Sets = []matching.Set{{[]int{0, 1}, 2}} },
		"a vertex twice":      func(m *matching.Matching) { m.Sets = []matching.Set{{[]int{0, 0, 2}, 2}} },
		"a set that is dear":  func(m *matching.Matching) { m.Sets = []matching.Set{{[]int{0, 1, 2}, 2}} },
		"a set of the others": func(m *matching.Matching) { m.Sets = []matching.Set{{[]int{0, 1, 7}, 2}} },
	} {
		m, err := matching.Perfect(4, square)
		if err == nil {
			err = m.Check(4, square)
		}
		if err != nil || m.Weight != 14 {
			t.Fatalf("%+v: %v", m, err)
		}
		if change(&m); m.Check(4, square) == nil {
			t.Errorf("%s: %+v passes", name, m)
		}
	}
}

func BenchmarkPerfect200(b *testing.B) {
	r := rand.New(rand.NewPCG(1986, 3))
	edges := random(r, 200, 100, 1_000_000_000)
	for b.Loop() {
		if _, err := matching.Perfect(200, edges); err != nil {
			b.Fatal(err)
		}
	}
}
