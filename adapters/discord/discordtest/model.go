package discordtest

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
)

type user struct {
	id, name string
	bot      bool
	locale   string
	dm       *channel // with the bot
}

type member struct {
	user   *user
	nick   string
	roles  []*role
	joined time.Time
}

type role struct {
	id, name    string
	permissions Permission
	managed     bool
	mentionable bool
}

type guild struct {
	id, name string
	owner    *user
	roles    []*role // @everyone first
	members  map[string]*member
	channels []*channel
	botIn    bool
	botRole  *role
	locale   string
	denied   map[string]bool // "command name/user id" that the server's own settings forbid
	allowed  map[string]bool // and that they allow
}

// Channel types of Discord.
const (
	typeText     = 0
	typeDM       = 1
	typeGroup    = 3
	typeThread   = 11 // public
	typePrivate  = 12 // thread
	typeForum    = 15
	typeNews     = 5
	typeNewsPost = 10
)

type channel struct {
	id, name   string
	kind       int
	guild      *guild   // nil in a DM
	parent     *channel // of a thread
	recipient  *user    // of a DM
	withBot    bool     // a DM with the bot, not between people
	overwrites []overwrite
	messages   []*message
	nsfw       bool

	// Threads.
	owner     *user
	archived  bool
	locked    bool
	archiveIn int // minutes
	members   map[string]time.Time
	created   time.Time
	changed   time.Time // of archived
	sent      int
	deleted   bool
}

type overwrite struct {
	id          string // role or user
	allow, deny Permission
}

type attachment struct {
	id, name, description, kind string
	data                        []byte
	width, height               int
	ephemeral                   bool
	path                        string
}

type message struct {
	id        string
	kind      int
	channel   *channel
	author    *user
	content   string
	parts     []any // components as they were sent, with ids
	files     []*attachment
	flags     int
	mentions  []*user
	pinged    []*user // whom it really notified
	pingedAll bool
	roles     []*role
	nonce     any
	reply     *message
	asked     *interaction // that it answers
	only      *user        // who sees it, when ephemeral
	created   time.Time
	edited    time.Time
	edits     int
	thread    *channel // started from it
	gone      bool
}

// Message flags.
const (
	flagSuppressEmbeds = 1 << 2
	flagEphemeral      = 1 << 6
	flagLoading        = 1 << 7
	flagThread         = 1 << 5
	flagSilent         = 1 << 12
)

func botToken(id string) string {
	return base64.RawStdEncoding.EncodeToString([]byte(id)) + ".GhZzzz.discordtest-token-that-is-no-secret-00"
}

func (s *Server) newUser(name string) *user {
	u := &user{id: s.newID(), name: name, locale: "en-US"}
	s.users[u.id] = u
	return u
}

func (u *user) username() string {
	return strings.ToLower(strings.ReplaceAll(u.name, " ", "_"))
}

func (u *user) json() object {
	o := object{
		"id": u.id, "username": u.username(), "global_name": u.name, "avatar": nil,
		"discriminator": "0", "public_flags": 0, "flags": 0, "primary_guild": nil,
		"avatar_decoration_data": nil, "collectibles": nil, "banner": nil, "accent_color": nil,
	}
	if u.bot {
		o["bot"] = true
		o["discriminator"] = "0001"
		o["username"], o["global_name"] = u.name, nil
	}
	return o
}

func (m *member) json(withUser bool) object {
	roles := []string{}
	for _, r := range m.roles {
		roles = append(roles, r.id)
	}
	o := object{
		"avatar": nil, "banner": nil, "communication_disabled_until": nil, "flags": 0,
		"joined_at": stamp(m.joined), "nick": orNil(m.nick), "pending": false, "premium_since": nil,
		"roles": roles, "mute": false, "deaf": false,
	}
	if withUser {
		o["user"] = m.user.json()
	}
	return o
}

func (r *role) json(position int) object {
	o := object{
		"id": r.id, "name": r.name, "permissions": r.permissions.String(), "position": position, "color": 0,
		"colors": object{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil},
		"hoist":  false, "managed": r.managed, "mentionable": r.mentionable, "icon": nil, "unicode_emoji": nil, "flags": 0,
	}
	return o
}

