// Package matrix connects the bot to Matrix. It is a [bot.Adapter].
//
// # Events come in
//
// One loop asks the homeserver for news (sync.go). It stores the events that may concern the
// bot together with the sync token (queue.go), in one transaction. Where the answer leaves
// events out, it stores a gap, and the events of the gap are fetched first (gap.go). Then the
// events of each room are handled in their order, and rooms concurrently (ask.go): the adapter
// decrypts an event, reads it as a command, and asks the bot.
//
// An event stays on disk until it is handled, and is handled again after a crash. That has no
// further effect, because the id of the request is that of the event. An event is handled when
// the bot has stored what comes of it, and the answer with it.
//
// An encrypted event whose key is missing waits on disk until the key arrives. After somebody
// has put back an old copy of the database, the events since the copy come again, and the
// adapter looks for what the bot has sent since before it sends anything (restore.go).
//
// # Posts go out
//
// A game opens with a message, which is the root of its thread. A receipt is "room/event".
// Every board is one message: the picture with its caption, which mentions the player to move
// (deliver.go). If the upload of a picture is slow (upload.go), the words are sent first. The
// root shows the state of the game, and carries the reactions that players can press. The
// outbox delivers edits of the root, reactions and late pictures when the homeserver has room
// for them (decorate.go).
//
// [Adapter.Deliver] shows the posts of a request and the answer to it, too. The request does
// not: the requests of a room are handled one after another, and must not wait for each
// other's pictures. An answer is a message that replies to the event (reply.go).
//
// The adapter sends no plaintext into an encrypted room. It asks the homeserver whether
// the room is encrypted before it sends anything, and sends nothing without an answer.
//
// After a room has refused a message, the adapter hardly tries it until something changes there
// (refused.go): homeservers count refused messages against the limit. A room that is upgraded
// keeps its games, because the bot knows it by the id of the first room (rooms.go).
//
// # Several processes
//
// Where several processes have one database, each has an adapter, and one of them has the account
// at a time ([Config.Hold]). The others ask the homeserver only who may write in a room, with the
// token that is stored. Whenever an adapter gets the account it reads the database and logs in as
// after a start, with the same device, and believes nothing that it remembers ([Adapter.serve]).
// When it loses the account, everything that it was doing is cancelled.
//
// A process can be stopped at any moment, and go on when another one has had the account for long.
// What it then stores fails, because each transaction on Config.DB begins with a lock on its lease.
// Keys, the sync token and the login's tokens are stored before they are used. So it encrypts
// nothing and reads nothing that counts, and renews no token.
//
// # Goroutines
//
// Those of [Adapter.serve] end before it returns:
//   - serve itself logs in and runs the sync loop, which stores new events and gives keys to e2ee.
//   - 16 workers of asks (askWorkers) handle events: one worker at a time those of a room. When
//     serve ends, they have six seconds (drainFor) to finish.
//   - tidy does all low-priority work: it leaves empty rooms, reports messages without keys,
//     cancels verifications, deletes old events, and tells the bot every hour in which rooms
//     it is.
//   - For each login one goroutine sets the profile, and one waits until another Halfpoint takes
//     the account.
//
// Others end by themselves, at the latest when serve has ended and the context of asks with it:
//   - One for each upload, at most 64, and one for each room that the bot joins. The caller
//     waits for a moment, and looks again later.
//   - Timers that wake a room after an error, mark a message as read, or show that the bot types.
//
// Deliver is called by the outbox, concurrently. The packages device (one goroutine: signs of
// life, generations, approval) and e2ee (two: requests to the homeserver, the key backup) have
// goroutines of their own, which end with Close.
//
// # Locks
//
// No lock of this package is held during a request or a query. Adapter.mu guards the fields that
// follow it, up to the first blank line. The account, uploads, turns and the limiters
// each have a lock of their own; a goroutine that waits for a turn or an upload waits on a
// channel. In e2ee, Machine.mu is held during database transactions but not during requests;
// in device, Device.mu is held while its row is stored.
package matrix
