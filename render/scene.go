package render

import (
	"fmt"
	"slices"
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
	// Last is the point of the last turn, if that was a placement.
	Last *rules.Point
	// Newest is the point of the last placement where the turns after it placed
	// nothing, during play and while its stone stands: somebody who comes back after
	// a pass sees where the opponent had played.
	Newest *rules.Point
	// Ghosts are the stones that the last turn took.
	Ghosts []Stone
	// Dead are stones marked or agreed to be dead, or suggested to be.
	Dead []Stone
	// Seki are stones marked as alive in seki.
	Seki []rules.Point
	// Ko are points on which the player to move may not take, because the
	// position would repeat.
	Ko []rules.Point
	// Territory is the points that count, once play has stopped.
	Territory []Stone
	// Look is how the picture is to be drawn where nobody says otherwise: what has
	// been chosen for the room.
	Look Options

	Black, White Player
	// Table is what lies between the players.
	Table Table
	// Playing tells that stones are in play.
	Playing bool
	// Counted is false under a ruleset without a count; then the totals of the
	// players mean nothing.
	Counted bool
	// Headline tells the margin, or who won: "White +17½"; it is empty where
	// nobody has counted or estimated. Caption, in small letters under it, tells
	// what kind of count that is, or what decided it.
	Headline, Caption string
	// Estimate tells that the headline is an estimate, and Heard is what it is in words.
	Estimate bool
	Heard    string
	// Rows are the ledger, top to bottom. Those of the kind Counts add up to the
	// totals where the scene is counted.
	Rows []Row
	// Legend tells what the things that players hold are worth; Aim, how to win
	// and what a pass costs, in sentences of the ruleset.
	Legend []Worth
	Aim    []string
	// Notes are sentences about the state of play: "one more pass stops play".
	Notes []string
	// Comment is what somebody says of this position, in a lesson or a record.
	Comment string
	// Step of Steps is where in a lesson or a replay this picture stands; 0 of
	// 0 outside of them.
	Step, Steps int

	// Move is the number of turns so far; By made the last one.
	Move int
	By   rules.Color
	// Turn is the last turn in short: "J16", "pass"; empty before the first.
	Turn string
	// Told is the last turn as a sentence: "Move 299: Black J16, takes 4".
	Told string
	// Why are the rules by which the last turn moved
	// things, but for the taking of stones, which the board shows.
	Why []string
	// Next tells what is next: "White to play".
	Next string
	// Result is what SGF writes, "W+17.5", once the game is over.
	Result string
	// Winner won, or is ahead where a count is shown; None if nobody.
	Winner rules.Color
	// Ruleset is the title of the ruleset.
	Ruleset string

	// Series names the game whose pictures follow each other, so that [PNG] can
	// paint only what has changed. It does not show. Empty: every picture is
	// painted from scratch.
	Series string `json:"-"`

	// Words are those that the scene was made with; nil: [English].
	Words *Words `json:"-"`
}

// A Stone is a point and a colour.
type Stone struct {
	At    rules.Point
	Color rules.Color
}

// A Player is one side of the ledger.
type Player struct {
	Name     string
	Total    rules.Points // in half points
	Due      bool         // the next turn or answer is theirs
	Accepted bool         // they have accepted the marks as they are, or that there is no result
	Right    string       // what they alone may do: "may draw"
	Bowl     Bowl
}

// A Bowl is what lies in the lid of a player's bowl and beside it, in numbers
// of things.
type Bowl struct {
	Stones     int // prisoners and pass stones
	Prisoners  int // of them
	Ultimate   int
	Buttons    int
	HalfPasses int // in their side of the half-pass zone
}

// A Table is what belongs to nobody.
type Table struct {
	Buttons int  // that lie there to be taken
	Zone    bool // there is a half-pass zone
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
	Aside                 // worth knowing, and worth nothing
)

// A Worth is a line of the legend: "Button = half a point".
type Worth struct {
	Thing rules.Thing
	Text  string
}

// A Cell is a number of the ledger in half points (a number of things is
// doubled: 27 prisoners are 54), and by how much the last turn changed it.
type Cell struct {
	Value, Delta rules.Points
	Blank        bool // the line does not exist for this player
}

// Names are the players' names as people typed them; a picture or text shows
// what is fit to be shown of them. Without a name the colour is the name.
type Names struct{ Black, White string }

// Ended returns the scene of a game that is over: result as SGF writes it,
// "W+17.5", "B+R", "W+T", "0", "Draw", "Void", and the sentence that decided
// it. [Of] does it for games that end by their own rules; those that end on a
// clock or by a referee are ended by their caller.
func (s Scene) Ended(result, decided string) Scene {
	w := s.words()
	s.Result, s.Caption, s.Next = result, decided, w.Over
	s.Playing, s.Estimate, s.Heard = false, false, ""
	s.Black.Due, s.White.Due = false, false
	s.Black.Accepted, s.White.Accepted = false, false
	s.Black.Right, s.White.Right = "", ""
	s.Ko = nil
	who, how, _ := strings.Cut(result, "+")
	s.Winner = map[string]rules.Color{"B": rules.Black, "W": rules.White}[who]
	switch {
	case result == "0":
		s.Headline = w.Even
	case result == "Draw":
		s.Headline = w.Draw
	case s.Winner == rules.None:
		s.Headline = w.NoResult
	default:
		if by, err := rules.ParsePoints(how); err == nil {
			s.Headline = w.leads(s.Winner, by)
		} else {
			s.Headline = fmt.Sprintf(w.Wins, w.color(s.Winner))
		}
	}
	return s
}

// Size returns the number of columns and rows of the board.
func (s *Scene) Size() (w, h int) {
	if len(s.Board) == 0 {
		return 0, 0
	}
	return len(s.Board[0]), len(s.Board)
}

// check reports a scene that cannot be drawn.
func (s *Scene) check() error {
	w, h := s.Size()
	if min(w, h) < 1 || max(w, h) > rules.MaxLines {
		return fmt.Errorf("render: a board has 1 to %d lines a side, not %d×%d", rules.MaxLines, w, h)
	}
	for _, row := range s.Board {
		if len(row) != w || strings.Trim(row, "XO.") != "" {
			return fmt.Errorf("render: a row of a %d×%d board cannot be %q", w, h, row)
		}
	}
	for _, st := range slices.Concat(s.Ghosts, s.Dead, s.Territory, []Stone{{Color: s.By}, {Color: s.Winner}}) {
		if st.Color > rules.White {
			return fmt.Errorf("render: no stone has the colour %d", st.Color)
		}
	}
	return nil
}

// at returns the stone that stands on p.
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
