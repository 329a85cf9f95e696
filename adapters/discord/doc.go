// Package discord brings Halfpoint to Discord: slash commands, buttons, forms
// and menus become requests, and what the bot owes becomes messages with
// pictures, each game in a thread of its own.
//
//	a, err := discord.New(discord.Config{Token: bot.NewSecret(token)})
//	err = b.Run(ctx, a)
//
// # Answers
//
// The answer to an accepted turn is its picture. So an interaction is asked first
// and answered by what comes of it: a refusal is told to the person alone; the
// first post of an accepted turn is the answer, if it belongs where the interaction
// came from. One goroutine asks, shows the answer's posts, and settles each or
// releases it to the outbox. If there is no answer after a second and a half a timer
// defers the interaction, for the person's eyes alone, and the post goes to the
// channel as a message of the bot's own. A press or form whose post calls nobody
// changes the message that it was on.
//
// Deliver shows what nobody shows here: reminders, posts of other rooms, and after a
// crash or a release what was left. Request.Reply, by which a post finds its
// interaction, outlives the program: the answer is read back, the post goes to the
// channel only if it is not there, and whoever still waits is told where it is.
// Messages of the bot's own carry a nonce made of the post's id, by which Discord
// knows them again for some minutes. A later attempt of the outbox looks for them in
// the channel first.
//
// The adapter owes what follows a message to the outbox, which stores it: the controls
// that go, the picture of a message that went in words, the status message, the end
// of a deferral.
//
// # Places
//
// A Room's Channel is a Discord channel, never a thread. A game's first message
// stands in the channel; its boards stand in the thread under that message,
// which has the message's id and is started with the first board. A game that
// is opened inside a thread stays there, and Room.Thread names it. Direct
// messages have no threads. A Receipt is "channel/message".
//
// # Files
//
//	discord.go   configuration and life
//	commands.go  what is registered
//	request.go   an interaction becomes a request; routes and receipts
//	answer.go    from an interaction to its answer; deferrals
//	deliver.go   posts; place.go says where they go, refused.go where they may not
//	decorate.go  changes of messages that were shown before
//	slow.go      words that go before their pictures
//	message.go   texts, pictures and their limits
//	controls.go  buttons, forms and menus
//	forget.go    in which servers the bot is
//	outage.go    when Discord is away
//	record.go    the record that a message carries
//	check.go     what is wrong with the configuration
//	words.go     what the adapter itself says
//
//	stalecommands.go  commands of one server that are registered elsewhere now
package discord
