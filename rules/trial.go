package rules

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// How much a custom ruleset is tried before it may be played.
const (
	trials     = 48
	trialEnd   = 120 // turns other than placements that may pass before play must have stopped
	trialRuns  = 24  // of which so many are passes if passing is possible
	trialNames = 12  // turns of a game that an error names
)

var trialSizes = [][2]int{{1, 1}, {2, 1}, {3, 2}, {3, 3}, {5, 4}}

// try plays a custom ruleset on small boards, the same games every time, and
// says what is wrong with it. It also makes its closing long enough.
func try(r *Ruleset) error {
	ended := false
	for seed := range uint64(trials) {
		size := trialSizes[seed%uint64(len(trialSizes))]
		g, err := New(r, Setup{W: size[0], H: size[1], Komi: r.Komi})
		if err != nil {
			return err
		}
		t := trial{rand.New(rand.NewPCG(seed, 7)), g, int(seed % 3)}
		if err := t.play(); err != nil {
			return err
		}
		ended = ended || t.Phase() == Over
		again, err := Replay(r, g.setup, t.log)
		if err != nil || again.Proof() != t.Proof() || len(again.entries) != len(t.entries) {
			return fmt.Errorf("a replayed game differs: %s", t.story())
		}
	}
	if !ended {
		return fmt.Errorf("the game cannot end: in %d games nobody could declare a draw", trials)
	}
	if len(r.Count) == 0 {
		return nil
	}
	return r.lengthenClosing()
}

// lengthenClosing adds passes to the closing until it brings a game to its end, with
// either player to move.
func (r *Ruleset) lengthenClosing() error {
	closing := r.Closing
	for range 2 * mostButtons {
		if r.closes() {
			return nil
		}
		r.Closing = append(slices.Clip(r.Closing), Pass)
	}
	r.Closing = slices.Repeat([]Kind{Pass}, 2*mostButtons)
	if r.closes() {
		return nil
	}
	r.Closing = closing
	return errors.New("the game cannot end: no number of passes brings it to its end; name the turns under closing")
}

func (r *Ruleset) closes() bool {
	s := Setup{W: 3, H: 3, Komi: r.Komi}
	for _, log := range [][]Turn{nil, {{Kind: Place, By: Black, At: Point{1, 1}}}} {
		if g, err := Close(r, s, log, nil, nil); err != nil || g.phase != Over {
			return false
		}
	}
	return true
}

// A trial is a game played at random.
type trial struct {
	*rand.Rand
	*Game
	resumptions int
}

// story tells what was played, the last turns of it.
func (t *trial) story() string {
	var out []string
	log := t.log
	if len(log) > trialNames {
		out, log = append(out, "…"), log[len(log)-trialNames:]
	}
	for _, turn := range log {
		out = append(out, turn.String())
	}
	if out == nil {
		return "at the start"
	}
	return "after " + strings.Join(out, ", ")
}

// do makes a turn and looks at what it leaves.
func (t *trial) do(turn Turn) error {
	g, err := t.Game.Play(turn)
	if err != nil {
		return err
	}
	t.Game = g
	return t.lawful()
}

// play plays to the end. Without a count a game may never end.
func (t *trial) play() error {
	w, h := t.board.Size()
	if err := t.lawful(); err != nil {
		return err
	}
	for waiting := 0; t.phase != Over; {
		if !t.Allows(Turn{Kind: Resign, By: t.toPlay}) {
			return fmt.Errorf("the player to move cannot resign %s", t.story())
		}
		if t.phase == Settling {
			if err := t.settle(); err != nil {
				return fmt.Errorf("the game cannot end: %w, %s", err, t.story())
			}
			continue
		}
		turn, ok := Turn{Kind: Pass, By: t.toPlay}, true
		if t.turns < 2*w*h {
			turn, ok = t.turn(0.8)
		} else if waiting++; waiting > trialRuns || !t.Allows(turn) {
			turn, ok = t.turn(0)
		}
		if !ok || waiting > trialEnd {
			if len(t.rules.Count) == 0 {
				return nil
			}
			why := "play goes on"
			if err := t.do(Turn{Kind: Pass, By: t.toPlay}); err != nil {
				why = err.Error()
			}
			return fmt.Errorf("the game cannot end: %s, %s", t.story(), why)
		}
		if err := t.do(turn); err != nil {
			return err
		}
	}
	return nil
}

// turn returns a legal turn, if there is one but resigning: so often a placement.
func (t *trial) turn(placements float64) (Turn, bool) {
	var places, others []Turn
	for _, turn := range t.Legal() {
		switch turn.Kind {
		case Resign:
		case Place:
			places = append(places, turn)
		default:
			others = append(others, turn)
		}
	}
	if len(others) == 0 || t.Float64() < placements && len(places) > 0 {
		others = places
	}
	if len(others) == 0 {
		return Turn{}, false
	}
	return others[t.IntN(len(others))], true
}

// settle marks a stone, as often as not, and has both accept; now and then
// play is resumed instead.
func (t *trial) settle() error {
	by := Color(1 + t.IntN(2))
	mark := Turn{Kind: MarkDead, By: by}
	for _, p := range t.board.Points() {
		if t.board.At(p) != None && t.IntN(4) == 0 {
			mark.Dead = append(mark.Dead, p)
		}
	}
	if t.Allows(mark) {
		if err := t.do(mark); err != nil {
			return err
		}
	}
	if err := t.do(Turn{Kind: AcceptScore, By: by}); err != nil {
		return err
	}
	if resume := (Turn{Kind: Resume, By: by}); t.resumptions > 0 && t.Allows(resume) {
		t.resumptions--
		return t.do(resume)
	}
	if err := t.do(Turn{Kind: AcceptScore, By: by.Opponent()}); err != nil {
		return err
	}
	if t.phase != Over {
		return errors.New("both players have accepted and the game goes on")
	}
	return nil
}

// lawful reports what is wrong with the game as it stands.
func (t *trial) lawful() error {
	var sum [3][held]int
	for _, e := range t.entries {
		sum[e.Player][e.Thing] += e.N
	}
	if sum != t.held {
		return fmt.Errorf("the ledger does not add up to what the players hold, %s", t.story())
	}
	if t.table < 0 {
		return fmt.Errorf("%d buttons lie on the table, %s", t.table, t.story())
	}
	for _, c := range []Color{Black, White} {
		for thing, n := range t.held[c] {
			if n < 0 {
				return fmt.Errorf("%v would hold %s, %s", c, Thing(thing).Words(n), t.story())
			}
		}
		if t.placed[c] != t.board.Stones(c)+t.captured[c] {
			return fmt.Errorf("stones disappear, %s", t.story())
		}
	}
	if t.phase == Over && t.score != nil {
		if now := t.count(); !slices.Equal(now.Lines, t.score.Lines) {
			return fmt.Errorf("the count misses what a turn moves after %q: put that rule last, %s", StopPlay.Name, t.story())
		}
	}
	return nil
}
