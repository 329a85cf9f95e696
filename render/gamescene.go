package render

import (
	"fmt"
	"slices"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Of returns the scene of a game in English.
func Of(g *rules.Game, n Names) Scene { return English.Of(g, n) }

// EndedNow returns the scene of a game in English with its exact count; see
// [Words.EndedNow].
func EndedNow(g *rules.Game, n Names) Scene { return English.EndedNow(g, n) }

// Of returns the scene of a game in these words. While stones are in play the
// scene counts nothing: its rows are what the players hold for certain, and it
// has no headline unless it is [Scene.Estimated].
func (w *Words) Of(g *rules.Game, n Names) Scene { return w.scene(g, n, settled(g)) }

// EndedNow returns the scene that [Words.Of] makes, but while stones are in play
// it counts the board as it stands, which takes no stone for dead, and says so.
// It is for people who ask for that count.
func (w *Words) EndedNow(g *rules.Game, n Names) Scene {
	return w.scene(g, n, settled(g) || g.Phase() == rules.Playing)
}

func (w *Words) scene(g *rules.Game, n Names, counted bool) Scene {
	s := Scene{
		Black:   Player{Name: n.Black, Bowl: bowl(g, rules.Black)},
		White:   Player{Name: n.White, Bowl: bowl(g, rules.White)},
		Move:    g.Turns(),
		Next:    w.Stopped,
		Ruleset: g.Rules().Title,
		Words:   w,
	}
	before := g.Before()
	s.setBoard(g, before)
	s.setLedger(w, g, before, counted)
	s.setTurn(w, g)
	s.setNotes(w, g)
	s.setLegend(w, g)
	switch g.Phase() {
	case rules.Playing:
		s.Playing = true
		s.Table.Buttons = g.Table()
		s.Next = fmt.Sprintf(w.ToPlay, w.color(g.ToPlay()))
		s.Black.Due, s.White.Due = g.ToPlay() == rules.Black, g.ToPlay() == rules.White
		s.Ko = ko(g)
		s.Black.Accepted, s.White.Accepted = g.AcceptedNoResult(rules.Black), g.AcceptedNoResult(rules.White)
		if g.Rules().Has(rules.Draw) {
			if rules.BlackMayDeclareDraw.Is(g) {
				s.Black.Right = w.MayDraw
			} else if rules.WhiteMayDeclareDraw.Is(g) {
				s.White.Right = w.MayDraw
			}
		}
	case rules.Settling:
		s.Table.Buttons = table(g)
		s.Black.Accepted, s.White.Accepted = g.HasAgreed(rules.Black), g.HasAgreed(rules.White)
		s.Black.Due, s.White.Due = !s.Black.Accepted, !s.White.Accepted
	case rules.Over:
		return s.Ended(g.Result(), w.saying(g.Decided()))
	}
	return s
}

func bowl(g *rules.Game, c rules.Color) Bowl {
	prisoners := holds(g, c, rules.Prisoner)
	return Bowl{
		Stones:     prisoners + holds(g, c, rules.PassStone),
		Prisoners:  prisoners,
		Ultimate:   holds(g, c, rules.UltimateStone),
		Buttons:    holds(g, c, rules.ButtonThing),
		HalfPasses: holds(g, c, rules.HalfPassStone),
	}
}

// holds returns how many things a player holds; once play has stopped, what they will
// hold if both agree, as the count has it.
func holds(g *rules.Game, c rules.Color, t rules.Thing) int {
	n := g.Holds(c, t)
	for _, e := range g.IfAgreed() {
		if e.Player == c && e.Thing == t {
			n += e.N
		}
	}
	return n
}

// table returns how many buttons lie between the players, likewise.
func table(g *rules.Game) int {
	n := g.Table()
	for _, e := range g.IfAgreed() {
		if e.Thing == rules.ButtonThing {
			n -= e.N
		}
	}
	return n
}

// newest returns the point of the last stone that was placed, or nil if it does not
// stand any more or there is none.
func newest(g *rules.Game) *rules.Point {
	board := g.Board()
	for _, t := range slices.Backward(g.Log()) {
		if t.Kind == rules.Place {
			if board.At(t.At) != t.By {
				return nil
			}
			return &t.At
		}
	}
	return nil
}

func (s *Scene) setBoard(g, before *rules.Game) {
	board := g.Board()
	was := board
	if before != nil {
		was = before.Board()
	}
	last, any := g.LastTurn()
	if any && last.Kind == rules.Place {
		at := last.At
		s.Last = &at
	} else if g.Phase() == rules.Playing {
		s.Newest = newest(g)
	}
	for _, p := range g.Taken() {
		c := was.At(p)
		if c == rules.None { // the very stone that the turn placed
			c = last.By
		}
		s.Ghosts = append(s.Ghosts, Stone{p, c})
	}
	dead := g.Dead()
	if len(dead) == 0 {
		dead = g.Suggested()
	}
	for _, p := range dead {
		if c := was.At(p); c != rules.None {
			s.Dead = append(s.Dead, Stone{p, c})
		}
	}
	board.Lift(dead)
	s.Board = board.Rows()
	s.Seki = g.Seki()
	if settled(g) {
		s.Territory = territory(g)
	}
}

// ko returns the points on which the player to move could take stones if the
// position did not repeat.
func ko(g *rules.Game) []rules.Point {
	var out []rules.Point
	board := g.Board()
	for _, p := range board.Points() {
		// Without a capture the position is new.
		if board.At(p) != rules.None || !takes(&board, p, g.ToPlay()) {
			continue
		}
		if !g.Allows(rules.Turn{By: g.ToPlay(), At: p}) {
			out = append(out, p)
		}
	}
	return out
}

func takes(b *rules.Board, p rules.Point, by rules.Color) bool {
	for _, q := range around(p) {
		if b.At(q) == by.Opponent() && b.Liberties(q) == 1 {
			return true
		}
	}
	return false
}

func around(p rules.Point) [4]rules.Point {
	return [4]rules.Point{{X: p.X - 1, Y: p.Y}, {X: p.X + 1, Y: p.Y}, {X: p.X, Y: p.Y - 1}, {X: p.X, Y: p.Y + 1}}
}

// settled reports whether the count is more than a guess.
func settled(g *rules.Game) bool {
	switch g.Phase() {
	case rules.Settling:
		return true
	case rules.Over:
		r := g.Result()
		return r != "" && r[len(r)-1] >= '0' && r[len(r)-1] <= '9'
	}
	return false
}

// territory returns the points of territory that the ruleset counts.
func territory(g *rules.Game) []Stone {
	if !counts(g.Score(), rules.Territory) {
		return nil
	}
	var out []Stone
	board := g.Counted()
	for _, r := range board.Regions() {
		c := r.Owner()
		for _, p := range r.Points {
			for _, q := range around(p) {
				if slices.Contains(g.Seki(), q) {
					c = rules.None
				}
			}
		}
		if c == rules.None {
			continue
		}
		for _, p := range r.Points {
			out = append(out, Stone{p, c})
		}
	}
	return out
}

func counts(s *rules.Score, t rules.Thing) bool {
	return s != nil && slices.ContainsFunc(s.Lines, func(l rules.Line) bool { return l.Thing == t })
}

func (s *Scene) setTurn(w *Words, g *rules.Game) {
	t, any := g.LastTurn()
	if !any {
		s.Told = w.Start
		return
	}
	s.By = t.By
	s.Turn = w.Turns[t.Kind]
	if t.Kind == rules.Place {
		s.Turn = t.At.String()
	}
	told := t.Words()
	if w.Told != nil {
		told = w.Told(t)
	}
	s.Told = fmt.Sprintf(w.Move, g.Turns(), told)
	if n := len(s.Ghosts); n > 0 {
		s.Told += ", " + fmt.Sprintf(w.Takes, n)
	}
}

// setNotes gathers the sentences: what is so, and what the last turn did.
func (s *Scene) setNotes(w *Words, g *rules.Game) {
	add := func(to *[]string, note string) {
		if !slices.Contains(*to, note) {
			*to = append(*to, note)
		}
	}
	for _, said := range g.Says() {
		add(&s.Notes, w.sentence(said))
	}
	if g.Phase() == rules.Settling {
		for _, e := range g.IfAgreed() {
			if e.Thing != rules.Prisoner { // the board shows those
				add(&s.Notes, fmt.Sprintf(w.IfAgreed, w.sentence(e.Why)))
			}
		}
	}
	log := g.Log()
	if len(log) == 0 || !log[len(log)-1].Kind.IsTurn() {
		return
	}
	for _, e := range g.EntriesOf(g.Turns()) {
		if e.Thing != rules.Prisoner || log[len(log)-1].Kind != rules.Place {
			add(&s.Why, w.sentence(e.Why))
		}
	}
}

// Estimated returns the scene of a game in play with an estimated margin in half
// points, positive where Black leads, as its headline: "≈ Black +4", rounded to
// whole points. Any other scene, and one that is counted, remains as it is.
func (s Scene) Estimated(margin rules.Points) Scene {
	if !s.Playing || s.Counted {
		return s
	}
	w := s.words()
	whole := (max(margin, -margin) + rules.Half) / rules.One * rules.One
	switch {
	case whole == 0:
		s.Headline, s.Heard = w.AboutEven, w.HeardEven
	case margin > 0:
		s.Headline, s.Heard = fmt.Sprintf(w.About, w.leads(rules.Black, whole)), fmt.Sprintf(w.Heard, w.Black, whole.String())
	default:
		s.Headline, s.Heard = fmt.Sprintf(w.About, w.leads(rules.White, whole)), fmt.Sprintf(w.Heard, w.White, whole.String())
	}
	s.Estimate = true
	return s
}

// Trial returns the scene of turns that only try out what is dead: where an estimate
// would stand it says so, and that nothing of it counts.
func (s Scene) Trial() Scene {
	w := s.words()
	s.Headline, s.Caption = w.Trial, w.TrialIs
	s.Winner, s.Estimate, s.Heard = rules.None, false, ""
	return s
}

// Position returns the scene of a position to talk about: without turns it is not
// called a new game, and without a count it has no komi.
func (s Scene) Position() Scene {
	w := s.words()
	if s.Turn == "" {
		s.Told = w.Position
	}
	if !s.Counted {
		s.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(r Row) bool { return r.Label == w.Things[rules.Komi] })
	}
	return s
}