func (g *guild) json() object {
	roles := []object{}
	for i, r := range g.roles {
		roles = append(roles, r.json(i))
	}
	return object{
		"id": g.id, "name": g.name, "icon": nil, "description": nil, "home_header": nil, "splash": nil,
		"discovery_splash": nil, "features": []string{}, "banner": nil, "owner_id": g.owner.id,
		"application_id": nil, "region": "deprecated", "afk_channel_id": nil, "afk_timeout": 300,
		"system_channel_id": nil, "system_channel_flags": 0, "widget_enabled": false, "widget_channel_id": nil,
		"verification_level": 0, "roles": roles, "default_message_notifications": 0, "mfa_level": 0,
		"explicit_content_filter": 0, "max_presences": nil, "max_members": 500000,
		"max_stage_video_channel_users": 50, "max_video_channel_users": 25, "vanity_url_code": nil,
		"premium_tier": 0, "premium_subscription_count": 0, "preferred_locale": g.locale,
		"rules_channel_id": nil, "safety_alerts_channel_id": nil, "public_updates_channel_id": nil,
		"premium_progress_bar_enabled": false, "nsfw": false, "nsfw_level": 0, "emojis": []any{},
		"stickers": []any{}, "incidents_data": nil,
	}
}

// gatewayJSON is the guild as GUILD_CREATE brings it.
func (s *Server) gatewayJSON(g *guild) object {
	o := g.json()
	channels, threads := []object{}, []object{}
	for _, c := range g.channels {
		if c.deleted || !s.botPermissions(c).Has(ViewChannel) {
			continue
		}
		if c.isThread() {
			if !c.archived {
				threads = append(threads, c.json(s))
			}
		} else {
			channels = append(channels, c.json(s))
		}
	}
	o["joined_at"] = stamp(g.members[s.bot.id].joined)
	o["large"] = false
	o["unavailable"] = false
	o["member_count"] = len(g.members)
	o["voice_states"] = []any{}
	o["members"] = []object{g.members[s.bot.id].json(true)}
	o["channels"] = channels
	o["threads"] = threads
	o["presences"] = []any{}
	o["stage_instances"] = []any{}
	o["guild_scheduled_events"] = []any{}
	o["soundboard_sounds"] = []any{}
	return o
}

func (c *channel) isThread() bool { return c.kind >= typeNewsPost && c.kind <= typePrivate }

// roots is the channel whose permissions count: a thread's parent.
func (c *channel) root() *channel {
	if c.parent != nil {
		return c.parent
	}
	return c
}

func (c *channel) lastMessage() any {
	for _, m := range slices.Backward(c.messages) {
		if m.only == nil {
			return m.id
		}
	}
	return nil
}

func (c *channel) json(s *Server) object {
	o := object{"id": c.id, "type": c.kind, "last_message_id": c.lastMessage(), "flags": 0}
	switch {
	case c.kind == typeDM:
		o["recipients"] = []object{c.recipient.json()}
	case c.kind == typeGroup:
		o["recipients"] = []object{c.recipient.json()}
		o["name"], o["icon"], o["owner_id"] = nil, nil, c.recipient.id
	case c.isThread():
		o["guild_id"], o["name"], o["parent_id"], o["owner_id"] = c.guild.id, c.name, c.parent.id, c.owner.id
		o["rate_limit_per_user"] = 0
		n := 0
		for _, m := range c.messages {
			if m.only == nil && !m.gone {
				n++
			}
		}
		o["message_count"], o["total_message_sent"], o["member_count"] = n, c.sent, len(c.members)
		o["thread_metadata"] = object{
			"archived": c.archived, "archive_timestamp": stamp(c.changed), "auto_archive_duration": c.archiveIn,
			"locked": c.locked, "create_timestamp": stamp(c.created),
		}
		if at, ok := c.members[s.bot.id]; ok {
			o["member"] = object{"id": c.id, "user_id": s.bot.id, "join_timestamp": stamp(at), "flags": 0}
		}
	default:
		o["guild_id"], o["name"], o["parent_id"] = c.guild.id, c.name, nil
		o["position"], o["nsfw"], o["rate_limit_per_user"], o["topic"] = slices.Index(c.guild.channels, c), c.nsfw, 0, nil
		over := []object{}
		for _, w := range c.overwrites {
			kind := 1
			if slices.ContainsFunc(c.guild.roles, func(r *role) bool { return r.id == w.id }) {
				kind = 0
			}
			over = append(over, object{"id": w.id, "type": kind, "allow": w.allow.String(), "deny": w.deny.String()})
		}
		o["permission_overwrites"] = over
		if c.kind == typeForum {
			o["available_tags"], o["default_reaction_emoji"], o["default_sort_order"], o["default_forum_layout"] = []object{}, nil, nil, 0
		}
	}
	return o
}

