package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"
)

func get(what, route, major, path string) call {
	return call{what: what, method: http.MethodGet, route: route, major: major, path: path, safe: true}
}

// GatewayBot asks where the gateway is.
func (c *Client) GatewayBot(ctx context.Context) (*discordgo.GatewayBotResponse, error) {
	return ask[discordgo.GatewayBotResponse](ctx, c, get("ask for the gateway", "/gateway/bot", "", "/gateway/bot"))
}

// An App is an application as Discord tells of it.
type App struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Servers   int    `json:"approximate_guild_count"` // that the bot is in
	PublicKey string `json:"verify_key"`
	Endpoint  string `json:"interactions_endpoint_url"` // where interactions are sent, if not through the gateway
	Flags     int    `json:"flags"`
}

// MayReadMessages reports whether the application may ask for the content of messages:
// whether the intent is switched on, in few servers, or granted.
func (a App) MayReadMessages() bool { return a.Flags&(1<<18|1<<19) != 0 }

// App tells of the application whose token this is.
func (c *Client) App(ctx context.Context) (*App, error) {
	return ask[App](ctx, c, get("ask for the application", "/applications/@me", "", "/applications/@me"))
}

// Me tells of the bot.
func (c *Client) Me(ctx context.Context) (*discordgo.User, error) {
	return ask[discordgo.User](ctx, c, get("ask who the bot is", "/users/@me", "", "/users/@me"))
}

func (c *Client) commandsPath(guild string) string {
	p := "/applications/" + url.PathEscape(c.cfg.Application)
	if guild != "" {
		p += "/guilds/" + url.PathEscape(guild)
	}
	return p + "/commands"
}

// Commands reads what is registered, for one guild or, if guild is empty, for
// all.
func (c *Client) Commands(ctx context.Context, guild string) ([]json.RawMessage, error) {
	q := get("read the commands", "/applications/commands", guild, c.commandsPath(guild))
	q.query = url.Values{"with_localizations": {"true"}}
	return list[json.RawMessage](ctx, c, q)
}

// PutCommands registers the commands in place of all that were registered
// before. commands becomes a JSON array.
func (c *Client) PutCommands(ctx context.Context, guild string, commands any) ([]json.RawMessage, error) {
	return list[json.RawMessage](ctx, c, call{
		what: "register the commands", method: http.MethodPut, route: "/applications/commands", major: guild, safe: true,
		path: c.commandsPath(guild), in: commands,
	})
}

// guildsPage is how many guilds Discord tells of at once.
const guildsPage = 200

// Guilds returns all guilds that the bot is in, the oldest first. Their Permissions
// are what the bot may do there, channels' own settings aside.
func (c *Client) Guilds(ctx context.Context) ([]discordgo.UserGuild, error) {
	all := []discordgo.UserGuild{}
	for after := "0"; ; {
		q := get("ask for the bot's servers", "/users/@me/guilds", "", "/users/@me/guilds")
		q.query = url.Values{"limit": {strconv.Itoa(guildsPage)}, "after": {after}}
		page, err := list[discordgo.UserGuild](ctx, c, q)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 { // a short page need not be the last
			return all, nil
		}
		all = append(all, page...)
		last := page[len(page)-1].ID
		if last == after {
			return nil, errors.New("list the bot's servers: same page received twice")
		}
		after = last
	}
}

// Guild reads a guild with its roles.
func (c *Client) Guild(ctx context.Context, guild string) (*discordgo.Guild, error) {
	return ask[discordgo.Guild](ctx, c, get("read a server", "/guilds", guild, "/guilds/"+url.PathEscape(guild)))
}

// Member reads a member of a guild.
func (c *Client) Member(ctx context.Context, guild, user string) (*discordgo.Member, error) {
	return ask[discordgo.Member](ctx, c, get("read a member", "/guilds/members", guild,
		"/guilds/"+url.PathEscape(guild)+"/members/"+url.PathEscape(user)))
}
