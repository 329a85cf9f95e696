package pairing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/pairing"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

func forbid(p, q int) pairing.Choice { return pairing.Choice{Players: [2]int{p, q}} }
func fix(p, q int) pairing.Choice    { return pairing.Choice{Players: [2]int{p, q}, Meet: true} }

// pairs writes who meets whom: "0-3 1-2 bye 4".
func pairs(p pairing.Pairing) string {
	var words []string
	for _, pair := range p.Pairs {
		words = append(words, fmt.Sprintf("%d-%d", min(pair.Black, pair.White), max(pair.Black, pair.White)))
	}
	if p.Bye != pairing.NoBye {
		words = append(words, fmt.Sprint("bye ", p.Bye))
	}
	return strings.Join(words, " ")
}

// In the first round the upper half meets the lower, so 0-2, 1-3, and 4 has the bye, unless the
// organiser wants something else.
func TestChoices(t *testing.T) {
	d := pairing.Tournament{Players: make([]pairing.Player, 6)}.Next(numbers(5))
	for _, c := range []struct {
		choices []pairing.Choice
		want    string
	}{
		{nil, "0-2 1-3 bye 4"},
		{[]pairing.Choice{fix(1, 0)}, "0-1 2-3 bye 4"},
		{[]pairing.Choice{fix(0, 4)}, "0-4 1-2 bye 3"},
		{[]pairing.Choice{fix(0, pairing.NoBye)}, "1-3 2-4 bye 0"},
		{[]pairing.Choice{forbid(4, pairing.NoBye)}, "0-2 1-4 bye 3"},
		{[]pairing.Choice{forbid(2, 0), forbid(0, 3)}, "0-1 2-3 bye 4"},
		{[]pairing.Choice{forbid(0, 1), forbid(0, 2), forbid(0, 3)}, "0-4 1-2 bye 3"}, // nobody is left for 0 if 4 has the bye
		{[]pairing.Choice{forbid(0, 1), forbid(0, 2), forbid(0, 3), forbid(0, 4)}, "1-3 2-4 bye 0"},
		{[]pairing.Choice{forbid(0, 1), forbid(0, 2), forbid(0, 3), forbid(0, 4), forbid(0, pairing.NoBye)}, "the players cannot be paired like that"},
		{[]pairing.Choice{fix(0, 5)}, "a player is not in the round: 5"},
		{[]pairing.Choice{forbid(0, 9)}, "a player is not in the round: 9"},
		{[]pairing.Choice{fix(0, 1), fix(2, 1)}, "a player would be in two pairs: 1"},
		{[]pairing.Choice{fix(1, 1)}, "a player would be in two pairs: 1"},
		{[]pairing.Choice{fix(0, pairing.NoBye), fix(pairing.NoBye, 1)}, "a player would be in two pairs: the bye of 0 and 1"},
		{[]pairing.Choice{fix(0, 1), forbid(1, 0)}, "the same two are to meet and not to meet: 0 and 1"},
	} {
		got, err := d.Pair(c.choices...)
		if s := pairs(got); err == nil && s != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%v: %s, %v, want %s", c.choices, s, err, c.want)
		}
	}
	for _, choice := range []pairing.Choice{fix(0, 1), fix(1, 0)} {
		if got, err := d.Pair(choice); err != nil || got.Pairs[0].Black != 1 {
			t.Errorf("%v: the one further down does not have Black: %+v, %v", choice, got, err)
		}
	}
	if _, err := (pairing.Tournament{Players: make([]pairing.Player, 2)}).Next(numbers(2)).Pair(fix(0, pairing.NoBye)); !errors.Is(err, pairing.ErrImpossible) {
		t.Errorf("a bye though all can play: %v", err)
	}
}

