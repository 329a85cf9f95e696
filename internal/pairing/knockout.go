package pairing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A Bracket is a knock-out: the winner of each match goes on, the loser is out. The best two
// of the seeding can meet in the final only, the best four in the semi-finals, and so on. The
// best ones have nobody to play in the first round if there are too few players.
type Bracket struct {
	Rounds [][]Match // the final is alone in the last. The winners of two neighbours meet next

	seeds   []int
	results map[[2]int]int // winners by round and match
}

// A Match is a game of a bracket.
type Match struct {
	Players [2]int // from the upper and the lower of two neighbours; Unknown, or Nobody
	Black   int    // who of them: 0 or 1
	Winner  int    // Unknown before the game is over; Nobody if both have lost
}

// Players of a match who are not there.
const (
	Nobody  = -1
	Unknown = -2
)

// Errors of a result of a match.
var (
	ErrDrawn   = errors.New("a match of a knock-out needs a winner")
	ErrNoMatch = errors.New("there is no such match yet")
	ErrDecided = errors.New("a later match has been decided between its winner and somebody else")
)

// Knockout returns the bracket of some players, the best first.
func Knockout(seeds []int) *Bracket {
	b := &Bracket{seeds: slices.Clone(seeds), results: map[[2]int]int{}}
	for matches := 1; matches < len(seeds); matches *= 2 {
		b.Rounds = append(b.Rounds, make([]Match, matches))
	}
	slices.Reverse(b.Rounds)
	b.fill()
	return b
}

// order returns the seeds of n players, a power of 2, from the top of a bracket to its bottom.
func order(n int) []int {
	if n == 1 {
		return []int{0}
	}
	var out []int
	for _, seed := range order(n / 2) {
		out = append(out, seed, n-1-seed)
	}
	return out
}

// fill computes who meets whom, from the seeds and the results.
func (b *Bracket) fill() {
	if len(b.Rounds) == 0 {
		return
	}
	whites := map[int]int{} // games as White less games as Black
	last := make([]int, 2*len(b.Rounds[0]))
	for i, seed := range order(len(last)) {
		if last[i] = Nobody; seed < len(b.seeds) {
			last[i] = b.seeds[seed]
		}
	}
	for round, matches := range b.Rounds {
		var next []int
		for i := range matches {
			m := Match{Players: [2]int{last[2*i], last[2*i+1]}, Winner: Unknown}
			p, q := m.Players[0], m.Players[1]
			switch winner, decided := b.results[[2]int{round, i}]; {
			case p == Unknown || q == Unknown:
			case p == Nobody:
				m.Winner = q
			case q == Nobody:
				m.Winner = p
			default:
				if decided {
					m.Winner = winner
				}
				// The player who has had White less often gets it. If both have had it as
				// often, the better and the worse one get it by turns.
				worse := slices.Index(b.seeds, p) > slices.Index(b.seeds, q)
				if whites[p] < whites[q] || whites[p] == whites[q] && worse == (round%2 == 1) {
					m.Black = 1
				}
				whites[m.Players[m.Black]]--
				whites[m.Players[1-m.Black]]++
			}
			matches[i] = m
			next = append(next, m.Winner)
		}
		last = next
	}
}

// Next returns the number of the round that is being played: the first with a match that is
// not decided, or how many there are if there is none.
func (b *Bracket) Next() int {
	for round, matches := range b.Rounds {
		if slices.ContainsFunc(matches, func(m Match) bool { return m.Winner == Unknown }) {
			return round
		}
	}
	return len(b.Rounds)
}

// Decide enters what the players of a match got, in half points: 2 and 0, or 0 and 0 if both
// lose. A result can be corrected until a later match depends on it. The errors are ErrDrawn,
// ErrNoMatch and ErrDecided.
func (b *Bracket) Decide(round, match int, won [2]int) error {
	if round < 0 || round >= len(b.Rounds) || match < 0 || match >= len(b.Rounds[round]) {
		return ErrNoMatch
	}
	m := b.Rounds[round][match]
	winner := Nobody
	switch {
	case m.Players[0] < 0 || m.Players[1] < 0:
		return ErrNoMatch
	case won[0] > won[1]:
		winner = m.Players[0]
	case won[1] > won[0]:
		winner = m.Players[1]
	case won != [2]int{}:
		return ErrDrawn
	}
	for later, at := round+1, match/2; m.Winner != winner && later < len(b.Rounds); later, at = later+1, at/2 {
		if _, decided := b.results[[2]int{later, at}]; decided {
			return fmt.Errorf("%w: round %d, match %d", ErrDecided, later+1, at+1)
		}
	}
	b.results[[2]int{round, match}] = winner
	b.fill()
	return nil
}

// A Standing is the place of a player in a knock-out. Those who lost in the same round share
// one, and so do those who are still in.
type Standing struct {
	Player, Place int // place from 1
	In            bool
}

// Standings returns the places of all players, the best first, and in the order of the
// seeding where they are equal.
func (b *Bracket) Standings() []Standing {
	lost := make([]int, len(b.seeds)) // the round in which each seed lost, as a number below 0
	for round, matches := range b.Rounds {
		for _, m := range matches {
			for _, p := range m.Players {
				if p >= 0 && m.Winner != Unknown && p != m.Winner {
					lost[slices.Index(b.seeds, p)] = round - len(b.Rounds)
				}
			}
		}
	}
	var out []Standing
	for i, p := range b.seeds {
		better := 0
		for _, round := range lost {
			if lost[i] < 0 && round > lost[i] {
				better++
			}
		}
		out = append(out, Standing{Player: p, Place: better + 1, In: lost[i] == 0})
	}
	slices.SortStableFunc(out, func(p, q Standing) int { return cmp.Compare(p.Place, q.Place) })
	return out
}
