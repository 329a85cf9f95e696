package discordtest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A handler answers a request with a JSON body, or nil for 204 No Content. The bot
// needs a permission in the channel that the path names.
type handler struct {
	need Permission
	do   func(*Server, *request) (any, error)
}

// Routes that the double looks at elsewhere, too.
const (
	routeCallback = "POST /interactions/{interaction_id}/{interaction_token}/callback"
	routeThread   = "POST /channels/{channel_id}/messages/{message_id}/threads"
	routeApart    = "POST /channels/{channel_id}/threads"
	routeChannel  = "PATCH /channels/{channel_id}"
	routeFollowUp = "POST /webhooks/{webhook_id}/{webhook_token}"
)

// handlers are the routes that the double has.
var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		"GET /gateway":                                        {0, getGateway},
		"GET /gateway/bot":                                    {0, getGatewayBot},
		"GET /users/@me":                                      {0, getMe},
		"GET /users/@me/guilds":                               {0, getMyGuilds},
		"POST /users/@me/channels":                            {0, createDM},
		"GET /applications/@me":                               {0, getApplication},
		"GET /guilds/{guild_id}":                              {0, getGuild},
		"GET /guilds/{guild_id}/members/{user_id}":            {0, getMember},
		"GET /channels/{channel_id}":                          {0, getChannel},
		routeChannel:                                          {0, editThread},
		"GET /channels/{channel_id}/thread-members/{user_id}": {0, getThreadMember},

		"GET /channels/{channel_id}/messages":                 {0, listMessages},
		"POST /channels/{channel_id}/messages":                {0, createMessage},
		"PATCH /channels/{channel_id}/messages/{message_id}":  {0, editMessage},
		"DELETE /channels/{channel_id}/messages/{message_id}": {0, deleteMessage},
		routeThread: {CreatePublicThreads, startThreadFrom},
		routeApart:  {CreatePublicThreads, startThread},

		"GET /applications/{application_id}/commands":                   {0, getCommands},
		"PUT /applications/{application_id}/commands":                   {0, putCommands},
		"GET /applications/{application_id}/guilds/{guild_id}/commands": {0, getCommands},
		"PUT /applications/{application_id}/guilds/{guild_id}/commands": {0, putCommands},

		routeCallback: {0, callback},
		routeFollowUp: {0, followUp},
		"GET /webhooks/{webhook_id}/{webhook_token}/messages/@original":      {0, getAnswer},
		"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original":    {0, editAnswer},
		"DELETE /webhooks/{webhook_id}/{webhook_token}/messages/@original":   {0, deleteAnswer},
		"PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": {0, editAnswer},
	}
}

// lookUp finds what the path of a request names: a guild, a channel that the bot sees,
// an interaction whose token still works, a message of these.
func (s *Server) lookUp(r *request, need Permission) error {
	defer func() {
		if r.message != nil {
			r.Message = r.message.id
		}
	}()
	if id := r.Params["guild_id"]; id != "" {
		if r.guild = s.guilds[id]; r.guild == nil {
			return errGuild
		}
		if !r.guild.botIn {
			return errAccess
		}
	}
	message := r.Params["message_id"]
	if id := r.Params["channel_id"]; id != "" {
		if r.channel = s.channels[id]; r.channel == nil || r.channel.deleted {
			return errChannel
		}
		switch p := s.botPermissions(r.channel); {
		case !p.Has(ViewChannel):
			return errAccess
		case !p.Has(need):
			return errPermission
		}
		if message != "" {
			if r.message = r.channel.find(message); r.message == nil {
				return errMessage
			}
		}
	}
	if token := r.Params["interaction_token"]; token != "" {
		if r.asked = s.tokens[token]; r.asked == nil || r.asked.id != r.Params["interaction_id"] {
			return errInteraction
		}
		r.message = r.asked.message
	}
	if token := r.Params["webhook_token"]; token != "" {
		i := s.tokens[token]
		r.asked = i
		switch {
		case i == nil || s.now().Sub(i.created) > TokenLife:
			return errToken
		case r.Params["webhook_id"] != s.appID || i.answered == 0:
			return errWebhook
		case strings.Contains(r.Route, "/messages/"):
			if r.message = i.answer(message); r.message == nil || i.channel.deleted {
				return errMessage
			}
		case i.channel.deleted:
			return errChannel
		}
	}
	return nil
}

