package pairing_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/matching"
	"github.com/halfpoint-go/halfpoint/internal/pairing"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// A published tournament is one that another program paired, see testdata/README.md.
type published struct {
	Players []int // ratings
	Rounds  []struct {
		Games   [][3]any
		Weights [][8]int
	}
}

func swiss(t *testing.T) (p published) {
	t.Helper()
	f, err := os.Open("testdata/swiss.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(&p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every part of every weight is that of OpenGotha, which rounds some of them, and so is the
// weight of each round.
func TestSwissLikeOpenGotha(t *testing.T) {
	p := swiss(t)
	tournament := pairing.Tournament{}
	var all []int
	for i, rating := range p.Players {
		tournament.Players = append(tournament.Players, pairing.Player{Rating: rating})
		all = append(all, i)
	}
	near := func(got, want int) bool { return got-want <= 10 && want-got <= 10 }
	for n, r := range p.Rounds {
		d := tournament.Next(all)
		totals, pairs := map[[2]int]int{}, 0
		for _, w := range r.Weights {
			got := d.Weight(w[0], w[1])
			if got.New != w[2] || got.Score/10 != w[3]/10 && !near(got.Score, w[3]) || !near(got.Drawn, w[4]) || !near(got.Seed, w[5]) || got.Colors != w[6] {
				t.Errorf("round %d, %d and %d: %+v, want %v", n+1, w[0], w[1], got, w[2:])
			}
			if back := d.Weight(w[1], w[0]); back != got {
				t.Errorf("round %d, %d and %d: %+v, and the other way %+v", n+1, w[0], w[1], got, back)
			}
			totals[[2]int{w[0], w[1]}], totals[[2]int{w[1], w[0]}] = w[7], w[7]
			pairs++
		}
		if want := len(all) * (len(all) - 1) / 2; pairs != want {
			t.Fatalf("round %d has the weights of %d pairs, want %d", n+1, pairs, want)
		}
		mine, err := d.Pair()
		if err != nil {
			t.Fatal(err)
		}
		theirs, ours := 0, 0
		round := pairing.Round{Bye: pairing.NoBye}
		for _, g := range r.Games {
			game := pairing.Game{Black: int(g[0].(float64)), White: int(g[1].(float64)), Won: map[string][2]int{"B": {2, 0}, "W": {0, 2}}[g[2].(string)]}
			round.Games = append(round.Games, game)
			theirs += totals[[2]int{game.Black, game.White}]
		}
		for _, pair := range mine.Pairs {
			ours += totals[[2]int{pair.Black, pair.White}]
		}
		if len(mine.Pairs) != len(r.Games) || !near(ours, theirs) {
			t.Errorf("round %d: %d pairs weigh %d, want %d weighing %d", n+1, len(mine.Pairs), ours, len(r.Games), theirs)
		}
		tournament.Rounds = append(tournament.Rounds, round)
	}
}

// However people win, stay away and come back, nobody meets an opponent again while that can
// be avoided, and nobody has a second bye before all others who play have had one.
func TestSwissLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 11))
	repeats, byes := 0, 0
	for range tier.Pick(300, 10_000, 100_000) {
		tournament := pairing.Tournament{}
		for range r.IntN(11) {
			tournament.Players = append(tournament.Players, pairing.Player{Rating: r.IntN(4) * 100})
		}
		had := make([]int, len(tournament.Players))
		met := map[[2]int]bool{}
		for range 1 + r.IntN(8) {
			var playing []int
			for p := range tournament.Players {
				if r.IntN(8) > 0 {
					playing = append(playing, p)
				}
			}
			r.Shuffle(len(playing), func(i, j int) { playing[i], playing[j] = playing[j], playing[i] })
			got, err := tournament.Next(playing).Pair()
			if err != nil {
				t.Fatal(err)
			}
			var edges []matching.Edge // pairs that are new
			place := map[int]int{}
			for _, p := range playing {
				if p != got.Bye {
					place[p] = len(place)
				}
			}
			for p := range place {
				for q := range place {
					if p < q && !met[[2]int{p, q}] {
						edges = append(edges, matching.Edge{A: place[p], B: place[q]})
					}
				}
			}
			_, cannot := matching.Perfect(len(place), edges)
			round := pairing.Round{Bye: got.Bye}
			seen := map[int]bool{got.Bye: true}
			for _, pair := range got.Pairs {
				ends := [2]int{min(pair.Black, pair.White), max(pair.Black, pair.White)}
				if met[ends] {
					if repeats++; cannot == nil {
						t.Fatalf("%v meet again in round %d, and need not: %+v", ends, len(tournament.Rounds)+1, tournament)
					}
				}
				if seen[pair.Black] || seen[pair.White] {
					t.Fatalf("somebody plays twice: %+v", got.Pairs)
				}
				met[ends], seen[pair.Black], seen[pair.White] = true, true, true
				round.Games = append(round.Games, pairing.Game{Black: pair.Black, White: pair.White, Won: [][2]int{{2, 0}, {1, 1}, {0, 2}, {0, 0}}[r.IntN(4)]})
			}
			if want := len(playing) % 2; (got.Bye != pairing.NoBye) != (want == 1) || 2*len(got.Pairs)+want != len(playing) {
				t.Fatalf("%d play, and there are %d pairs and the bye %d", len(playing), len(got.Pairs), got.Bye)
			}
			if got.Bye != pairing.NoBye {
				byes++
				if slices.ContainsFunc(playing, func(p int) bool { return had[p] < had[got.Bye] }) {
					t.Fatalf("%d has the bye again: %v", got.Bye, had)
				}
				had[got.Bye]++
			}
			tournament.Rounds = append(tournament.Rounds, round)
		}
	}
	if repeats == 0 || byes == 0 {
		t.Errorf("%d repeated pairs and %d byes: this tests less than it says", repeats, byes)
	}
}

