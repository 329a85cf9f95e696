package match

import "github.com/halfpoint-go/halfpoint/rules"

// A Command is what people can ask to change in a match.
type Command struct {
	change Change
	Seated bool // only for the players, while the match is played
	ToMove bool // of several matches it means one in which it is the person's turn
}

// Commands lists all commands by name.
var Commands = map[string]Command{
	"new":        {change: newGame},
	"setup":      {change: setUp},
	"join":       {change: join},
	"rematch":    {change: rematch},
	"place":      {makeTurn(rules.Place), true, true},
	"pass":       {makeTurn(rules.Pass), true, true},
	"button":     {makeTurn(rules.Button), true, true},
	"delay":      {makeTurn(rules.Delay), true, true},
	"undo":       {change: undo, Seated: true},
	"resign":     {change: resign, Seated: true},
	"accept":     {change: accept, Seated: true},
	"decline":    {change: decline},
	"dead":       {change: mark, Seated: true},
	"resume":     {change: resume, Seated: true},
	"dispute":    {change: dispute, Seated: true},
	"draw":       {change: draw, Seated: true},
	"clock":      {change: pause, Seated: true},
	"claim":      {change: claim, Seated: true},
	"comment":    {change: comment},
	"delete":     {change: withdraw},
	"adjudicate": {change: adjudicate},
}