// find returns a message that everybody in a channel sees, or nil.
func (c *channel) find(id string) *message {
	for _, m := range slices.Backward(c.messages) {
		if m.id == id && !m.gone && m.only == nil {
			return m
		}
	}
	return nil
}

// answer returns the original answer, or the answer or follow-up with that id; nil
// if it is gone.
func (i *interaction) answer(id string) *message {
	for _, m := range append(slices.Clone(i.followUps), i.original) {
		if m != nil && !m.gone && (m.id == id || id == "" && m == i.original) {
			return m
		}
	}
	return nil
}

func getGateway(s *Server, r *request) (any, error) { return object{"url": s.gatewayURL()}, nil }

func getGatewayBot(s *Server, r *request) (any, error) {
	return object{
		"url": s.gatewayURL(), "shards": s.o.Shards,
		"session_start_limit": object{
			"total": 1000, "remaining": s.gateway.left, "reset_after": s.gateway.resetAfter(r.At).Milliseconds(),
			"max_concurrency": s.o.Concurrency,
		},
	}, nil
}

func getMe(s *Server, r *request) (any, error) {
	o := s.bot.json()
	maps.Copy(o, object{"mfa_enabled": false, "locale": "en-US", "premium_type": 0, "email": nil, "verified": true})
	delete(o, "primary_guild")
	return o, nil
}

// appFlags says which privileged intents the application, which is in few servers, may
// ask for.
func (s *Server) appFlags() (flags int) {
	for intent, flag := range map[int]int{intentPresences: 1 << 13, intentMembers: 1 << 15, intentContent: 1 << 19} {
		if s.o.Privileged&intent != 0 {
			flags |= flag
		}
	}
	return flags
}

func getApplication(s *Server, r *request) (any, error) {
	in := 0
	for _, g := range s.guilds {
		if g.botIn {
			in++
		}
	}
	owner := object{"id": "1", "username": "owner", "global_name": nil, "avatar": nil, "discriminator": "0", "public_flags": 0, "flags": 0, "primary_guild": nil}
	return object{
		"id": s.appID, "name": s.bot.name, "icon": nil, "description": "", "type": nil, "bot": s.bot.json(),
		"bot_public": true, "bot_require_code_grant": false, "verify_key": s.PublicKey(), "flags": s.appFlags(), "flags_new": itoa(s.appFlags()),
		"redirect_uris": []string{}, "interactions_endpoint_url": orNil(s.endpoint), "role_connections_verification_url": nil,
		"owner": owner, "approximate_guild_count": in, "approximate_user_install_count": 0, "approximate_user_authorization_count": 0,
		"explicit_content_filter": 0, "team": nil, "eligible_oauth2_scopes": []string{},
		"integration_types_config": object{"0": object{}, "1": object{}},
	}, nil
}

func createDM(s *Server, r *request) (any, error) {
	u := s.users[text(r.object()["recipient_id"])]
	if u == nil || u.bot {
		return nil, errUser
	}
	return s.dmOf(u).json(s), nil
}

func (s *Server) dmOf(u *user) *channel {
	if u.dm == nil {
		u.dm = &channel{id: s.newID(), kind: typeDM, recipient: u, created: s.now()}
		s.channels[u.dm.id] = u.dm
	}
	return u.dm
}

func getMyGuilds(s *Server, r *request) (any, error) {
	limit, err := strconv.Atoi(cmp.Or(r.query.Get("limit"), "200"))
	if err != nil || limit < 1 || limit > 200 {
		return nil, errForm
	}
	list := []object{}
	for _, g := range s.guildOrder { // in the order of their ids
		if g.botIn && compareIDs(g.id, r.query.Get("after")) > 0 && len(list) < limit {
			list = append(list, object{
				"id": g.id, "name": g.name, "icon": nil, "banner": nil, "owner": false,
				"permissions": (g.roles[0].permissions | g.botRole.permissions).String(), "features": []string{},
			})
		}
	}
	return list, nil
}

