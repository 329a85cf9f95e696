package match

import (
	"slices"
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/rules"
)

// stones places handicap stones: all that are named, or none.
func (in *Input) stones(points string) Step {
	if in.Match.Black != in.By {
		return in.Refuse(say("not.your.turn", in.number(), text.Color(rules.Black)))
	}
	ps, err := ParsePoints(points, in.Match.Setup.W, in.Match.Setup.H)
	if err != nil {
		return in.Refuse(wrong(err))
	}
	left := in.Position.Placing
	if len(ps) == 0 || len(ps) > left {
		return in.Refuse(say("placing.many", left, in.number(), in.exampleFree(min(left, 2))))
	}
	var bodies []Body
	for _, p := range ps {
		bodies = append(bodies, body(eventStone, p))
	}
	all := slices.Concat(in.Position.Stones, ps)
	for i, p := range all {
		if slices.Contains(all[:i], p) {
			return in.Refuse(say("placing.twice", p.String()))
		}
	}
	if _, _, err := in.Match.begin(in.Position.Game.Rules(), all); err != nil { // a stone may lack a liberty
		return in.Refuse(text.Whole(err))
	}
	return in.step(words{}, bodies...)
}

// undoStone takes back the last handicap stone: freely while they are being
// placed, later like any turn.
func (in *Input) undoStone() Step {
	if in.Match.Black != in.By {
		return in.Refuse(say("undo.nothing", in.number()))
	}
	last, seq := in.Position.Stones[len(in.Position.Stones)-1], 0
	for _, e := range in.events() {
		if e.Body == body(eventStone, last) {
			seq = e.Seq
		}
	}
	stone := say("stone.words", last.String())
	if in.Position.Placing > 0 || in.Match.White == in.By || in.soon(seq) {
		return in.step(above(say("undone", named(in.By), stone)), body(eventUndo, seq-1))
	}
	return in.ask("undo "+strconv.Itoa(seq-1), say("request.undo", 1, named(in.By), in.other(), in.number(), stone))
}
