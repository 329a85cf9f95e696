// Package outbox says what of all that waits is sent next: it keeps the decorations
// that follow posts, and what is known of the limits of each platform's account. It
// has no clock and does no I/O; package bot stores what is in it and sends.
//
// A decoration changes a message that is there already: it has the first message of
// a game say how the game stands, puts a picture where its words are, takes old
// buttons away, puts reactions, ends what still shows that the bot thinks. Doing one
// twice does no harm, and of those with the same platform, kind and key only the
// newest counts:
//
//	q := outbox.NewQueue(start)
//	q.Put(now, outbox.Row{Platform: "discord", Kind: outbox.Header, Key: "12/34", …})
//	row, ok, again := q.Next(now) // again: when to ask the next time
//	…
//	q.Done(row, now) // or q.Later(row, at)
//
// Posts come first. Each that is sent spends a token of its platform's [Account];
// decorations are sent only while more than half of the burst is left. Only a
// platform that says so holds posts up: then all of them wait, and afterwards they
// are sent one at a time for a while.
package outbox
