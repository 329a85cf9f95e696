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
	Players    []int // ratings
	Grades     []int // under McMahon
	Bar, Floor int
	Fold       int
	Rounds     []struct {
		Playing []int // nil: all
		Games   [][4]any
		Bye     *int
		Weights [][9]int
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Every part of every weight is that of OpenGotha, which rounds some of them (and writes
// 28,000,000,000 as 27,999,999,999), and so are the byes, the handicaps and the weight of each
// round, whether or not it counts that people come from the same club.
func TestLikeOpenGotha(t *testing.T) {
	var tournaments []published
	read(t, "mcmahon.json.gz", &tournaments)
	var swiss published
	read(t, "swiss.json.gz", &swiss)
	rounds := 0
	for name, p := range map[string]published{"Swiss": swiss, "McMahon": tournaments[0], "McMahon with absences": tournaments[1]} {
		rounds += len(p.Rounds)
		t.Run(name, func(t *testing.T) { p.pairAgain(t) })
	}
	if rounds != 17 {
		t.Errorf("%d rounds, want 17", rounds)
	}
}

func (p published) pairAgain(t *testing.T) {
	tournament := pairing.Tournament{Sizes: pairing.Standard, Players: make([]pairing.Player, len(p.Players))}
	tournament.Sizes.Fold = p.Fold
	if p.Grades != nil {
		tournament.McMahon = &pairing.McMahon{Bar: p.Bar, Floor: p.Floor, Handicaps: pairing.StandardHandicaps}
	}
	near := func(got, want int) bool { return got-want <= 10 && want-got <= 10 }
	for n, r := range p.Rounds {
		for i, rating := range p.Players {
			if p.Grades == nil {
				tournament.Players[i] = pairing.Player{Rating: rating}
			} else if tournament.Players[i].Grade = p.Grades[i]; n < 2 { // the rating orders nobody later
				tournament.Players[i].Rating = rating
			} else {
				tournament.Players[i].Rating = 0
			}
		}
		playing := r.Playing
		if playing == nil {
			playing = numbers(len(p.Players))
		}
		d := tournament.Next(playing)
		totals, local := map[[2]int]int{}, map[[2]int]int{}
		for _, w := range r.Weights {
			got := d.Weight(w[0], w[1])
			if got.New != w[2] || got.Score != w[3] && got.Score != w[3]+1 || !near(got.Drawn, w[4]) || !near(got.Seed, w[5]) || got.Colors != w[6] {
				t.Errorf("round %d, %d and %d: %+v, want %v", n+1, w[0], w[1], got, w[2:])
			}
			if back := d.Weight(w[1], w[0]); back != got {
				t.Errorf("round %d, %d and %d: %+v, and the other way %+v", n+1, w[0], w[1], got, back)
			}
			for _, ends := range [][2]int{{w[0], w[1]}, {w[1], w[0]}} {
				totals[ends], local[ends] = w[7], w[8]
			}
		}
		mine, err := d.Pair()
		if err != nil {
			t.Fatal(err)
		}
		if want := len(mine.Order) * (len(mine.Order) - 1); len(totals) != want {
			t.Fatalf("round %d has the weights of %d pairs, want %d", n+1, len(totals)/2, want/2)
		}
		bye := pairing.NoBye
		if r.Bye != nil {
			bye = *r.Bye
		}
		if mine.Bye != bye {
			t.Errorf("round %d: the bye is %d's, want %d's", n+1, mine.Bye, bye)
		}
		theirs := 0
		round := pairing.Round{Bye: bye}
		for _, g := range r.Games {
			game := pairing.Game{Black: int(g[0].(float64)), White: int(g[1].(float64)), Won: map[string][2]int{"B": {2, 0}, "W": {0, 2}}[g[2].(string)]}
			if g[3] != nil {
				game.Handicap = int(g[3].(float64))
			}
			round.Games = append(round.Games, game)
			theirs += totals[[2]int{game.Black, game.White}]
		}
		tournament.Rounds = append(tournament.Rounds, round)
		// What we find with our weights, and what is best by the published ones without what
		// they say of clubs; then what we find with the published ones, and what was played.
		best := func(weight func(p, q int) int) (m matching.Matching) {
			var edges []matching.Edge
			for i, p := range mine.Order {
				for j, q := range mine.Order[:i] {
					edges = append(edges, matching.Edge{A: i, B: j, Weight: weight(p, q)})
				}
			}
			m, err := matching.Perfect(len(mine.Order), edges)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		ours := 0
		for _, pair := range mine.Pairs {
			ours += totals[[2]int{pair.Black, pair.White}] - local[[2]int{pair.Black, pair.White}]
		}
		if want := best(func(p, q int) int { return totals[[2]int{p, q}] - local[[2]int{p, q}] }); len(mine.Pairs) != len(r.Games) || !near(ours, want.Weight) {
			t.Errorf("round %d: %d pairs weigh %d, want %d weighing %d", n+1, len(mine.Pairs), ours, len(r.Games), want.Weight)
		}
		if want := best(func(p, q int) int { return totals[[2]int{p, q}] }); want.Weight != theirs {
			t.Errorf("round %d: the published pairs weigh %d, want %d", n+1, theirs, want.Weight)
		}
		for _, g := range round.Games {
			// Pairs that both found have the same handicap.
			for _, pair := range mine.Pairs {
				if g.Black == pair.White && g.White == pair.Black && pair.Handicap > 0 || g.Black == pair.Black && g.White == pair.White && pair.Handicap != g.Handicap {
					t.Errorf("round %d: %+v was played as %+v", n+1, pair, g)
				}
			}
		}
	}
}

// However people win, stay away and come back, nobody meets an opponent again while that can
// be avoided, and nobody has a second bye before all others who play have had one.
func TestPairLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(2026, 11))
	repeats, byes, handicaps := 0, 0, 0
	for range tier.Pick(300, 10_000, 100_000) {
		tournament := pairing.Tournament{Points: r.IntN(4)}
		for range r.IntN(11) {
			tournament.Players = append(tournament.Players, pairing.Player{Rating: r.IntN(4) * 100, Grade: r.IntN(12) - 6})
		}
		if r.IntN(3) == 0 {
			tournament.McMahon = &pairing.McMahon{Bar: r.IntN(5) - 1, Floor: -2 - r.IntN(3), Handicaps: pairing.Handicaps{Most: r.IntN(10), Less: r.IntN(3), Even: r.IntN(4)}}
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
				most := 0
				if tournament.McMahon != nil {
					most = tournament.McMahon.Handicaps.Most
				}
				if handicaps += pair.Handicap; pair.Handicap < 0 || pair.Handicap > most || pair.Weight.Score <= 0 {
					t.Fatalf("%+v: %+v", pair, tournament)
				}
				met[ends], seen[pair.Black], seen[pair.White] = true, true, true
				round.Games = append(round.Games, pairing.Game{Black: pair.Black, White: pair.White, Handicap: pair.Handicap, Won: [][2]int{{2 * max(1, tournament.Points), 0}, {1, 1}, {0, 2}, {0, 0}}[r.IntN(4)]})
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
	if repeats == 0 || byes == 0 || handicaps == 0 {
		t.Errorf("%d repeated pairs, %d byes, %d stones: this tests less than it says", repeats, byes, handicaps)
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
	got, err = d.Pair(forbid(1, 0))
	if err != nil || slices.ContainsFunc(got.Pairs, func(p pairing.Pair) bool { return p.Black+p.White == 1 }) {
		t.Errorf("without the first pair: %+v, %v", got, err)
	}
	if _, err = d.Pair(forbid(0, 1), forbid(0, 2), forbid(3, 0), forbid(4, 0), forbid(0, pairing.NoBye)); !errors.Is(err, pairing.ErrImpossible) {
		t.Errorf("nobody is left for 0: %v", err)
	}
}

// The bye is worth all that can be won in a round, an absence nothing.
func TestSwissBye(t *testing.T) {
	for points := range 3 {
		won := 2 * max(points, 1)
		tournament := pairing.Tournament{Points: points, Players: make([]pairing.Player, 4), Rounds: []pairing.Round{{Games: []pairing.Game{{Black: 0, White: 1, Won: [2]int{won, 0}}}, Bye: 2}}}
		d := tournament.Next([]int{0, 1, 2, 3})
		for pair, want := range map[[2]int]bool{{0, 2}: true, {1, 3}: true, {0, 3}: false, {1, 2}: false} {
			if got := d.Weight(pair[0], pair[1]).Score == pairing.Standard.Score; got != want {
				t.Errorf("%d points in a round: %v have equal scores: %v", points, pair, got)
			}
		}
	}
}

// Under McMahon, players start with the scores of their grades, bars apart; a handicap is the
// difference of the scores, less one stone, for those below 1 dan; and an absence is half a
// point, so that two are one.
func TestMcMahonExample(t *testing.T) {
	tournament := pairing.Tournament{
		// 5 dan, 4 dan, 1 dan, 6 kyu, 9 kyu, 30 kyu
		Players: []pairing.Player{{Grade: 4}, {Grade: 3}, {Grade: 0}, {Grade: -6}, {Grade: -9}, {Grade: -30}},
		McMahon: &pairing.McMahon{Bar: 3, Floor: -20, Handicaps: pairing.StandardHandicaps},
	}
	got, err := tournament.Next([]int{5, 4, 3, 2, 1, 0}).Pair()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []pairing.Pair{{Black: 1, White: 0}, {Black: 3, White: 2, Handicap: 5}, {Black: 5, White: 4, Handicap: 9}} {
		if got.Pairs[i].Weight = (pairing.Weight{}); got.Pairs[i] != want {
			t.Errorf("%+v, want %+v", got.Pairs[i], want)
		}
	}
	// A 5 kyu who loses twice meets the 6 kyu who was away twice.
	tournament.Players = append(tournament.Players, pairing.Player{Grade: -5})
	for range 2 {
		tournament.Rounds = append(tournament.Rounds, pairing.Round{Games: []pairing.Game{{Black: 6, White: 2, Handicap: 4, Won: [2]int{0, 2}}}, Bye: pairing.NoBye})
	}
	d := tournament.Next([]int{0, 1, 2, 3, 4, 5, 6})
	if w := d.Weight(3, 6); w.Score != pairing.Standard.Score {
		t.Errorf("6 and 5 kyu do not have equal scores: %+v", w)
	}
	if want := []int{0, 1, 2, 6, 3, 4, 5}; !slices.Equal(d.Playing, want) {
		t.Errorf("the order is %v, want %v", d.Playing, want)
	}
}

// A handicap makes up for the difference of two scores in the sums of opponents' scores, and
// the bye counts like an opponent with the own score at the beginning.
func TestMcMahonOrder(t *testing.T) {
	tournament := pairing.Tournament{
		Players: []pairing.Player{{}, {Grade: -2}, {}, {}, {}, {Grade: -1}, {}},
		McMahon: &pairing.McMahon{Bar: 3, Floor: -20},
		Rounds: []pairing.Round{{Games: []pairing.Game{
			{Black: 1, White: 0, Handicap: 2, Won: [2]int{0, 2}}, // sums of 29 and 30
			{Black: 3, White: 2, Handicap: 2, Won: [2]int{0, 2}}, // 29 and 32
			{Black: 5, White: 4, Won: [2]int{0, 2}},              // 31 and 29
		}, Bye: 6}}, // 30, and sums of opponents' sums of 30, where 0 has 29
	}
	if got, want := tournament.Next(numbers(7)).Playing, []int{2, 6, 0, 4, 3, 5, 1}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
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
