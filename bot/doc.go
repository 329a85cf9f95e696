// Package bot is the application: what people can ask for, the matches they
// play, and what the bot owes to the rooms in which they play.
//
// # From a line typed to a picture shown
//
// An [Adapter] turns what somebody did on its platform into a [Request] and
// asks its [Desk], which is a [Bot]:
//
//	answer, err := desk.Ask(ctx, bot.Request{
//		ID:      "web:0b9f…", // the platform's id: asking twice is asking once
//		Who:     bot.Who{Platform: "web", ID: "seat:black", Name: "Black"},
//		Where:   bot.Room{Platform: "web", Channel: "local"},
//		Command: "place", Args: map[string]string{"at": "D4"},
//	})
//
// The bot looks the request up in its inbox; if it was answered before, that is
// the answer. Otherwise it finds the match, folds its events into a game, and
// lets one pure function, decide, say what follows: an answer, events, posts.
// All of that is stored in one transaction, or nothing; if another request came
// first, it is decided anew. Then the answer is given.
//
// The posts are delivered by [Bot.Run], in order for each game and channel: a
// notice is shown once, a board (show) gives way to a newer one of the same
// game. What is stored are references and keys of words; a post is worded, and
// its picture drawn, when it is delivered. So a crash at any point costs
// nothing: what was answered is stored, what was stored is shown.
//
// # Who is who
//
// Logs hold persons by internal id only. Names come from the platform, are
// cleaned by [CleanName] and put in at the moment of delivery.
//
// # Commands
//
// [Commands] is the list from which every adapter projects its own: slash
// commands with options and completion, or lines of text, which [Parse] reads.
package bot
