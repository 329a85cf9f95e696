package pairing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/halfpoint-go/halfpoint/internal/matching"
)

// A Pairing is the pairs of a round, the first in the order of pairing first.
type Pairing struct {
	Pairs   []Pair
	Bye     int // NoBye: nobody
	Choices []Choice
	Proof   matching.Matching // of the pairs that are not chosen by hand
	Order   []int             // to whom the numbers of the proof refer

	draw *Draw
}

// A Choice is what the organiser decided by hand: that two meet, or that they do not. With
// NoBye as one of the two it is about the bye of the other.
type Choice struct {
	Players [2]int
	Meet    bool
}

func (c Choice) is(p, q int) bool {
	return c.Players == [2]int{p, q} || c.Players == [2]int{q, p}
}

// Errors of choices. ErrImpossible means that without the pairs that are forbidden the players
// cannot be paired.
var (
	ErrImpossible    = errors.New("the players cannot be paired like that")
	ErrNotPlaying    = errors.New("a player is not in the round")
	ErrTwice         = errors.New("a player would be in two pairs")
	ErrContradiction = errors.New("the same two are to meet and not to meet")
)

// Pair pairs the round, as the choices allow. If the number of players is odd, the bye is
// chosen first: it goes to somebody who has not had it, or has had it least often, and of
// these to the last. Two who have played each other meet again only where that cannot be
// avoided. The errors are those of choices.
func (d *Draw) Pair(choices ...Choice) (Pairing, error) {
	out := Pairing{Bye: NoBye, Choices: choices, Order: slices.Clone(d.Playing), draw: d}
	if err := out.choose(); err != nil {
		return Pairing{}, err
	}
	if len(out.Order)%2 == 0 {
		err := out.match()
		return out, err
	}
	if out.Bye != NoBye {
		return Pairing{}, ErrImpossible
	}
	rest := out.Order
	for _, bye := range d.byeOrder(rest) {
		if out.forbids(bye, NoBye) {
			continue
		}
		out.Bye, out.Order = bye, slices.DeleteFunc(slices.Clone(rest), func(p int) bool { return p == bye })
		err := out.match()
		if !errors.Is(err, ErrImpossible) {
			return out, err
		}
	}
	return Pairing{}, ErrImpossible
}

// byeOrder returns players in the order in which the bye is theirs.
func (d *Draw) byeOrder(players []int) []int {
	players = slices.Clone(players)
	slices.Reverse(players)
	slices.SortStableFunc(players, func(p, q int) int { return cmp.Compare(d.byes[p], d.byes[q]) })
	return players
}

// choose takes those out of the order whom the organiser has paired by hand.
func (p *Pairing) choose() error {
	for _, c := range p.Choices {
		for _, player := range c.Players {
			if player != NoBye && !slices.Contains(p.draw.Playing, player) {
				return fmt.Errorf("%w: %d", ErrNotPlaying, player)
			}
		}
		if c.Players[0] == c.Players[1] {
			return fmt.Errorf("%w: %d", ErrTwice, c.Players[0])
		}
		if !c.Meet {
			continue
		}
		if p.forbids(c.Players[0], c.Players[1]) {
			return fmt.Errorf("%w: %d and %d", ErrContradiction, c.Players[0], c.Players[1])
		}
		for side, player := range c.Players {
			if player == NoBye {
				if p.Bye != NoBye {
					return fmt.Errorf("%w: the bye of %d and %d", ErrTwice, p.Bye, c.Players[1-side])
				}
				p.Bye = c.Players[1-side]
				continue
			}
			at := slices.Index(p.Order, player)
			if at < 0 {
				return fmt.Errorf("%w: %d", ErrTwice, player)
			}
			p.Order = slices.Delete(p.Order, at, at+1)
		}
		if !slices.Contains(c.Players[:], NoBye) {
			p.Pairs = append(p.Pairs, p.draw.Seats(c.Players[0], c.Players[1]))
		}
	}
	return nil
}

func (p *Pairing) forbids(a, b int) bool {
	return slices.ContainsFunc(p.Choices, func(c Choice) bool { return !c.Meet && c.is(a, b) })
}

// match pairs those who are in the order.
func (p *Pairing) match() error {
	edges := p.edges()
	var err error
	p.Proof, err = matching.Perfect(len(p.Order), edges)
	if errors.Is(err, matching.ErrImpossible) {
		return ErrImpossible
	}
	if err == nil {
		err = p.Proof.Check(len(p.Order), edges)
	}
	if err != nil {
		return err
	}
	for i, j := range p.Proof.Mate {
		if i < j {
			p.Pairs = append(p.Pairs, p.draw.Seats(p.Order[i], p.Order[j]))
		}
	}
	place := map[int]int{}
	for i, player := range p.draw.Playing {
		place[player] = i
	}
	slices.SortFunc(p.Pairs, func(a, b Pair) int {
		return min(place[a.Black], place[a.White]) - min(place[b.Black], place[b.White])
	})
	return nil
}