func TestSwap(t *testing.T) {
	p, err := pairing.Tournament{Players: make([]pairing.Player, 8)}.Next(numbers(7)).Pair()
	for _, c := range []struct {
		a, b int
		want string
	}{
		{0, 0, "0-3 1-4 2-5 bye 6"},
		{0, 3, "0-3 1-4 2-5 bye 6"},
		{0, 1, "0-4 1-3 2-5 bye 6"},
		{0, 1, "0-3 1-4 2-5 bye 6"},
		{3, 6, "0-6 1-4 2-5 bye 3"},
		{2, 3, "0-6 1-4 3-5 bye 2"},
		{6, 2, "0-2 1-4 3-5 bye 6"},
	} {
		if err == nil {
			p, err = p.Swap(c.a, c.b)
		}
		if got := pairs(p); err != nil || got != c.want {
			t.Fatalf("%d and %d swapped: %s, %v, want %s", c.a, c.b, got, err, c.want)
		}
	}
	p, err = pairing.Tournament{Players: make([]pairing.Player, 4)}.Next(numbers(4)).Pair(forbid(0, 3), forbid(2, 1))
	if err == nil {
		p, err = p.Swap(0, 1) // a later decision
	}
	if got := pairs(p); err != nil || got != "0-3 1-2" {
		t.Errorf("swapped into pairs that were forbidden: %s, %v", got, err)
	}
	if _, err := p.Swap(0, 7); !errors.Is(err, pairing.ErrNotPlaying) {
		t.Errorf("swapped with somebody who is not there: %v", err)
	}
}

// After a round in which 0 and 1 won, these two meet since they have equal scores; otherwise
// each would meet one of those who lost. A pair that was chosen says so.
func TestWhy(t *testing.T) {
	tournament := pairing.Tournament{Players: make([]pairing.Player, 4), Rounds: []pairing.Round{{Games: []pairing.Game{
		{Black: 2, White: 0, Won: [2]int{0, 2}}, {Black: 3, White: 1, Won: [2]int{0, 2}}}, Bye: pairing.NoBye}}}
	p, err := tournament.Next(numbers(4)).Pair()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b          int
		meet          bool
		instead       string
		score, colors int
	}{
		{0, 1, true, "0-3 1-2", 75_000_000_000, -2_000_000},
		{0, 3, false, "0-3 1-2", 75_000_000_000, -2_000_000},
	} {
		got, err := p.Why(c.a, c.b)
		if err != nil || got.Meet != c.meet || got.Chosen || pairs(got.Instead) != c.instead || got.Less.New != 0 || got.Less.Score != c.score || got.Less.Colors != c.colors {
			t.Errorf("%d and %d: %+v, %v", c.a, c.b, got, err)
		}
	}
	if got, err := p.Why(0, 2); err != nil || got.Meet || got.Weight.New != 0 || got.Less.New != 2*pairing.Standard.New {
		t.Errorf("those who have met: %+v, %v", got, err)
	}
	for _, pair := range [][2]int{{0, 4}, {4, 0}, {1, 1}} {
		if _, err := p.Why(pair[0], pair[1]); !errors.Is(err, pairing.ErrNotPlaying) {
			t.Errorf("%v: %v", pair, err)
		}
	}
	p, err = p.Swap(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]int{{1, 3}, {0, 1}} {
		if got, err := p.Why(pair[0], pair[1]); err != nil || !got.Chosen || got.Meet != (pair[1] == 3) {
			t.Errorf("%v: %+v, %v", pair, got, err)
		}
	}
	p, err = tournament.Next(numbers(3)).Pair()
	if err != nil || p.Bye != 2 {
		t.Fatal(p, err)
	}
	if got, err := p.Why(2, pairing.NoBye); err != nil || !got.Meet || got.Instead.Bye != 1 {
		t.Errorf("the bye: %+v, %v", got, err)
	}
	if got, err := p.Why(pairing.NoBye, 0); err != nil || got.Meet || got.Instead.Bye != 0 {
		t.Errorf("not the bye: %+v, %v", got, err)
	}
	if got, err := p.Why(0, 1); err != nil || !got.Meet || got.Instead.Bye == 2 {
		t.Errorf("without the only pair: %+v, %v", got, err)
	}
	p, err = tournament.Next(numbers(2)).Pair()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Why(0, 1); err != nil || !got.Meet || got.Instead.Pairs != nil {
		t.Errorf("two who must meet: %+v, %v", got, err)
	}
}

