// Package outbox delivers posts: those that a step stored, and after a crash those
// that were stored before it. An [Outbox] reaches the store through [Rows] and each
// chat through a [Platform], and calls a function that words each post just before it
// is sent. It has no other source of time, and does no I/O of its own.
//
// The posts of a lane, which is a game in a channel, are shown one after another; lanes
// do not wait for one another. A post is shown under a claim, which lasts for a while
// and is renewed. The outbox holds it, or the asker: the adapter that made a request and
// shows the resulting posts itself, because it can do that in a better way
// ([Outbox.Take], [Outbox.Settle], [Outbox.Release]).
//
// # From a commit to a message
//
// Before a step is stored, [Outbox.Assign] decides who would show each of its posts. The
// commit claims those that are first in their lane. Afterwards [Outbox.Take] distributes
// them:
//
//   - The asker's posts are worded ([Outbox.Give]) and returned with the answer. The
//     asker shows each and settles it, or releases it if it cannot show it.
//   - Other claimed posts join their lane, which one goroutine delivers, a post at a time.
//   - The rest wait in the store for claim, which Run calls whenever it is woken, and
//     every two seconds.
//
// Deliver words a post and calls the platform; delivered stores the outcome: the receipt
// and new decorations, a later time for another attempt, that the outbox gives the post
// up, or that its room is parked.
//
// # Decorations
//
// A decoration changes an existing message: it updates the status message of a game,
// adds a picture that came later than its words, removes old buttons, adds reactions, or
// ends an indicator that the bot is thinking. Repeating one does no harm, and of those
// with the same platform, kind and key only the newest counts; a queue holds them.
//
// Posts come first. Each that is sent spends a token of its platform's account;
// decorations are sent only while more than half of the burst is left. Posts are held
// back only when the platform asks to wait: then all of them wait, and afterwards they
// are sent one at a time for a while.
package outbox
