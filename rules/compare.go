package rules

import (
	"errors"
)

// ErrNoCount is the error of counting under a ruleset without a count.
var ErrNoCount = errors.New("nothing is counted under this ruleset")

// Close plays a log under r, adds the ruleset's closing, from the player then
// to move, as far as it is needed to stop play, and lifts the stones in dead:
// by marking and accepting where the ruleset settles, by agreement outside the
// ruleset where its last pass counts all stones as alive. Stones in seki are marked where that matters.
func Close(r *Ruleset, s Setup, log []Turn, dead, seki []Point) (*Game, error) {
	g, err := New(r, s)
	if err != nil {
		return nil, err
	}
	if g, err = g.Replay(log); err != nil {
		return nil, err
	}
	return g.close(dead, seki)
}

// close is Close for a game that has been played.
func (g *Game) close(dead, seki []Point) (_ *Game, err error) {
	r := g.rules
	for _, k := range r.Closing {
		t := Turn{Kind: k, By: g.toPlay}
		if g.phase != Playing || k == Button && !g.Allows(t) {
			continue
		}
		next, err := g.Play(t)
		if err == nil && next.phase == Over {
			if next, err = g.Lift(dead).Play(t); err == nil {
				next.before = g.alone() // so that the picture shows what the dead stones changed
			}
		}
		if err != nil || next.phase == Over {
			return next, err
		}
		g = next
	}
	return g.Settled(dead, seki)
}

// Lift returns the game with the chains of the points in dead taken as
// prisoners, which no play-out ruleset knows: it serves to count a game under
// a ruleset that it was not played by.
func (g *Game) Lift(dead []Point) *Game {
	next := *g
	for _, p := range dead {
		for _, q := range next.board.Chain(p) {
			next.dead = with(next.dead, q, true)
		}
	}
	next.liftDead()
	next.backing = nil // it is g's
	next.clip()
	return &next
}

// Settled returns the game with the chains of the points in dead and in seki
// marked and the count accepted by both. The game must be settling.
func (g *Game) Settled(dead, seki []Point) (*Game, error) {
	var log []Turn
	if len(dead) > 0 {
		log = append(log, Turn{Kind: MarkDead, By: Black, Dead: dead})
	}
	if len(seki) > 0 && g.rules.Has(MarkSeki) {
		log = append(log, Turn{Kind: MarkSeki, By: Black, Dead: seki})
	}
	return g.Replay(append(log, Turn{Kind: AcceptScore, By: Black}, Turn{Kind: AcceptScore, By: White}))
}

// Perft counts the sequences of turns of 1, 2, … depth turns from g. Placement,
// pass, accept, button and delay are turns here; draw and resignation are not.
// Nothing follows the end or the stop of play.
func Perft(g *Game, depth int) []uint64 {
	counts := make([]uint64, depth)
	perft(g, counts)
	return counts
}

func perft(g *Game, counts []uint64) {
	if len(counts) == 0 || g.phase != Playing {
		return
	}
	for _, t := range PerftTurns(g) {
		next, _ := g.Play(t)
		counts[0]++
		perft(next, counts[1:])
	}
}

// PerftTurns returns the turns that Perft counts.
func PerftTurns(g *Game) []Turn {
	var out []Turn
	for _, t := range g.Legal() {
		if t.Kind != Draw && t.Kind != Resign {
			out = append(out, t)
		}
	}
	return out
}
