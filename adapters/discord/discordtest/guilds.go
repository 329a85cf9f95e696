package discordtest

import (
	"fmt"
	"slices"
	"time"
)

// A Guild is a server.
type Guild struct {
	s *Server
	g *guild
}

// Guild returns the guild of that name; the first call makes it, with the bot in it.
func (s *Server) Guild(name string) *Guild { return s.guildNamed(name, true) }

// GuildWithout returns a guild that the bot is not in, where people can use it only
// when they have installed it for themselves.
func (s *Server) GuildWithout(name string) *Guild { return s.guildNamed(name, false) }

func (s *Server) guildNamed(name string, withBot bool) *Guild {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.guildOrder {
		if g.name == name {
			return &Guild{s, g}
		}
	}
	// A millisecond apart, so that guilds fall to different shards.
	id := fmt.Sprint((uint64(1_600_000_000_000-epoch) + uint64(len(s.guilds))) << 22)
	g := s.newGuild(id, name, s.newUser(name+" owner"), s.newID())
	if withBot {
		s.join(g)
	}
	return &Guild{s, g}
}

func (s *Server) newGuild(id, name string, owner *user, botRole string) *guild {
	g := &guild{
		id: id, name: name, owner: owner, locale: "en-US", commands: map[string]bool{},
		roles:   []*role{{id: id, name: "@everyone", permissions: Everyone}},
		botRole: &role{id: botRole, name: s.bot.name, managed: true, permissions: Everyone},
		members: map[string]*member{owner.id: {user: owner, joined: s.now()}},
	}
	s.guilds[id] = g
	s.guildOrder = append(s.guildOrder, g)
	return g
}

func (s *Server) join(g *guild) {
	g.botIn = true
	g.roles = append(g.roles, g.botRole)
	g.members[s.bot.id] = &member{user: s.bot, roles: []*role{g.botRole}, joined: s.now()}
	s.dispatchGuild("GUILD_CREATE", g, s.gatewayJSON(g), intentGuilds)
}

// ID returns the guild's snowflake.
func (g *Guild) ID() string { return g.g.id }

// BotRole returns the id of the role that Discord has made for the bot.
func (g *Guild) BotRole() string { return g.g.botRole.id }

// Kick throws the bot out.
func (g *Guild) Kick() {
	g.s.locked(func() {
		g.g.botIn = false
		delete(g.g.members, g.s.bot.id)
		g.g.roles = slices.DeleteFunc(g.g.roles, func(r *role) bool { return r == g.g.botRole })
		g.s.dispatchGuild("GUILD_DELETE", g.g, object{"id": g.g.id}, intentGuilds)
	})
}

// Invite brings the bot back in, with a new role of its own.
func (g *Guild) Invite() {
	g.s.locked(func() {
		if !g.g.botIn {
			again := *g.g.botRole
			again.id = g.s.newID()
			g.g.botRole = &again
			g.s.join(g.g)
		}
	})
}

// BotPermissions sets what the invite link gave the bot. What everybody may do
// it may too; see Everyone.
func (g *Guild) BotPermissions(p Permission) { g.permits(g.g.botRole, p) }

// Everyone sets what everybody may do, the bot included.
func (g *Guild) Everyone(p Permission) { g.permits(g.g.roles[0], p) }

func (g *Guild) permits(r *role, p Permission) {
	g.s.locked(func() {
		r.permissions = p
		if g.g.botIn {
			g.s.dispatchGuild("GUILD_ROLE_UPDATE", g.g, object{"guild_id": g.g.id, "role": r.json(slices.Index(g.g.roles, r))}, intentGuilds)
		}
	})
}

// Locale sets the guild's preferred language.
func (g *Guild) Locale(locale string) { g.s.locked(func() { g.g.locale = locale }) }

// Permit gives somebody a role with these permissions.
func (g *Guild) Permit(p *Person, permissions Permission) {
	g.s.locked(func() {
		r := &role{id: g.s.newID(), name: p.user.name + "'s role", permissions: permissions}
		g.g.roles = append(g.g.roles, r)
		m := g.g.members[p.user.id]
		m.roles = append(m.roles, r)
	})
}

// RoleOf returns the id of the role that Permit gave somebody last.
func (g *Guild) RoleOf(p *Person) string {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	roles := g.g.members[p.user.id].roles
	return roles[len(roles)-1].id
}

// Silence lets a member only read, until a time.
func (g *Guild) Silence(p *Person, until time.Time) {
	g.s.locked(func() { g.g.members[p.user.id].silenced = until })
}

// Leave lets somebody leave the guild.
func (g *Guild) Leave(p *Person) { g.s.locked(func() { delete(g.g.members, p.user.id) }) }

// Forbid takes a command from somebody in the server's own settings.
func (g *Guild) Forbid(p *Person, command string) {
	g.s.locked(func() { g.g.commands[command+"/"+p.user.id] = false })
}

// Allow gives a command to somebody in the server's own settings, whatever
// permissions it is for by default.
func (g *Guild) Allow(p *Person, command string) {
	g.s.locked(func() { g.g.commands[command+"/"+p.user.id] = true })
}

// Channel returns the guild's text channel of that name; the first call makes it.
func (g *Guild) Channel(name string) *Channel { return g.channel(name, typeText) }

// Forum returns the guild's forum of that name, which the first call makes.
func (g *Guild) Forum(name string) *Channel { return g.channel(name, typeForum) }

func (g *Guild) channel(name string, kind int) *Channel {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	for _, c := range g.g.channels {
		if c.name == name && !c.deleted && c.kind == kind {
			return &Channel{g.s, c}
		}
	}
	c := &channel{id: g.s.newID(), name: name, kind: kind, guild: g.g, created: g.s.now()}
	g.s.channels[c.id] = c
	g.g.channels = append(g.g.channels, c)
	g.s.dispatchChannel("CHANNEL_CREATE", c)
	return &Channel{g.s, c}
}

// OtherBot returns the account of that name of another bot, a member of the guild. The
// name is no person's.
func (g *Guild) OtherBot(name string) *Person {
	p := g.Member(name)
	g.s.locked(func() { p.user.bot = true })
	return p
}

// Member returns the person of that name, who joins the guild on the first call.
func (g *Guild) Member(name string) *Person {
	p := g.s.Person(name)
	g.s.locked(func() {
		if g.g.members[p.user.id] == nil {
			g.g.members[p.user.id] = &member{user: p.user, joined: g.s.now()}
		}
	})
	return p
}
