package discord

import (
	"context"
	"errors"
	"time"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
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
	for wait := serversFirst; ; {
		pause(ctx, wait)
		if ctx.Err() != nil {
			return
		}
		err := a.tellServers(ctx)
		var limited *rest.RateLimited
		switch {
		case err == nil:
			wait = serversEvery
			continue
		case ctx.Err() != nil:
			return
		case errors.As(err, &limited):
			wait = max(limited.Wait, serversAgain)
		default:
			wait = serversAgain
		}
		a.log.Warn("it is not known in which servers the bot is", "error", err)
	}
}

func (a *Adapter) tellServers(ctx context.Context) error {
	guilds, err := a.low.Guilds(ctx)
	if err != nil {
		return err
	}
	in := make([]string, len(guilds))
	for i, g := range guilds {
		in[i] = serverOf(g.ID)
	}
	return a.theService().Servers(ctx, Name, in)
}
