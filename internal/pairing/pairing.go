// Package pairing pairs the players of a round of a tournament, Swiss or McMahon, and says why
// they were paired so. It also divides players into groups, pairs everybody with everybody,
// and leads through a knock-out.
//
// Each pair that is possible has a weight, and the pairs of a round are those that together
// weigh most, which package matching finds and proves. A weight is a sum of parts, each so
// much larger than those below it that these can only decide where it leaves a choice. The
// parts and their sizes are those of OpenGotha (www.opengotha.info), a program that
// tournaments trust. All of them are whole numbers.
package pairing

import (
	"cmp"
	"slices"
)

// A Tournament is what has happened before a round.
type Tournament struct {
	Players []Player // those that are alike in all else are in the order of this list
	Rounds  []Round  // that have been played
	Sizes   Sizes    // zero: Standard
	McMahon *McMahon // nil: Swiss
	Points  int      // that can be won in a round: the games of each pair; 0 means 1
}

// A Player is somebody who plays in a tournament.
type Player struct {
	Rating int // higher is stronger; it orders players with equal scores
	Grade  int // for McMahon: 0 for 1 dan, 1 for 2 dan, -1 for 1 kyu
}

// A Round is a round that has been played. A player with neither a game in it nor the bye was
// absent.
type Round struct {
	Games []Game
	Bye   int // the player who had it, and all points for it; NoBye: nobody
}

// NoBye says that nobody has the bye.
const NoBye = -1

// A Game is a game of two players, by their places in the list; or their games of a round, if
// they play several.
type Game struct {
	Black, White int
	Won          [2]int // half points of both: 2 and 0, 1 and 1. Both have 0 while it is not known
	Handicap     int    // stones that Black got
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

// A Draw is a round that is being paired.
type Draw struct {
	Playing []int // who plays, the first in the order of pairing first

	sizes   Sizes
	mcmahon *McMahon
	round   int   // from 1
	span    int   // of scores that are possible, more or less
	scores  []int // in points, rounded down as by OpenGotha
	met     map[[2]int]bool
	byes    []int    // of each player
	whites  []int    // even games as White less even games as Black
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
	d := &Draw{Playing: slices.Clone(playing), sizes: cmp.Or(t.Sizes, Standard), mcmahon: t.McMahon, round: len(t.Rounds) + 1, met: map[[2]int]bool{},
		scores: make([]int, n), byes: make([]int, n), whites: make([]int, n), up: make([]int, n), down: make([]int, n), within: make([]placed, n), ratings: make([]int, n)}
	points := max(t.Points, 1)
	d.span = 1 + len(t.Rounds)*points
	if t.McMahon != nil {
		d.span += t.McMahon.Bar - t.McMahon.Floor + 3 // which is what OpenGotha counts
	}
	for p, player := range t.Players {
		d.ratings[p] = player.Rating
		d.scores[p] = t.start(p)
	}
	half := make([]int, n) // half points
	for _, r := range t.Rounds {
		for _, g := range r.Games {
			d.played(g)
			half[g.Black] += g.Won[0]
			half[g.White] += g.Won[1]
		}
		if r.Bye != NoBye {
			d.byes[r.Bye]++
			half[r.Bye] += 2 * points
		}
		if t.McMahon != nil {
			for _, p := range r.missing(n) {
				half[p]++ // so that the players do not fall behind whose strength has not changed
			}
		}
		for p := range half {
			d.scores[p] = t.start(p) + half[p]/2
		}
	}
	sos := t.opponents(func(p int) int { return d.scores[p] }, t.start, t.McMahon != nil)
	sosos := t.opponents(func(p int) int { return sos[p] }, func(p int) int { return t.start(p) * len(t.Rounds) }, false)
	slices.SortStableFunc(d.Playing, func(p, q int) int {
		return cmp.Or(d.scores[q]-d.scores[p], sos[q]-sos[p], sosos[q]-sosos[p], d.ratings[q]-d.ratings[p], p-q)
	})
	d.place()
	return d
}

// start is the score, in points, with which a player starts.
func (t Tournament) start(p int) int {
	if t.McMahon == nil {
		return 0
	}
	return t.McMahon.Start(t.Players[p].Grade)
}

// missing returns those of n players who had neither a game in a round nor the bye.
func (r Round) missing(n int) (players []int) {
	there := make([]bool, n)
	for _, g := range r.Games {
		there[g.Black], there[g.White] = true, true
	}
	for p := range n {
		if !there[p] && p != r.Bye {
			players = append(players, p)
		}
	}
	return players
}

// played takes note of a game, before its round changes the scores.
func (d *Draw) played(g Game) {
	b, w := g.Black, g.White
	d.met[[2]int{b, w}], d.met[[2]int{w, b}] = true, true
	if g.Handicap == 0 {
		d.whites[b]--
		d.whites[w]++
	}
	if d.scores[b] == d.scores[w] {
		return
	}
	higher, lower := b, w
	if d.scores[w] > d.scores[b] {
		higher, lower = w, b
	}
	d.up[lower]++
	d.down[higher]++
}

// opponents returns for each player the sum of what their opponents have, and of what the
// player has of their own for a round without an opponent. Stones that a player got can be
// counted off.
func (t Tournament) opponents(have, alone func(p int) int, handicaps bool) []int {
	sums := make([]int, len(t.Players))
	for _, r := range t.Rounds {
		for _, g := range r.Games {
			stones := 0
			if handicaps {
				stones = g.Handicap
			}
			sums[g.Black] += have(g.White) - stones
			sums[g.White] += have(g.Black) + stones
		}
		for _, p := range r.missing(len(sums)) {
			sums[p] += alone(p)
		}
		if r.Bye != NoBye {
			sums[r.Bye] += alone(r.Bye)
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

// A Pair is two players who are to play each other.
type Pair struct {
	Black, White int
	Handicap     int // stones for Black, see Handicaps
	Weight       Weight
}
