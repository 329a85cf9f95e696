package rules

// HalfPass is Robert Pauli's half-pass ruleset.
var HalfPass = Ruleset{
	Name: "half-pass", Version: 1,
	Theorem:  "A − w",
	Title:    "Half-pass",
	Aim:      "Most points win: surrounded points, prisoners and pass stones.",
	PassCost: "A pass costs one point; the first and the last pass cost half a point.",
	Source:   "Robert Pauli on Sensei's Library, https://senseis.xmp.net/?HalfPass",
	Note:     "The page says nothing about repetition. Here no position may come back with the same player to move.",
	Komi:     6*One + Half,
	Moves: map[Kind][]Rule{
		// "cycle treatment intentionally skipped"
		Place:  Placement(NewSituation),
		Pass:   halfPasses,
		Resign: {ConcedeGame},
	},
	Count: []Rule{
		// "naive territory scoring (neither dead nor seki defined)"
		CountTerritory, CountPrisoners, CountPassStones,
		// "captives in the half-pass zone only score with half of their value"
		Value("a stone in the half-pass zone is worth ½", HalfPassStone, Half),
		AddKomi,
	},
	Closing: []Kind{Pass, Pass, Pass},
	Choices: []Choice{
		{"How does the ruleset treat cycles? The page leaves it out.", cycles.Chosen},
		{"May a half-pass end play?", "Only a pass that directly follows a full pass ends play. So the shortest end is three passes: half, full, half."},
		{"For whom do the stones in the zone count?", "Each counts for the opponent of the player who passed, at half its value."},
		twoButtonKomi,
	},
	words: []word{
		{PutInHalfPassZone, on(Pass, AcceptSuggestion), HalfPassStone},
		{HandOverFullStone, on(Pass), PassStone},
	},
	facts: []condition{
		{FollowsFullPass, onTurns, false},
	},
}

var halfPasses = []Rule{
	// "first and last pass are half-passes; other passes are full-passes"
	// "each half-pass adds a new captive to the half-pass zone"
	When(Either(FirstPass, FollowsFullPass), PutInHalfPassZone),
	// "each full-pass hands over a new captive to the opponent"
	// "a pass that directly follows a full-pass ends the game"
	When(FollowsFullPass, StopPlay),
	Unless(Either(FirstPass, FollowsFullPass), HandOverFullStone),
}

// HalfPassAgreement adds what the page says of agreeing about dead stones.
//
// "To enable an agreement about dead stones, following may be added:"
var HalfPassAgreement = HalfPass.But(Ruleset{
	Name: "half-pass-agreement", Version: 1,
	Theorem:  "A − w",
	Title:    "Half-pass with agreement",
	Aim:      "Most points win: surrounded points, prisoners and pass stones.",
	PassCost: "A pass costs one point; the first and the last pass cost half a point.",
	Source:   "Robert Pauli on Sensei's Library, https://senseis.xmp.net/?HalfPass",
	Note:     "Naming no stones means that none are dead. The opponent may accept that too.",
	Komi:     6*One + Half,
	Moves: map[Kind][]Rule{
		Pass: append([]Rule{
			// "first pass may suggest dead stones"
			When(DeadAreNamed, Require(FirstPassOfTheGame)),
			When(DeadAreNamed, Require(NamesStones)),
			When(FirstPass, SuggestDead),
		}, halfPasses...),
		// "if a pass directly follows it, the passing player may choose if it ends the game
		// or not (by using the half-pass zone or not, of course)"
		AcceptSuggestion: {
			Require(FollowsFirstPass),
			PutInHalfPassZone,
			// "in the ending case the suggested stones are removed as captives, otherwise the
			// suggestion has no effect"
			RemoveSuggested,
			StopPlay,
		},
	},
	Choices: []Choice{
		{"May the opponent accept a first pass that names nothing?", "Yes. Naming no stones says that nothing is dead."},
		{"What happens to a suggestion that nobody accepts?", "Any turn but accepting drops it. A plain pass after it is a full pass."},
		{"How does the ruleset treat cycles? The page leaves it out.", cycles.Chosen},
		twoButtonKomi,
	},
	words: []word{
		{SuggestDead, on(Pass), things},
		{RemoveSuggested, on(AcceptSuggestion), Prisoner},
	},
	facts: []condition{
		{DeadAreNamed, on(Pass), false},
		{FollowsFirstPass, onTurns, false},
	},
})

// fullPass is the turn that was a full pass last.
var fullPass = &note[int]{"full pass"}

// Half-passes.
var (
	FollowsFullPass = Fact{"the pass directly follows a full pass", "", func(g *Game) bool {
		return fullPass.of(g) > 0 && fullPass.of(g) == g.turns-1
	}}
	PutInHalfPassZone = Rule{"a half-pass puts a stone into the half-pass zone, worth ½ to your opponent", func(g *Game) bool {
		g.give(g.turn.By.Opponent(), HalfPassStone, 1)
		return true
	}}
	HandOverFullStone = Rule{"a full pass gives your opponent a pass stone", func(g *Game) bool {
		g.give(g.turn.By.Opponent(), PassStone, 1)
		fullPass.set(g, g.turns)
		return true
	}}
)

// A suggestion is what the first pass says of dead stones.
type suggestion struct {
	turn int // that made it, 0 for none
	dead []Point
}

var suggested = &note[suggestion]{"suggestion"}

// Suggested returns the chains that the first pass named dead, while they may
// still be accepted.
func (g *Game) Suggested() []Point {
	s := suggested.of(g)
	if s.turn == 0 || s.turn != g.turns {
		return nil
	}
	return s.dead
}

// Agreement by half-pass.
var (
	DeadAreNamed = Fact{"the pass names dead chains", "", func(g *Game) bool {
		return len(g.turn.Dead) > 0
	}}
	FirstPassOfTheGame = Fact{"it is the first pass of the game", "only the first pass of the game may name dead stones", FirstPass.Is}
	SuggestDead        = Rule{"the pass suggests which chains are dead; naming none suggests that none are", func(g *Game) bool {
		s := suggestion{turn: g.turns}
		for _, p := range g.turn.Dead {
			for _, q := range g.board.Chain(p) {
				s.dead = with(s.dead, q, true)
			}
		}
		suggested.set(g, s)
		return true
	}}
	FollowsFirstPass = Fact{"the turn before was the first pass of the game", "there is nothing to accept: the turn before was not the first pass of the game", func(g *Game) bool {
		return suggested.of(g).turn > 0 && suggested.of(g).turn == g.turns-1
	}}
	RemoveSuggested = Rule{"the stones named dead become prisoners", func(g *Game) bool {
		g.dead = suggested.of(g).dead
		g.liftDead()
		return true
	}}
)