func (a *attachment) json(s *Server) object {
	url := s.Address() + a.path
	o := object{"id": a.id, "filename": a.name, "size": len(a.data), "url": url, "proxy_url": url, "content_type": a.kind}
	if a.description != "" {
		o["description"] = a.description
	}
	if a.width > 0 {
		o["width"], o["height"] = a.width, a.height
	}
	if a.ephemeral {
		o["ephemeral"] = true
	}
	return o
}

func (m *message) json(s *Server) object {
	o := m.basicJSON(s)
	if m.reply != nil {
		if m.reply.gone {
			o["referenced_message"] = nil
		} else {
			o["referenced_message"] = m.reply.basicJSON(s)
		}
	}
	if m.thread != nil {
		o["thread"] = m.thread.json(s)
	}
	return o
}

func (m *message) basicJSON(s *Server) object {
	mentions, roles, files := []object{}, []string{}, []object{}
	for _, u := range m.mentions {
		mentions = append(mentions, u.json())
	}
	for _, r := range m.roles {
		roles = append(roles, r.id)
	}
	for _, a := range m.files {
		files = append(files, a.json(s))
	}
	o := object{
		"id": m.id, "type": m.kind, "channel_id": m.channel.id, "author": m.author.json(), "content": m.content,
		"mentions": mentions, "mention_roles": roles, "mention_everyone": m.pingedAll, "attachments": files,
		"embeds": []any{}, "components": nonNil(m.parts), "timestamp": stamp(m.created),
		"edited_timestamp": nil, "flags": m.flags, "pinned": false, "tts": false,
	}
	if !m.edited.IsZero() {
		o["edited_timestamp"] = stamp(m.edited)
	}
	if m.nonce != nil {
		o["nonce"] = m.nonce
	}
	if m.reply != nil {
		o["message_reference"] = object{"type": 0, "channel_id": m.channel.id, "message_id": m.reply.id}
	}
	if m.author == s.bot {
		o["application_id"] = s.appID
	}
	if i := m.asked; i != nil {
		o["webhook_id"] = s.appID
		o["interaction_metadata"] = i.metadata()
	}
	return o
}

func (i *interaction) metadata() object {
	o := object{"id": i.id, "type": i.kind, "user": i.person.user.json(), "authorizing_integration_owners": i.owners}
	if i.original != nil && i.kind != kindComponent {
		o["original_response_message_id"] = i.original.id
	}
	switch i.kind {
	case kindComponent:
		o["interacted_message_id"] = i.message.id
	case kindModal:
		if i.opener != nil {
			o["triggering_interaction_metadata"] = i.opener.metadata()
		}
	}
	return o
}

func nonNil(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

func (c *channel) find(id string) *message {
	for _, m := range slices.Backward(c.messages) {
		if m.id == id && !m.gone {
			return m
		}
	}
	return nil
}

func (s *Server) keep(c *channel, m *message) {
	c.messages = append(c.messages, m)
	if len(c.messages) > s.o.Keep {
		for _, old := range c.messages[:len(c.messages)/4] {
			for _, a := range old.files {
				delete(s.files, a.path)
			}
		}
		c.messages = slices.Clone(c.messages[len(c.messages)/4:])
	}
}

func (u *user) mention() string { return fmt.Sprintf("<@%s>", u.id) }
