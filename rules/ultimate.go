package rules

// Ultimate is Ultimate Go. It has no pass and no count.
var Ultimate = Ruleset{
	Name: "ultimate", Version: 1,
	Title:    "Ultimate Go",
	Aim:      "You win when your opponent resigns, having no turn left. Nothing is counted.",
	PassCost: "There is no pass. A delay gives back one of your prisoners.",
	Source:   "Yoav Yaffe on Sensei's Library, https://senseis.xmp.net/?UltimateGo",
	Start: []Rule{
		Require(KomiIsWhole),
		// 3. "each player puts exactly one of her stones in her opponent's prisoner bowl"
		EachHoldsOnePrisoner,
		KomiInBowls,
	},
	Moves: map[Kind][]Rule{
		// 4. "A placement consists of a player placing a stone from her supply on an empty
		// intersection, then checking which opponent stones are surrounded"
		// 5. "A placement is legal if the placed stone is not surrounded in the resulting board
		// position, and furthermore that board position has not occurred in the game."
		Place: Placement(NewPosition),
		// 6. "A delay consists of a player returning one of her prisoners ... to her opponent's
		// supply. In the first delay of the game the delaying player should place her prisoner
		// in her opponent's prisoner bowl (instead of his supply), and that stone is henceforth
		// called the ultimate stone."
		Delay: {
			Require(HoldsAPrisoner),
			ReturnPrisoner,
			When(FirstDelay, LeaveUltimateStone),
		},
		// 8. "A player may declare a draw if her opponent's prisoner bowl contains only the
		// ultimate stone."
		Draw: {
			Require(MadeTheFirstDelay),
			Require(OpponentHoldsOnlyTheUltimateStone),
			EndInDraw,
		},
		// 9. "resign the game, in which case her opponent wins"
		Resign: {Require(OnOwnTurn), ConcedeGame},
	},
	Say: []Fact{BlackMayDeclareDraw, WhiteMayDeclareDraw, NothingButResigning},
	Choices: []Choice{
		{"What about boards that are not 19×19?", "The same rules hold."},
		{"Does the empty board count as a position that has occurred?", "Yes: no placement may lead back to it."},
		{"How do you give a komi?", "As a whole number of stones in the bowls at the start: White's bowl for a komi above 0, Black's for one below."},
		{"May your opponent declare a draw while your bowl is empty?", "No: your bowl must hold the ultimate stone and nothing else."},
		{"When may you resign?", "On your own turn."},
	},
	words: []word{
		{EachHoldsOnePrisoner, atStart, Prisoner},
		{KomiInBowls, atStart, Prisoner},
		{ReturnPrisoner, on(Delay), things},
		{LeaveUltimateStone, on(Delay), UltimateStone},
		{EndInDraw, on(Draw), things},
	},
	facts: []condition{
		{KomiIsWhole, atStart, false},
		{HoldsAPrisoner, onTurns, false},
		{FirstDelay, onTurns, false},
		{MadeTheFirstDelay, onTurns, false},
		{OpponentHoldsOnlyTheUltimateStone, onTurns, false},
		{BlackMayDeclareDraw, onTurns, true},
		{WhiteMayDeclareDraw, onTurns, true},
		{OnOwnTurn, on(Resign), false},
		{NothingButResigning, 0, true},
	},
}

// Ultimate Go.
var (
	KomiIsWhole = Fact{"the komi is a whole number", "in Ultimate Go the komi is a whole number of stones", func(g *Game) bool {
		return g.setup.Komi%One == 0
	}}
	EachHoldsOnePrisoner = Rule{"each player holds one of the opponent's stones", func(g *Game) bool {
		g.give(Black, Prisoner, 1)
		g.give(White, Prisoner, 1)
		return true
	}}
	KomiInBowls = Rule{"a komi of k adds k black stones to White's bowl; below zero, white stones to Black's", func(g *Game) bool {
		if k := int(g.setup.Komi / One); k > 0 {
			g.give(White, Prisoner, k)
		} else {
			g.give(Black, Prisoner, -k)
		}
		return true
	}}
	HoldsAPrisoner = Fact{"the player holds a prisoner", "the bowl holds no prisoner to give back", func(g *Game) bool {
		return g.held[g.turn.By][Prisoner] > 0
	}}
	ReturnPrisoner = Rule{"the player gives a prisoner back to the opponent", func(g *Game) bool {
		if !HoldsAPrisoner.Is(g) {
			g.because = saying(HoldsAPrisoner.Not)
			return false
		}
		g.give(g.turn.By, Prisoner, -1)
		return true
	}}
	FirstDelay = Fact{"it is the first delay of the game", "", func(g *Game) bool {
		return g.times[Delay] == 1
	}}
	LeaveUltimateStone = Rule{"that stone stays in the opponent's bowl as the ultimate stone", func(g *Game) bool {
		g.give(g.turn.By.Opponent(), UltimateStone, 1)
		return true
	}}
	MadeTheFirstDelay = Fact{"the player made the first delay of the game", "only the player who made the first delay may declare a draw", func(g *Game) bool {
		return g.first[Delay] == g.turn.By
	}}
	OpponentHoldsOnlyTheUltimateStone = Fact{"the opponent's bowl holds the ultimate stone and nothing else", "the opponent's bowl must hold the ultimate stone and nothing else", func(g *Game) bool {
		bowl := g.held[g.turn.By.Opponent()]
		return bowl[UltimateStone] == 1 && bowl[Prisoner] == 0
	}}
	EndInDraw = Rule{"the game ends with a draw", func(g *Game) bool {
		g.phase, g.result, g.why = Over, "Draw", saying("{0} declared a draw", g.turn.By)
		return true
	}}
	BlackMayDeclareDraw = Fact{"only Black may declare a draw", "", func(g *Game) bool {
		return g.first[Delay] == Black
	}}
	WhiteMayDeclareDraw = Fact{"only White may declare a draw", "", func(g *Game) bool {
		return g.first[Delay] == White
	}}
	NothingButResigning = Fact{"the player to move can only resign", "", func(g *Game) bool {
		if g.phase != Playing {
			return false
		}
		for _, t := range g.Legal() {
			if t.Kind != Resign {
				return false
			}
		}
		return true
	}}
)
