// Package bot is the application: what people can ask for, the matches they play,
// and the posts that their rooms get.
//
// # From a line typed to a picture shown
//
// An [Adapter] turns what somebody did on its platform into a [Request] and
// asks its [Service], which is a [Bot]:
//
//	answer, err := service.Ask(ctx, bot.Request{
//		ID:      "web:0b9f…", // the platform's id: asking twice is asking once
//		Who:     outbox.User{Platform: "web", ID: "seat:black", Name: "Black"},
//		Where:   match.Room{Platform: "web", Channel: "local"},
//		Command: "place", Args: map[string]string{"at": "D4"},
//	})
//
// Ask looks the request up in its inbox and repeats the answer if there is one.
// Otherwise it finds the match and folds its events into a position, from the last
// position that it has in memory, and one pure function, [match.Decide], returns a
// [match.Step]: an answer, events, posts. One transaction stores the step, or nothing of
// it; if another request came first, Ask decides again.
//
// Posts wait in lanes. A lane is a game in a channel: its posts are shown in order,
// each notice once, and a newer board replaces one that has not been sent. Lanes do not
// wait for one another.
//
// The same transaction marks each post that is first in its lane as one that may have
// been sent. If the adapter shows posts itself (Request.Shows), Ask returns those for the
// place of the request, and last the post that answers it: the adapter shows each and
// settles it. The bot delivers all others at once, and also those that the adapter did not
// settle. If the adapter shows none, the answer is stored with them; that to a question as
// the question, which is asked when the answer is delivered.
//
// The database holds keys and arguments, not words: the bot words a post, and draws its
// picture, when it delivers the post. A crash therefore loses nothing: what a request
// changed is stored with its answer, and every stored post is shown.
//
// # The path of a turn
//
// These functions lead from /place D4 in Discord to the picture:
//
//	adapters/discord/gateway  connection.dispatch  reads an event of the socket
//	                          Gateway.event        passes it to Config.Handle, see Adapter.connect
//	adapters/discord          Adapter.receive      takes an interaction, in the order of its channel
//	                          Adapter.handle       asks, and has shown what comes back
//	                          Adapter.requested    makes the request
//	bot                       Bot.Ask              finds the command
//	                          Bot.arrive           finds the person and the room
//	                          Bot.change           decides, stores, and decides again after a conflict
//	                          Bot.choose           finds the game
//	                          Bot.prepare          loads what the decision depends on, and folds the log
//	bot/match                 Decide               decides, by the command's entry in Commands
//	                          makeTurn             is that of a placement: reads the point
//	                          Input.play           adds the turn to the step, and folds it into the position
//	rules                     Game.Play            plays it
//	bot                       Bot.commit           has the step stored, and its posts shown
//	bot/outbox                Outbox.Commit        puts the posts into their lanes
//	bot/store                 Store.Commit         stores the step
//	bot/outbox                Outbox.Give          has worded what the adapter shows itself, by Outbox.Word
//	bot                       Bot.worded           is Outbox.Word: words a post
//	                          Bot.draw             makes the scene of its picture
//	adapters/discord          Adapter.showPosts    shows the posts, and settles each
//	                          delivery.show        makes a message of a post, by content.messages
//	render                    Scene.Draw           draws the picture
//	adapters/discord          delivery.answer      answers the interaction with it
//	bot/outbox                Outbox.Settle        stores that it was shown, and what follows
//
// On the other platforms the middle is the same.
//
// In Matrix, Adapter.sync asks the homeserver and Adapter.receive queues what it says.
// Adapter.work takes an event from the queue, Adapter.deal decrypts it, Adapter.said reads
// it, and Adapter.ask asks. Its posts are delivered by the outbox, which calls
// Adapter.Deliver: Adapter.post shows a post, and Adapter.build draws and uploads its
// picture.
//
// In the local room, server.ask reads what the page sends, server.submit asks, and
// server.showPosts puts the posts into the log, from which server.publish sends them to the
// pages. A page loads the picture by its address: server.picture finds the board,
// server.draw draws it.
//
// The terminal asks and shows in Terminal.line.
//
// # Packages
//
// Code that needs no clock, store or platform has packages of its own,
// which import neither this one nor anything that does input or output; the test of
// imports keeps it so:
//
//   - match: the game that two people play, its log, and all decisions about it;
//   - contest: the same for an event, a league or a tournament;
//   - clock: time controls, and reading clocks off a log;
//   - text: what people read, by key and in several languages.
//
// Package rooms knows the rooms and servers, what these and the people in them have chosen,
// and the outages in which no flag may fall; it tells the time. Its store and its clock are
// given to it.
//
// Package outbox delivers posts: it holds the lanes and the decorations, respects the
// limits of each platform, and asks this package to word each post that it is about to
// send. Package units shares out shards, accounts and duties among several processes on one
// database. Package store keeps everything in SQLite or PostgreSQL. This package loads what a decision
// needs, stores its outcome, words posts, and answers questions.
//
// # Events
//
// /event is decided by package contest, from what event.go loads. Steps of an event and of
// its games are separate transactions: the step that ends a game owes its event a timed
// action, and so does the step of an event that closes games. Each of these has a key, so a
// process that dies in between leaves work that the next one does once.
//
// # People
//
// Logs refer to people by internal ids only. Names come from the platform, are
// cleaned by [CleanName], and are put in on delivery.
//
// # Commands
//
// Every adapter makes its own commands from the list [Commands]: slash commands with
// options and completion, or lines of text, which [Parse] reads. The everyday commands
// come first; help lists the others in groups. Earlier names of commands are in a table
// of aliases that no list shows: [Parse] and [Bot.Ask] understand them, and [Current]
// translates the controls below old messages.
//
// A point or "pass" typed without a command may be a turn, or chat: [Bot.Bare] decides.
// [Addressed] reads messages to the bot itself. [Bot.Here] reports whether a message
// belongs to a game.
//
// A private answer to a question that people argue about has a button that asks it
// again with share:yes, for everybody. [Unshared] removes that button where
// everybody can read private answers.
//
// # Goroutines
//
// [Bot.Run] starts these goroutines, and returns when all of them have ended:
//
//   - one for each adapter's Run, which calls Ask from as many goroutines as it likes;
//   - one that ticks: it runs timed actions, such as flags and reminders, and credits
//     outages to games in batches; and one that prunes the store once a day, in small steps.
//     Of several processes one has these, that which holds the unit "time";
//   - where there are several processes, one that notes that this one lives, and one that
//     holds the unit of the local room;
//   - those of the outbox: one that chooses posts whenever it is woken or one is due, and
//     one for each post that is being sent (at most Config.Deliveries call the same
//     platform's adapter at a time); one that looks for due decorations, and one for each
//     of these.
//
// The store has one goroutine that commits, see package store. Estimates of the score
// have none: the goroutine that words a post or answers a question makes them, after
// the turn is stored, one at a time and only while few requests come in (estimate.go).
//
// # Locks
//
// From the outermost to the innermost. None is held while an adapter is called,
// except the outbox's delivery lock, which only [Bot.Deliver] takes:
//
//   - serving, of the rooms: guards the servers;
//   - absence, of the rooms: guards the current time and the outages. The store is called
//     under it, to read and write the few rows of outages;
//   - drawing: guards the secret from which the ids of games are derived, which is read
//     once from the store under it;
//   - the outbox's delivery: one call of Deliver at a time, for tests;
//   - the outbox's mu: its lanes. It is held for moments, never during a call of the
//     store;
//   - the queue's own, for decorations, and then that of an account, for the limits of
//     a platform;
//   - the cache's own, for games and scenes. Nothing is folded, drawn or estimated
//     under it.
package bot
