package rules

import "slices"

// A View is a way of counting: another count that comes to the same margin.
type View struct {
	Way          Way
	Lines        []Line // Black's first; N is negative for what is filled in
	Black, White Points
}

// Margin returns Black's total less White's, komi included.
func (v View) Margin() Points { return v.Black - v.White }

// A Way is how a game can be counted.
type Way uint8

// The ways of counting.
const (
	ByTerritory Way = iota // as rulesets with pass stones have it: territory and what is held
	ByFillingIn            // what is held is put into the opponent's territory, a button as half a stone
	ByArea                 // stones and territory; who has spent less on stones, passes and buttons gets the difference
)

// String returns the words for w.
func (w Way) String() string {
	return [...]string{"by territory and prisoners", "by filling in", "by area"}[w]
}

// Views counts a game in every way that its ruleset's count can be made: where
// pass stones are handed over, by territory as the ruleset has it, by filling in
// as in Japan, and by area. Their margins are the same:
//
// Filled in, a stone that a player holds takes a point from the opponent
// instead of giving one; half of one, as a button is, leaves half of the point.
// A stone placed or handed over is on the board or held by the opponent, so
// that stones on the board can be counted in place of what the opponent holds
// if both have spent the same; a button spends half a stone. The player who spent less
// gets the difference.
//
// It is nil for rulesets without pass stones, and where nothing or something
// else is counted.
func (g *Game) Views() []View {
	s := g.Score()
	if s == nil || !Includes(g.rules.Count, CountTerritory) ||
		!slices.ContainsFunc(s.Lines, func(l Line) bool { return l.Thing == PassStone }) {
		return nil
	}
	now := g.ifStoppedNow()
	filled, area := View{Way: ByFillingIn}, View{Way: ByArea}
	var spent [3]Points // on placements, passes and buttons
	for _, c := range []Color{Black, White} {
		spent[c] = Points(now.placed[c]) * One
		area.Lines = append(area.Lines, Line{c, Stone, now.board.Stones(c), One})
	}
	for _, l := range s.Lines {
		switch {
		case l.Thing == Prisoner && l.Each != One:
			return nil
		case l.Thing == Prisoner:
			filled.Lines = append(filled.Lines, Line{l.Player.Opponent(), l.Thing, -l.N, l.Each})
		case l.Thing < held:
			filled.Lines = append(filled.Lines, Line{l.Player.Opponent(), l.Thing, -l.N, l.Each})
			spent[l.Player.Opponent()] += l.Points()
		case l.Thing == Stone:
			return nil
		default:
			filled.Lines, area.Lines = append(filled.Lines, l), append(area.Lines, l)
		}
	}
	if d := spent[Black] - spent[White]; d > 0 {
		area.Lines = append(area.Lines, Line{White, Adjustment, int(d), Half})
	} else if d < 0 {
		area.Lines = append(area.Lines, Line{Black, Adjustment, int(-d), Half})
	}
	return []View{{ByTerritory, s.Lines, s.Black, s.White}, filled.total(), area.total()}
}

func (v View) total() View {
	var s Score
	for _, l := range v.Lines {
		if l.N != 0 {
			s.add(l)
		}
	}
	out := sorted(&s)
	slices.SortStableFunc(out.Lines, func(a, b Line) int {
		if a.Player != b.Player || a.Thing < held == (b.Thing < held) {
			return 0
		}
		if a.Thing < held { // what is filled in after what it is put into
			return 1
		}
		return -1
	})
	v.Lines, v.Black, v.White = out.Lines, out.Black, out.White
	return v
}
