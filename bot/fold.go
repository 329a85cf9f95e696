package bot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A line is a line of a game's log that has not been taken back, and the event
// that wrote it.
type line struct {
	seq  int
	turn rules.Turn
}

// fold replays a match: the game after its last event, and the lines that
// survive in it. It fails if the game is not what was proved when the event was
// stored: then the program no longer plays the ruleset that the game began
// under, and must not go on as if it did.
func fold(m Match, events []Event) (*rules.Game, []line, error) {
	r, err := rules.Find(m.Rules)
	if err != nil {
		return nil, nil, err
	}
	// after[s] is the surviving lines after event s. They share their beginnings.
	after := make([][]line, len(events)+1)
	for i, e := range events {
		lines := after[i]
		verb, rest, _ := strings.Cut(e.Body, " ")
		switch verb {
		case "turn":
			t, err := rules.ParseTurn(rest, m.Setup.W, m.Setup.H)
			if err != nil {
				return nil, nil, fmt.Errorf("event %d: %w", e.Seq, err)
			}
			lines = append(slices.Clip(lines), line{e.Seq, t})
		case "undo":
			s, err := strconv.Atoi(rest)
			if err != nil || s < 0 || s > i {
				return nil, nil, fmt.Errorf("event %d: cannot read %q", e.Seq, e.Body)
			}
			lines = after[s]
		}
		after[i+1] = lines
	}
	lines := after[len(events)]
	log := make([]rules.Turn, len(lines))
	for i, l := range lines {
		log[i] = l.turn
	}
	g, err := rules.Replay(r, m.Setup, log)
	if err != nil {
		return nil, nil, err
	}
	if n := len(events); n > 0 && events[n-1].Proof != g.Proof() {
		return nil, nil, fmt.Errorf("event %d: the game replays to %s and was proved as %s", n, g.Proof(), events[n-1].Proof)
	}
	return g, lines, nil
}
