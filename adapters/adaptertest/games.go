package adaptertest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/rules/sgf"
)

// A WholeGame is one that people play to its end on a platform. Every ruleset of
// WholeGames has its special turn made.
type WholeGame struct {
	Rules, Size string
	Turns       []WholeTurn
	Result      string // as in the record
	says        string // as it is read, after the name of who won
}

// Says returns what people read of the result, by the names of the players.
func (g WholeGame) Says(black, white string) string {
	switch {
	case strings.HasPrefix(g.Result, "B+"):
		return black + " " + g.says
	case strings.HasPrefix(g.Result, "W+"):
		return white + " " + g.says
	}
	return g.says
}

// A WholeTurn is what Black or White does, and what everybody reads then.
type WholeTurn struct {
	White         bool
	Command, Args string // "place" and "C3"
	Reads         string
	Quiet         bool // told in a line, without a board
}

// Name says whose turn it is.
func (t WholeTurn) Name() string {
	if t.White {
		return "White"
	}
	return "Black"
}

// WholeGames are games of the five rulesets that this project began with: a count that
// both accept after the marks were changed, the button, the pass that names the dead,
// delays until the ultimate stone is alone, and a White who passes first.
var WholeGames = []WholeGame{
	wholeGame("two-button", "5x5", "B+6.5", "wins by 6½", `
		black place C3: 1. Black C3
		white place D2: 2. White D2
		black place C2: 3. Black C2
		white place C1: 4. White C1
		black place D3: 5. Black D3
		white place E3: 6. White E3
		black place B1: 7. Black B1
		white place D1: 8. White D1
		black place E4: 9. Black E4
		white place A5: 10. White A5
		black place B4: 11. Black B4
		white place E2: 12. White E2
		black pass: 13. Black passes
		white pass: 14. White passes
		white dead C1 as:alive: White marks C1 as alive
		black accept: accepts the count. (quiet)
		white accept: White accepts the count`),
	wholeGame("button", "5x5", "W+2.5", "wins by 2½", `
		black place C4: 1. Black C4
		white place D4: 2. White D4
		black place B3: 3. Black B3
		white place E3: 4. White E3
		black place C2: 5. Black C2
		white place D2: 6. White D2
		black place D3: 7. Black D3
		white place C3: 8. White C3
		black place A1: 9. Black A1
		white button: 10. White plays the button
		black place D3: 11. Black D3
		white pass: 12. White passes
		black pass: 13. Black passes
		black dead E3 as:alive: Black marks E3 as alive
		white accept: accepts the count. (quiet)
		black accept: Black accepts the count`),
	wholeGame("half-pass-agreement", "4x4", "W+1.5", "wins by 1½", `
		black place B2: 1. Black B2
		white place C3: 2. White C3
		black place C2: 3. Black C2
		white place B3: 4. White B3
		black place A3: 5. Black A3
		white place D2: 6. White D2
		black place D1: 7. Black D1
		white place A4: 8. White A4
		black pass D2: 9. Black passes, naming D2 dead
		white accept: 10. White accepts`),
	wholeGame("ultimate", "3x3", "Draw", "a draw", `
		black place B2: 1. Black B2
		white place A1: 2. White A1
		black place A2: 3. Black A2
		white place C3: 4. White C3
		black place B1: 5. Black B1
		white delay: 6. White delays
		black delay: 7. Black delays
		white place A3: 8. White A3
		black delay: 9. Black delays
		white draw: 10. White declares a draw`),
	wholeGame("area-3", "5x5", "B+4.5", "wins by 4½", `
		black place C2: 1. Black C2
		white place D2: 2. White D2
		black place C3: 3. Black C3
		white place D3: 4. White D3
		black place C4: 5. Black C4
		white place D4: 6. White D4
		black place C1: 7. Black C1
		white place D1: 8. White D1
		black place C5: 9. Black C5
		white pass: 10. White passes
		black place D5: 11. Black D5
		white pass: 12. White passes
		black pass: 13. Black passes`),
}

func wholeGame(rules, size, result, says, turns string) WholeGame {
	g := WholeGame{Rules: rules, Size: size, Result: result, says: says}
	for line := range strings.Lines(strings.TrimSpace(turns)) {
		does, reads, _ := strings.Cut(strings.TrimSpace(line), ": ")
		who, does, _ := strings.Cut(does, " ")
		t := WholeTurn{White: who == "white"}
		t.Command, t.Args, _ = strings.Cut(does, " ")
		t.Reads, t.Quiet = strings.CutSuffix(reads, " (quiet)")
		g.Turns = append(g.Turns, t)
	}
	return g
}

// Boards says how many boards everybody sees, the first included.
func (g WholeGame) Boards() int {
	n := 1
	for _, t := range g.Turns {
		if !t.Quiet {
			n++
		}
	}
	return n
}

// Record says what is wrong with what people are given as the record of the game.
func (g WholeGame) Record(file []byte) error {
	rec, err := sgf.Read(bytes.NewReader(file))
	if err != nil {
		return err
	}
	r, _, err := rec.Ruleset()
	if err != nil {
		return err
	}
	played, err := rec.Play(r, rec.Setup.Komi)
	if err != nil {
		return err
	}
	if id, _, _ := strings.Cut(r.ID(), "@"); id != g.Rules || played.Result() != g.Result || rec.Info.Result != g.Result {
		return fmt.Errorf("it is %s with the result %s, and says %s", r.ID(), played.Result(), rec.Info.Result)
	}
	return nil
}

// Log says what is wrong with the events of the game as they are stored: each turn
// stands there once, in the order in which it was made.
func (g WholeGame) Log(events []match.Event) error {
	var got, want []string
	for _, e := range events {
		if turn, ok := strings.CutPrefix(e.Body.String(), "turn "); ok {
			got = append(got, strings.Replace(turn, "agree", "accept", 1)) // to a count
		}
	}
	for _, t := range g.Turns {
		turn := t.Name()[:1] + " " + t.Command
		if t.Args != "" {
			turn += " " + t.Args
		}
		if alive, ok := strings.CutSuffix(turn, " as:alive"); ok {
			turn = strings.Replace(alive, "dead", "alive", 1)
		}
		want = append(want, turn)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("its log is %q, not %q", got, want)
	}
	return nil
}
