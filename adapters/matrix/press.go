package matrix

import (
	"maunium.net/go/mautrix/event"

	"github.com/halfpoint-go/halfpoint/adapters/matrix/message"
	"github.com/halfpoint-go/halfpoint/bot"
)

// A message of the bot's says for itself what reactions to it mean, as mautrix's
// reaction commands do: a reaction to an old board asks for what that board
// offered, and is told that the game has moved on. The root of a thread, which
// shows how the game stands now, says nothing of the kind: reacting to it is
// typing the command.

// The fields of mautrix's package commands.
const (
	reactionCommands = "fi.mau.reaction_commands"
	reactionMultiUse = "fi.mau.reaction_multi_use"
)

// pressable gives the field that says it.
func pressable(controls []bot.Control) map[string]any {
	of := map[string]any{}
	for _, c := range controls {
		if emoji, ok := message.Emoji(c.Command); ok {
			of[emoji] = map[string]any{"command": c.Command, "arguments": c.Args}
		}
	}
	if len(of) == 0 {
		return nil
	}
	return map[string]any{reactionCommands: of, reactionMultiUse: true}
}

// meant gives the arguments of a command in that field, none where there is no
// such thing. What was said may be nil.
func meant(said *event.Event, command string) map[string]string {
	args := map[string]string{}
	if said == nil {
		return args
	}
	of, _ := said.Content.Raw[reactionCommands].(map[string]any)
	for _, v := range of {
		c, _ := v.(map[string]any)
		if c["command"] != command {
			continue
		}
		given, _ := c["arguments"].(map[string]any)
		for k, v := range given {
			if s, ok := v.(string); ok {
				args[k] = s
			}
		}
	}
	return args
}
