package match

import "github.com/halfpoint-go/halfpoint/rules"

// A Command is what people can ask to change in a match.
type Command struct {
	change Change
	Seated bool // only for the players, while the match is played
	ToMove bool // of several matches it means one in which it is the person's turn
	Rare   bool // of several matches it means one that Takes it
	Act    bool // moderators may do more by it than others
}

// Commands lists all commands by name.
var Commands = map[string]Command{
	"new":        {change: newGame},
	"setup":      {change: setUp},
	"join":       {change: join},
	"rematch":    {change: rematch},
	"place":      {change: makeTurn(rules.Place), Seated: true, ToMove: true},
	"pass":       {change: makeTurn(rules.Pass), Seated: true, ToMove: true},
	"button":     {change: makeTurn(rules.Button), Seated: true, ToMove: true},
	"delay":      {change: makeTurn(rules.Delay), Seated: true, ToMove: true},
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
	"delete":     {change: withdraw, Act: true},
	"adjudicate": {change: adjudicate, Act: true},
}
