package render

import (
	"strings"
	"testing"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A trial says that it is one where an estimate would stand, in every layout.
func TestTrialIsTold(t *testing.T) {
	s := English.Of(play(t, "aga", rules.Setup{W: 5, H: 5}, "C3 C4"), Names{}).Estimated(9)
	if got := Text(s.Trial()); !strings.Contains(got, "Trial, does not count.") || strings.Contains(got, "about") {
		t.Error(got)
	}
}

// A position to talk about is no new game and has no komi, unless it is counted.
func TestPositionIsNoNewGame(t *testing.T) {
	setup := rules.Setup{W: 5, H: 5, Komi: 15, Black: []rules.Point{{X: 2, Y: 2}}}
	if got := Text(English.Of(play(t, "area-2", setup, ""), Names{}).Position()); strings.Contains(got, "New game") || strings.Contains(got, "Komi") {
		t.Error(got)
	}
	if got := Text(English.Of(play(t, "area-2", setup, "pass pass"), Names{}).Position()); !strings.Contains(got, "Komi") {
		t.Error(got)
	}
}