// What decides, in an example that one can follow: after a round in which 0 and 1 won, they
// meet, and so do those who lost; the bye goes to 4, who was not there; and who had White gets
// Black.
func TestSwissExample(t *testing.T) {
	tournament := pairing.Tournament{
		Players: []pairing.Player{{Rating: 2000}, {Rating: 1900}, {Rating: 1800}, {Rating: 1700}, {Rating: 1600}},
		Rounds:  []pairing.Round{{Games: []pairing.Game{{Black: 2, White: 0, Won: [2]int{0, 2}}, {Black: 1, White: 3, Won: [2]int{2, 0}}}, Bye: pairing.NoBye}},
	}
	d := tournament.Next([]int{0, 1, 2, 3, 4})
	if want := []int{0, 1, 2, 3, 4}; !slices.Equal(d.Playing, want) {
		t.Errorf("the order is %v, want %v", d.Playing, want)
	}
	got, err := d.Pair()
	if err != nil || got.Bye != 4 || len(got.Pairs) != 2 || got.Pairs[0].Black != 0 || got.Pairs[0].White != 1 || got.Pairs[1].Black != 3 || got.Pairs[1].White != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if w := d.Weight(0, 2); w.New != 0 || w.Score != 62_500_000_000 || w.Seed != 0 || w.Drawn == 0 {
		t.Errorf("those who have met: %+v", w)
	}
	got, err = d.Pair([2]int{1, 0})
	if err != nil || slices.ContainsFunc(got.Pairs, func(p pairing.Pair) bool { return p.Black+p.White == 1 }) {
		t.Errorf("without the first pair: %+v, %v", got, err)
	}
	if _, err = d.Pair([2]int{0, 1}, [2]int{0, 2}, [2]int{0, 3}); !errors.Is(err, pairing.ErrImpossible) {
		t.Errorf("nobody is left for 0: %v", err)
	}
}

// The bye is worth a win, an absence nothing.
func TestSwissBye(t *testing.T) {
	tournament := pairing.Tournament{Players: make([]pairing.Player, 4), Rounds: []pairing.Round{{Games: []pairing.Game{{Black: 0, White: 1, Won: [2]int{2, 0}}}, Bye: 2}}}
	d := tournament.Next([]int{0, 1, 2, 3})
	for pair, want := range map[[2]int]bool{{0, 2}: true, {1, 3}: true, {0, 3}: false, {1, 2}: false} {
		if got := d.Weight(pair[0], pair[1]).Score == pairing.Standard.Score; got != want {
			t.Errorf("%v have equal scores: %v", pair, got)
		}
	}
}

func BenchmarkPair200(b *testing.B) {
	r := rand.New(rand.NewPCG(200, 1))
	tournament := pairing.Tournament{Players: make([]pairing.Player, 200)}
	all := make([]int, 200)
	for p := range all {
		all[p], tournament.Players[p].Rating = p, r.IntN(2000)
	}
	for range 5 {
		got, err := tournament.Next(all).Pair()
		if err != nil {
			b.Fatal(err)
		}
		round := pairing.Round{Bye: pairing.NoBye}
		for _, p := range got.Pairs {
			round.Games = append(round.Games, pairing.Game{Black: p.Black, White: p.White, Won: [][2]int{{2, 0}, {0, 2}}[r.IntN(2)]})
		}
		tournament.Rounds = append(tournament.Rounds, round)
	}
	for b.Loop() {
		if _, err := tournament.Next(all).Pair(); err != nil {
			b.Fatal(err)
		}
	}
}
