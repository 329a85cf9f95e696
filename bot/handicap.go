package bot

import (
	"slices"
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// placeHandicap places handicap stones where Black likes them.
func placeHandicap(in *input) Step {
	if s, blocked := in.blocked(); blocked {
		return s
	}
	if in.pos.placing == 0 {
		return in.refuse(say("placing.none", in.number()))
	}
	return in.stones(in.request.Args["points"])
}

// stones places handicap stones: those that are named, or none of them.
func (in *input) stones(points string) Step {
	if in.match.Black != in.by {
		return in.refuse(say("not.your.turn", in.number(), text.Color(rules.Black)))
	}
	ps, err := parsePoints(points, in.match.Setup.W, in.match.Setup.H)
	if err != nil {
		return in.refuse(wrong(err))
	}
	left := in.pos.placing
	if len(ps) == 0 || len(ps) > left {
		return in.refuse(say("placing.many", left, in.number()))
	}
	var bodies []string
	for _, p := range ps {
		bodies = append(bodies, "stone "+p.String())
	}
	all := slices.Concat(in.pos.stones, ps)
	for i, p := range all {
		if slices.Contains(all[:i], p) {
			return in.refuse(say("placing.twice", p.String()))
		}
	}
	if _, _, err := in.match.begin(in.pos.game.Rules(), all); err != nil { // a stone may lack a liberty
		return in.refuse(say("bad.handicap", text.Begins(err)))
	}
	return in.step(bodies, nil, nil)
}

// undoStone takes back the last handicap stone: freely while they are being
// placed, later as any turn.
func (in *input) undoStone() Step {
	if in.match.Black != in.by {
		return in.refuse(say("undo.nothing", in.number()))
	}
	last, seq := in.pos.stones[len(in.pos.stones)-1], 0
	for _, e := range in.events() {
		if e.Body == "stone "+last.String() {
			seq = e.Seq
		}
	}
	back := strconv.Itoa(seq - 1)
	words := say("stone.words", last.String())
	if in.pos.placing > 0 || in.match.White == in.by || in.soon(seq) {
		return in.step([]string{"undo " + back}, []Text{say("undone", named(in.by), words)}, nil)
	}
	return in.ask("undo "+back, say("asks.undo", named(in.by), in.number(), words))
}
