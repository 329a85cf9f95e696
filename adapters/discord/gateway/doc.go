// Package gateway keeps a bot connected to Discord's gateway and hands over its
// interactions, and on request messages: raw, and in order for each shard. It also tells of
// changes in servers after which the bot may be permitted more.
//
//	g, err := gateway.New(gateway.Config{
//		Token:  secret.New(token),
//		Bot:    client.GatewayBot, // of package rest
//		Handle: func(raw json.RawMessage, done func()) {
//			in, err := interaction.Parse(raw)
//			…
//		},
//		Connected: func(resumed bool) { … }, // credit the clocks
//	})
//	total, err := g.Shards(ctx)
//	err = g.Serve(ctx, 0, total, gateway.Session{}, nil) // nil when ctx is done; *Fatal when there is no point in going on
//
// # Connections
//
// One goroutine of a shard reads, one writes heartbeats, and one calls
// Config.Handle, which must return soon. An interaction counts as received when it
// waits for Handle; after a cut, Discord replays what follows it. Duplicates are
// dropped.
//
//   - However a connection ends, the session is kept: the gateway closes with 4000 and
//     resumes at the address in READY. Only at the end of a process that is alone it closes
//     with 1000.
//   - A connection ends if no heartbeat is acknowledged for an interval and five
//     seconds, or if it is not read for that long because 1024 interactions wait;
//     Discord then replays what was not read.
//   - A connection that is not ready within half a minute is closed.
//   - While Discord cannot be reached, connections are tried at most 15 seconds apart. If
//     the session is lost by then (op 9 after Resume), the shard identifies within the five
//     seconds that Discord asks for.
//
// The socket is the gateway's own and not a session of discordgo 0.29.0, which resumes
// at its first address, waits for five heartbeats, closes with 1000, waits for READY
// without a limit, loses unknown fields of events when it decodes them, and sleeps for a
// second under a lock.
//
// # Identifying
//
// A bot that identifies too often loses its token. Before each Identify the
// gateway asks Discord how many are left today, and waits when half are used. A
// shard identifies twenty times, and from then on once in three minutes; shards of
// one max_concurrency group take turns, in all processes by Config.Turn. Resuming costs nothing and is what usually
// happens. After three Resumes in a row that Discord does not answer, or a minute of
// them, the gateway abandons the session and identifies.
//
// # Shards
//
// Config.Shards is the number of shards of the whole bot; 0 takes what Discord
// recommends. Each is served by itself, and may move from one process to another, which
// goes on with its Session: Discord sends it what was received and not done, and what came
// meanwhile.
package gateway
