package bot

import (
	"maps"
	"slices"

	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/text"
)

// An alias is a name that a command once had. People may still type it, and buttons
// below old messages still ask for it; no list of commands shows it.
type alias struct {
	command string
	args    map[string]string // options that it sets
	renamed map[string]string // options that have another name now
}

var aliases = map[string]alias{
	"cancel":   {command: "delete", args: map[string]string{"how": "cancel"}},
	"handicap": {command: "place", args: map[string]string{"handicap": "yes"}, renamed: map[string]string{"points": "at"}},
	"ledger":   {command: "score", args: map[string]string{"ledger": "yes"}},
	"pause":    {command: "clock", args: map[string]string{"pause": "yes"}},
	"propose":  {command: "dead"},
	"return":   {command: "dispute", args: map[string]string{"back": "yes"}},
	"review":   {command: "board"},
	"why":      {command: "score", args: map[string]string{"why": "yes"}},
}

// Current translates a control into the commands of today. A control lives as long as
// its message, so it may name commands and options that have been renamed since.
func Current(c match.Control) match.Control {
	a, ok := aliases[c.Command]
	if !ok {
		return c
	}
	args := map[string]string{}
	maps.Copy(args, a.args)
	for name, value := range c.Args {
		args[a.option(name)] = value
	}
	c.Command, c.Args, c.Ask = a.command, args, a.option(c.Ask)
	return c
}

func (a alias) option(name string) string {
	if now, ok := a.renamed[name]; ok {
		return now
	}
	return name
}

// FindCommand returns the command with a name, or the command that once had that name.
func FindCommand(name string) (Command, bool) {
	name = Current(match.Control{Command: name}).Command
	h, ok := find(name)
	return h.Command, ok
}

// unknown returns the error for an unknown command, with the nearest known one, or the one of
// which it is a part: /event what:replace.
func unknown(name string) error {
	if slices.ContainsFunc(eventChoices, func(c Choice) bool { return c.Value == name }) {
		return text.Error("parse.unknown.near", shortened(name), eventName+" what:"+name)
	}
	names := slices.Collect(maps.Keys(aliases))
	slices.Sort(names)
	for _, c := range slices.Backward(Commands()) {
		names = slices.Insert(names, 0, c.Name)
	}
	if near := text.Nearest(name, names); near != "" {
		return text.Error("parse.unknown.near", shortened(name), Current(match.Control{Command: near}).Command)
	}
	return text.Error("parse.unknown", shortened(name))
}
