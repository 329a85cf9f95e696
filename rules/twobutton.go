package rules

import "slices"

// TwoButton is Two Button Go.
//
// "The Combined rules are identical to AGA Rules, with the following changes:"
var TwoButton = AGA.But(Ruleset{
	Name: "two-button", Version: 2,
	Theorem:  "A − w",
	Title:    "Two Button Go",
	Aim:      "Most points win: surrounded points, prisoners, pass stones, buttons.",
	PassCost: "A pass costs one point; the first and the last pass cost half a point.",
	Source:   "Sensei's Library, https://senseis.xmp.net/?TwoButtonGo",
	Komi:     6*One + Half,
	Start:    []Rule{TwoButtons},
	Moves: map[Kind][]Rule{
		Pass: {
			// "identical to AGA rules with some changes, so on a pass, you give a pass stone"
			HandOverStone,
			// "The first player to pass gets a button"
			When(FirstPass, TakeButton.As("the first player to pass gets a button")),
			// "The game ends with 2 passes"
			When(TwoPasses, StopPlay),
			When(TwoPassesAgain, CountAllAlive),
		},
	},
	// "The last player to pass (ending the game) also gets a button."
	Agreed: []Rule{LastPasserTakesButton.As("the last player to pass gets a button")},
	// "two buttons, each of which has a value of 1/2 a point"
	Count: []Rule{CountTerritory, CountPrisoners, CountPassStones, CountButtons, AddKomi},
	Say:   []Fact{BothButtonsLie, OnlyTheLastButtonLies, NextPassesAreFinal},
	Choices: []Choice{
		{"Do you take a button with a pass or instead of one? The authors of the page differ.",
			"With the pass, which gives a stone as always. The other reading is two-button-separate."},
		{"Do you take a button or give it? The page says both.", "The player who passes takes it, as Herman has it: ½ to the taker, who gives a whole stone with the pass. So the button and its pass cost half a point together."},
		{"Does the first pass count towards the two that stop play?", "Yes."},
		{"Which passes are the first and the last after play was resumed?", "The first stays the first. The last is the one that finally stopped play."},
		settling, agaDisputes, twoButtonKomi,
	},
	words: []word{
		{TwoButtons, atStart, onTable},
		{TakeButton.As("the first player to pass gets a button"), on(Pass), ButtonThing},
		{LastPasserTakesButton.As("the last player to pass gets a button"), onAgreed, ButtonThing},
	},
	facts: []condition{
		{FirstButtonLies, onTurns | onAgreed | inCount, false},
		{OnlyTheLastButtonLies, onTurns, true},
		{BothButtonsLie, onTurns, true},
	},
})

var twoButton1 = version1(TwoButton)

// TwoButtonSeparate is Bill Spight's reading on the same page, in which a
// button is a turn of its own.
var TwoButtonSeparate = AGA.But(Ruleset{
	Name: "two-button-separate", Version: 2,
	Theorem:  "A − w",
	Title:    "Two Button Go, buttons as turns",
	Aim:      "Most points win: surrounded points, prisoners, pass stones, buttons.",
	PassCost: "A pass costs one point, a button half a point. The last button stops play.",
	Source:   "Bill Spight on Sensei's Library, https://senseis.xmp.net/?TwoButtonGo",
	Komi:     6*One + Half,
	Start:    []Rule{TwoButtons},
	Moves: map[Kind][]Rule{
		// "Filling a dame gains 0 points, playing a button loses 1/2 point, passing loses 1 point."
		Pass: {HandOverStone},
		// "considering a 'button' as a move distinct from a pass, and lets the button be taken
		// after two consecutive passes"
		Button: {
			Require(ButtonLies),
			Unless(FirstButtonLies, Require(TwoPassesJustBefore)),
			Unless(FirstButtonLies, StopPlay),
			When(FirstButtonLies, LiftBans),
			GiveButton,
			// "The Combined rules are identical to AGA Rules", and what stops play here is the last
			// button.
			When(LastButtonTakenAgain, CountAllAlive),
		},
	},
	Settle: map[Kind][]Rule{
		Resume: {TakeBackLastButton, ResumePlay},
	},
	Agreed:  []Rule{},
	Count:   []Rule{CountTerritory, CountPrisoners, CountPassStones, CountButtons, AddKomi},
	Say:     []Fact{BothButtonsLie, OnlyTheLastButtonLies, LastButtonMayBeTaken, NextButtonIsFinal},
	Closing: []Kind{Button, Pass, Pass, Button},
	Choices: []Choice{
		{"Do you take a button with a pass or instead of one? The authors of the page differ.", "Instead: a button is a turn of its own. The other reading is two-button."},
		{"To whom does a button count that is a turn of its own? Herman credits it to the player who takes it, Bill Spight counts it as −½.",
			"To the opponent: taking it costs half a point, because passing costs one. If it counted for the taker, nobody would ever fill a dame before taking it."},
		{"When may you take the first button?", "At any turn, also after two passes. While it lies there, button always means the first. It lifts bans as in Button Go."},
		{"When may you take the last button?", "When the first is gone and the two turns before were passes. Taking it stops play, which passes alone never do."},
		{"What happens to the last button when play is resumed?", "It returns to the table as if nobody had taken it: its half point returns, the player who took it is to move, and two new passes are needed."},
		settling,
		{disputes.Open, "Either resumes play. If both pass and the last button is taken again before a stone is placed, the game is counted with all stones on the board alive: the page's rules are identical to the AGA's but for the buttons."},
		twoButtonKomi,
	},
	words: []word{
		{TakeBackLastButton, on(Resume), things},
	},
	facts: []condition{
		{TwoPassesJustBefore, onTurns, false},
		{LastButtonMayBeTaken, onTurns, true},
		{LastButtonTakenAgain, on(Button), false},
		{NextButtonIsFinal, 0, true},
	},
})

