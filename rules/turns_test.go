package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// Turns go as the book says: who moves first, that the players alternate, and who moves
// when play is resumed.
func TestWhoseTurn(t *testing.T) {
	everyRuleset(t, tier.Pick(40, 150, 1500), func(t *testing.T, r *Ruleset, rnd table) {
		s := rnd.setup(r)
		s.First = None
		end := rnd.game(t, r, s, nil)
		next, last := Black, None
		if s.Handicap > 0 {
			next = White
		}
		lastButton := false // the turn that stopped play took the last button
		for _, turn := range end.log {
			switch {
			case turn.Kind == Resume && slices.ContainsFunc(r.Settle[Resume], func(rule Rule) bool { return rule.Name == TakeBackLastButton.Name }) && lastButton:
				next = last
			case turn.Kind.IsTurn() && turn.Kind != Resign:
				if turn.By != next {
					t.Fatalf("%v moves and not %v: %v", turn.By, next, end.log)
				}
				next, last, lastButton = turn.By.Opponent(), turn.By, turn.Kind == Button
			}
		}
		says := strings.Contains(r.Book(), "the player moves whose turn it was")
		if resumes := len(r.Settle[Resume]) > 0; says != (resumes && r.Name != "two-button-separate") {
			t.Errorf("its book says so: %v, and play can be resumed: %v", says, resumes)
		}
	})
}

// What is no turn is told by the word that is wrong.
func TestParseTurnErrors(t *testing.T) {
	for s, want := range map[string]string{
		"":            `a turn is a colour and a kind, not ""`,
		"B":           `a turn is a colour and a kind, not "B"`,
		"X pass":      `no such player: "X"`,
		"B fly":       `no such turn: "fly"`,
		"W place I5":  `Go boards have no column I`,
		"B place E5 ": "",
	} {
		switch _, err := ParseTurn(s, 9, 9); {
		case err == nil && want != "":
			t.Errorf("%q is a turn", s)
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v", s, err)
		}
	}
}
