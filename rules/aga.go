package rules

import (
	"slices"
)

// AGA is the ruleset of the American Go Association, the base of the
// rulesets with pass stones.
var AGA = Ruleset{
	Name: "aga", Version: 2,
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
		// "The game is over when the players agree on the status of all groups on the board, or,
		// failing such agreement, if both players pass twice in succession. In this case any
		// stones remaining on the board are deemed alive."
		Pass:   {HandOverStone, When(TwoPasses, StopPlay), When(TwoPassesAgain, CountAllAlive)},
		Resign: {ConcedeGame},
	},
	Settle: Agreement,
	// "White must make the last move--if necessary, an additional pass, with a stone
	// passed to the opponent as usual."
	Agreed:  []Rule{When(BlackStoppedPlay, WhiteHandsOverStone)},
	Count:   []Rule{CountTerritory, CountPrisoners, CountPassStones, AddKomi},
	Say:     []Fact{WhiteStillOwesAPass, NextPassesAreFinal},
	Closing: []Kind{Pass, Pass},
	Choices: []Choice{
		{"When does White give the last pass stone?", "When both players accept the count, if Black's pass stopped play. Until then it is shown as what accepting would do, and resuming play drops it."},
		settling, {disputes.Open, disputes.Chosen + " Then, too, White gives the last pass stone if Black's pass was the last."}, naive,
	},
	words: []word{
		{WhiteHandsOverStone, onAgreed, PassStone},
	},
	facts: []condition{
		{WhiteStillOwesAPass, 0, true},
	},
}

var aga1 = version1(AGA)

// version1 returns the first version of a ruleset with pass stones: after each resumption the
// players may agree or disagree anew. Games that were begun under it are played under it.
func version1(r Ruleset) *Ruleset {
	first := r.But(r)
	first.Version = 1
	for k, list := range r.Moves {
		first.Moves[k] = slices.DeleteFunc(slices.Clone(list), endsDisputes)
	}
	first.Say = slices.DeleteFunc(slices.Clone(r.Say), func(f Fact) bool { return f.Name == NextPassesAreFinal.Name || f.Name == NextButtonIsFinal.Name })
	first.Choices = slices.DeleteFunc(slices.Clone(r.Choices), func(c Choice) bool { return c.Open == disputes.Open })
	first.words, first.facts = nil, nil
	return &first
}

// FreeFirstPass is equivalence scoring in which White's pass is free if it is the first
// of the game: Bill Spight's remark on the same page as [ButtonEquivalence].
var FreeFirstPass = AGA.But(Ruleset{
	Name: "free-first-pass", Version: 2,
	Theorem:  "A − w",
	Title:    "Equivalence scoring, White's first pass free",
	Aim:      "Most points win: surrounded points, prisoners and pass stones.",
	PassCost: "A pass costs one point; the game's first is free for White. White passes last.",
	Source:   "Bill Spight in Using the Button with Equivalence Scoring, Sensei's Library, https://senseis.xmp.net/?UsingTheButtonWithEquivalenceScoring",
	Komi:     6*One + Half, // "And reduce the komi by ½ point."
	Moves: map[Kind][]Rule{
		// "since, in equivalence scoring, White makes the last pass, giving up a pass stone, you
		// can simply let White not give a pass stone if White makes the first pass"
		Pass: {Unless(FirstPassIsWhites, HandOverStone), When(TwoPasses, StopPlay), When(TwoPassesAgain, CountAllAlive)},
	},
	Choices: []Choice{
		{"Which pass is the first after play was resumed?", "The first of the game: it stays the first."},
		{"From which komi is half a point taken?", "From the 7 of the page. Players may choose another."},
		settling, agaDisputes, naive,
	},
	facts: []condition{
		{FirstPassIsWhites, onTurns, false},
	},
})

var freeFirstPass1 = version1(FreeFirstPass)

// FirstPassIsWhites is true of White's pass if nobody passed before.
var FirstPassIsWhites = Fact{"it is the first pass of the game and White's", "", func(g *Game) bool {
	return FirstPass.Is(g) && g.turn.By == White
}}
