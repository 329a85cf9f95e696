// Package discord connects Halfpoint to Discord. It turns slash commands, buttons, forms
// and menus into requests, and posts into messages with pictures, with a thread for each
// game.
//
//	a, err := discord.New(discord.Config{Token: secret.New(token)})
//	err = b.Run(ctx, a)
//
// # Answers
//
// The answer to an accepted turn is its picture. So the adapter asks the bot before it
// answers an interaction: a refusal goes to the person alone; the first post of an
// accepted turn is the answer, if it belongs in the place of the interaction. One
// goroutine asks, shows the answer's posts, and settles each or releases it to the
// outbox. After a second and a half without an answer, a timer defers the interaction
// ephemerally, and the post goes to the channel as an ordinary message of the bot.
// Presses of buttons are deferred invisibly, and refused by an ephemeral follow-up. The
// answer to Join changes the opening; marks of dead stones chosen one after the other
// change the same board; every other post is a new message. A form gets a message or a
// deferral, which is deleted when the person can see the board. The forms themselves
// open at once: Discord shows none after a deferral.
//
// Deliver shows all other posts: reminders, posts of other rooms, and those that were
// left after a crash or a release. Request.Reply, by which a post finds its interaction,
// survives a restart: the adapter reads the answer back, sends the post to the channel
// only if the answer does not contain it, and tells a person who still waits where it
// is. The bot's messages have a nonce derived from the post's id, by which Discord
// recognizes duplicates for some minutes. Later attempts of the outbox look for the
// message in the channel first.
//
// While the token of an interaction lives, its message is changed by that. What a channel
// has refused, of any kind, it is asked again only for a reason: see refused.go.
//
// The outbox stores what has to follow a message: removing controls, adding the picture
// to a message that was sent without it, updating the status message, ending a deferral.
//
// A message that mentions the bot, or any message in the thread of a game if the bot may
// read it, can be a turn, too. The outbox shows its outcome; a refusal is a reply, which
// is deleted after a minute.
//
// # Places
//
// A Room's Channel is a Discord channel, never a thread. A game's first message is in
// the channel and becomes its status message. The boards are in the thread under that
// message, which has the message's id and is started with the first board. A game that
// is opened inside a thread stays there, and Room.Thread names the thread. Direct
// messages have no threads. A day after the end the thread gets the result into its name
// and is archived. A Receipt is "channel/message".
//
// # Files
//
//	discord.go   configuration, start and stop
//	commands.go  registered commands
//	request.go   from an interaction to a request; routes and receipts
//	typed.go     from a message to a request; replies
//	answer.go    from an interaction to its answer; deferrals
//	deliver.go   posts; place.go has their places, refused.go refused places
//	decorate.go  changes of earlier messages, and of threads
//	slow.go      texts that are sent before their pictures
//	message.go   texts, pictures and their limits
//	controls.go  buttons, forms and menus
//	forget.go    the servers that the bot is in
//	errors.go    errors of Discord as the outbox knows them
//	outage.go    outages of Discord
//	record.go    records and diagrams in files, and the form for them
//	check.go     tests of the configuration
//	words.go     the adapter's own texts
//
//	stalecommands.go  left-over commands
package discord
