package rules

const ikeda = "On the Rules of Go, Ikeda Toshio, https://gobase.org/studying/rules/ikeda/"

// Area1 is Ikeda's first set of area rules: stones alone count, so that groups
// pay a tax of their own accord. Ikeda's wording was not at hand; this is our
// reading.
var Area1 = TrompTaylor.But(Ruleset{
	Name: "area-1", Version: 1,
	Title:    "Area rules I",
	Aim:      "Most stones on the board wins; surrounded points do not count.",
	PassCost: "A pass is free.",
	Source:   ikeda,
	Note:     "Ikeda's own wording was not available: here only stones count.",
	Komi:     7*One + Half,
	Moves: map[Kind][]Rule{
		Place: Placement(NewPosition),
	},
	Count: []Rule{CountStones, AddHandicap, AddKomi},
	Choices: []Choice{
		{"What are area rules I? Ikeda's wording was not available.", "Only stones on the board count, so each group pays a tax of the two points that it needs to live."},
		ikedaWords,
	},
})

// Area2 is Ikeda's second set: stones and territory.
var Area2 = Area1.But(Ruleset{
	Name: "area-2", Version: 1,
	Theorem:  "A",
	Title:    "Area rules II",
	Aim:      "Most area wins: your stones and the points they surround.",
	PassCost: "A pass is free.",
	Source:   ikeda,
	Komi:     7*One + Half,
	// "area rules II do not have the half-point adjustment"
	Count: []Rule{CountStones, CountTerritory, AddHandicap, AddKomi},
	Choices: []Choice{
		{"What ends play?", "Two passes in a row."},
		naive, ikedaWords,
	},
})

// Area3 is Ikeda's third set: "the addition of the last competitive move
// condition", which the first player to pass decides.
var Area3 = Area2.But(Ruleset{
	Name: "area-3", Version: 1,
	Theorem:  "A − w",
	Title:    "Area rules III",
	Aim:      "Most area wins: your stones and the points they surround.",
	PassCost: "A pass is free. If White passes first, Black gives White half a point.",
	Source:   ikeda + "; section 4.3",
	Komi:     6*One + Half,
	Moves: map[Kind][]Rule{
		// After the first pass, play ends on two successive passes.
		Pass: {FreePass, When(TwoPassesAfterTheFirst, StopPlay)},
	},
	Count: []Rule{CountStones, CountTerritory,
		// "the half point added and subtracted when Black makes the last competitive move"
		When(WhitePassedFirst, HalfPointFromBlackToWhite),
		AddHandicap, AddKomi},
	Say:     []Fact{WhitePassedFirstAndGains},
	Closing: []Kind{Pass, Pass, Pass},
	Choices: []Choice{
		{"Who made the last competitive move?",
			"The player who did not make the first pass of the game. If White passed first, Black gives White half a point."},
		{"Does the first pass count towards the end?", "No. After it, two passes in a row end play, so the shortest end is three passes."},
		naive, ikedaWords,
	},
	words: []word{
		{HalfPointFromBlackToWhite, inCount, things},
	},
	facts: []condition{
		{WhitePassedFirstAndGains, 0, true},
		{TwoPassesAfterTheFirst, onTurns, false},
	},
})

// Territory1 is Ikeda's first set of territory rules.
var Territory1 = Ruleset{
	Name: "territory-1", Version: 1,
	Theorem:  "A − w",
	Title:    "Territory rules I",
	Aim:      "Most points win: surrounded points, prisoners and pass stones.",
	PassCost: "A pass is free until both players pass in turn; then it costs one point.",
	Source:   ikeda + "; section 4.3",
	Note:     "Ikeda subtracts prisoners from the score of the player who lost them. The difference is the same.",
	Komi:     6*One + Half,
	Moves: map[Kind][]Rule{
		Place: Placement(NewPosition),
		Pass: {
			// "giving prisoners for passes ... to ensure an equal number of moves"
			When(InFinalStage, HandOverStone),
			When(FinalStageIsEqual, StopPlay),
			// "the preliminary end of the game (the first two consecutive passes in territory rules I ...)"
			When(PreliminaryEnd, BeginFinalStage),
		},
		Resign: {ConcedeGame},
	},
	Count:   []Rule{CountTerritory, CountPrisoners, CountPassStones, AddKomi},
	Say:     []Fact{InFinalStage},
	Closing: []Kind{Pass, Pass, Pass, Pass},
	Choices: []Choice{
		{"For whom do prisoners count?", "For the player who took them. Ikeda subtracts them from the player who lost them: the same difference."},
		{"What do the two passes of the preliminary end cost?", "Nothing. Every later pass costs a stone."},
		{"Who goes on after the preliminary end?", "The player whose turn it is. Play ends with two passes in a row once both players have made equally many turns since."},
		naive, ikedaWords,
	},
	words: []word{
		{BeginFinalStage, on(Pass), things},
	},
	facts: []condition{
		{InFinalStage, onTurns | onAgreed | inCount, true},
		{PreliminaryEnd, onTurns, false},
		{FinalStageIsEqual, onTurns, false},
	},
}

