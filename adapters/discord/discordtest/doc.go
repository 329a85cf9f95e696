// Package discordtest is a double of Discord for tests: an HTTP and WebSocket
// server that a Discord client can be pointed at unchanged, and people who type
// commands and press buttons on its other side.
//
//	var network memnet.Network
//	d := discordtest.New(t, discordtest.Options{Network: &network})
//	club := d.Guild("Go club")                // the bot is in it, with Discord's usual permissions for it
//	room := club.Channel("games")
//	alice, bob := club.Member("alice"), club.Member("bob")
//	// … start the bot with d.API() as base address, d.Token() as token and network.DialContext …
//	i := alice.Slash(room, "place", discordtest.Opt("at", "D4"))
//	m := i.Answer()                           // waits for the message that answers it
//	bob.Press(m, "accept").Answer()
//	fmt.Print(d.Transcript())                 // what a stranger would read in the channels
//
// # The sides
//
// A client sees [Server.API], the REST API under /api/v10 (also /api/v9, for
// libraries that know no other), whose GET /gateway/bot leads to the gateway;
// or, after [Server.SetEndpoint], gets interactions by signed POST instead.
// People are made by [Server.Person] and [Guild.Member], other bots by
// [Guild.OtherBot]; people act by
// [Person.Slash], [Person.Autocomplete], [Person.Press], [Person.Select],
// [Person.Submit], [Person.MessageCommand], [Person.UserCommand] and
// [Person.Say], [Person.Reply], each held to what Discord's own client would let them do
// ([Interaction.Refused]), and look with [Person.Sees] and [Person.Pinged].
// [Interaction.Answer], [Interaction.Modal], [Interaction.FollowUps] and
// [Interaction.Failed] are what came of it.
// [Watch] lets discord.js read along, a client that nobody here wrote.
//
// # Held honest
//
// Every request body is validated against Discord's own specification with
// unknown properties forbidden ([Options.Lax] lets them pass, as libraries
// need), and against the documented limits that it lacks; what is wrong is
// answered as Discord answers it (50035 with its tree of errors), kept in
// [Server.Violations], and fails the test unless [Options.Lenient]. Every
// response of the double is validated too. [Server.Requests] and
// [Server.Count] tell what clients asked.
//
// # Time
//
// Tests run in a testing/synctest bubble, with [Options.Network], where time
// passes at once. Outside of bubbles, for clients that are other programs, the
// double has a clock that a test can stop: [Options.Now] plus what
// [Server.Advance] added. The three seconds of an interaction, the fifteen minutes
// of its token, nonces, buckets, identifies and sessions follow it, so a clock
// that stands still fills no bucket again. Heartbeats and waiting follow package
// time.
//
// # Trouble
//
// [Server.Fault] makes chosen requests fail, be slow, or be done while the
// answer is lost. [Options.Limits] are the buckets, those of a channel and of each of
// its threads apart, how often a thread may be renamed, how many old messages edited and how many commands created. [Server.NextConnections]
// says how the next gateway connections behave; [Server.Sessions] are those
// alive, to be cut, closed, told to reconnect, invalidated or made deaf. [Server.Hold] and [Interaction.Again] reorder and repeat what people
// do, [Server.Change] and [Server.Dispatch] bring what nobody knows yet. Rights
// are taken by [Channel.OverwriteBot], [Guild.BotPermissions] and [Guild.Kick];
// threads are closed by [Channel.Archive] and [Channel.Lock]. [Server.Forget]
// drops what the double remembers, before memory is measured.
//
// # What it is not
//
// There are no voice, reactions, webhooks of one's own, moderation, monetisation,
// embeds, components V2, selects of people or in modals, the bot's own
// mentions of roles, mentions of everyone, overwrites but the bot's, or direct messages between people;
// what the bot does not use is refused, and a route that it lacks fails the test.
// Sizes of buckets and the time that a nonce or a session lives are not documented.
// System messages (a thread was opened) are lines of the transcript only.
//
// All methods may be called from several goroutines.
package discordtest
