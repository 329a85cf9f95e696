package render

import (
	"fmt"
	"strings"

	"github.com/halfpoint-go/halfpoint/rules"
)

// A Scene is everything that a picture or a text of a game shows, and nothing
// of how it is drawn. It is a plain value: [Of] makes one from a game, and a
// test or a tool may write one by hand.
type Scene struct {
	// Board is the stones that stand, the top row first: X black, O white,
	// . empty. Stones in Ghosts and Dead are not among them.
	Board []string
	// Last is the point of the last placement.
	Last *rules.Point
	// Ghosts are the stones that the last turn took.
	Ghosts []Stone
	// Dead are stones marked or agreed to be dead, or suggested to be.
	Dead []Stone
	// Seki are stones marked as alive in seki.
	Seki []rules.Point
	// Territory is the points that count, once play has stopped.
	Territory []Stone

	Black, White Player
	// Counted is false where nothing is counted; then the totals of the
	// players mean nothing.
	Counted bool
	// Headline tells the margin, or who won: "White +17½". Caption, in small
	// letters under it, tells what kind of count that is, or what decided it.
	Headline, Caption string
	// Rows are the ledger, top to bottom.
	Rows []Row
	// Notes are sentences about the state of play: "one more pass stops play".
	Notes []string

	// Move is the number of turns so far; By made the last one.
	Move int
	By   rules.Color
	// Turn is the last turn in short: "J16", "pass"; empty before the first.
	Turn string
	// Told is the last turn as a sentence: "Move 299: Black J16, takes 4".
	Told string
	// Next tells what is next, and Taken how many stones the last turn took:
	// "White to play", "takes 4".
	Next, Taken string
	// Result is what SGF writes, "W+17.5", once the game is over.
	Result string
	// Ruleset is the title of the rulebook.
	Ruleset string

	// Words are those that the scene was made with; nil stands for [English].
	Words *Words `json:"-"`
}

// A Stone is a point and a colour.
type Stone struct {
	At    rules.Point
	Color rules.Color
}

// A Player is one side of the ledger.
type Player struct {
	Name  string
	Total rules.Points // in half points
	Due   bool         // the next turn or answer is theirs
}

// A Row is a line of the ledger: Black's number, a label, White's number.
type Row struct {
	Label        string
	Kind         RowKind
	Black, White Cell
}

// A RowKind tells how a row of the ledger takes part in the count.
type RowKind uint8

// The kinds of rows.
const (
	Counts RowKind = iota // a line of the count
	Sum                   // what the lines above add up to
	Aside                 // worth knowing, and worth nothing
)

// A Cell is a number of the ledger in half points (a number of things is
// doubled: 27 prisoners are 54), and by how much the last turn changed it.
type Cell struct {
	Value, Delta rules.Points
	Blank        bool // the line does not exist for this player
}

// Names are the players' names as people typed them; a picture or text shows
// what is fit to be shown of them. Without a name the colour is the name.
type Names struct{ Black, White string }

// Words are the words of scenes, for one language. The sentences of rulebooks
// are not among them: Sentence may translate those.
type Words struct {
	Black, White string
	Things       [rules.Komi + 1]string // labels of the rows by rules.Thing
	Turns        [rules.Resign + 1]string
	Area         string // stones and territory
	AreaCount    string // the count by area, komi and handicap included
	Total        string
	Placements   string

	Leads    string // colour, points: "%s +%s"
	Even     string
	Wins     string // colour: "%s wins"
	Draw     string
	NoResult string
	Naive    string // the count while play goes on
	Marked   string // the count while settling

	Start    string // before the first turn
	Move     string // number, the turn in words: "Move %d: %s"
	Takes    string // number: "takes %d"
	ToPlay   string // colour: "%s to play"
	Stopped  string // play has stopped
	Over     string // the game is over
	IfAgreed string // sentence: "if you agree: %s"
	Accepted string // colour: "%s has accepted"
	Legend   string // of the letters of Text
	DeadAre  string // added to the legend when there are dead stones

	// Told gives a turn in words and Sentence a sentence of a rulebook; nil
	// leaves them in English.
	Told     func(rules.Turn) string
	Sentence func(string) string
}

