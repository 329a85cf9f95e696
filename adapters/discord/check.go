package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/gateway"
	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/render"
)

// tryFor is how long Check waits for the gateway.
const tryFor = 10 * time.Second

// Check tries a configuration on Discord. It returns what it found, a line each; an
// error says what is wrong and what to do. If channel is given, the id of a channel
// or thread, it posts a board there and deletes it again; else it changes nothing.
func Check(ctx context.Context, cfg Config, channel string, board render.Scene) (found []string, err error) {
	a, err := New(cfg)
	if err != nil {
		return nil, err
	}
	defer a.rest.Close()
	steps := []func(context.Context) ([]string, error){a.checkToken, a.checkApplication, a.checkGateway, a.checkServers}
	if channel != "" {
		steps = append(steps, func(ctx context.Context) ([]string, error) { return a.tryChannel(ctx, channel, board) })
	}
	for _, step := range steps {
		lines, err := step(ctx)
		if found = append(found, lines...); err != nil {
			return found, err
		}
	}
	return found, nil
}

func (a *Adapter) checkToken(ctx context.Context) ([]string, error) {
	me, err := a.rest.Me(ctx)
	switch {
	case status(err) == http.StatusUnauthorized:
		return nil, fmt.Errorf("discord.token: rejected by Discord; reset it on the page “Bot” of the application")
	case err != nil:
		return nil, fmt.Errorf("discord.api: Discord cannot be reached: %w", err)
	}
	return []string{"bot: " + me.Username + " (" + me.ID + ")"}, nil
}

func (a *Adapter) checkApplication(ctx context.Context) (found []string, err error) {
	app, err := a.rest.App(ctx)
	listens := a.cfg.Listen != ""
	switch {
	case err != nil:
		return nil, fmt.Errorf("discord.application: Discord does not return it: %w", err)
	case app.ID != a.cfg.Application:
		return nil, fmt.Errorf("discord.application: the token belongs to application %s", app.ID)
	case !listens && app.Endpoint != "":
		return nil, fmt.Errorf("discord.listen: the application's “Interactions Endpoint URL” is set, so the gateway gets no interactions; clear it, or set discord.listen and discord.public_key")
	case listens && !strings.EqualFold(app.PublicKey, a.cfg.PublicKey):
		return nil, fmt.Errorf("discord.public_key: wrong; the application's key is %s", app.PublicKey)
	case listens && app.Endpoint == "":
		found = []string{"write the address that leads to discord.listen into the application's “Interactions Endpoint URL” when the bot runs"}
	}
	if a.cfg.MessageContent && !app.MayReadMessages() {
		return found, fmt.Errorf("discord.message_content: the application may not read messages, so Discord would close the connection (4014); switch on Message Content Intent on the page “Bot” of the application, or set discord.message_content to no")
	}
	return found, nil
}

func (a *Adapter) checkGateway(ctx context.Context) (found []string, err error) {
	if a.cfg.Listen != "" {
		return nil, nil
	}
	g, err := a.rest.GatewayBot(ctx)
	if err != nil {
		return nil, fmt.Errorf("discord.api: Discord does not return its gateway's address: %w", err)
	}
	if err := gateway.Try(ctx, g.URL, a.cfg.Dial, tryFor); err != nil {
		return nil, fmt.Errorf("discord.api: Discord's gateway, %s, does not answer; check whether a proxy or firewall blocks WebSockets: %w", g.URL, err)
	}
	found = []string{fmt.Sprintf("gateway: answers; %d of %d connections left today, %d shards recommended", g.SessionStartLimit.Remaining, g.SessionStartLimit.Total, g.Shards)}
	if g.SessionStartLimit.Remaining == 0 {
		err = fmt.Errorf("discord.token: no session starts left today; wait %v", time.Duration(g.SessionStartLimit.ResetAfter)*time.Millisecond)
	}
	return found, err
}

func (a *Adapter) checkServers(ctx context.Context) (found []string, err error) {
	invite := Invite(a.cfg.Application)
	if a.cfg.Guild == "" {
		if found, err = a.lacks(ctx); err != nil {
			return nil, fmt.Errorf("discord.api: list the bot's servers: %w", err)
		}
		return append(found, "invite: "+invite), nil
	}
	missing, err := a.missingIn(ctx, a.cfg.Guild, a.self)
	switch {
	case err != nil:
		return nil, fmt.Errorf("discord.guild: the bot is not in that server; invite it with %s", invite)
	case missing != "":
		return nil, fmt.Errorf("discord.guild: the bot lacks %s there; invite it again with %s", missing, invite)
	}
	return []string{"server: the bot is there and has its permissions", "invite: " + invite}, nil
}

// tryChannel posts a board in a channel and deletes it.
func (a *Adapter) tryChannel(ctx context.Context, channel string, board render.Scene) (lines []string, err error) {
	ch, err := a.rest.Channel(ctx, channel)
	switch {
	case rest.Gone(err):
		return nil, fmt.Errorf("channel %s: not found; switch on Developer Mode in Discord's settings, then copy the channel's id from its menu", channel)
	case rest.Forbidden(err):
		return nil, fmt.Errorf("channel %s: hidden from the bot; allow it %s in the channel's settings, under Permissions", channel, strings.Join(rest.Permissions(0).Missing(rest.ViewChannel), ", "))
	case err != nil:
		return nil, err
	case ch.Type == discordgo.ChannelTypeGuildForum || ch.Type == discordgo.ChannelTypeGuildCategory:
		return nil, fmt.Errorf("channel #%s: takes no messages itself; use the id of a post or channel inside it", ch.Name)
	}
	name := "channel #" + ch.Name
	var missing []string
	if ch.GuildID != "" {
		may, err := a.rest.Permissions(ctx, ch.GuildID, channel)
		if err != nil {
			return nil, fmt.Errorf("%s: read permissions: %w", name, err)
		}
		missing = may.Missing(Permissions)
	}
	if len(missing) == 0 {
		lines = append(lines, name+": the bot has its permissions")
	}
	lacks := func(err error) error {
		if len(missing) > 0 {
			return errors.Join(fmt.Errorf("%s: the bot lacks %s; allow them in the channel's settings, under Permissions", name, strings.Join(missing, ", ")), err)
		}
		return err
	}
	ms, err := content{picture: board, name: "halfpoint-check.png", flags: rest.SuppressNotifications}.messages()
	if err != nil {
		return lines, err
	}
	sent, err := a.rest.Send(ctx, channel, ms[0])
	if err != nil {
		return lines, lacks(fmt.Errorf("%s: post a board: %w", name, err))
	}
	if err := a.rest.Delete(ctx, channel, sent.ID); err != nil {
		return lines, lacks(fmt.Errorf("%s: delete the posted board: %w", name, err))
	}
	return append(lines, name+": posted a board and deleted it again"), lacks(nil)
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
