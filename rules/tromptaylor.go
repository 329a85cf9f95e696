package rules

// TrompTaylor is the baseline of all rulesets that play out.
var TrompTaylor = Ruleset{
	Name: "tromp-taylor", Version: 1,
	Theorem:  "A",
	Title:    "Tromp–Taylor",
	Aim:      "Most area wins: your stones and the points they surround.",
	PassCost: "A pass is free.",
	Source:   "The Logical Rules of Go, John Tromp and Bill Taylor, https://tromp.github.io/go.html",
	Komi:     7*One + Half,
	Moves: map[Kind][]Rule{
		// "A move consists of coloring an empty point one's own color; then clearing the
		// opponent color, and then clearing one's own color."
		// "A turn is either a pass; or a move that doesn't repeat an earlier grid coloring."
		Place: PlacementWithSuicide(NewPosition),
		// "The game ends after two consecutive passes."
		Pass:   {FreePass, When(TwoPasses, StopPlay)},
		Resign: {ConcedeGame},
	},
	// "A player's score is the number of points of her color, plus the number of empty
	// points that reach only her color."
	Count:   []Rule{CountStones, CountTerritory, AddHandicap, AddKomi},
	Closing: []Kind{Pass, Pass},
	Choices: []Choice{
		{"Is the suicide of one stone legal?", "No, because it repeats the position. Larger suicides are legal."},
		{"What is the komi?", "7½. Players may choose another."},
	},
}
