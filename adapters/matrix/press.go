package matrix

import (
	"maunium.net/go/mautrix/event"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot/match"
)

// A message of the bot defines what reactions to it mean, as mautrix's reaction commands
// do: a reaction to an old board is a request at that board, and its answer says that the
// game has moved on. The root of a thread, which shows how the game stands now, offers
// requests at no event: a reaction to it is like typing the command.

// The fields of mautrix's package commands.
const (
	reactionCommands = "fi.mau.reaction_commands"
	reactionMultiUse = "fi.mau.reaction_multi_use"
)

// pressable returns the field that says it.
func pressable(controls []match.Control) map[string]any {
	of := map[string]any{}
	for _, c := range controls {
		c = message.Asked(c)
		if emoji, ok := message.Emoji(c.Command); ok && c.Ask == "" {
			of[emoji] = map[string]any{"command": c.Command, "arguments": c.Args}
		}
	}
	if len(of) == 0 {
		return nil
	}
	return map[string]any{reactionCommands: of, reactionMultiUse: true}
}

// meant returns the arguments with which a reaction to a message asks for a
// command: those that the message gives it, or the event of the game at which the
// message stands if it does not offer that; none where it says nothing. What was
// said may be nil.
func meant(said *event.Event, command string) map[string]string {
	args := map[string]string{}
	if said == nil {
		return args
	}
	of, _ := said.Content.Raw[reactionCommands].(map[string]any)
	for _, v := range of {
		c, _ := v.(map[string]any)
		given, _ := c["arguments"].(map[string]any)
		for k, v := range given {
			if s, ok := v.(string); ok && (c["command"] == command || k == "game" || k == "seq") {
				args[k] = s
			}
		}
	}
	return args
}
