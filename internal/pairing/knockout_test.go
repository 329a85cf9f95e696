package pairing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/pairing"
)

// show writes a bracket, a round a line: "0-5" are a match, Black with a star, "." is nobody
// and "?" somebody who is not known yet.
func show(b *pairing.Bracket) string {
	var lines []string
	for _, round := range b.Rounds {
		var matches []string
		for _, m := range round {
			var names [2]string
			for side, p := range m.Players {
				switch p {
				case pairing.Nobody:
					names[side] = "."
				case pairing.Unknown:
					names[side] = "?"
				default:
					names[side] = fmt.Sprint(p)
					if m.Black == side && m.Players[1-side] >= 0 {
						names[side] += "*"
					}
				}
			}
			matches = append(matches, names[0]+"-"+names[1])
		}
		lines = append(lines, strings.Join(matches, " "))
	}
	return strings.Join(lines, "\n")
}

func TestKnockout(t *testing.T) {
	b := pairing.Knockout(numbers(6))
	check := func(want string) {
		t.Helper()
		if got := show(b); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	decide := func(round, match int, won [2]int, want error) {
		t.Helper()
		if err := b.Decide(round, match, won); !errors.Is(err, want) {
			t.Errorf("match %d of round %d: %v, want %v", match, round, err, want)
		}
	}
	check("0-. 3-4* 1-. 2-5*\n0-? 1-?\n?-?")
	decide(0, 1, [2]int{1, 1}, pairing.ErrDrawn)
	decide(0, 0, [2]int{2, 0}, pairing.ErrNoMatch)
	decide(1, 0, [2]int{2, 0}, pairing.ErrNoMatch)
	decide(0, 4, [2]int{2, 0}, pairing.ErrNoMatch)
	decide(0, 1, [2]int{0, 2}, nil)
	check("0-. 3-4* 1-. 2-5*\n0*-4 1-?\n?-?") // 4 has had Black
	decide(1, 0, [2]int{2, 0}, nil)
	decide(0, 1, [2]int{2, 0}, pairing.ErrDecided) // 0 has beaten 4, not 3
	decide(0, 1, [2]int{0, 2}, nil)
	if got := b.Next(); got != 0 {
		t.Errorf("round %d is being played", got)
	}
	decide(0, 3, [2]int{0, 0}, nil) // neither comes
	check("0-. 3-4* 1-. 2-5*\n0*-4 1-.\n0-1*")
	if got := b.Next(); got != 2 {
		t.Errorf("round %d is being played", got)
	}
	if got, want := fmt.Sprint(b.Standings()), "[{0 1 true} {1 1 true} {4 3 false} {2 4 false} {3 4 false} {5 4 false}]"; got != want {
		t.Errorf("before the final: %s, want %s", got, want)
	}
	decide(2, 0, [2]int{0, 2}, nil)
	if got, want := fmt.Sprint(b.Standings()), "[{1 1 true} {0 2 false} {4 3 false} {2 4 false} {3 4 false} {5 4 false}]"; got != want || b.Next() != 3 {
		t.Errorf("at the end: %s, want %s; round %d", got, want, b.Next())
	}
	decide(2, 0, [2]int{2, 0}, nil) // a correction
	if got := b.Standings()[0].Player; got != 0 {
		t.Errorf("%d has won", got)
	}
}

// However many play: if the better one always wins, the best are left in every round; nobody
// plays twice in a round or waits in one but the first; and colours are shared.
func TestKnockoutLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 3))
	for n := range 70 {
		for _, upsets := range []bool{false, true} {
			b := pairing.Knockout(numbers(n))
			games := 0
			whites := make([]int, n)
			for round := b.Next(); round < len(b.Rounds); round = b.Next() {
				if !upsets { // the best are left
					for _, m := range b.Rounds[round] {
						if max(m.Players[0], m.Players[1]) >= 2*len(b.Rounds[round]) {
							t.Fatalf("%d players: %d are left, with %+v", n, 2*len(b.Rounds[round]), m)
						}
					}
				}
				for i, m := range slices.Clone(b.Rounds[round]) {
					if m.Players[0] < 0 || m.Players[1] < 0 {
						if round > 0 || min(m.Players[0], m.Players[1]) != pairing.Nobody {
							t.Fatalf("%d players: round %d has %+v", n, round, m)
						}
						continue
					}
					games++
					black, white := m.Players[m.Black], m.Players[1-m.Black]
					if whites[black] < whites[white] {
						t.Fatalf("%d players: %d has White again in round %d", n, white, round)
					}
					whites[black]--
					whites[white]++
					won := [2]int{2, 0}
					if upsets && r.IntN(2) == 0 || !upsets && m.Players[0] > m.Players[1] {
						won = [2]int{0, 2}
					}
					if err := b.Decide(round, i, won); err != nil {
						t.Fatal(err)
					}
				}
			}
			if games != max(0, n-1) {
				t.Fatalf("%d players: %d games", n, games)
			}
			places := b.Standings()
			for i, s := range places {
				if s.In != (i == 0) || s.Place > i+1 || i > 0 && s.Place < places[i-1].Place || !upsets && n&(n-1) == 0 && s.Player != i {
					t.Fatalf("%d players: %v", n, places)
				}
			}
		}
	}
}