// English is the words of scenes in English.
var English = Words{
	Black: "Black", White: "White",
	Things: [...]string{
		rules.Prisoner: "Prisoners", rules.PassStone: "Pass stones", rules.ButtonThing: "Buttons",
		rules.HalfPassStone: "Half-passes", rules.UltimateStone: "Ultimate stone", rules.Stone: "Stones",
		rules.Territory: "Territory", rules.Adjustment: "Adjustment", rules.Handicap: "Handicap", rules.Komi: "Komi",
	},
	Turns: [...]string{
		rules.Pass: "pass", rules.Accept: "accept", rules.Button: "button", rules.Delay: "delay",
		rules.Draw: "draw", rules.Resign: "resign",
	},
	Area: "Area", AreaCount: "Area count", Total: "Total", Placements: "Placements",
	Leads: "%s +%s", Even: "Even", Wins: "%s wins", Draw: "Draw", NoResult: "No result",
	Naive: "naive count if play stopped now", Marked: "counted as marked",
	Start: "New game", Move: "Move %d: %s", Takes: "takes %d", ToPlay: "%s to play",
	Stopped: "play has stopped", Over: "game over",
	IfAgreed: "if you agree: %s", Accepted: "%s has accepted",
	Legend: "X Black, O White", DeadAre: "x o dead",
}

// Of gives the scene of a game in English.
func Of(g *rules.Game, n Names) Scene { return English.Of(g, n) }

// Of gives the scene of a game in these words.
func (w *Words) Of(g *rules.Game, n Names) Scene {
	s := Scene{
		Black:   Player{Name: n.Black},
		White:   Player{Name: n.White},
		Move:    g.Turns(),
		Next:    w.Stopped,
		Ruleset: g.Rules().Title,
		Words:   w,
	}
	before := previous(g)
	s.setBoard(g, before)
	s.setLedger(w, g, before)
	s.setTurn(w, g)
	s.setNotes(w, g)
	switch g.Phase() {
	case rules.Playing:
		s.Next = fmt.Sprintf(w.ToPlay, w.color(g.ToPlay()))
		s.Black.Due, s.White.Due = g.ToPlay() == rules.Black, g.ToPlay() == rules.White
	case rules.Settling:
		s.Black.Due, s.White.Due = !g.HasAgreed(rules.Black), !g.HasAgreed(rules.White)
	case rules.Over:
		return s.Ended(g.Result(), w.sentence(g.Decided()))
	}
	return s
}

// Ended gives the scene of a game that is over: result as SGF writes it,
// "W+17.5", "B+R", "W+T", "0", "Draw", "Void", and the sentence that decided
// it. [Of] does it for games that end by their own rules; those that end on a
// clock or by a referee are ended by their caller.
func (s Scene) Ended(result, decided string) Scene {
	w := s.words()
	s.Result, s.Caption, s.Next = result, decided, w.Over
	s.Black.Due, s.White.Due = false, false
	who, how, _ := strings.Cut(result, "+")
	winner := map[string]string{"B": w.Black, "W": w.White}[who]
	switch {
	case result == "0":
		s.Headline = w.Even
	case result == "Draw":
		s.Headline = w.Draw
	case winner == "":
		s.Headline = w.NoResult
	default:
		if by, err := rules.ParsePoints(how); err == nil {
			s.Headline = fmt.Sprintf(w.Leads, winner, number(by))
		} else {
			s.Headline = fmt.Sprintf(w.Wins, winner)
		}
	}
	return s
}

// Size gives the number of columns and rows of the board.
func (s *Scene) Size() (w, h int) {
	if len(s.Board) == 0 {
		return 0, 0
	}
	return len(s.Board[0]), len(s.Board)
}

