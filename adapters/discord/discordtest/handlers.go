package discordtest

import (
	"cmp"
	"strconv"
)

type handler func(*Server, *request) (reply, error)

// handlers are the routes that the double has.
var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		"GET /gateway":                 getGateway,
		"GET /gateway/bot":             getGatewayBot,
		"GET /users/@me":               getMe,
		"POST /users/@me/channels":     createDM,
		"GET /users/@me/guilds":        getMyGuilds,
		"GET /applications/@me":        getApplication,
		"GET /oauth2/applications/@me": getApplication,

		"GET /guilds/{guild_id}":                   getGuild,
		"GET /guilds/{guild_id}/members/{user_id}": getMember,
		"GET /channels/{channel_id}":               getChannel,
		"PATCH /channels/{channel_id}":             editChannel,
		"POST /channels/{channel_id}/typing":       typing,

		"GET /channels/{channel_id}/messages":                       listMessages,
		"POST /channels/{channel_id}/messages":                      createMessage,
		"GET /channels/{channel_id}/messages/{message_id}":          getMessage,
		"PATCH /channels/{channel_id}/messages/{message_id}":        editMessage,
		"DELETE /channels/{channel_id}/messages/{message_id}":       deleteMessage,
		"POST /channels/{channel_id}/messages/{message_id}/threads": startThreadFrom,

		"GET /applications/{application_id}/commands":                   getCommands,
		"PUT /applications/{application_id}/commands":                   putCommands,
		"GET /applications/{application_id}/guilds/{guild_id}/commands": getCommands,
		"PUT /applications/{application_id}/guilds/{guild_id}/commands": putCommands,

		routeCallback: callback,
		"POST /webhooks/{webhook_id}/{webhook_token}":                         followUp,
		"GET /webhooks/{webhook_id}/{webhook_token}/messages/@original":       getHookMessage,
		"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original":     editHookMessage,
		"DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original":    deleteHookMessage,
		"GET /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}":    getHookMessage,
		"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}":  editHookMessage,
		"DELETE /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": deleteHookMessage,
	}
}

func getGateway(s *Server, r *request) (reply, error) {
	return ok(object{"url": s.gatewayURL()})
}

func getGatewayBot(s *Server, r *request) (reply, error) {
	return ok(object{
		"url": s.gatewayURL(), "shards": s.o.Shards,
		"session_start_limit": object{
			"total": 1000, "remaining": s.gateway.left, "reset_after": s.gateway.resetAfter(r.now).Milliseconds(),
			"max_concurrency": s.o.Concurrency,
		},
	})
}

func getMe(s *Server, r *request) (reply, error) {
	o := s.bot.json()
	for key, v := range map[string]any{"mfa_enabled": false, "locale": "en-US", "premium_type": 0, "email": nil, "verified": true} {
		o[key] = v
	}
	delete(o, "primary_guild")
	return ok(o)
}

func getApplication(s *Server, r *request) (reply, error) {
	in := 0
	for _, g := range s.guilds {
		if g.botIn {
			in++
		}
	}
	owner := object{"id": "1", "username": "owner", "global_name": nil, "avatar": nil, "discriminator": "0", "public_flags": 0, "flags": 0, "primary_guild": nil}
	return ok(object{
		"id": s.appID, "name": s.bot.name, "icon": nil, "description": "", "type": nil, "bot": s.bot.json(),
		"bot_public": true, "bot_require_code_grant": false, "verify_key": s.PublicKey(), "flags": 0, "flags_new": "0",
		"redirect_uris": []string{}, "interactions_endpoint_url": orNil(s.endpoint), "role_connections_verification_url": nil,
		"owner": owner, "approximate_guild_count": in, "approximate_user_install_count": 0, "approximate_user_authorization_count": 0,
		"explicit_content_filter": 0, "team": nil, "eligible_oauth2_scopes": []string{},
		"integration_types_config": object{"0": object{}, "1": object{}},
	})
}

func createDM(s *Server, r *request) (reply, error) {
	u := s.users[text(r.object()["recipient_id"])]
	if u == nil || u.bot {
		return reply{}, errUser
	}
	return ok(s.dmOf(u).json(s))
}

