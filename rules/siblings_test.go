package rules

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// any makes some line of a log that may be tried on g, legal or not: a turn that
// is refused must leave no trace either.
func (rnd table) any(g *Game) Turn {
	if g.phase == Playing && rnd.IntN(4) > 0 {
		if t, ok := rnd.turn(g); ok {
			return t
		}
	}
	w, h := g.board.Size()
	t := Turn{Kind: Kind(rnd.IntN(int(kinds))), By: Black + Color(rnd.IntN(2)), At: Point{int8(rnd.IntN(w)), int8(rnd.IntN(h))}}
	if t.Kind.marks() {
		t.Dead = rnd.stones(g)
	}
	return t
}

// Games that follow from the same game do not change each other, however they
// are mixed with trials and refused turns, and each is what its log replays to.
func TestSiblings(t *testing.T) {
	everyRuleset(t, tier.Pick(10, 30, 300), func(t *testing.T, r *Ruleset, rnd table) {
		first, err := New(r, rnd.setup(r))
		if err != nil {
			t.Fatal(err)
		}
		games, were := []*Game{first}, []string{everything(first)}
		for range 50 {
			g := games[len(games)-1]
			if rnd.IntN(3) == 0 {
				g = games[rnd.IntN(len(games))]
			}
			g.Allows(rnd.any(g))
			next, err := g.Play(rnd.any(g))
			if rnd.IntN(4) == 0 && err == nil {
				b := g.Build()
				if err := b.Play(next.log[len(g.log)]); err != nil {
					t.Fatal(err)
				}
				same(t, next, b.Game())
			}
			if rnd.IntN(8) == 0 {
				next, err = g.Lift(rnd.stones(g)), nil
				next.Allows(rnd.any(next))
				next.Play(rnd.any(next))
				continue // it is no game of its log
			}
			if err == nil {
				games, were = append(games, next), append(were, everything(next))
			}
		}
		for i, g := range games {
			if now := everything(g); now != were[i] {
				t.Fatalf("game %d has changed:\n%s\n%s", i, were[i], now)
			}
			again, err := Replay(r, first.setup, g.log)
			if err != nil {
				t.Fatal(err)
			}
			same(t, again, g)
			if before := again.Before(); before != nil {
				before.Play(rnd.any(before))
				same(t, again, g)
			}
		}
	})
}

// While a game is played on from, the memory behind it belongs to whoever began.
func TestMemoryBelongsToOne(t *testing.T) {
	start, err := New(&AGA, Setup{W: 9, H: 9})
	if err != nil {
		t.Fatal(err)
	}
	g := start.Build().Game()
	first, second := *g, *g
	if !first.unclip() || second.unclip() {
		t.Error("two games write to the same memory")
	}
}

// A game may be played on from many goroutines at once; each gets a game of its
// own.
func TestPlayTogether(t *testing.T) {
	g, err := Replay(&AGA, Setup{W: 9, H: 9}, []Turn{{By: Black, At: Point{4, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range int8(4) {
		wait.Go(func() {
			own := g
			for y := range int8(8) { // the columns are apart: nobody captures
				by := own.ToPlay()
				if !own.Allows(Turn{By: by, At: Point{2 * i, y}}) {
					continue // the centre
				}
				next, err := own.Play(Turn{By: by, At: Point{2 * i, y}})
				if err != nil {
					t.Error(err)
					return
				}
				own = next
			}
			again, err := Replay(&AGA, Setup{W: 9, H: 9}, own.log)
			if err != nil {
				t.Error(err)
				return
			}
			same(t, again, own)
		})
	}
	wait.Wait()
}

// A turn takes as much memory in a long game as in a short one, and so does
// trying one.
func TestPlayCostsTheSame(t *testing.T) {
	log := aGame(t, 300)
	cost := func(n int) (play, try uint64) {
		g, err := Replay(&AGA, Setup{W: 19, H: 19}, log[:n])
		if err != nil {
			t.Fatal(err)
		}
		play = allocated(func() {
			for _, turn := range log[n : n+50] {
				if _, err := g.Play(Turn{By: g.ToPlay(), At: g.log[len(g.log)-1].At}); err == nil {
					t.Fatal("a stone stands there")
				}
				if g, err = g.Play(turn); err != nil {
					t.Fatal(err)
				}
			}
		})
		try = allocated(func() {
			for range 50 {
				g.Allows(Turn{Kind: Pass, By: g.ToPlay()})
			}
		})
		return play, try
	}
	play, try := cost(10)
	playLate, tryLate := cost(250)
	if playLate > play*3/2 || tryLate > try*3/2 {
		t.Errorf("50 turns take %d bytes after turn 10 and %d after turn 250; trying takes %d and %d", play, playLate, try, tryLate)
	}
}

// allocated returns how many bytes are allocated while f runs.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A builder that plays nothing builds the game that it began with, and what it was before.
func TestBuildOfNothing(t *testing.T) {
	for _, r := range Catalogue {
		g, err := New(r, Setup{W: 5, H: 5})
		for _, at := range []Point{{2, 2}, {1, 1}} {
			if err == nil {
				g, err = g.Play(Turn{Kind: Place, By: g.ToPlay(), At: at})
			}
		}
		if err != nil {
			t.Fatal(r.Name, err)
		}
		if got, want := everything(g.Build().Game()), everything(g); got != want {
			t.Errorf("%s: %s\nwant %s", r.Name, got, want)
		}
	}
}

// Legal finds without trying what trying finds, in every game, also in one that has been
// played on.
func TestLegalIsWhatIsAllowed(t *testing.T) {
	everyRuleset(t, tier.Pick(15, 40, 400), func(t *testing.T, r *Ruleset, rnd table) {
		rnd.game(t, r, rnd.setup(r), func(g *Game) {
			var want []Turn
			for k := Place; k <= Resign && g.phase == Playing; k++ {
				for _, p := range g.board.Points() {
					if turn := (Turn{Kind: k, By: g.toPlay, At: p}); g.rules.Has(k) && g.Allows(turn) {
						want = append(want, turn.tidy())
					}
					if k != Place {
						break
					}
				}
			}
			if got := g.Legal(); !slices.EqualFunc(got, want, func(a, b Turn) bool { return a.String() == b.String() }) {
				t.Fatalf("legal %v, allowed %v\n%v\n%v", got, want, g.log, g.board)
			}
		})
	})
}

// What is legal in a long game that was played on from costs less memory than a copy of the
// log for each point.
func TestLegalCopiesOnce(t *testing.T) {
	g, err := Replay(&AGA, Setup{W: 19, H: 19}, aGame(t, 150))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Play(Turn{Kind: Pass, By: g.ToPlay()}); err != nil {
		t.Fatal(err)
	}
	bytes := allocated(func() { g.Legal() })
	if most := uint64(361 * 150 * 8); bytes > most {
		t.Errorf("%d bytes, more than %d", bytes, most)
	}
}

// BenchmarkLegalPlayedOn looks for the legal turns of a game that was played on from.
func BenchmarkLegalPlayedOn(b *testing.B) {
	g, err := Replay(&AGA, Setup{W: 19, H: 19}, aGame(b, 150))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := g.Play(Turn{Kind: Pass, By: g.ToPlay()}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g.Legal()
	}
}