// setLedger fills the rows. Of a game that is not counted they are what the
// players hold, which no later turn makes uncertain.
func (s *Scene) setLedger(w *Words, g, before *rules.Game, counted bool) {
	score := g.Score()
	if score == nil {
		s.setBowls(w, g, before)
		return
	}
	s.Counted = counted
	s.Table.Zone = counts(score, rules.HalfPassStone)
	if counted {
		s.setCount(w, g, score)
	}

	var was *rules.Score
	if before != nil {
		was = before.Score()
	}
	old := rowsOf(was)
	first := settled(g) && was != nil && !settled(before) // nobody has counted the board before: it has not changed
	for _, l := range rowsOf(score) {
		board := l.thing == rules.Stone || l.thing == rules.Territory
		if !counted && board {
			continue
		}
		row := Row{Label: w.Things[l.thing], Black: l.cell(rules.Black), White: l.cell(rules.White)}
		if was != nil && !(first && board) {
			o := find(old, l.thing)
			row.Black.Delta, row.White.Delta = row.Black.Value-o.points[rules.Black], row.White.Value-o.points[rules.White]
		}
		s.addRow(row)
	}
	for t := rules.Prisoner; t <= rules.UltimateStone; t++ {
		if !counts(score, t) {
			s.addRow(held(w, t, g, before))
		}
	}
}

