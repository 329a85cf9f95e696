package pairing_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/pairing"
)

// numbers returns 0 to n-1.
func numbers(n int) (all []int) {
	for p := range n {
		all = append(all, p)
	}
	return all
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		n, size int
		want    string
	}{
		{0, 6, "[]"},
		{1, 6, "[1]"},
		{3, 6, "[3]"},
		{4, 8, "[4]"},
		{7, 4, "[7]"}, // two groups would have three in one
		{8, 4, "[4 4]"},
		{8, 8, "[8]"},
		{9, 8, "[5 4]"},
		{11, 4, "[6 5]"}, // three would have three in one
		{13, 6, "[5 4 4]"},
		{40, 6, "[6 6 6 6 6 5 5]"},
		{200, 0, "[4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4]"},
	} {
		sizes := []int{}
		for _, group := range pairing.Groups(numbers(c.n), c.size) {
			sizes = append(sizes, len(group))
		}
		if got := fmt.Sprint(sizes); got != c.want {
			t.Errorf("%d players in groups of %d: %s, want %s", c.n, c.size, got, c.want)
		}
	}
}

// However many play, everybody is in one group, neighbours stay together, and no group is too
// large or, where that can be avoided, too small.
func TestGroupsLaws(t *testing.T) {
	for n := range 201 {
		for size := range 10 {
			groups := pairing.Groups(numbers(n), size)
			if all := slices.Concat(groups...); !slices.Equal(all, numbers(n)) {
				t.Fatalf("%d in groups of %d: %v", n, size, groups)
			}
			for _, g := range groups {
				if len(g) > pairing.MaxGroup || len(g) < min(n, pairing.MinGroup) || len(groups[0])-len(g) > 1 {
					t.Fatalf("%d in groups of %d: %v", n, size, groups)
				}
			}
		}
	}
}

// A lot that was drawn once is drawn again by the same seed, in every version.
func TestLot(t *testing.T) {
	drawn := numbers(9)
	if got, want := pairing.Lot(drawn, 31), []int{4, 8, 3, 2, 6, 5, 0, 1, 7}; !slices.Equal(got, want) {
		t.Errorf("31 draws %v, want %v", got, want)
	}
	if !slices.Equal(drawn, numbers(9)) {
		t.Error("the list itself was mixed")
	}
	firsts := make([]int, 9)
	for seed := range uint64(9000) {
		firsts[pairing.Lot(drawn, seed)[0]]++
	}
	for p, times := range firsts {
		if times < 850 || times > 1150 {
			t.Errorf("%d is drawn first %d times of 9000", p, times)
		}
	}
}

func TestRoundRobinLaws(t *testing.T) {
	for n := range 13 {
		players := pairing.Lot(numbers(n), uint64(n))
		rounds := pairing.RoundRobin(players)
		if want := max(0, n-1+n%2); len(rounds) != want && n > 1 || n <= 1 && len(rounds) > 0 {
			t.Fatalf("%d players have %d rounds, want %d", n, len(rounds), want)
		}
		met := map[[2]int]bool{}
		colors, byes := make([][]int, n), make([]int, n)
		for _, round := range rounds {
			seen := map[int]bool{round.Bye: true}
			for _, g := range round.Games {
				ends := [2]int{min(g.Black, g.White), max(g.Black, g.White)}
				if seen[g.Black] || seen[g.White] || met[ends] {
					t.Fatalf("%d players: %+v repeats something", n, round)
				}
				seen[g.Black], seen[g.White], met[ends] = true, true, true
				colors[g.Black], colors[g.White] = append(colors[g.Black], 1), append(colors[g.White], -1)
			}
			if (round.Bye != pairing.NoBye) != (n%2 == 1) {
				t.Fatalf("%d players: the bye is %d", n, round.Bye)
			}
			if round.Bye != pairing.NoBye {
				byes[round.Bye]++
			}
		}
		if len(met) != n*(n-1)/2 {
			t.Errorf("%d players: %d games", n, len(met))
		}
		for p, c := range colors {
			blacks, twice := 0, 0
			for i := range c {
				blacks += c[i]
				if i > 0 && c[i] == c[i-1] {
					twice++
				}
			}
			if blacks > 1 || blacks < -1 || twice > 1 || n > 1 && byes[p] != n%2 {
				t.Errorf("%d players: %d has %v and %d byes", n, p, c, byes[p])
			}
		}
	}
}
