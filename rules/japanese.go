package rules

// Japanese is a baseline for comparison: territory and prisoners, passes free.
var Japanese = Ruleset{
	Name: "japanese", Version: 2,
	Title:    "Japanese",
	Aim:      "Most points win: surrounded points and prisoners.",
	PassCost: "A pass is free.",
	Source:   "after the Nihon Ki-in's rules of 1989, https://www.cs.cmu.edu/~wjh/go/rules/Japanese.html",
	Note: "Unless chains are marked as seki, every surrounded point counts once the dead stones are off the board. When a placement " +
		"makes a position for the third time with the same player to move, the game may end without a result if both players accept.",
	Komi: 6*One + Half,
	Moves: map[Kind][]Rule{
		Place:    Placement(NotKo),
		Pass:     {FreePass, When(TwoPasses, StopPlay)},
		Resign:   {ConcedeGame},
		NoResult: {Require(Repeated), AcceptNoResult},
	},
	Settle: merge(Agreement, map[Kind][]Rule{
		MarkSeki: {Require(NamesStones), MarkAsSeki, ForgetAcceptances},
	}),
	Count:   []Rule{CountTerritoryOutsideSeki, CountPrisoners, AddKomi},
	Say:     []Fact{RepeatedWhilePlaying},
	Closing: []Kind{Pass, Pass},
	Choices: []Choice{
		{"Who judges life and death?", "The players: they mark what is dead and what is alive in seki, and both accept. There is no hypothetical play."},
		{"What counts in seki?", "No territory that touches a chain marked as seki; prisoners do count. Without such marks all naive territory counts once the dead stones are removed."},
		{"What ends a cycle?", "When a placement makes a position for the third time with the same player to move, the players may end the game without a result, if both accept. Otherwise play goes on. What passes leave does not count: nothing has moved."},
		disputesOpen,
		{"What is the komi?", "6½. Players may choose another."},
	},
	words: []word{
		{AcceptNoResult, on(NoResult), things},
		{MarkAsSeki, on(MarkSeki), things},
		{CountTerritoryOutsideSeki, inCount, things},
	},
	facts: []condition{
		{Repeated, on(NoResult), false},
		{RepeatedWhilePlaying, 0, true},
	},
}

// japanese1 is the reading of the first release, under which passes repeat a position too,
// so that a dispute in which nothing moved could end without a result. Games that were
// begun under it are played under it.
var japanese1 = Japanese.But(Ruleset{
	Name: Japanese.Name, Version: 1,
	Title: Japanese.Title, Aim: Japanese.Aim, PassCost: Japanese.PassCost, Source: Japanese.Source,
	Note: "Unless chains are marked as seki, every surrounded point counts once the dead stones are off the board. When a position " +
		"stands for the third time with the same player to move, the game may end without a result if both players accept.",
	Komi:    Japanese.Komi,
	Moves:   map[Kind][]Rule{NoResult: {Require(ThirdTime), AcceptNoResult}},
	Say:     []Fact{ThirdTimeWhilePlaying},
	Choices: Japanese.Choices,
	facts: []condition{
		{ThirdTime, on(NoResult), false},
		{ThirdTimeWhilePlaying, 0, true},
	},
})

// accepted is the turn after which each player accepted that there is no result, and 1.
var accepted = &note[[3]int]{"no result"}

// AcceptNoResult ends a game without result when both have accepted it in the
// position that has come up for the third time; any turn forgets who has.
var AcceptNoResult = Rule{"the player accepts that the game ends without a result; when both players have, it does", func(g *Game) bool {
	by := accepted.of(g)
	by[g.turn.By] = g.turns + 1
	accepted.set(g, by)
	if by[Black] == by[White] {
		g.phase, g.result, g.why = Over, "Void", saying("the same position occurred three times and both players accepted no result")
	}
	return true
}}

// AcceptedNoResult reports whether a player has accepted, in the position that
// stands now, that the game ends without result.
func (g *Game) AcceptedNoResult(c Color) bool { return accepted.of(g)[c] == g.turns+1 }
