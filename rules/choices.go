package rules

// A Choice is something that the sources of a ruleset leave open, or on which
// they differ, and what the ruleset makes of it.
type Choice struct {
	Open, Chosen string
}

// Choices that several sources leave open.
var (
	cycles = Choice{"How does the ruleset treat cycles?",
		"A placement may not repeat a position with the same player to move. The situations that passes and buttons leave count too."}
	settling = Choice{"How do the players agree on dead stones?",
		"Either player marks chains, and every change of the marks clears both acceptances. Then both accept, or either resumes play. Silence never accepts."}
	disputesOpen = Choice{"What if the players do not agree?",
		"Either resumes play, as often as they like. The game is counted when both accept. Nothing else ends it but a resignation, the clock or a moderator."}
	disputes = Choice{"What if the players do not agree?",
		"Either resumes play, and the opponent of the player who passed last is to move. If both pass again at once, which is passing twice in succession, the game is counted with all stones on the board alive. Once a stone has been placed, two passes stop play as before, and the players talk again."}
	agaDisputes = Choice{disputes.Open,
		"As in the AGA's rules, on which this page builds: either resumes play, and if both pass again at once, the game is counted with all stones on the board alive. Once a stone has been placed, two passes stop play as before."}
	naive = Choice{"What is territory?",
		"The empty points of a region that reaches only one colour, whether the stones around it are alive, dead or in seki. So the count of an unfinished board means little."}
	ikedaWords = Choice{"What about repetition, suicide and dead stones?",
		"No earlier position may return, and suicide is illegal. The players do not agree on dead stones: capture them before you stop."}
	twoButtonKomi = Choice{"What is the komi?", "6½, as under territory rules, because the margins are the same. Players may choose another."}
)
