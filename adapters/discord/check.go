package discord

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
)

// tryFor is how long Check waits for the gateway.
const tryFor = 10 * time.Second

// Check tries a configuration on Discord without changing anything there. It
// gives what it found, a line each; an error says what is wrong and what to do.
func Check(ctx context.Context, cfg Config) ([]string, error) {
	a, err := New(cfg)
	if err != nil {
		return nil, err
	}
	defer a.rest.Close()
	me, err := a.rest.Me(ctx)
	switch {
	case status(err) == http.StatusUnauthorized:
		return nil, fmt.Errorf("discord.token: is not accepted; reset it on the page “Bot” of the application")
	case err != nil:
		return nil, fmt.Errorf("discord.api: Discord cannot be reached: %w", err)
	}
	found := []string{"bot: " + me.Username + " (" + me.ID + ")"}
	app, err := a.rest.App(ctx)
	switch {
	case err != nil:
		return found, fmt.Errorf("discord.application: cannot be read: %w", err)
	case app.ID != a.cfg.Application:
		return found, fmt.Errorf("discord.application: the token is that of the application %s", app.ID)
	case cfg.Listen == "" && app.Endpoint != "":
		return found, fmt.Errorf("discord.listen: the application's “Interactions Endpoint URL” is set, so the gateway gets no interactions; clear it, or set discord.listen and discord.public_key")
	case cfg.Listen != "" && !strings.EqualFold(app.PublicKey, cfg.PublicKey):
		return found, fmt.Errorf("discord.public_key: the application's is %s", app.PublicKey)
	case cfg.Listen != "" && app.Endpoint == "":
		found = append(found, "write the address that leads to discord.listen into the application's “Interactions Endpoint URL” when the bot runs")
	}
	if cfg.Listen == "" {
		g, err := a.rest.GatewayBot(ctx)
		if err != nil {
			return found, fmt.Errorf("discord.api: the gateway cannot be asked for: %w", err)
		}
		if err := gateway.Try(ctx, g.URL, cfg.Dial, tryFor); err != nil {
			return found, fmt.Errorf("discord.api: Discord's gateway, %s, does not answer; is something between here and there that lets no WebSockets through? %w", g.URL, err)
		}
		found = append(found, fmt.Sprintf("gateway: answers; %d of %d connections left today, %d shards recommended", g.SessionStartLimit.Remaining, g.SessionStartLimit.Total, g.Shards))
		if g.SessionStartLimit.Remaining == 0 {
			return found, fmt.Errorf("discord.token: no connections are left today; wait %v", time.Duration(g.SessionStartLimit.ResetAfter)*time.Millisecond)
		}
	}
	if cfg.Guild != "" {
		missing, err := a.missingIn(ctx, cfg.Guild, me.ID)
		if err != nil {
			return found, fmt.Errorf("discord.guild: the bot is not in that server; bring it there with %s", Invite(a.cfg.Application))
		}
		if missing != "" {
			return found, fmt.Errorf("discord.guild: the bot lacks %s there; invite it again with %s", missing, Invite(a.cfg.Application))
		}
		found = append(found, "server: the bot is there and has its permissions")
	} else {
		lines, err := a.lacks(ctx)
		if err != nil {
			return found, fmt.Errorf("discord.api: the servers cannot be listed: %w", err)
		}
		found = append(found, lines...)
	}
	return append(found, "invite: "+Invite(a.cfg.Application)), nil
}

// lacks tells of the servers that the bot is in, a line of each in which it
// lacks something.
func (a *Adapter) lacks(ctx context.Context) ([]string, error) {
	all, err := a.rest.Guilds(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return []string{"servers: none yet; bring the bot into one with the link below"}, nil
	}
	lines := []string{fmt.Sprintf("servers: %d", len(all))}
	for _, g := range all {
		if missing := rest.Permissions(g.Permissions).Missing(Permissions); len(missing) > 0 {
			lines = append(lines, fmt.Sprintf("server %q: the bot lacks %s; give them to its role, or invite it again with the link below", g.Name, strings.Join(missing, ", ")))
		}
	}
	return lines, nil
}

// missingIn names the permissions that the bot lacks in a whole server.
func (a *Adapter) missingIn(ctx context.Context, guild, me string) (string, error) {
	g, err := a.rest.Guild(ctx, guild)
	if err != nil {
		return "", err
	}
	m, err := a.rest.Member(ctx, guild, me)
	if err != nil {
		return "", err
	}
	may := rest.PermissionsIn(g, m, &discordgo.Channel{})
	return strings.Join(may.Missing(Permissions), ", "), nil
}
