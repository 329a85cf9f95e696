// Package rules is the game of Go under rulesets that read like prose.
//
// A [Game] is a fold of its log under a [Ruleset]. It is an immutable value:
//
//	r, err := rules.Find("two-button")
//	g, err := rules.New(r, rules.Setup{W: 9, H: 9, Komi: r.Komi})
//	g, err = g.Play(rules.Turn{Kind: rules.Place, By: rules.Black, At: rules.Point{X: 4, Y: 4}})
//	g, err = g.Play(rules.Turn{Kind: rules.Pass, By: rules.White})
//
// A turn that breaks a rule returns an [*Illegal], which names the rule that
// it breaks; the game is as it was. What changes hands is written into the
// ledger as [Entry] values, each with the rule that did it, and
// [Game.Score] says at any time what the count would be if play stopped now,
// line by line. All scores are ints in half points ([Points]).
//
// # How a ruleset reads
//
// A [Ruleset] is lists of named rules: what lies on the table at the start,
// what each kind of turn requires and does, what players may do once play
// has stopped, what the count is. This is Two Button Go, less its sources:
//
//	var TwoButton = AGA.But(Ruleset{
//		Name: "two-button", Version: 1,
//		Start: []Rule{TwoButtons},
//		Moves: map[Kind][]Rule{
//			Pass: {
//				HandOverStone,
//				When(FirstPass, TakeButton.As("the first player to pass gets a button")),
//				When(TwoPasses, StopPlay),
//			},
//		},
//		Agreed: []Rule{LastPasserTakesButton.As("the last player to pass gets a button")},
//		Count:  []Rule{CountTerritory, CountPrisoners, CountPassStones, CountButtons, AddKomi},
//	})
//
// The rules are the vocabulary (vocabulary.go, count.go): plain functions
// with a name. [Require], [When], [Unless] and [Either] put them together, and
// that is all there is to learn. [Ruleset.Book] recites a ruleset, so that what
// people read is what is played.
//
// # Versions
//
// A game remembers its ruleset as "two-button@1". A released ruleset is frozen
// by its transcript in testdata; a changed reading is a new version.
//
// # One theorem
//
// Most of the rulesets count the same number in different ways: see
// Ruleset.Theorem, TestTheorem and the command "halfpoint compare".
//
// The package imports the standard library only and knows no time, chance or
// input and output. Sub-package sgf reads and writes game records.
package rules
