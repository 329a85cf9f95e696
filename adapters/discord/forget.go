package discord

import (
	"context"
	"time"

	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/backoff"
)

// When the bot looks in which servers it is: it is not told of that, for it asks
// for no events of servers.
const (
	serversFirst = time.Minute // after it began
	serversEvery = 6 * time.Hour
	serversAgain = 10 * time.Minute // after an error
)

// serverOf is how the bot knows a server. Discord's own id would not do: in old
// servers the first channel has the same.
func serverOf(guild string) string { return "guild:" + guild }

// servers tells the service every few hours in which servers the bot is, so that
// those it has left are forgotten.
func (a *Adapter) servers(ctx context.Context) {
	for wait := serversFirst; backoff.Sleep(ctx, wait) == nil; {
		wait = serversEvery
		if err := a.tellServers(ctx); err != nil && ctx.Err() == nil {
			wait = atLeast(serversAgain, err)
			a.log.Warn("updating the list of servers failed, will retry", "error", err)
		}
	}
}

func (a *Adapter) tellServers(ctx context.Context) error {
	guilds, err := a.rest.Guilds(ctx)
	if err != nil {
		return err
	}
	a.roles.Purge() // somebody may have thrown the bot out and let it in again
	in := make([]string, len(guilds))
	for i, g := range guilds {
		in[i] = serverOf(g.ID)
	}
	return a.service.Report(ctx, bot.Servers{Platform: Name, In: in})
}