// edges returns the pairs that are allowed among those in the order.
func (p *Pairing) edges() (edges []matching.Edge) {
	forbidden := map[[2]int]bool{}
	for _, c := range p.Choices {
		if !c.Meet {
			forbidden[c.Players], forbidden[[2]int{c.Players[1], c.Players[0]}] = true, true
		}
	}
	for i, a := range p.Order {
		for j, b := range p.Order[:i] {
			if !forbidden[[2]int{a, b}] {
				edges = append(edges, matching.Edge{A: i, B: j, Weight: p.draw.Weight(a, b).Total()})
			}
		}
	}
	return edges
}

// Opponent returns whom a player meets: NoBye for who has the bye. It reports whether the
// player is in the round.
func (p Pairing) Opponent(player int) (int, bool) {
	for _, pair := range p.Pairs {
		switch player {
		case pair.Black:
			return pair.White, true
		case pair.White:
			return pair.Black, true
		}
	}
	return NoBye, p.Bye == player
}

// Weight is the sum of the weights of the pairs.
func (p Pairing) Weight() (sum Weight) {
	for _, pair := range p.Pairs {
		sum = sum.plus(pair.Weight, 1)
	}
	return sum
}

// Swap pairs the round again so that two players have changed places, and all other pairs stay.
// Earlier choices stay, but for those that this contradicts.
func (p Pairing) Swap(a, b int) (Pairing, error) {
	meets, in := p.Opponent(a)
	other, too := p.Opponent(b)
	switch {
	case !in:
		return Pairing{}, fmt.Errorf("%w: %d", ErrNotPlaying, a)
	case !too:
		return Pairing{}, fmt.Errorf("%w: %d", ErrNotPlaying, b)
	case a == b || meets == b: // nothing changes
		return p, nil
	}
	pairs := [][2]int{{a, other}, {b, meets}}
	choices := slices.DeleteFunc(slices.Clone(p.Choices), func(c Choice) bool {
		return c.is(a, other) || c.is(b, meets) || c.Meet && (c.is(a, meets) || c.is(b, other))
	})
	for _, pair := range pairs {
		choices = append(choices, Choice{Players: pair, Meet: true})
	}
	out, err := p.draw.Pair(choices...)
	if err != nil {
		return Pairing{}, err
	}
	// Of pairs that weigh the same, others may have been found now.
	for _, pair := range p.Pairs {
		if slices.Contains([]int{a, b, meets, other}, pair.Black) || slices.Contains([]int{a, b, meets, other}, pair.White) {
			continue
		}
		if now, _ := out.Opponent(pair.Black); now != pair.White {
			choices = slices.DeleteFunc(choices, func(c Choice) bool { return c.is(pair.Black, pair.White) })
			choices = append(choices, Choice{Players: [2]int{pair.Black, pair.White}, Meet: true})
		}
	}
	return p.draw.Pair(choices...)
}

// A Reason says why two players meet, or why they do not.
type Reason struct {
	Meet    bool
	Chosen  bool    // the organiser decided it by hand
	Weight  Weight  // what speaks for their pair
	Instead Pairing // the best one in which it is the other way round; no Pairs: there is none
	Less    Weight  // how much less Instead weighs, part by part
}

// Why says why two players meet in a round, or why they do not. With NoBye as one of the two
// it is about the bye of the other, which is chosen before the pairs and not by their weight.
func (p Pairing) Why(a, b int) (Reason, error) {
	if a == NoBye {
		a, b = b, a
	}
	opponent, in := p.Opponent(a)
	if _, too := p.Opponent(b); !in || !too && b != NoBye || a == b {
		return Reason{}, fmt.Errorf("%w: %d or %d", ErrNotPlaying, a, b)
	}
	out := Reason{Meet: opponent == b}
	if b != NoBye {
		out.Weight = p.draw.Weight(a, b)
	}
	var choices []Choice
	for _, c := range p.Choices {
		// To see what would be if they met, they must be free for it.
		frees := !out.Meet && c.Meet && (c.contains(a) || c.contains(b))
		if out.Chosen = out.Chosen || c.is(a, b) || frees; !c.is(a, b) && !frees {
			choices = append(choices, c)
		}
	}
	var err error
	out.Instead, err = p.draw.Pair(append(choices, Choice{Players: [2]int{a, b}, Meet: !out.Meet})...)
	if errors.Is(err, ErrImpossible) {
		return out, nil
	}
	out.Less = p.Weight().plus(out.Instead.Weight(), -1)
	return out, err
}

func (c Choice) contains(player int) bool { return slices.Contains(c.Players[:], player) }
