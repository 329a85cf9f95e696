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
// channel as a message of the bot's own. A press is deferred so that nothing is shown,
// and refused by a message of its own, for the person alone; one whose post calls
// nobody changes the message that it was on. A form gets a message or a deferral, of
// which nothing is left when the board is in front of the person.
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
// A message that mentions the bot, or any in the thread of a game if the bot may read it,
// can be a turn, too. The outbox shows what comes of it; a refusal is a reply, which is
// deleted after a minute.
//
// # Places
//
// A Room's Channel is a Discord channel, never a thread. A game's first message
// stands in the channel; its boards stand in the thread under that message,
// which has the message's id and is started with the first board. The first message
// says itself that the game begins, and then how it stands. A game that
// is opened inside a thread stays there, and Room.Thread names it. Direct
// messages have no threads. A day after the result the thread gets that into its name and
// is archived. A Receipt is "channel/message".
//
// # Files
//
//	discord.go   configuration and life
//	commands.go  what is registered
//	request.go   an interaction becomes a request; routes and receipts
//	typed.go     a message becomes a request; replies
//	answer.go    from an interaction to its answer; deferrals
//	deliver.go   posts; place.go says where they go, refused.go where they may not
//	decorate.go  changes of messages that were shown before, and of threads
//	slow.go      words that go before their pictures
//	message.go   texts, pictures and their limits
//	controls.go  buttons, forms and menus
//	forget.go    in which servers the bot is
//	outage.go    when Discord is away
//	record.go    records and diagrams in files, and the form for them
//	check.go     what is wrong with the configuration
//	words.go     what the adapter itself says
//
//	stalecommands.go  commands of one server that are registered elsewhere now
package discord