// setLegend tells what things are worth, and what the ruleset says of winning and
// passing.
func (s *Scene) setLegend(w *Words, g *rules.Game) {
	worth := func(t rules.Thing, points string) {
		s.Legend = append(s.Legend, Worth{t, fmt.Sprintf(w.Worth[t], points)})
	}
	switch score := g.Score(); {
	case score == nil:
		worth(rules.Prisoner, w.OneDelay)
		worth(rules.UltimateStone, w.Turns[rules.Draw])
	default:
		for _, l := range rowsOf(score) {
			if l.thing > rules.UltimateStone {
				continue
			}
			points, ok := map[rules.Points]string{rules.One: w.OnePoint, rules.Half: w.HalfPoint}[l.each]
			if !ok {
				points = l.each.String()
			}
			worth(l.thing, points)
		}
	}
	for _, text := range []string{g.Rules().Aim, g.Rules().PassCost} {
		if text != "" {
			s.Aim = append(s.Aim, w.sentence(text))
		}
	}
}

// setCount fills in the totals and the margin.
func (s *Scene) setCount(w *Words, g *rules.Game, score *rules.Score) {
	s.Black.Total, s.White.Total = score.Black, score.White
	s.Headline, s.Caption = w.Even, w.Now
	if m := score.Margin(); m > 0 {
		s.Winner, s.Headline = rules.Black, w.leads(rules.Black, m)
	} else if m < 0 {
		s.Winner, s.Headline = rules.White, w.leads(rules.White, -m)
	}
	if g.Phase() == rules.Settling {
		s.Caption = w.Marked
	}
}

