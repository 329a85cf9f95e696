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
// [match.Step]: an answer, events, posts. One transaction stores the step, or nothing of it; if
// another request came first, Ask decides anew.
//
// The same transaction claims the posts that nothing older waits before in their
// lane. Those for the place where somebody asked come back with the answer, if the
// adapter shows them itself (Request.Shows): it shows each and settles it. The bot
// delivers all others, and those whose asker did not get that far: their delivery
// starts at once. A lane is a game in a channel: its posts
// are shown in order, each notice once, while an unsent board gives way to a newer
// one. Lanes do not wait for one another. The database holds keys and arguments, not
// words; a post is worded, and its picture drawn, when it is delivered. A crash
// therefore loses nothing: what was answered is stored, and what is stored will be
// shown.
//
// To follow that in the code, begin with [Bot.Ask] and read ask.go from top to bottom:
// it ends with the commit. From there go to match.MakeTurn, which decides a placement,
// and to word.go, which words what is shown.
//
// # Packages
//
// Code that needs no clock, store or platform has packages of its own,
// which import neither this one nor anything that does input or output; the test of
// imports keeps it so:
//
//   - match: the game that two people play, its log, and all decisions about it;
//   - clock: time controls, and reading clocks off a log;
//   - text: what people read, by key and in several languages.
//
// Package outbox delivers: it holds the lanes and the decorations, sees to the limits of
// each platform, and asks this package to word a post when its turn has come. Package
// store keeps everything in SQLite. This package loads what a decision needs, stores
// its outcome, words posts, and answers questions.
//
// # Who is who
//
// Logs hold persons by internal id only. Names come from the platform, are
// cleaned by [CleanName] and put in at the moment of delivery.
//
// # Commands
//
// [Commands] is the list from which every adapter projects its own: slash
// commands with options and completion, or lines of text, which [Parse] reads. The
// everyday commands come first; help shows the others by their groups. Names that
// commands had before are in a table of aliases, which no list shows: [Parse] and
// [Bot.Ask] understand them, and [Current] translates the controls below old messages.
//
// A point or "pass" typed without a command may be a turn, or chat: [Bot.Bare] tells, for
// every adapter alike.
//
// A private answer to a question that people argue about carries a button that asks it
// again with share:yes, for everybody. [Answer.Unshared] takes it off where a private
// answer is in everybody's sight.
//
// # Goroutines
//
// [Bot.Run] starts, and ends when all of them have ended:
//
//   - one goroutine for each adapter's Run, which calls Ask from as many goroutines
//     as it likes;
//   - one that ticks: it does what is due, such as flags and reminders, and credits
//     outages to games in batches;
//   - one that prunes the store once a day, in small steps;
//   - those of the outbox: one that claims posts whenever it is woken, and every two
//     seconds; one for each lane that has claimed posts, of which at most
//     Config.Deliveries of a platform call its adapter at a time, and which a commit
//     starts as well; one that looks for decorations that are due, and one for each
//     of these.
//
// The store has one goroutine that commits, see package store. Estimates of the score
// have none: the goroutine that words a post or answers a question makes them, after
// the turn is stored, one at a time and only while few requests come in (estimate.go).
//
// # Locks
//
// From the outermost to the innermost; none is held while an adapter is called,
// except the outbox's delivery, which only [Bot.Deliver] takes:
//
//   - serving: one change at a time of what is known about servers;
//   - absence: one look at the time, and one change of the outages, at a time. The
//     store is called under it, to read and write their few rows, and once the secret
//     that the ids of games follow from;
//   - the outbox's delivery: one call of Deliver at a time, for tests;
//   - the outbox's reading: stored decorations are read once, before others are put;
//   - the outbox's mu: its lanes, and the posts that askers show. It is held for
//     moments, never during a call of the store;
//   - its queue's own: decorations; and then that of an account, for the limits of a
//     platform;
//   - the cache's own: its games and scenes. Nothing is folded, drawn or estimated
//     under it.
package bot
