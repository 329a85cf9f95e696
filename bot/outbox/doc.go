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