// addRow adds a row, unless both players have nothing there and had nothing before.
func (s *Scene) addRow(r Row) {
	if r.Black.Value|r.Black.Delta|r.White.Value|r.White.Delta != 0 {
		s.Rows = append(s.Rows, r)
	}
}

// A line is a row before it is labelled.
type line struct {
	thing  rules.Thing
	each   rules.Points
	points [3]rules.Points // by colour
	has    [3]bool
}

func (l line) cell(c rules.Color) Cell { return Cell{Value: l.points[c], Blank: !l.has[c]} }

// rowsOf brings the lines of both players together, in the order of the count.
func rowsOf(s *rules.Score) []line {
	if s == nil {
		return nil
	}
	var out []line
	for _, l := range s.Lines {
		i := slices.IndexFunc(out, func(o line) bool { return o.thing == l.Thing })
		if i < 0 {
			i = len(out)
			out = append(out, line{thing: l.Thing, each: l.Each})
		}
		out[i].points[l.Player] += l.Points()
		out[i].has[l.Player] = true
	}
	return out
}

func find(lines []line, t rules.Thing) line {
	for _, l := range lines {
		if l.thing == t {
			return l
		}
	}
	return line{}
}

// held is the row of a thing that players hold and the count passes over.
func held(w *Words, t rules.Thing, g, before *rules.Game) Row {
	row := Row{Label: w.Things[t], Kind: Aside}
	for c, cell := range map[rules.Color]*Cell{rules.Black: &row.Black, rules.White: &row.White} {
		cell.Value = rules.Points(holds(g, c, t)) * rules.One
		if before != nil {
			cell.Delta = cell.Value - rules.Points(holds(before, c, t))*rules.One
		}
	}
	return row
}

// setBowls makes the ledger of a game without a count.
func (s *Scene) setBowls(w *Words, g, before *rules.Game) {
	s.addRow(held(w, rules.Prisoner, g, before))
	s.addRow(held(w, rules.UltimateStone, g, before))
	if g.Phase() != rules.Playing {
		return
	}
	black, white := g.Placements(rules.Black), g.Placements(rules.White)
	s.Rows = append(s.Rows, Row{
		Label: w.Placements, Kind: Aside,
		Black: Cell{Value: rules.Points(black) * rules.One},
		White: Cell{Value: rules.Points(white) * rules.One},
	})
}
