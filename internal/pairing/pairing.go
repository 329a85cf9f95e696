// Package pairing pairs the players of a round of a Swiss tournament, and says why they were
// paired so.
//
// Each pair that is possible has a weight, and the pairs of a round are those that together
// weigh most, which package matching finds and proves. A weight is a sum of parts, each so
// much larger than those below it that these can only decide where it leaves a choice. The
// parts and their sizes are those of OpenGotha (www.opengotha.info), a program that
// tournaments trust. All of them are whole numbers.
package pairing

import (
	"cmp"
	"errors"
	"slices"

	"github.com/halfpoint-go/halfpoint/internal/matching"
)

// A Tournament is what has happened before a round.
type Tournament struct {
	Players []Player // those that are alike in all else are in the order of this list
	Rounds  []Round  // that have been played
	Sizes   Sizes    // zero: Standard
}

// A Player is somebody who plays in a tournament.
type Player struct {
	Rating int // higher is stronger; it orders players with equal scores
}

// A Round is a round that has been played. Who has neither a game in it nor the bye was
// absent.
type Round struct {
	Games []Game
	Bye   int // the player who had it, and a win for it; NoBye: nobody
}

// NoBye says that nobody has the bye.
const NoBye = -1

// A Game is a game of two players, by their places in the list. Won is what Black and White
// got, in halves of a win: 2 and 0, 1 and 1. Both get 0 while it is not known.
type Game struct {
	Black, White int
	Won          [2]int
}

// Sizes are what the parts of a weight are at most.
type Sizes struct {
	New    int // that two have not played each other yet
	Score  int // that they have equal scores
	Drawn  int // that players of different scores come from the middle of those with theirs
	Seed   int // that of those with equal scores the upper half meets the lower
	Colors int // that both can get the colour that they have had less often
	Fold   int // rounds from which on the first meets the last of those with equal scores; 0: never
}

// Standard are the sizes that OpenGotha begins with.
var Standard = Sizes{New: 500_000_000_000_000, Score: 100_000_000_000, Drawn: 100_000_000, Seed: 5_000_000, Colors: 1_000_000}

// A Weight says what speaks for a pair. The sum of its parts, and 1, is what counts.
type Weight struct{ New, Score, Drawn, Seed, Colors int }

// Total is the weight of a pair that may be paired: at least 1.
func (w Weight) Total() int { return 1 + w.New + w.Score + w.Drawn + w.Seed + w.Colors }

// A Draw is a round that is being paired.
type Draw struct {
	Playing []int // who plays, the first in the order of pairing first

	sizes   Sizes
	round   int // from 1
	scores  []int
	met     map[[2]int]bool
	byes    []int    // of each player
	whites  []int    // games as White less games as Black
	up      []int    // games against a player with a higher score, at that time,
	down    []int    // and a lower one
	within  []placed // of those who play
	ratings []int
}

// placed is a place, from 0, among a number of players with equal scores.
type placed struct{ at, of int }

// Next begins the next round of a tournament, in which some of the players play.
func (t Tournament) Next(playing []int) *Draw {
	n := len(t.Players)
	d := &Draw{Playing: slices.Clone(playing), sizes: cmp.Or(t.Sizes, Standard), round: len(t.Rounds) + 1, met: map[[2]int]bool{},
		scores: make([]int, n), byes: make([]int, n), whites: make([]int, n), up: make([]int, n), down: make([]int, n), within: make([]placed, n), ratings: make([]int, n)}
	for p, player := range t.Players {
		d.ratings[p] = player.Rating
	}
	half := make([]int, n) // scores in halves
	for _, r := range t.Rounds {
		for _, g := range r.Games {
			b, w := g.Black, g.White
			d.met[[2]int{b, w}], d.met[[2]int{w, b}] = true, true
			d.whites[b]--
			d.whites[w]++
			higher, lower := b, w
			if d.scores[w] > d.scores[b] {
				higher, lower = w, b
			}
			if d.scores[b] != d.scores[w] {
				d.up[lower]++
				d.down[higher]++
			}
		}
		for _, g := range r.Games {
			half[g.Black] += g.Won[0]
			half[g.White] += g.Won[1]
		}
		if r.Bye != NoBye {
			d.byes[r.Bye]++
			half[r.Bye] += 2
		}
		for p := range half {
			d.scores[p] = half[p] / 2 // a half counts for the order alone
		}
	}
	sos := t.opponents(d.scores)
	sosos := t.opponents(sos)
	slices.SortStableFunc(d.Playing, func(p, q int) int {
		return cmp.Or(d.scores[q]-d.scores[p], sos[q]-sos[p], sosos[q]-sosos[p], d.ratings[q]-d.ratings[p], p-q)
	})
	d.place()
	return d
}

// opponents returns for each player the sum of what their opponents have.
func (t Tournament) opponents(have []int) []int {
	sums := make([]int, len(have))
	for _, r := range t.Rounds {
		for _, g := range r.Games {
			sums[g.Black] += have[g.White]
			sums[g.White] += have[g.Black]
		}
	}
	return sums
}

