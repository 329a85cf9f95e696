// Package outbox delivers posts: those that a step stored, and after a crash those
// that were stored before it. An [Outbox] reaches the store through [Rows] and each
// chat through a [Platform], and calls a function that words each post just before it
// is sent. It has no other source of time, and does no I/O of its own.
//
// The posts of a lane, which is a game in a channel, are shown one after another; lanes
// do not wait for one another. One process has the connection to a platform, or to a part of it,
// and shows its posts: of several processes the one that holds the unit of their room
// ([Leases]). The outbox does that, or the asker: the adapter that made a request and shows the
// resulting posts itself, because it can do that in a better way ([Outbox.Settle],
// [Outbox.Release]).
//
// # From a commit to a message
//
// [Outbox.Commit] stores a step, by a function of the caller, and puts its posts into
// their lanes:
//
//   - The asker's posts, if they are first in their lane, are worded ([Outbox.Give]) and
//     returned with the answer. The asker shows each and settles it, or releases it if it
//     cannot show it.
//   - Run sends the others. Next chooses the first post of each lane, deliver words it and
//     calls the platform, and delivered stores the outcome: the receipt and new
//     decorations, when to try again, that the platform refuses the post, or that its room
//     is parked.
//
// # Answers
//
// The answer to a request is a post, too, for the person who asked. Its asker shows it, and
// nothing is stored; if the asker does not show answers, or could not show this one, the
// answer is stored and waits in the lane of that person and place. It never delays a board:
// if it cannot be shown, or not before its NotAfter, it is dropped, and nothing is parked.
//
// Refusals that wait in a lane are sent as one message. They wait while less than half of
// the account's burst is left, but for no more than half a minute, unless a question waits in
// their lane, and boards go first.
//
// # The store is the truth
//
// A stored post is waiting, shown, superseded, refused or parked. The lanes hold the
// waiting ones in memory. They are read at the start, and again when others may wait
// ([Outbox.Reread]): after posts were unparked, after a commit whose outcome is unknown,
// or when a post comes into its lane before an older one that is stored. Where there are other
// processes they are also read each second, because these leave posts to this one, and when it
// takes over from one of them ([Outbox.Took]). What a process stores of a post it stores as the
// holder of a unit; if it is that no more, nothing is stored, and the next holder looks for the message.
//
// A waiting post is tried while it may have been sent; nothing is sent before that is
// stored. The commit stores it of the first post of a lane, the settling of a post of the
// next one, and otherwise mark does, just before the post is sent. It is cleared when the
// platform surely took nothing.
//
// Before it sends a post again, the platform looks for the message (Post.Attempt,
// Post.Unsent) if an attempt ended without a clear outcome, or if the post was tried when
// it was read at the start. Boards and statuses that have not been sent are superseded as
// soon as a newer one waits; this is stored when that one is tried.
//
// # Decorations
//
// A decoration changes an existing message: it updates the status message of a game,
// adds a picture that came later than its words, removes old buttons, adds reactions, or
// ends an indicator that the bot is thinking. Repeating one does no harm, and of those
// with the same platform, kind and key only the newest counts; a queue holds them.
//
// Posts come first. Each spends a token of its platform's [Account], and is held back only
// when the platform asks to wait: then all wait, and afterwards they are sent one at a time
// for a while. Decorations are sent in the order in which they could first have been sent,
// while enough tokens are left: half of the burst at first, and within a minute ever fewer.
// A picture that follows its words waits as little as a post.
package outbox