// check reports a scene that cannot be drawn.
func (s *Scene) check() error {
	w, h := s.Size()
	if w < 1 || h < 1 || w > rules.MaxLines || h > rules.MaxLines {
		return fmt.Errorf("render: a board has 1 to %d lines a side, not %d×%d", rules.MaxLines, w, h)
	}
	for _, row := range s.Board {
		if len(row) != w || strings.Trim(row, "XO.") != "" {
			return fmt.Errorf("render: a row of a %d×%d board cannot be %q", w, h, row)
		}
	}
	for _, stones := range [][]Stone{s.Ghosts, s.Dead, s.Territory, {{Color: s.By}}} {
		for _, st := range stones {
			if st.Color > rules.White {
				return fmt.Errorf("render: no stone has the colour %d", st.Color)
			}
		}
	}
	return nil
}

// at gives the stone that stands on p.
func (s *Scene) at(p rules.Point) rules.Color {
	if !s.has(p) {
		return rules.None
	}
	switch s.Board[len(s.Board)-1-int(p.Y)][p.X] {
	case 'X':
		return rules.Black
	case 'O':
		return rules.White
	}
	return rules.None
}

func (s *Scene) has(p rules.Point) bool {
	w, h := s.Size()
	return p.X >= 0 && p.Y >= 0 && int(p.X) < w && int(p.Y) < h
}

func (s *Scene) words() *Words {
	if s.Words == nil {
		return &English
	}
	return s.Words
}