// Whatever the organiser chooses: no pairing that keeps to it weighs more; and the reason for
// a pair is the difference to the heaviest without it, which is never less than what the
// prices of the proof say.
func TestChoicesAgainstTryingAll(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 4))
	impossible, reasons := 0, 0
	for range tier.Pick(300, 3_000, 100_000) {
		tournament := pairing.Tournament{Players: make([]pairing.Player, 2+r.IntN(7))}
		for range r.IntN(3) {
			order := r.Perm(len(tournament.Players))
			round := pairing.Round{Bye: pairing.NoBye}
			for ; len(order) > 1; order = order[2:] {
				round.Games = append(round.Games, pairing.Game{Black: order[0], White: order[1], Won: [][2]int{{2, 0}, {1, 1}, {0, 2}}[r.IntN(3)]})
			}
			tournament.Rounds = append(tournament.Rounds, round)
		}
		d := tournament.Next(numbers(len(tournament.Players)))
		var choices []pairing.Choice
		for range r.IntN(4) {
			players := r.Perm(len(d.Playing))
			choices = append(choices, pairing.Choice{Players: [2]int{players[0], players[1]}, Meet: r.IntN(4) == 0})
		}
		got, err := d.Pair(choices...)
		if errors.Is(err, pairing.ErrTwice) || errors.Is(err, pairing.ErrContradiction) {
			continue
		}
		best := func(choices ...pairing.Choice) (int, bool) { return heaviest(d, without(d.Playing, got.Bye), choices) }
		if err != nil {
			got.Bye = pairing.NoBye
			_, possible := best(choices...)
			for _, p := range d.Playing {
				got.Bye = p
				_, with := best(append(choices, fix(p, pairing.NoBye))...)
				possible = possible || with && !slices.Contains(choices, forbid(p, pairing.NoBye))
			}
			if possible || !errors.Is(err, pairing.ErrImpossible) {
				t.Fatalf("%v: %v", choices, err)
			}
			impossible++
			continue
		}
		if want, possible := best(choices...); !possible || total(got) != want {
			t.Fatalf("%v: %s weighs %d, want %d", choices, pairs(got), total(got), want)
		}
		if len(choices) > 0 || got.Bye != pairing.NoBye || len(got.Order) < 4 {
			continue
		}
		for a := range d.Playing {
			for b := range a {
				why, err := got.Why(a, b)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := best(pairing.Choice{Players: [2]int{a, b}, Meet: !why.Meet})
				less := why.Less.Total() - 1
				if less != total(got)-want || total(why.Instead) != want {
					t.Fatalf("%d and %d: %+v, want %d less", a, b, why, total(got)-want)
				}
				if reasons++; 2*less < slack(got, a, b, d.Weight(a, b)) {
					t.Fatalf("%d and %d cost %d, at least half of %d by the prices", a, b, less, slack(got, a, b, d.Weight(a, b)))
				}
			}
		}
	}
	if impossible == 0 || reasons == 0 {
		t.Errorf("%d impossible, %d reasons: this tests less than it says", impossible, reasons)
	}
}

func total(p pairing.Pairing) (sum int) {
	for _, pair := range p.Pairs {
		sum += pair.Weight.Total()
	}
	return sum
}

// slack is by how much the prices of a pair are more than twice its weight.
func slack(p pairing.Pairing, a, b int, weight pairing.Weight) int {
	i, j := slices.Index(p.Order, a), slices.Index(p.Order, b)
	sum := p.Proof.Prices[i] + p.Proof.Prices[j]
	for _, set := range p.Proof.Sets {
		if slices.Contains(set.Vertices, i) && slices.Contains(set.Vertices, j) {
			sum += set.Price
		}
	}
	return sum - 2*weight.Total()
}

func without(players []int, player int) []int {
	return slices.DeleteFunc(slices.Clone(players), func(p int) bool { return p == player })
}

// heaviest tries all pairings of players.
func heaviest(d *pairing.Draw, players []int, choices []pairing.Choice) (most int, ok bool) {
	if len(players) == 0 {
		return 0, true
	}
	a, rest := players[0], players[1:]
	for i, b := range rest {
		allowed := true
		for _, c := range choices {
			same := c.Players == [2]int{a, b} || c.Players == [2]int{b, a}
			if touches := slices.Contains(c.Players[:], a) || slices.Contains(c.Players[:], b); same && !c.Meet || c.Meet && touches && !same {
				allowed = false
			}
		}
		if !allowed {
			continue
		}
		if sum, possible := heaviest(d, slices.Concat(rest[:i], rest[i+1:]), choices); possible && (!ok || sum+d.Weight(a, b).Total() > most) {
			most, ok = sum+d.Weight(a, b).Total(), true
		}
	}
	return most, ok
}
