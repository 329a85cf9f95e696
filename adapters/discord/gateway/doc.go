// Package gateway keeps a bot connected to Discord's gateway and hands over what
// happens there, raw, in order, on a bounded number of goroutines.
//
//	work := lanes.New(lanes.Config{Workers: 16})
//	defer work.Close()
//	g, err := gateway.New(gateway.Config{
//		Token: token,
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
// # How it is done
//
// The connection is discordgo's, version 0.29.0: it identifies, keeps the beat
// and reads. What it does wrong is kept from it by a line between it and
// Discord, on which messages pass one by one:
//
//   - Each connection has a discordgo session of its own that never reconnects.
//     The line knows the session at Discord: it turns the session's Identify into
//     a Resume and goes to the address that READY gave. (discordgo resumes where
//     it first was, and cannot be told.)
//   - Op 7 and op 9 end the line and never reach discordgo, which would wait for
//     ever on a lock of its own, or identify at once. Op 1 is answered here.
//   - The line closes with 4000, so that the session lives; discordgo says 1000,
//     which ends it and what would be replayed.
//   - A beat that is not acknowledged within an interval and five seconds ends
//     the line; discordgo waits for five intervals. The time in which events wait
//     because too many are being handled does not count.
//   - A connection that is not ready within half a minute is given up; discordgo
//     would wait without end.
//   - Events have names that discordgo does not know, so that it does not decode
//     them: what it decodes badly cannot be answered.
//   - It never sees the token and logs nothing.
//
// An event counts as received when it has a place on the lanes; after a cut,
// Discord replays what follows it. What comes twice is dropped.
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
