package rules

import "slices"

// TwoButton is Two Button Go.
//
// "The Combined rules are identical to AGA Rules, with the following changes:"
var TwoButton = AGA.But(Ruleset{
	Name: "two-button", Version: 1,
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
		},
	},
	// "The last player to pass (ending the game) also gets a button."
	Agreed: []Rule{LastPasserTakesButton.As("the last player to pass gets a button")},
	// "two buttons, each of which has a value of 1/2 a point"
	Count: []Rule{CountTerritory, CountPrisoners, CountPassStones, CountButtons, AddKomi},
	Say:   []Fact{BothButtonsLie, OnlyTheLastButtonLies},
})

// TwoButtonSeparate is Bill Spight's reading on the same page, in which a
// button is a turn of its own.
var TwoButtonSeparate = AGA.But(Ruleset{
	Name: "two-button-separate", Version: 1,
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
		},
	},
	Settle: map[Kind][]Rule{
		Resume: {TakeBackLastButton, ResumePlay},
	},
	Agreed:  []Rule{},
	Count:   []Rule{CountTerritory, CountPrisoners, CountPassStones, CountButtons, AddKomi},
	Say:     []Fact{BothButtonsLie, OnlyTheLastButtonLies, LastButtonMayBeTaken},
	Closing: []Kind{Button, Pass, Pass, Button},
})

// TwoButtonPasses is Bill Spight's implementation on the same page, without buttons:
// "Treat the buttons like passes."
var TwoButtonPasses = AGA.But(Ruleset{
	Name: "two-button-passes", Version: 1,
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
	Say:    []Fact{},
})

var (
	// FirstPasserStoppedPlay is true where one player made the first and the last pass.
	FirstPasserStoppedPlay = Fact{"the player whose pass stopped play made the first pass of the game too", "", func(g *Game) bool {
		return g.stopped != None && g.first[Pass].By == g.stopped
	}}
	// TakeBackPassStone undoes what the last pass cost.
	TakeBackPassStone = Rule{"the last pass gives no pass stone", func(g *Game) bool {
		g.give(g.stopped.Opponent(), PassStone, -1)
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
	// TakeBackLastButton undoes the turn that stopped play.
	TakeBackLastButton = Rule{"the last button returns to the table, and the player who took it is to move", func(g *Game) bool {
		g.table++
		g.give(g.stopped.Opponent(), ButtonThing, -1)
		g.toPlay = g.stopped
		g.situations = slices.Clip(g.situations[:len(g.situations)-1])
		return true
	}}
)
