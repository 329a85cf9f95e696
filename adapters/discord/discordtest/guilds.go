package discordtest

import (
	"fmt"
	"slices"
)

// A Guild is a server.
type Guild struct {
	s *Server
	g *guild
}

// Guild is the guild of that name; the first call makes it, with the bot in it.
func (s *Server) Guild(name string) *Guild { return s.guildNamed(name, true) }

// GuildWithout is a guild that the bot is not in, where people can use it only
// when they have installed it for themselves.
func (s *Server) GuildWithout(name string) *Guild { return s.guildNamed(name, false) }

func (s *Server) guildNamed(name string, withBot bool) *Guild {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guildNames[name]
	if g == nil {
		// A millisecond apart, so that guilds fall to different shards.
		id := fmt.Sprint((uint64(1_600_000_000_000-epoch) + uint64(len(s.guilds))) << 22)
		g = &guild{id: id, name: name, members: map[string]*member{}, locale: "en-US", denied: map[string]bool{}, allowed: map[string]bool{}}
		g.owner = s.newUser(name + " owner")
		g.roles = []*role{{id: g.id, name: "@everyone", permissions: Everyone}}
		g.botRole = &role{id: s.newID(), name: s.bot.name, managed: true, permissions: Everyone}
		g.members[g.owner.id] = &member{user: g.owner, joined: s.now()}
		s.guilds[g.id], s.guildNames[name] = g, g
		s.guildOrder = append(s.guildOrder, g)
		if withBot {
			s.join(g)
		}
	}
	return &Guild{s, g}
}

func (s *Server) join(g *guild) {
	g.botIn = true
	g.roles = append(g.roles, g.botRole)
	g.members[s.bot.id] = &member{user: s.bot, roles: []*role{g.botRole}, joined: s.now()}
	s.dispatchGuild("GUILD_CREATE", g, s.gatewayJSON(g), intentGuilds)
}

func (s *Server) kick(g *guild) {
	g.botIn = false
	delete(g.members, s.bot.id)
	g.roles = slices.DeleteFunc(g.roles, func(r *role) bool { return r == g.botRole })
	s.dispatchGuild("GUILD_DELETE", g, object{"id": g.id}, intentGuilds)
	s.changed.Broadcast()
}

// ID is the guild's snowflake.
func (g *Guild) ID() string { return g.g.id }

// Kick throws the bot out.
func (g *Guild) Kick() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.s.kick(g.g)
}

// Invite brings the bot back in.
func (g *Guild) Invite() {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if !g.g.botIn {
		g.s.join(g.g)
	}
}

// BotPermissions sets what the invite link gave the bot. What everybody may do
// it may too; see Everyone.
func (g *Guild) BotPermissions(p Permission) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.g.botRole.permissions = p
}

// Everyone sets what everybody may do, the bot included.
func (g *Guild) Everyone(p Permission) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.g.roles[0].permissions = p
}

// Outage makes the guild unavailable to the bot, or available again: it has not
// been left.
func (g *Guild) Outage(on bool) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if on {
		g.s.dispatchGuild("GUILD_DELETE", g.g, object{"id": g.g.id, "unavailable": true}, intentGuilds)
	} else {
		g.s.dispatchGuild("GUILD_CREATE", g.g, g.s.gatewayJSON(g.g), intentGuilds)
	}
}

// Locale sets the guild's preferred language.
func (g *Guild) Locale(locale string) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.g.locale = locale
}

// Permit gives somebody a role with these permissions, and is the role's id.
func (g *Guild) Permit(p *Person, permissions Permission) string {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	r := &role{id: g.s.newID(), name: p.user.name + "'s role", permissions: permissions}
	g.g.roles = append(g.g.roles, r)
	m := g.g.members[p.user.id]
	m.roles = append(m.roles, r)
	return r.id
}

// Leave lets somebody leave the guild.
func (g *Guild) Leave(p *Person) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	delete(g.g.members, p.user.id)
}

// Forbid takes a command from somebody in the server's own settings.
func (g *Guild) Forbid(p *Person, command string) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.g.denied[command+"/"+p.user.id] = true
}

// Allow gives a command to somebody in the server's own settings, whatever
// permissions it is for by default.
func (g *Guild) Allow(p *Person, command string) {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.g.allowed[command+"/"+p.user.id] = true
}

func (g *Guild) channel(name string, kind int) *Channel {
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

// Channel is the guild's text channel of that name; the first call makes it.
func (g *Guild) Channel(name string) *Channel {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	return g.channel(name, typeText)
}

// Forum is the guild's forum of that name, which the first call makes.
func (g *Guild) Forum(name string) *Channel {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	return g.channel(name, typeForum)
}

// Member is the person of that name, who joins the guild on the first call.
func (g *Guild) Member(name string) *Person {
	p := g.s.Person(name)
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	if g.g.members[p.user.id] == nil {
		g.g.members[p.user.id] = &member{user: p.user, joined: g.s.now()}
	}
	return p
}
