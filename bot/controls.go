package bot

import (
	"maps"
	"slices"
	"strconv"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Controls are all that a post about a game may offer, by the keys of their labels. A
// platform has something for each: a button, a reaction, or what is to be typed.
var Controls = []match.Control{
	{Label: "label.place", Command: "place", Ask: "at"},
	{Label: "label.stones", Command: "place", Ask: "at"},
	{Label: "label.pass", Command: "pass"},
	{Label: "label.button", Command: "button"},
	{Label: "label.delay", Command: "delay"},
	{Label: "label.draw", Command: "draw"},
	{Label: "label.undo", Command: "undo"},
	{Label: "label.dead", Command: "dead", Ask: "points"},
	{Label: "label.alive", Command: "dead", Ask: "points", Args: map[string]string{"as": "alive"}},
	{Label: "label.accept", Command: "accept"},
	{Label: "label.resume", Command: "resume"},
	{Label: "label.dispute", Command: "dispute"},
	{Label: "label.return", Command: "dispute", Args: map[string]string{"back": "yes"}},
	{Label: "label.score", Command: "score"},
	{Label: "label.join", Command: "join"},
	{Label: "label.yes", Command: "accept"},
	{Label: "label.decline", Command: "decline"},
	{Label: "label.delete", Command: "delete"},
	{Label: "label.rematch", Command: "rematch"},
	{Label: "label.replay", Command: "replay"},
	{Label: "label.compare", Command: "compare"},
	{Label: "label.sgf", Command: "sgf"},
	{Label: "label.more", Command: "more"},
}

// label makes one of the controls, for a match as it is after an event; 0: for as long as
// there is the match. A key that is not among them or [More] is a mistake here.
func label(m match.Match, seq int, key string) match.Control {
	all := slices.Concat(Controls, More)
	c := all[slices.IndexFunc(all, func(c match.Control) bool { return c.Label == key })]
	c.Args = maps.Clone(c.Args)
	if c.Args == nil {
		c.Args = map[string]string{}
	}
	c.Args["game"] = strconv.Itoa(m.Number)
	if seq > 0 {
		c.Args["seq"] = strconv.Itoa(seq)
	}
	return c
}
