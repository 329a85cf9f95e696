package rules

// AreaAgreement counts area and lets the players agree on dead stones, as Chinese rules do:
// the AGA's text for players who count by area.
var AreaAgreement = Area2.But(Ruleset{
	Name: "area-agreement", Version: 1,
	Theorem:  "A",
	Title:    "Area by agreement",
	Aim:      "Most area wins: your stones and the points they surround.",
	PassCost: "A pass is free.",
	Source:   "AGA Concise Rules of Go, counting by area, https://www.usgo.org/aga-concise-rules-go",
	Note:     "For games under Chinese rules too. No position may come back, whoever is to move.",
	Komi:     7*One + Half,
	Moves: map[Kind][]Rule{
		// "It is illegal to play in such a way as to exactly recreate a previous full board
		// position from the game"
		// "It is illegal for a player to move so as to create a string of his or her own stones
		// which is completely surrounded (without liberties) after any surrounded opposing stones
		// are captured."
		Place: Placement(NewPosition),
		Pass: {
			// "Prisoners are ignored.", and so are pass stones.
			FreePass,
			// "Two consecutive passes normally signal the end of the game."
			When(TwoPasses, StopPlay),
			// "The game is over when the players agree on the status of all groups on the board, or,
			// failing such agreement, if both players pass twice in succession. In this case any
			// stones remaining on the board are deemed alive."
			When(TwoPassesAgain, CountAllAlive),
		},
	},
	// "If the players agree on the status of all such groups, they are removed from the board as
	// prisoners of the player who could capture, and the game is scored".
	Settle: Agreement,
	// "All live stones of a player's color left on the board together with any points of
	// territory surrounded by [those stones] constitute that player's area."
	// "White receives an additional point of compensation for each Black handicap stone after
	// the first."
	Count: []Rule{CountStones, CountTerritory, AddHandicap, AddKomi},
	Say:   []Fact{NextPassesAreFinal},
	Choices: []Choice{
		{"What about repetition and suicide? Rules that count area differ.",
			"No earlier position may return, whoever is to move, as the text of the Chinese rules says, and suicide is illegal. AGA and New Zealand rules let a position return with the other player to move; New Zealand rules allow suicide; many servers forbid only to take back a ko at once."},
		{"What does White get for handicap stones?", "N − 1 points for N stones, as the AGA's text says for counting by area. Chinese rules give N points, New Zealand rules none: choose the komi to make up for that."},
		{"Does a pass cost a stone?", "No. The AGA's players hand over pass stones in either case, but prisoners do not count here."},
		settling, disputes, naive,
		{"What is the komi?", "7½, as in Chinese and AGA rules. Players may choose another."},
	},
})
