package pairing

import "slices"

// McMahon says with which scores players start: those of their grades, in points, so that
// strong players meet strong ones from the first round on.
type McMahon struct {
	Bar       int // the grade from which on all start alike
	Floor     int // the grade up to which all start alike
	Handicaps Handicaps
}

// Start is the score, in points, with which a player of a grade starts. It is 30 for 1 dan, as
// in OpenGotha. (A table in half points has twice as much.)
func (m McMahon) Start(grade int) int { return 30 + min(max(grade, m.Floor), m.Bar) }

// Handicaps say when a game has a handicap: one stone for each point between the scores. One
// stone means that White gets no komi beyond the half point that prevents draws.
type Handicaps struct {
	Most int // 0: all games are even
	Less int // so many stones less than points
	Even int // the grade from which on games are even: higher scores count as that of this grade
}

// StandardHandicaps are those that OpenGotha begins with.
var StandardHandicaps = Handicaps{Most: 9, Less: 1, Even: 0}

// handicap is the number of stones that the player with the lower score gets.
func (d *Draw) handicap(p, q int) int {
	if d.mcmahon == nil {
		return 0
	}
	h := d.mcmahon.Handicaps
	a, b := min(d.scores[p], 30+h.Even), min(d.scores[q], 30+h.Even)
	return min(max(a-b-h.Less, b-a-h.Less, 0), h.Most)
}

// Seats returns the pair of two players of the round. Black is the player with the handicap;
// in an even game the one who has had White more often, or else the one further down in the
// order of pairing.
func (d *Draw) Seats(p, q int) Pair {
	if slices.Index(d.Playing, p) > slices.Index(d.Playing, q) {
		p, q = q, p
	}
	pair := Pair{Black: q, White: p, Handicap: d.handicap(p, q), Weight: d.Weight(p, q)}
	if pair.Handicap > 0 && d.scores[p] < d.scores[q] || pair.Handicap == 0 && d.whites[p] > d.whites[q] {
		pair.Black, pair.White = p, q
	}
	return pair
}