func (s *Server) dmOf(u *user) *channel {
	if u.dm == nil {
		u.dm = &channel{id: s.newID(), kind: typeDM, recipient: u, withBot: true, created: s.now()}
		s.channels[u.dm.id] = u.dm
	}
	return u.dm
}

func getMyGuilds(s *Server, r *request) (reply, error) {
	limit := 200
	if n, err := strconv.Atoi(r.query.Get("limit")); err == nil {
		limit = n
	}
	after, err := strconv.ParseUint(cmp.Or(r.query.Get("after"), "0"), 10, 64)
	if err != nil || limit < 1 || limit > 200 {
		return reply{}, errForm
	}
	list := []object{}
	for _, g := range s.guildOrder { // in the order of their ids
		id, err := strconv.ParseUint(g.id, 10, 64)
		if err != nil {
			return reply{}, err
		}
		if g.botIn && id > after && len(list) < limit {
			list = append(list, object{
				"id": g.id, "name": g.name, "icon": nil, "banner": nil, "owner": false,
				"permissions": (g.roles[0].permissions | g.botRole.permissions).String(), "features": []string{},
			})
		}
	}
	return ok(list)
}

// guildFor is the guild of a request, if the bot is in it.
func (s *Server) guildFor(r *request) (*guild, error) {
	g := s.guilds[r.params["guild_id"]]
	if g == nil {
		return nil, errGuild
	}
	if !g.botIn {
		return nil, errAccess
	}
	return g, nil
}

func getGuild(s *Server, r *request) (reply, error) {
	g, err := s.guildFor(r)
	if err != nil {
		return reply{}, err
	}
	o := g.json()
	if r.query.Get("with_counts") == "true" {
		o["approximate_member_count"], o["approximate_presence_count"] = len(g.members), len(g.members)
	}
	return ok(o)
}

func getMember(s *Server, r *request) (reply, error) {
	g, err := s.guildFor(r)
	if err != nil {
		return reply{}, err
	}
	m := g.members[r.params["user_id"]]
	if m == nil {
		if s.users[r.params["user_id"]] == nil {
			return reply{}, errUser
		}
		return reply{}, errMember
	}
	return ok(m.json(true))
}

func getChannel(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	return ok(c.json(s))
}

func editChannel(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	body := r.object()
	p := s.botPermissions(c)
	if !c.isThread() {
		return reply{}, errPermission
	}
	_, opens := body["archived"]
	opens = opens && body["archived"] == false
	onlyOpens := opens && len(body) == 1
	if c.archived && !opens {
		return reply{}, errArchived
	}
	if !p.Has(ManageThreads) {
		switch {
		case c.locked, body["locked"] != nil:
			return reply{}, errPermission
		case onlyOpens:
			if !p.Has(SendMessagesInThreads) {
				return reply{}, errPermission
			}
		case c.owner != s.bot:
			return reply{}, errPermission
		}
	}
	if name := text(body["name"]); name != "" {
		c.name = name
	}
	if v, ok := body["locked"].(bool); ok {
		c.locked = v
	}
	if v, ok := body["archived"].(bool); ok && v != c.archived {
		c.archived, c.changed = v, r.now
	}
	if n := number(body["auto_archive_duration"]); n > 0 {
		c.archiveIn = n
	}
	s.dispatchChannel("THREAD_UPDATE", c)
	return ok(c.json(s))
}

func (s *Server) deleteChannel(c *channel) {
	c.deleted = true
	event := "CHANNEL_DELETE"
	if c.isThread() {
		event = "THREAD_DELETE"
	}
	s.dispatchChannel(event, c)
	for _, t := range c.guild.channels {
		if t.parent == c {
			t.deleted = true
		}
	}
	s.changed.Broadcast()
}

func typing(s *Server, r *request) (reply, error) {
	c, err := s.channelFor(r, ViewChannel)
	if err != nil {
		return reply{}, err
	}
	if err := s.writable(c); err != nil {
		return reply{}, err
	}
	return reply{status: 204}, nil
}
