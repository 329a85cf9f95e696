// Package gateway keeps a bot connected to Discord's gateway and hands over what
// happens there, raw, in order, on a bounded number of goroutines.
//
//	work := lanes.New(lanes.Config{Workers: 16})
//	defer work.Close()
//	g, err := gateway.New(gateway.Config{
//		Token: bot.NewSecret(token),
//		Bot:   client.GatewayBot, // of package rest
//		Lanes: work,
//		Handle: func(ctx context.Context, e gateway.Event) {
//			if e.Type == gateway.InteractionCreate {
//				in, err := interaction.Parse(e.Data)
//				…
//			}
//		},
//		Key:    func(e gateway.Event) string { … }, // events of one game come one after another
//		Outage: func(o gateway.Outage) { … },       // credit the clocks
//	})
//	err = g.Run(ctx) // nil when ctx is done; *Fatal when there is no point in going on
//
// # Connections
//
// Two goroutines serve a connection: one reads and hands events over, the other
// writes. An event counts as received when it has a place on the lanes; after a
// cut, Discord replays what follows it. Duplicates are dropped.
//
//   - Every way in which a connection ends but the end of Run keeps the session:
//     the gateway closes with 4000 and resumes at the address that READY gave.
//   - A heartbeat that is not acknowledged within an interval and five seconds
//     ends the connection. The time in which events wait because too many are
//     being handled does not count.
//   - A connection that is not ready within half a minute is given up.
//
// The socket is the gateway's own and not a session of discordgo 0.29.0, which
// resumes where it first was, waits for five heartbeats, closes with 1000, waits
// without end for READY, decodes events into types that lose what it does not
// know, and sleeps for a second under a lock.
//
// # Identifying
//
// A bot that identifies too often loses its token. Before each Identify the
// gateway asks Discord how many are left today and waits when half are used, when
// a shard has identified twenty times in an hour, and for the others of its
// max_concurrency group. Resuming costs nothing and is what usually happens. After
// three Resumes in a row that Discord does not answer, or a minute of them, the
// gateway gives the session up and identifies.
//
// # Shards
//
// Config.Shards is the number of shards of the whole bot; 0 takes what Discord
// recommends. A process runs Config.Count of them from Config.First.
package gateway