// A stage says when the final stage began.
type stage struct {
	turns int // made before it, 0 while it has not begun
	log   int // lines of the log before it
}

var finalStage = &note[stage]{"final stage"}

// The final stage of territory rules I.
var (
	InFinalStage = Fact{"the final stage has begun", "", func(g *Game) bool {
		return finalStage.of(g).turns > 0
	}}
	PreliminaryEnd = Fact{"both players have just passed and the final stage has not begun (the preliminary end)", "", func(g *Game) bool {
		return finalStage.of(g).turns == 0 && g.run >= 2
	}}
	BeginFinalStage = Rule{"the final stage begins", func(g *Game) bool {
		finalStage.set(g, stage{g.turns, len(g.log)})
		return true
	}}
	FinalStageIsEqual = Fact{"both players have just passed in the final stage and made equally many turns in it", "", func(g *Game) bool {
		began := finalStage.of(g)
		if began.turns == 0 || g.run < 2 || g.turns == began.turns {
			return false
		}
		var made [3]int
		for _, t := range g.log[began.log:] {
			if t.Kind.IsTurn() {
				made[t.By]++
			}
		}
		return made[Black] == made[White]
	}}
)

// An IkedaSide is a column of Ikeda's Table 1 (section 4.3): what one player did in a
// game by Territory rules I, in whole stones and points.
type IkedaSide struct {
	M int // moves before the preliminary end
	L int // stones on the board then
	T int // stones played after it
	P int // stones passed after it, as prisoners
	Q int // stones on the board in the end
	S int // territory in the end
}

// Prisoners returns how many stones the player lost: captured before the preliminary
// end, captured after it, and passed.
func (s IkedaSide) Prisoners() int { return (s.M - s.L) + (s.L + s.T - s.Q) + s.P }

// An IkedaTable is Ikeda's Table 1 of a game: Black (1) and White (2).
type IkedaTable struct{ Black, White IkedaSide }

// TerritoryI returns the scores in half points, without komi, by Territory rules I as Ikeda
// has them: territory less the prisoners that one lost oneself.
func (t IkedaTable) TerritoryI() (black, white Points) {
	score := func(s IkedaSide) Points { return Points(s.S-s.Prisoners()) * One }
	return score(t.Black), score(t.White)
}

// AreaIII returns the scores in half points, without komi, by Area rules III: stones and
// territory, and half of M1 − M2 from Black to White.
func (t IkedaTable) AreaIII() (black, white Points) {
	score := func(s IkedaSide) Points { return Points(s.Q+s.S) * One }
	adjustment := Points(t.Black.M-t.White.M) * Half
	return score(t.Black) - adjustment, score(t.White) + adjustment
}

// IkedaTable returns Ikeda's Table 1 of a game. It reports false if the game was not played
// to its end by Territory rules I, or began with stones on the board, of which the table
// knows nothing.
func (g *Game) IkedaTable() (IkedaTable, bool) {
	t, _, ok := ikedaTable(g)
	return t, ok
}

// ikedaTable returns the table, and how many turns there were at the preliminary end.
func ikedaTable(g *Game) (x IkedaTable, end int, ok bool) {
	if g.rules.Name != Territory1.Name || g.phase != Over || len(g.setup.Black)+len(g.setup.White) > 0 {
		return x, 0, false
	}
	side := map[Color]*IkedaSide{Black: &x.Black, White: &x.White}
	for i, turn := range g.log {
		s := side[turn.By]
		switch {
		case turn.Kind == Place && end == 0:
			s.M++
		case turn.Kind == Place:
			s.T++
		case turn.Kind == Pass && end > 0:
			s.P++
		case turn.Kind == Pass && i > 0 && g.log[i-1].Kind == Pass:
			end = i + 1
		}
	}
	if end == 0 || g.log[len(g.log)-1].Kind != Pass {
		return x, end, false
	}
	for _, c := range []Color{Black, White} {
		then, now := g.At(end).Board(), g.Board()
		side[c].L, side[c].Q = then.Stones(c), now.Stones(c)
	}
	for _, l := range g.Score().Lines {
		if l.Thing == Territory {
			side[l.Player].S = l.N
		}
	}
	return x, end, true
}
