package pairing

import (
	"math/rand/v2"
	"slices"
)

// Groups are of so many players, unless there are fewer in all.
const (
	MinGroup = 4
	MaxGroup = 8
)

// Groups divides players into groups of a size at most, from MinGroup to MaxGroup, or larger
// ones if some would be smaller than MinGroup. Their sizes differ by one at most, and the first
// groups are the larger ones. Neighbours in the list come into one group: for players in the
// order of their ranks this gives the divisions of a league, in which games are even and from
// which one can rise. Groups by lot are those of a list that [Lot] has mixed.
func Groups(players []int, size int) (groups [][]int) {
	n := len(players)
	if n == 0 {
		return nil
	}
	size = min(max(size, MinGroup), MaxGroup)
	count := max(1, min((n+size-1)/size, n/MinGroup))
	for at := range count {
		size = n / count
		if at < n%count {
			size++
		}
		groups, players = append(groups, players[:size:size]), players[size:]
	}
	return groups
}

// Lot returns players in an order that the seed decides: the same for ever, so that everybody
// can draw it again.
func Lot(players []int, seed uint64) []int {
	players = slices.Clone(players)
	source := rand.NewPCG(seed, 0)
	for n := len(players); n > 1; n-- { // by hand, since Shuffle may change between versions of Go
		at := int(source.Uint64() % uint64(n))
		players[at], players[n-1] = players[n-1], players[at]
	}
	return players
}

// RoundRobin returns rounds in which each player meets each other once, without results. Each
// has Black in half of their games, or half a game more or less, and the colours alternate
// but for one time. With an odd number of players one has the bye in each round.
func RoundRobin(players []int) (rounds []Round) {
	// All but the last player stand in a circle, which turns by one place each round. The
	// players on the right of the one at the top meet those on the left. The last player
	// meets the one at the top; with an odd number there is no last player, and the one at
	// the top has the bye.
	circle := len(players)
	if circle%2 == 0 {
		circle--
	}
	for top := range circle {
		round := Round{Bye: NoBye}
		if circle < len(players) {
			round.Games = append(round.Games, colored(players[top], players[circle], top%2 == 0))
		} else if circle > 1 {
			round.Bye = players[top]
		}
		for step := 1; step <= circle/2; step++ {
			right, left := players[(top+step)%circle], players[(top-step+circle)%circle]
			round.Games = append(round.Games, colored(right, left, step%2 == 1))
		}
		if len(round.Games) > 0 {
			rounds = append(rounds, round)
		}
	}
	return rounds
}

func colored(p, q int, black bool) Game {
	if black {
		return Game{Black: p, White: q}
	}
	return Game{Black: q, White: p}
}
