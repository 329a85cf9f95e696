package rules

// AGA is the ruleset of the American Go Association, the base of the
// rulesets with pass stones.
var AGA = Ruleset{
	Name: "aga", Version: 1,
	Theorem:  "A",
	Title:    "AGA",
	Aim:      "Most points win: surrounded points, prisoners and pass stones.",
	PassCost: "A pass costs one point. White must make the last pass.",
	Source:   "The Official AGA Rules of Go, https://www.usgo.org/aga-concise-rules-go",
	Komi:     7*One + Half,
	Moves: map[Kind][]Rule{
		// "It is illegal to play in such a way as to recreate a previous board position ...
		// with the same player to play."
		Place: Placement(NewSituation),
		// "When a player passes, he or she gives the opponent one stone as a prisoner."
		// "Two consecutive passes normally signal the end of the game."
		Pass:   {HandOverStone, When(TwoPasses, StopPlay)},
		Resign: {ConcedeGame},
	},
	Settle: Agreement,
	// "White must make the last move--if necessary, an additional pass, with a stone
	// passed to the opponent as usual."
	Agreed:  []Rule{When(BlackStoppedPlay, WhiteHandsOverStone)},
	Count:   []Rule{CountTerritory, CountPrisoners, CountPassStones, AddKomi},
	Say:     []Fact{WhiteStillOwesAPass},
	Closing: []Kind{Pass, Pass},
}
