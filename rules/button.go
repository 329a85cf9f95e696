package rules

// ButtonGo is Button Go with area scoring.
var ButtonGo = Area2.But(Ruleset{
	Name: "button", Version: 1,
	Theorem:  "A + ½ − w",
	Title:    "Button Go",
	Aim:      "Most area wins: your stones, the points they surround and the button.",
	PassCost: "A pass is free. Taking the button instead gains half a point.",
	Source:   "Sensei's Library, https://senseis.xmp.net/?ButtonGo",
	Komi:     7 * One,
	Start:    []Rule{OneButton},
	Moves: map[Kind][]Rule{
		Place: Placement(NewSituation),
		// "In addition to a standard play or pass, a single player may also choose to take
		// the 'button' for a ½-point gain." It is a play like any other.
		Button: {Require(ButtonLies), TakeButton, LiftBans},
	},
	Settle:  Agreement,
	Count:   []Rule{CountStones, CountTerritory, CountButtons, AddHandicap, AddKomi},
	Say:     []Fact{TheButtonIsOnTheTable},
	Closing: []Kind{Button, Pass, Pass},
	Choices: []Choice{
		{"Is taking the button a pass?", "No. It is a play like any other: it lifts every ban of repetition and interrupts a run of passes."},
		{"May you pass while the button lies there?", "Yes. A button that nobody took is worth nothing."},
		cycles, settling, disputesOpen,
	},
	words: []word{
		{OneButton, atStart, onTable},
		{TakeButton, on(Place, Pass, AcceptSuggestion, Button), ButtonThing},
	},
	facts: []condition{
		{ButtonLies, onTurns | onAgreed | inCount, false},
		{TheButtonIsOnTheTable, onTurns, true},
		{BlackTookTheButton, always &^ atStart, true},
		{WhiteTookTheButton, always &^ atStart, true},
	},
})

// ButtonEquivalence is Using the Button with Equivalence Scoring.
var ButtonEquivalence = AGA.But(Ruleset{
	Name: "button-equivalence", Version: 2,
	Theorem:  "A + ½ − w",
	Title:    "Button with equivalence scoring",
	Aim:      "Most points win: surrounded points, prisoners, pass stones, buttons.",
	PassCost: "A pass costs one point, giving the button half a point. White passes last.",
	Source:   "Using the Button with Equivalence Scoring, Sensei's Library, https://senseis.xmp.net/?UsingTheButtonWithEquivalenceScoring",
	Komi:     7 * One,
	Start:    []Rule{OneButton},
	Moves: map[Kind][]Rule{
		// "it is only necessary to change 'taking the button' to 'giving the button.' In other
		// words, the button is given as a prisoner rather than kept by the player."
		Button: {Require(ButtonLies), GiveButton, LiftBans},
	},
	// "The rules of equivalence scoring then apply as usual."
	Count:   []Rule{CountTerritory, CountPrisoners, CountPassStones, CountButtons, AddKomi},
	Say:     []Fact{TheButtonIsOnTheTable, WhiteStillOwesAPass, NextPassesAreFinal},
	Closing: []Kind{Button, Pass, Pass},
	Choices: []Choice{
		{"Is giving the button a pass?", "No. It is a play like any other, as in Button Go: it lifts bans and interrupts a run of passes."},
		{"Does White still make the last pass?", "Yes, as equivalence scoring demands."},
		cycles, settling, agaDisputes,
	},
	words: []word{
		{GiveButton, on(Place, Pass, AcceptSuggestion, Button), ButtonThing},
	},
})

var buttonEquivalence1 = version1(ButtonEquivalence)

// ReverseButton is Reverse Button Go.
var ReverseButton = AGA.But(Ruleset{
	Name: "reverse-button", Version: 2,
	Theorem:  "A − ½",
	Title:    "Reverse Button Go",
	Aim:      "Most points win: surrounded points, prisoners, pass stones, buttons.",
	PassCost: "A pass costs one point; the last pass costs half a point.",
	Source:   "Sensei's Library, https://senseis.xmp.net/?TwoButtonGo",
	Komi:     7 * One,
	Start:    []Rule{OneButton},
	// "Reverse Button Go, which removes pass fights from rules involving pass stones":
	// White need not be last.
	Agreed: []Rule{LastPasserTakesButton},
	Count:  []Rule{CountTerritory, CountPrisoners, CountPassStones, CountButtons, AddKomi},
	Say:    []Fact{TheButtonIsOnTheTable, NextPassesAreFinal},
	Choices: []Choice{
		{"Which pass is the last?", "The pass that finally stopped play. Its player gets the button when the count stands; resuming play drops it."},
		{"Must White pass last?", "No. The button makes that unnecessary."},
		{"What is the komi?", "7, as in Button Go. Players may choose another."},
		cycles, settling, agaDisputes,
	},
	words: []word{
		{LastPasserTakesButton, onAgreed, ButtonThing},
	},
})

var reverseButton1 = version1(ReverseButton)

// The score depends on the player who took the first button.
var (
	BlackTookTheButton = Fact{"Black took the button", "", func(g *Game) bool {
		return g.first[Button] == Black
	}}
	WhiteTookTheButton = Fact{"White took the button", "", func(g *Game) bool {
		return g.first[Button] == White
	}}
)
