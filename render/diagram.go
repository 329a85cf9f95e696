package render

import (
	"fmt"
	"strconv"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Diagram gives the scene of a game as books print it: the board before the
// turn numbered first, and on it the stones of the turns from first to last,
// with numbers that begin with from. A stone that is taken on the way stays
// where it is; what is played on a point that has a stone is told in a note,
// "5 at 1" or "5 at C3".
func (w *Words) Diagram(g *rules.Game, n Names, first, last, from int) Scene {
	first, last = max(first, 1), min(last, g.Turns())
	s := w.Of(g.At(last), n)
	s.Ghosts, s.Last, s.Ko, s.Notes, s.Why = nil, nil, nil, nil, nil
	before := g.At(first - 1)
	board := before.Board()
	numbers := map[rules.Point]int{}
	turn := 0
	for _, t := range g.Log() {
		if !t.Kind.IsTurn() {
			continue
		}
		turn++
		if turn < first || turn > last {
			continue
		}
		number := from + turn - first
		switch {
		case t.Kind != rules.Place:
			s.Notes = append(s.Notes, fmt.Sprintf("%d: %s", number, w.Turns[t.Kind]))
		case board.At(t.At) == rules.None:
			board.Put(t.At, t.By)
			numbers[t.At] = number
			s.Marks = append(s.Marks, Mark{At: t.At, Label: strconv.Itoa(number)})
		default:
			where := t.At.String()
			if there := numbers[t.At]; there > 0 {
				where = strconv.Itoa(there)
			}
			s.Notes = append(s.Notes, fmt.Sprintf(w.AtPoint, number, where))
		}
	}
	s.Board = board.Rows()
	return s
}

// Diagram is [Words.Diagram] in English.
func Diagram(g *rules.Game, n Names, first, last, from int) Scene {
	return English.Diagram(g, n, first, last, from)
}
