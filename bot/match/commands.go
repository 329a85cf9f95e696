package match

import "github.com/halfpoint-go/halfpoint/rules"

// A Command is what people can ask to change in a match.
type Command struct {
	change Change
	Seated bool // only for the players, while the match is played
	ToMove bool // of several matches it means one in which it is the person's turn
	Rare   bool // of several matches it means one that Takes it
}

// Commands lists all commands by name.
var Commands = map[string]Command{
	"new":        {change: newGame},
	"setup":      {change: setUp},
	"join":       {change: join},
	"rematch":    {change: rematch},
	"place":      {makeTurn(rules.Place), true, true, false},
	"pass":       {makeTurn(rules.Pass), true, true, false},
	"button":     {makeTurn(rules.Button), true, true, false},
	"delay":      {makeTurn(rules.Delay), true, true, false},
	"undo":       {change: undo, Seated: true, Rare: true},
	"resign":     {change: resign, Seated: true},
	"accept":     {change: accept, Seated: true, Rare: true},
	"decline":    {change: decline, Rare: true},
	"dead":       {change: mark, Seated: true, Rare: true},
	"resume":     {change: resume, Seated: true, Rare: true},
	"dispute":    {change: dispute, Seated: true, Rare: true},
	"draw":       {change: draw, Seated: true},
	"clock":      {change: pause, Seated: true},
	"claim":      {change: claim, Seated: true},
	"comment":    {change: comment},
	"page":       {change: page},
	"delete":     {change: withdraw},
	"adjudicate": {change: adjudicate},
}
