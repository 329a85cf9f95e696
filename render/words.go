package render

import (
	"fmt"

	"github.com/halfpoint-go/halfpoint/rules"
)

// Words are the words of scenes, for one language. The texts of rules
// are not among them: Sentence may translate those.
type Words struct {
	Black, White string
	Things       [rules.Komi + 1]string // labels of the rows by rules.Thing
	// Worth are the lines of the legend; OnePoint, HalfPoint and OneDelay are
	// what they tell, without figures, which would be too small to read.
	Worth                         [rules.UltimateStone + 1]string
	OnePoint, HalfPoint, OneDelay string
	Turns                         [rules.Resign + 1]string
	Placements                    string
	Others                        string // rows of which there are too many, taken together

	Leads     string // colour, points: "%s +%s"
	Even      string
	About     string // of an estimate, the leader and the margin: "≈ %s"
	AboutEven string // of an estimate
	Heard     string // of an estimate in words: colour, points
	HeardEven string
	Wins      string // colour: "%s wins"
	Draw      string
	NoResult  string
	Now       string // of the count during play
	Marked    string // of the count while settling

	Start     string // before the first turn
	Position  string // before the first turn, of a position to talk about
	Trial     string // of turns that try out what is dead
	TrialIs   string // what a trial is, under that
	Move      string // number, the turn in words: "Move %d: %s"
	Takes     string // number: "takes %d"
	ToPlay    string // colour: "%s to play"
	Stopped   string // play has stopped
	Over      string // the game is over
	IfAgreed  string // sentence: "if you agree: %s"
	Accepted  string // colour: "%s has accepted"
	Forbidden string // points: "may not take at %s (repetition)"
	InSeki    string // points: "alive in seki: %s"
	MayDraw   string // of the player who has the right to declare a draw
	Step      string // of a lesson or replay: "Step %d of %d"
	Legend    string // of the letters of Text
	DeadAre   string // added to the legend when there are dead stones
	Stop      string // behind each sentence of Text: ". "

	// Points are named to those who hear the board: "D4, black, last turn".
	Lies     [rules.White + 1]string // what lies there: "empty", "black"
	Comma    string                  // between the parts of a name: ", "
	Captured string                  // of the colour by Lies: "%s captured" by the last turn
	Dead     string                  // of a stone that lies there
	Owned    string                  // colour: "%s territory"
	Seki     string                  // of a stone
	Ko       string                  // of a point that may not be taken on
	LastTurn string
	Newest   string // of the last stone, if it is not the last turn

	// Told puts a turn into words and Sentence the text of a rule; nil
	// leaves them in English.
	Told     func(rules.Turn) string
	Sentence func(rules.Saying) string
}

// English is the words of scenes in English.
var English = Words{
	Black: "Black", White: "White",
	Things: [...]string{
		rules.Prisoner: "Prisoners", rules.PassStone: "Pass stones", rules.ButtonThing: "Buttons",
		rules.HalfPassStone: "Half-passes", rules.UltimateStone: "Ultimate stone", rules.Stone: "Stones",
		rules.Territory: "Territory", rules.Adjustment: "Adjustment", rules.Handicap: "Handicap", rules.Komi: "Komi",
	},
	Worth: [...]string{
		rules.Prisoner: "Prisoner = %s", rules.PassStone: "Pass stone = %s", rules.ButtonThing: "Button = %s",
		rules.HalfPassStone: "Half-pass = %s", rules.UltimateStone: "Ultimate stone alone = %s",
	},
	OnePoint: "one point", HalfPoint: "half a point", OneDelay: "one delay",
	Turns: [...]string{
		rules.Pass: "pass", rules.AcceptSuggestion: "accept", rules.Button: "button", rules.Delay: "delay",
		rules.Draw: "draw", rules.Resign: "resign",
	},
	Placements: "Placements", Others: "Others",
	Leads: "%s +%s", Even: "Even", About: "≈ %s", AboutEven: "≈ even", Heard: "%s ahead by about %s", HeardEven: "about even", Wins: "%s wins", Draw: "Draw", NoResult: "No result",
	Now: "if the game ended now", Marked: "dead stones not agreed yet",
	Start: "New game", Position: "Position", Trial: "Trial", TrialIs: "does not count", Move: "Move %d: %s", Takes: "takes %d", ToPlay: "%s to play",
	Stopped: "play has stopped", Over: "game over",
	IfAgreed: "if you agree: %s", Accepted: "%s has accepted",
	Forbidden: "may not take at %s (repetition)", InSeki: "alive in seki: %s", MayDraw: "may draw",
	Step:   "Step %d of %d",
	Legend: "X Black, O White", DeadAre: "x o dead",
	Stop: ". ",
	Lies: [...]string{"empty", "black", "white"}, Comma: ", ", Captured: "%s captured", Dead: "dead", Owned: "%s territory", Seki: "in seki",
	Ko: "may not take here", LastTurn: "last turn", Newest: "last stone",
}

func (w *Words) color(c rules.Color) string {
	if c == rules.Black {
		return w.Black
	}
	return w.White
}

// leads tells who is ahead, and by how much.
func (w *Words) leads(c rules.Color, by rules.Points) string {
	return fmt.Sprintf(w.Leads, w.color(c), by.String())
}

func (w *Words) sentence(text string) string { return w.saying(rules.Saying{Text: text}) }

func (w *Words) saying(s rules.Saying) string {
	if w.Sentence != nil {
		return w.Sentence(s)
	}
	return s.String()
}