var twoButtonSeparate1 = version1(TwoButtonSeparate)

// TwoButtonPasses is Bill Spight's implementation on the same page, without buttons:
// "Treat the buttons like passes."
var TwoButtonPasses = AGA.But(Ruleset{
	Name: "two-button-passes", Version: 2,
	Theorem:  "A − w",
	Title:    "Two Button Go, passes alone",
	Aim:      "Most points win: surrounded points, prisoners and pass stones.",
	PassCost: "A pass costs one point. The last pass is free if the same player made the first.",
	Source:   "Bill Spight, Implementation for territory scoring, Sensei's Library, https://senseis.xmp.net/?TwoButtonGo",
	Komi:     6*One + Half,
	// "The first player to pass hands over a pass stone, as usual. If the last player to
	// pass is the same as the first player to pass, she does not hand over a pass stone for the
	// last pass."
	Agreed: []Rule{When(FirstPasserStoppedPlay, TakeBackPassStone)},
	Say:    []Fact{NextPassesAreFinal},
	Choices: []Choice{
		{"Does a pass lift a ban of repetition? The page treats that separately.", "No, not even the passes that stand for buttons. The situation that a pass leaves counts as an earlier one."},
		{"How many passes end play? The page treats that separately.", "Two in a row stop it, as in the AGA's rules, and the first pass of the game counts towards them."},
		{"When does the last pass lose its stone?", "When the count stands, if its player made the first pass of the game too. Until then the stone is shown; resuming play keeps it."},
		{"Which passes are the first and the last after play was resumed?", "The first stays the first. The last is the one that finally stopped play."},
		settling, agaDisputes, twoButtonKomi,
	},
	words: []word{
		{TakeBackPassStone, onAgreed, things},
	},
	facts: []condition{
		{FirstPasserStoppedPlay, onAgreed, false},
	},
})

var twoButtonPasses1 = version1(TwoButtonPasses)

var (
	// FirstPasserStoppedPlay is true where one player made the first and the last pass.
	FirstPasserStoppedPlay = Fact{"the player whose pass stopped play made the first pass of the game too", "", func(g *Game) bool {
		return g.stopped != None && g.first[Pass] == g.stopped
	}}
	// TakeBackPassStone undoes what the last pass cost. Only in a custom ruleset it may have
	// cost nothing.
	TakeBackPassStone = Rule{"the last pass gives no pass stone", func(g *Game) bool {
		if g.stopped != None && g.held[g.stopped.Opponent()][PassStone] > 0 {
			g.give(g.stopped.Opponent(), PassStone, -1)
		}
		return true
	}}
)

var (
	// BothButtonsLie is what the table hears before the first button is gone.
	BothButtonsLie = Fact{"both buttons are on the table", "", func(g *Game) bool {
		return g.table == 2
	}}
	// LastButtonMayBeTaken is what the table hears after two passes, which stop
	// nothing by themselves.
	LastButtonMayBeTaken = Fact{"taking the last button stops play", "", func(g *Game) bool {
		return g.phase == Playing && g.table == 1 && g.run >= 2
	}}
	// LastButtonTakenAgain is true of the turn that takes the last button if only passes
	// followed a resumption.
	LastButtonTakenAgain = Fact{"the last button has been taken again at once after play was resumed", "", func(g *Game) bool {
		return g.table == 0 && g.onlySinceResumption(Pass, Button)
	}}
	// NextButtonIsFinal is what the table hears from a resumption until a stone is placed.
	NextButtonIsFinal = Fact{"if the last button is taken again now, all stones on the board count as alive", "", func(g *Game) bool {
		return g.phase == Playing && g.onlySinceResumption(Pass, Button)
	}}
	// TakeBackLastButton undoes the turn that stopped play. Only in a custom ruleset that may
	// have been another turn than a button.
	TakeBackLastButton = Rule{"the last button returns to the table, and the player who took it is to move", func(g *Game) bool {
		if last, _ := g.LastTurn(); last.Kind != Button || g.stopped == None || g.held[g.stopped.Opponent()][ButtonThing] <= 0 {
			g.because = saying("no button stopped play")
			return false
		}
		g.table++
		g.give(g.stopped.Opponent(), ButtonThing, -1)
		g.toPlay = g.stopped
		g.situations = slices.Clip(g.situations[:len(g.situations)-1])
		g.bansFrom = min(g.bansFrom, len(g.situations)-1) // the board as it lies stays in the record
		return true
	}}
)