func getGuild(s *Server, r *request) (any, error) { return r.guild.json(), nil }

func getMember(s *Server, r *request) (any, error) {
	m := r.guild.members[r.Params["user_id"]]
	switch {
	case m != nil:
		return m.json(true), nil
	case s.users[r.Params["user_id"]] != nil:
		return nil, errMember
	}
	return nil, errUser
}

func getChannel(s *Server, r *request) (any, error) { return r.channel.json(s), nil }

func getThreadMember(s *Server, r *request) (any, error) {
	if u := s.users[r.Params["user_id"]]; r.channel.joined[u] {
		return object{"id": r.channel.id, "user_id": u.id, "join_timestamp": stamp(r.channel.created), "flags": 0}, nil
	}
	return nil, errMember
}

func startThreadFrom(s *Server, r *request) (any, error) {
	c, m := r.channel, r.message
	if c.kind != typeText {
		return nil, errChannelType
	}
	if m.thread != nil {
		return nil, errHasThread
	}
	m.thread = s.newThread(c, m.id, r.object(), s.bot)
	m.flags |= flagThread
	return m.thread.json(s), nil
}

// startThread starts a public thread that is under no message. A message says so.
func startThread(s *Server, r *request) (any, error) {
	c, body := r.channel, r.object()
	if c.kind != typeText {
		return nil, errChannelType
	}
	if number(body["type"]) != typeThread {
		return nil, invalid("type", "BASE_TYPE_CHOICES", "the double has public threads alone")
	}
	t := s.newThread(c, s.newID(), body, s.bot)
	s.post(&message{id: s.newID(), kind: kindThreadCreated, channel: c, author: s.bot, content: t.name, begun: t, created: s.now()})
	return t.json(s), nil
}

func (s *Server) newThread(parent *channel, id string, body object, by *user) *channel {
	c := &channel{
		id: id, name: text(body["name"]), kind: typeThread, guild: parent.guild, parent: parent, owner: by,
		archiveIn: 4320, created: s.now(), changed: s.now(),
	}
	if n := number(body["auto_archive_duration"]); n > 0 {
		c.archiveIn = n
	}
	if number(body["type"]) == typeSecret {
		c.kind, c.joined = typeSecret, map[*user]bool{by: true, s.bot: true}
	}
	s.channels[c.id] = c
	parent.guild.channels = append(parent.guild.channels, c)
	s.write(parent, "· %s started the thread “%s”", by.name, c.name)
	o := c.json(s)
	o["newly_created"] = true
	s.dispatchIn("THREAD_CREATE", c, o)
	return c
}

// editThread changes a thread. Whoever has started it may name, archive and open it, and
// moderators may; a locked one only moderators. An archived one only opens. Discord says
// nothing of how often a thread may have another name until it is too often:
// https://github.com/discord/discord-api-docs/issues/1900.
func editThread(s *Server, r *request) (any, error) {
	c, body, may := r.channel, r.object(), s.botPermissions(r.channel)
	archived, archives := body["archived"].(bool)
	locked, locks := body["locked"].(bool)
	opens := c.archived && archives && !archived
	switch {
	case !c.isThread():
		return nil, errPermission // the bot manages no channels
	case may.Has(ManageThreads):
	case c.locked, locks, c.owner != s.bot && !opens, opens && !may.Has(SendMessagesInThreads):
		return nil, errPermission
	}
	if c.archived && !opens {
		return nil, errArchived
	}
	if name, rate := text(body["name"]), s.o.Limits.Renames; name != "" && name != c.name {
		if rate.N > 0 && !c.renamed.take(rate, r.At) {
			return nil, tooOften{c.renamed.wait(rate, r.At), 0}
		}
		c.name = name
	}
	if locks {
		c.locked = locked
	}
	if archives && archived != c.archived {
		c.archived, c.changed = archived, s.now()
	}
	s.dispatchChannel("THREAD_UPDATE", c)
	return c.json(s), nil
}

// archive archives a thread, or opens it.
func (s *Server) archive(c *channel, archived bool) {
	c.archived, c.changed = archived, s.now()
	s.dispatchChannel("THREAD_UPDATE", c)
}
