// Package rest speaks Discord's HTTP API, version 10, as far as a bot that
// plays needs it: answers to interactions, channel messages, threads, direct
// messages, the registration of commands, the gateway's address, and what is
// permitted where.
//
// # Use
//
//	c, err := rest.New(rest.Config{Token: secret.New(token), Application: application})
//
//	// Answer a command within three seconds, with a picture.
//	m := rest.Message{
//		Content: new("Black played D4."),
//		Files:   []rest.File{{Name: "board.png", Alt: "Black at D4 …", Data: png}},
//	}
//	shown, err := c.Respond(ctx, in.ID, in.Token, rest.Reply(m))
//
//	// Or think first and answer within fifteen minutes.
//	_, err = c.Respond(ctx, in.ID, in.Token, rest.Defer(rest.Ephemeral))
//	shown, err = c.EditOriginal(ctx, in.Token, m)
//
//	// A message of the bot's own. The same nonce sends it once.
//	m.Nonce = rest.Nonce(post.ID)
//	m.AllowedMentions.Users = []string{opponent}
//	sent, err := c.Send(ctx, channel, m)
//
// A Client may be used by any number of goroutines. Every method ends within a
// moment of its context's end.
//
// # Messages
//
// A field that is nil is not sent, which in an edit leaves it as it is: nil
// Components leave the buttons, an empty slice that is not nil takes them away.
// AllowedMentions is always sent, on edits too: nobody is pinged who is not
// named there. A file's Alt is what a screen reader reads. In an edit, Files
// replace the attachments of before unless Attachments names those to keep.
//
// # Errors
//
// Every error says whether the thing was done. It is one of
//
//   - *[RateLimited]: not done; ask again after Wait. Also when this client
//     itself refuses to ask: a bucket is known to be empty, too many requests
//     were invalid lately, or the token was not accepted a moment ago.
//   - *[Error]: Discord refused; not done. [Gone], [Forbidden], [TooLarge] and
//     [Refused] say more.
//   - *[NotSent]: nothing reached Discord, or a server in front of it refused.
//   - *[Ambiguous]: it may have been done and it may not: the answer was lost,
//     or the server failed after it had the request.
//
// No error and no log line holds a token.
//
// The client repeats harmless requests by itself: reading, editing,
// deleting, and sending with a nonce, after an ambiguous end; anything after a
// short wait for a bucket (Config.Patience) or when it was not sent. Answers to
// interactions and follow-ups are never sent twice.
//
// # Limits
//
// Buckets are learned from the headers of answers and forgotten when they are
// full again. Interaction routes carry no Authorization, so that Discord does
// not count them towards the bot's limit; of all others fifty are sent in a second,
// in the order in which they come: package outbox sees to it that decorations leave
// room for posts. A global 429 stops one or the other kind for as long as it says;
// one from Cloudflare stops everything. After 500 requests in ten minutes that
// Discord counts as invalid (401, 403, 429), a twentieth of what gets an address
// banned, the client sends no more with the token; interaction routes go on, because
// people wait for them and one server must not silence the others.
package rest
