// Package outbox delivers posts: those that a step stored, and after a crash those
// that were stored before it. An [Outbox] reaches the store through [Rows] and each
// chat through a [Platform], and has a function word a post when its turn has come.
// It asks nobody else for the time, and does no I/O.
//
// Posts of a lane, which is a game in a channel, are shown one after another; lanes do
// not wait for one another. Whoever shows a post has claimed it for a while before, and
// renews that claim: the outbox itself, or somebody who asked for something and shows
// what comes of it in a better way ([Outbox.Take], [Outbox.Settle], [Outbox.Release]).
//
// # From a commit to a message
//
// Before a step is stored, [Outbox.Assign] says who would show each of its posts. The
// commit claims those for which nothing older of their lane waits. Afterwards
// [Outbox.Take] deals them out:
//
//   - The asker's posts are worded ([Outbox.Give]) and returned with the answer. The
//     asker shows each and settles it, or releases it if it could not.
//   - Other claimed posts join their lane, which one goroutine writes, a post at a time.
//   - The rest wait in the store for claim, which Run calls whenever it is woken, and
//     every two seconds.
//
// Deliver has a post worded and calls the platform; delivered stores the outcome: the
// receipt and new decorations, a later time, that the post is given up, or that its room
// is parked.
//
// # Decorations
//
// A decoration changes a message that is there already: it has the first message of
// a game say how the game stands, puts a picture where its words are, takes old
// buttons away, puts reactions, ends what still shows that the bot thinks. Doing one
// twice does no harm, and of those with the same platform, kind and key only the
// newest counts; a queue holds them.
//
// Posts come first. Each that is sent spends a token of its platform's account;
// decorations are sent only while more than half of the burst is left. Only a
// platform that says so holds posts up: then all of them wait, and afterwards they
// are sent one at a time for a while.
package outbox