// place finds the places of the players among those with their score.
func (d *Draw) place() {
	for from := 0; from < len(d.Playing); {
		to := from
		for to < len(d.Playing) && d.scores[d.Playing[to]] == d.scores[d.Playing[from]] {
			to++
		}
		for i := from; i < to; i++ {
			d.within[d.Playing[i]] = placed{i - from, to - from}
		}
		from = to
	}
}

// Weight says what speaks for a pair.
func (d *Draw) Weight(p, q int) (w Weight) {
	if !d.met[[2]int{p, q}] {
		w.New = d.sizes.New
	}
	// A difference of half of all scores costs five eighths of it: two small ones are better
	// than a large one.
	apart, span := max(d.scores[p]-d.scores[q], d.scores[q]-d.scores[p]), d.round
	w.Score = d.sizes.Score * (span - apart) / span * (2*span + apart) / (2 * span)
	if apart == 0 {
		w.Seed = d.seed(d.within[p], d.within[q])
	} else {
		w.Drawn = d.drawn(p, q)
	}
	switch a, b := d.whites[p], d.whites[q]; {
	case a*b < 0:
		w.Colors = d.sizes.Colors
	case a == 0 && (b > 1 || b < -1), b == 0 && (a > 1 || a < -1):
		w.Colors = d.sizes.Colors / 2
	}
	return w
}

// seed is what speaks for a pair with equal scores: that the upper half meets the lower, the
// first the first of it; or in later rounds that the first meets the last.
func (d *Draw) seed(p, q placed) int {
	off, of := 2*max(p.at-q.at, q.at-p.at)-p.of, p.of
	if d.sizes.Fold > 0 && d.round >= d.sizes.Fold {
		off, of = p.at+q.at-(p.of-1), p.of-1
	}
	return d.sizes.Seed - d.sizes.Seed*off*off/(of*of)
}

// drawn is what speaks for a pair with different scores: that both are in the middle of those
// with theirs, and that it makes good for an earlier game and is not one more of its kind.
func (d *Draw) drawn(p, q int) int {
	higher, lower := p, q
	if d.scores[q] > d.scores[p] {
		higher, lower = q, p
	}
	good := 2
	if d.down[higher] > 0 {
		good--
	}
	if d.up[lower] > 0 {
		good--
	}
	if good > 0 && d.up[higher] > d.down[higher] {
		good++
	}
	if good > 0 && d.down[lower] > d.up[lower] {
		good++
	}
	unit := d.sizes.Drawn / 5
	sum := good * unit
	for _, in := range []placed{d.within[higher], d.within[lower]} {
		off := max(2*in.at-in.of+1, in.of-1-2*in.at)
		sum += unit * (in.of - 1 - off) / (2 * in.of)
	}
	return sum
}

// A Pair is two players who are to play each other.
type Pair struct {
	Black, White int
	Weight       Weight
}

// A Pairing is the pairs of a round, the first in the order of pairing first.
type Pairing struct {
	Pairs []Pair
	Bye   int // NoBye: nobody
	Proof matching.Matching
	Order []int // to whom the numbers of the proof refer
}

// ErrImpossible means that the players cannot be paired without a pair that is forbidden.
var ErrImpossible = errors.New("the players cannot be paired like that")

// Pair pairs the round, without the forbidden pairs. If their number is odd, the bye is
// chosen first: it goes to somebody who has not had it, or has had it least often, and of
// these to the last. Two who have played each other meet again only where that cannot be
// avoided.
func (d *Draw) Pair(forbidden ...[2]int) (Pairing, error) {
	out := Pairing{Bye: NoBye, Order: slices.Clone(d.Playing)}
	if len(out.Order)%2 == 1 {
		last := len(out.Order) - 1
		for i := range out.Order {
			if j := len(out.Order) - 1 - i; d.byes[out.Order[j]] < d.byes[out.Order[last]] {
				last = j
			}
		}
		out.Bye = out.Order[last]
		out.Order = slices.Delete(out.Order, last, last+1)
	}
	var edges []matching.Edge
	for i, p := range out.Order {
		for j, q := range out.Order[:i] {
			if !slices.Contains(forbidden, [2]int{p, q}) && !slices.Contains(forbidden, [2]int{q, p}) {
				edges = append(edges, matching.Edge{A: i, B: j, Weight: d.Weight(p, q).Total()})
			}
		}
	}
	var err error
	out.Proof, err = matching.Perfect(len(out.Order), edges)
	if errors.Is(err, matching.ErrImpossible) {
		return Pairing{}, ErrImpossible
	}
	if err == nil {
		err = out.Proof.Check(len(out.Order), edges)
	}
	if err != nil {
		return Pairing{}, err
	}
	for i, j := range out.Proof.Mate {
		if i < j {
			p, q := out.Order[i], out.Order[j]
			pair := Pair{Black: q, White: p, Weight: d.Weight(p, q)}
			if d.whites[p] > d.whites[q] { // else the one further down has Black
				pair.Black, pair.White = p, q
			}
			out.Pairs = append(out.Pairs, pair)
		}
	}
	return out, nil
}
