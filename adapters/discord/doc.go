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
// answers an interaction. One goroutine asks, shows the posts that come back, and settles
// each; the outbox delivers what it could not show. The first becomes the answer if it
// belongs in the place of the interaction. The last may be for the person who asked: a
// refusal, or the answer to a question. If nothing comes within a second and a half, a timer defers
// the interaction ephemerally; then posts for everybody go to the channel as messages of
// the bot's own, and one for the person replaces the deferral. Presses of buttons are
// deferred invisibly, and answered to the person by an ephemeral follow-up, or by changing
// the private message on which they were made. The answer to Join changes the opening;
// marks of dead stones chosen one after the other change the same board; every other post
// is a new message. The deferral of a form is deleted when the person can see the board.
// The forms themselves open at once: Discord shows none after a deferral.
//
// Deliver shows all other posts: reminders, posts of other rooms, and those that were
// left after a crash or a release. Request.Reply, by which a post finds its interaction,
// survives a restart. The adapter reads the first answer back: if that does not contain
// the post, it sends a board to the channel and tells a person who still waits where it
// is; an answer for the person goes where it would have gone. Discord lists no ephemeral
// follow-ups, so one that may have been sent is sent again. The token ends after a quarter
// of an hour, and with it what waits for the person. The bot's own messages have a nonce
// derived from the post's id, by which Discord recognizes duplicates for some minutes.
// Later attempts of the outbox look for the message in the channel first.
//
// While the token of an interaction lives, its message is changed by that. The adapter
// does not repeat a request that a channel has refused without a reason: see refused.go.
//
// The outbox stores what has to follow a message: removing controls, adding the picture
// to a board that was sent without it, updating the status message, ending a deferral. The
// picture of an answer follows its words while Deliver or the asking goroutine waits.
//
// A message that mentions the bot, or any message in the thread of a game if the bot may
// read it, can be a turn, too. The outbox shows its outcome. An answer for the person is a
// reply, which is deleted after a minute, and not sent any more after ten.
//
// # Places
//
// A Room's Channel is a Discord channel, never a thread. A game's first message is in
// the channel and becomes its status message. The boards are in the thread under that
// message, which has the message's id and is started with the first board. A game that
// is opened inside a thread stays there, and Room.Thread names the thread. Direct
// messages have no threads. A game of an event has no message in the channel: its thread is
// under none, see apart.go. The message of an event is edited in its place. A day after the end the thread gets the result into its name
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
//	apart.go     threads of games of events
//	decorate.go  changes of earlier messages, and of threads
//	slow.go      texts that are sent before their pictures
//	message.go   texts, pictures and their limits
//	controls.go  buttons, forms and menus
//	forget.go    the servers that the bot is in
//	member.go    who may write in a channel
//	errors.go    errors of Discord as the outbox knows them
//	outage.go    outages of Discord
//	record.go    records and diagrams in files, and the form for them
//	units.go     shards, which several processes share
//	check.go     tests of the configuration
//	words.go     the adapter's own texts
//
//	stalecommands.go  left-over commands
package discord
