package discordtest

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"
)

type user struct {
	id, name string
	bot      bool
	locale   string
	dm       *channel // with the bot
	closed   bool     // for direct messages
}

type member struct {
	user     *user
	roles    []*role
	joined   time.Time
	silenced time.Time // until when they may only read; zero: they may write
}

type role struct {
	id, name    string
	permissions Permission
	managed     bool
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
	commands map[string]bool // "command name/user id" that the server's own settings allow or forbid
}

// Channel types of Discord.
const (
	typeText   = 0
	typeDM     = 1
	typeThread = 11 // public
	typeSecret = 12 // a private thread
	typeForum  = 15
)

// kindThreadCreated is the type of the message that says that a thread was started under none.
const kindThreadCreated = 18

type channel struct {
	id, name  string
	kind      int
	guild     *guild // nil in direct messages
	recipient *user  // of direct messages
	over      map[*user]overwrite
	messages  []*message
	created   time.Time
	deleted   bool

	// Threads.
	parent    *channel
	joined    map[*user]bool
	owner     *user
	archived  bool
	locked    bool
	renamed   bucket
	oldEdits  bucket
	archiveIn int       // minutes
	changed   time.Time // of archived
	sent      int
}

// An overwrite changes what a member may do in a channel.
type overwrite struct{ allowed, denied Permission }

type attachment struct {
	id, name, description, kind string
	data                        []byte
	width, height               int
	path                        string
}

type message struct {
	id       string
	kind     int
	channel  *channel
	author   *user
	content  string
	parts    []any // components as they were sent, with ids
	files    []*attachment
	flags    int
	mentions []*user
	pinged   []*user // whom it really notified
	nonce    any
	begun    *channel // the thread that it says was started
	reply    *message
	asked    *interaction // that it answers
	only     *user        // who sees it, when ephemeral
	created  time.Time
	edited   time.Time
	edits    int
	thread   *channel // started from it
	gone     bool
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
		"avatar": nil, "banner": nil, "communication_disabled_until": stampOrNil(m.silenced), "flags": 0,
		"joined_at": stamp(m.joined), "nick": nil, "pending": false, "premium_since": nil,
		"roles": roles, "mute": false, "deaf": false,
	}
	if withUser {
		o["user"] = m.user.json()
	}
	return o
}

func (r *role) json(position int) object {
	return object{
		"id": r.id, "name": r.name, "permissions": r.permissions.String(), "position": position, "color": 0,
		"colors": object{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil},
		"hoist":  false, "managed": r.managed, "mentionable": false, "icon": nil, "unicode_emoji": nil, "flags": 0,
	}
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
	me := g.members[s.bot.id]
	maps.Copy(o, object{
		"joined_at": stamp(me.joined), "large": false, "unavailable": false, "member_count": len(g.members), "members": []object{me.json(true)},
		"channels": channels, "threads": threads, "voice_states": []any{}, "presences": []any{}, "stage_instances": []any{},
		"guild_scheduled_events": []any{}, "soundboard_sounds": []any{},
	})
	return o
}

func (c *channel) isThread() bool { return c.kind == typeThread || c.kind == typeSecret }

func (c *channel) json(s *Server) object {
	o := object{"id": c.id, "type": c.kind, "last_message_id": nil, "flags": 0}
	n := 0
	for _, m := range c.messages {
		if m.only == nil {
			o["last_message_id"] = m.id
			if !m.gone {
				n++
			}
		}
	}
	switch {
	case c.kind == typeDM:
		o["recipients"] = []object{c.recipient.json()}
	case c.isThread():
		maps.Copy(o, object{
			"guild_id": c.guild.id, "name": c.name, "parent_id": c.parent.id, "owner_id": c.owner.id, "rate_limit_per_user": 0,
			"message_count": n, "total_message_sent": c.sent, "member_count": 1,
			"thread_metadata": object{
				"archived": c.archived, "archive_timestamp": stamp(c.changed), "auto_archive_duration": c.archiveIn,
				"locked": c.locked, "create_timestamp": stamp(c.created),
			},
		})
		if c.owner == s.bot {
			o["member"] = object{"id": c.id, "user_id": s.bot.id, "join_timestamp": stamp(c.created), "flags": 0}
		}
	default:
		over := []object{}
		for u, o := range c.over {
			over = append(over, object{"id": u.id, "type": 1, "allow": o.allowed.String(), "deny": o.denied.String()})
		}
		maps.Copy(o, object{
			"guild_id": c.guild.id, "name": c.name, "parent_id": nil, "position": slices.Index(c.guild.channels, c), "nsfw": false,
			"rate_limit_per_user": 0, "topic": nil, "permission_overwrites": over,
		})
		if c.kind == typeForum {
			maps.Copy(o, object{"available_tags": []object{}, "default_reaction_emoji": nil, "default_sort_order": nil, "default_forum_layout": 0})
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
	mentions, files := []object{}, []object{}
	for _, u := range m.mentions {
		mentions = append(mentions, u.json())
	}
	for _, a := range m.files {
		files = append(files, a.json(s))
	}
	o := object{
		"id": m.id, "type": m.kind, "channel_id": m.channel.id, "author": m.author.json(), "content": m.content,
		"mentions": mentions, "mention_roles": m.mentionedRoles(), "mention_everyone": false, "attachments": files,
		"embeds": []any{}, "components": append([]any{}, m.parts...), "timestamp": stamp(m.created),
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
	if m.begun != nil {
		o["message_reference"] = object{"type": 0, "channel_id": m.begun.id, "guild_id": m.begun.guild.id}
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

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

func stampOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// keep adds a message to its channel. The files of those that fall out are gone.
func (s *Server) keep(m *message) {
	c := m.channel
	all := append(c.messages, m)
	c.messages = newest(all, s.o.Keep)
	for _, old := range all[:len(all)-len(c.messages)] {
		s.dropFiles(old)
	}
}

func (s *Server) dropFiles(m *message) {
	for _, f := range m.files {
		delete(s.files, f.path)
	}
}

// newest drops the oldest quarter of a list that has grown beyond most.
func newest[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	return slices.Clone(list[len(list)/4:])
}

func (u *user) mention() string { return "<@" + u.id + ">" }
