package gateway

import "fmt"

// Codes by which connections are closed.
const (
	closeLeave   = 1000 // ours, where nobody goes on with the session: it ends
	closeResume  = 4000 // ours otherwise: the session stays
	closeNoLogin = 4003 // Discord's: the session cannot be resumed, as after the next two
	closeSeq     = 4007
	closeTime    = 4009
)

// Fatal is why there is no point in going on, and what can be done.
type Fatal struct {
	Code   int // by which Discord closed the connection; 0 if it did not
	Reason string
	Advice string
}

// Error says both.
func (f *Fatal) Error() string {
	s := f.Reason
	if f.Code != 0 {
		s += fmt.Sprintf(" (%d)", f.Code)
	}
	return s + ". " + f.Advice
}

// fatals are the codes after which Discord wants no further attempt.
var fatals = map[int]Fatal{
	4004: {Reason: "Discord does not accept the bot's token",
		Advice: "Copy the token anew from the page Bot of the application at https://discord.com/developers/applications into discord.token."},
	4010: {Reason: "Discord does not accept the number of this shard",
		Advice: "discord.shards must be the same in all processes and, for a very large bot, a multiple of what Discord recommends."},
	4011: {Reason: "the bot is in too many servers for so few shards",
		Advice: "Raise discord.shards, or leave it at 0 to take what Discord recommends."},
	4012: {Reason: "Discord no longer speaks this version of its API",
		Advice: "Install a newer version of this program."},
	4013: {Reason: "Discord does not know one of the intents",
		Advice: "This is a fault of this program; please report it."},
	4014: {Reason: "the bot asks for an intent that it has not been given",
		Advice: "Switch on Message Content Intent on the page Bot of the application at https://discord.com/developers/applications, or set discord.message_content to no."},
}

func fatal(code int) *Fatal {
	f, ok := fatals[code]
	if !ok {
		return nil
	}
	f.Code = code
	return &f
}