// previous gives the game before the last line of its log, nil if there is none.
func previous(g *rules.Game) *rules.Game {
	log := g.Log()
	if len(log) == 0 {
		return nil
	}
	before, err := rules.Replay(g.Rules(), g.Setup(), log[:len(log)-1])
	if err != nil {
		return nil
	}
	return before
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

// territory gives the points of territory that the ruleset counts.
func territory(g *rules.Game) []Stone {
	if !counts(g.Score(), rules.Territory) {
		return nil
	}
	seki := map[rules.Point]bool{}
	for _, p := range g.Seki() {
		seki[p] = true
	}
	var out []Stone
	board := g.Counted()
	for _, r := range board.Regions() {
		c := r.Owner()
		for _, p := range r.Points {
			for _, q := range []rules.Point{{X: p.X - 1, Y: p.Y}, {X: p.X + 1, Y: p.Y}, {X: p.X, Y: p.Y - 1}, {X: p.X, Y: p.Y + 1}} {
				if seki[q] {
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
	if s != nil {
		for _, l := range s.Lines {
			if l.Thing == t {
				return true
			}
		}
	}
	return false
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
		s.Taken = fmt.Sprintf(w.Takes, n)
		s.Told += ", " + s.Taken
	}
}

func (s *Scene) setNotes(w *Words, g *rules.Game) {
	add := func(note string) {
		for _, n := range s.Notes {
			if n == note {
				return
			}
		}
		s.Notes = append(s.Notes, note)
	}
	for _, said := range g.Says() {
		add(w.sentence(said))
	}
	if g.Phase() == rules.Settling {
		for _, c := range []rules.Color{rules.Black, rules.White} {
			if g.HasAgreed(c) {
				add(fmt.Sprintf(w.Accepted, w.color(c)))
			}
		}
		for _, e := range g.IfAgreed() {
			if e.Thing != rules.Prisoner { // the board shows those
				add(fmt.Sprintf(w.IfAgreed, w.sentence(e.Why)))
			}
		}
	}
	log := g.Log()
	if len(log) == 0 || !log[len(log)-1].Kind.IsTurn() {
		return
	}
	for _, e := range g.EntriesOf(g.Turns()) {
		if e.Thing != rules.Prisoner || log[len(log)-1].Kind != rules.Place {
			add(w.sentence(e.Why))
		}
	}
}

func (s *Scene) setLedger(w *Words, g, before *rules.Game) {
	score := g.Score()
	if score == nil {
		s.setBowls(w, g, before)
		return
	}
	s.Counted = true
	s.Black.Total, s.White.Total = score.Black, score.White
	s.Headline, s.Caption = w.Even, w.Naive
	if m := score.Margin(); m > 0 {
		s.Headline = fmt.Sprintf(w.Leads, w.Black, number(m))
	} else if m < 0 {
		s.Headline = fmt.Sprintf(w.Leads, w.White, number(-m))
	}
	if g.Phase() == rules.Settling {
		s.Caption = w.Marked
	}

	var was *rules.Score
	if before != nil {
		was = before.Score()
	}
	area := Row{Label: w.Area, Kind: Sum}
	lines, inArea := rowsOf(score), 0
	old := rowsOf(was)
	for i, l := range lines {
		row := Row{Label: w.Things[l.thing], Black: l.cell(rules.Black), White: l.cell(rules.White)}
		if was != nil {
			o := find(old, l.thing)
			row.Black.Delta, row.White.Delta = row.Black.Value-o.points[rules.Black], row.White.Value-o.points[rules.White]
		}
		s.Rows = append(s.Rows, row)
		if l.thing == rules.Stone || l.thing == rules.Territory {
			inArea++
			area.Black.Value += row.Black.Value
			area.White.Value += row.White.Value
			if inArea == 2 && i < len(lines)-1 {
				s.Rows = append(s.Rows, area)
			}
		}
	}
	s.Rows = append(s.Rows, Row{Label: w.Total, Kind: Sum, Black: Cell{Value: score.Black}, White: Cell{Value: score.White}})

	for t := rules.Prisoner; t <= rules.UltimateStone; t++ {
		if !counts(score, t) && (t == rules.Prisoner || g.Holds(rules.Black, t)+g.Holds(rules.White, t) > 0) {
			s.Rows = append(s.Rows, held(w, t, g, before))
		}
	}
	if !counts(score, rules.Stone) && g.Phase() == rules.Over && settled(g) {
		s.Rows = append(s.Rows, areaCount(w, g, lines))
	}
}

// areaCount is the count by area of a game that was counted by territory.
func areaCount(w *Words, g *rules.Game, lines []line) Row {
	board := g.Counted()
	black, white := board.Territory()
	black += board.Stones(rules.Black)
	white += board.Stones(rules.White)
	if n := g.Setup().Handicap; n >= 2 {
		white += n - 1
	}
	row := Row{Label: w.AreaCount, Kind: Aside}
	row.Black.Value = rules.Points(black) * rules.One
	row.White.Value = rules.Points(white)*rules.One + find(lines, rules.Komi).points[rules.White]
	return row
}

// A line is a row before it is labelled.
type line struct {
	thing  rules.Thing
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
		i := 0
		for i < len(out) && out[i].thing != l.Thing {
			i++
		}
		if i == len(out) {
			out = append(out, line{thing: l.Thing})
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
		cell.Value = rules.Points(g.Holds(c, t)) * rules.One
		if before != nil {
			cell.Delta = cell.Value - rules.Points(before.Holds(c, t))*rules.One
		}
	}
	return row
}

// setBowls is the ledger of a game in which nothing is counted.
func (s *Scene) setBowls(w *Words, g, before *rules.Game) {
	s.Rows = append(s.Rows, held(w, rules.Prisoner, g, before), held(w, rules.UltimateStone, g, before))
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

func (w *Words) color(c rules.Color) string {
	if c == rules.Black {
		return w.Black
	}
	return w.White
}

func (w *Words) sentence(s string) string {
	if w.Sentence != nil {
		return w.Sentence(s)
	}
	return s
}

// number writes points for people, with a real minus sign.
func number(p rules.Points) string { return strings.Replace(p.String(), "-", "−", 1) }
