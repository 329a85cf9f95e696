package rules

// A Score is a count: the lines, Black's first, and what they add up to.
type Score struct {
	Lines        []Line
	Black, White Points
}

// Margin returns Black's score less White's, komi included.
func (s *Score) Margin() Points { return s.Black - s.White }

func (s *Score) add(l Line) {
	s.Lines = append(s.Lines, l)
	if l.Player == Black {
		s.Black += l.Points()
	} else {
		s.White += l.Points()
	}
}

// Score returns the count: the final one once the game is over, before that
// what the count would be if play stopped now, with what lies on the board and
// is held at this moment. While settling, the marked stones are lifted and
// what agreeing would hand over is included. It is nil under a ruleset without a
// count, as Ultimate Go; after a resignation it is what it was before.
func (g *Game) Score() *Score {
	if g.score != nil {
		return g.score
	}
	return g.ifStoppedNow().count()
}

// Counted returns the board that [Game.Score] counts: marked stones lifted.
func (g *Game) Counted() Board {
	return g.ifStoppedNow().board
}

// IfAgreed returns the entries that accepting the marks now would write; none
// unless the game is settling.
func (g *Game) IfAgreed() []Entry {
	return g.ifStoppedNow().entries[len(g.entries):]
}

func (g *Game) ifStoppedNow() *Game {
	if g.phase != Settling {
		return g
	}
	next := *g
	next.liftDead()
	next.carryOutAgreed()
	return &next
}

// count carries out the rules of the count. They see the game and add
// lines to its score.
func (g *Game) count() *Score {
	if len(g.rules.Count) == 0 {
		return nil
	}
	next := *g
	next.score = &Score{}
	for _, r := range g.rules.Count {
		r.Do(&next)
	}
	return sorted(next.score)
}

// sorted puts Black's lines first and keeps the order of the ruleset.
func sorted(s *Score) *Score {
	out := &Score{}
	for _, c := range []Color{Black, White} {
		for _, l := range s.Lines {
			if l.Player == c {
				out.add(l)
			}
		}
	}
	return out
}

// counting makes a rule that adds a line for each player.
func counting(name string, t Thing, each Points, n func(*Game, Color) int) Rule {
	return Rule{name, func(g *Game) bool {
		g.score.add(Line{Black, t, n(g, Black), each})
		g.score.add(Line{White, t, n(g, White), each})
		return true
	}}
}

// Value counts what is held.
func Value(name string, t Thing, each Points) Rule {
	return counting(name, t, each, func(g *Game, c Color) int { return g.held[c][t] })
}

// The rules of counting.
var (
	CountStones    = counting("a stone on the board is worth 1", Stone, One, func(g *Game, c Color) int { return g.board.Stones(c) })
	CountTerritory = counting("an empty point that reaches only one colour is worth 1 to that colour", Territory, One, func(g *Game, c Color) int {
		black, white := g.board.Territory()
		if c == Black {
			return black
		}
		return white
	})
	CountTerritoryOutsideSeki = counting("an empty point that reaches only one colour, and no chain in seki, is worth 1 to that colour", Territory, One, func(g *Game, c Color) int {
		n := 0
		for _, r := range g.board.Regions() {
			if r.Owner() == c && !g.touchesSeki(r) {
				n += len(r.Points)
			}
		}
		return n
	})
	CountPrisoners  = Value("a prisoner is worth 1", Prisoner, One)
	CountPassStones = Value("a pass stone is worth 1", PassStone, One)
	CountButtons    = Value("a button is worth ½", ButtonThing, Half)

	HalfPointFromBlackToWhite = Rule{"Black gives White half a point", func(g *Game) bool {
		g.score.add(Line{Black, Adjustment, -1, Half})
		g.score.add(Line{White, Adjustment, 1, Half})
		return true
	}}
	AddHandicap = Rule{"White gets N − 1 points for N handicap stones", func(g *Game) bool {
		if n := g.setup.Handicap; n >= 2 {
			g.score.add(Line{White, Handicap, n - 1, One})
		}
		return true
	}}
	AddKomi = Rule{"White gets the komi", func(g *Game) bool {
		if g.setup.Komi != 0 {
			g.score.add(Line{White, Komi, 1, g.setup.Komi})
		}
		return true
	}}
)

func (g *Game) touchesSeki(r Region) bool {
	for _, p := range r.Points {
		for _, i := range g.board.around(g.board.index(p)) {
			if c := g.board.cell[i]; c == Black || c == White {
				for _, q := range g.seki {
					if g.board.index(q) == i {
						return true
					}
				}
			}
		}
	}
	return false
}

// AreaAgrees returns the margin that the area count of a game gives that was
// counted by territory, komi and N-1 for N handicap stones
// included, and reports whether the two agree, as they do in aga.
func (g *Game) AreaAgrees() (Points, bool) {
	area := Includes(g.rules.Count, CountStones)
	if g.score == nil || area || g.rules.Theorem != "A" {
		return 0, false
	}
	m := Points(g.board.Area())*One - g.setup.Komi - Points(max(g.setup.Handicap-1, 0))*One
	return m, g.score != nil && m == g.score.Margin()
}

// Placements returns the number of points on which a player could place a stone
// now, if it were their turn.
func (g *Game) Placements(c Color) int {
	own, done := g.own()
	defer done()
	own.toPlay = c
	return len(own.placements())
}

// W is 1 if White made the first pass of the game or, where a button is taken
// as a turn of its own, took the first button, and 0 otherwise: the w of
// Theorem.
func (g *Game) W() int {
	k := Pass
	if len(g.rules.Moves[Button]) > 0 {
		k = Button
	}
	if g.first[k] == White {
		return 1
	}
	return 0
}
