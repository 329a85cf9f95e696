package discordtest

import (
	"maps"
	"slices"
	"strings"
)

// dispatchGuild sends an event to the sessions of a guild's shard; to those of
// shard 0 when there is no guild. intent 0 is always sent.
func (s *Server) dispatchGuild(event string, g *guild, data object, intent int) {
	s.dispatchTo(event, g, intent, func(*Session) object { return data })
}

func (s *Server) dispatchTo(event string, g *guild, intent int, data func(*Session) object) {
	for _, id := range slices.Sorted(maps.Keys(s.gateway.sessions)) {
		session := s.gateway.sessions[id]
		if session.expired() {
			session.kill()
			continue
		}
		shard := 0
		if g != nil {
			shard = shardOf(g.id, session.of)
		}
		if shard == session.shard && (intent == 0 || session.intents&intent != 0) {
			session.dispatch(event, data(session))
		}
	}
}

func (s *Server) dispatchChannel(event string, c *channel) {
	if c.guild != nil {
		s.dispatchIn(event, c, c.json(s))
	}
}

// dispatchIn sends an event of a channel, if the bot sees that channel.
func (s *Server) dispatchIn(event string, c *channel, data object) {
	if s.botPermissions(c).Has(ViewChannel) {
		s.dispatchGuild(event, c.guild, data, c.intent(event))
	}
}

// intent returns the one that an event of a channel needs.
func (c *channel) intent(event string) int {
	switch {
	case !strings.HasPrefix(event, "MESSAGE"):
		return intentGuilds
	case c.guild == nil:
		return intentDirectMessages
	}
	return intentGuildMessages
}

// dispatchMessage tells of a message that everybody sees.
func (s *Server) dispatchMessage(event string, m *message) {
	if m.only != nil || !s.botPermissions(m.channel).Has(ViewChannel) {
		return
	}
	s.dispatchTo(event, m.channel.guild, m.channel.intent(event), func(session *Session) object {
		o := s.visible(m, session.intents)
		if g := m.channel.guild; g != nil {
			o["guild_id"] = g.id
			if member := g.members[m.author.id]; member != nil && m.asked == nil {
				o["member"] = member.json(false)
			}
		}
		return o
	})
}

// Dispatch sends any event to every session, for what the double does not know.
func (s *Server) Dispatch(event string, data map[string]any) {
	s.locked(func() {
		for _, session := range s.gateway.sessions {
			session.dispatch(event, data)
		}
	})
}

// Change lets a test alter what is dispatched from now on, for instance add
// fields and components that nobody knows yet. It must not call the Server.
func (s *Server) Change(how func(event string, data map[string]any)) {
	s.locked(func() { s.gateway.change = how })
}
