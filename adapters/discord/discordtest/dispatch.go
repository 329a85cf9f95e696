package discordtest

import "slices"

// dispatchGuild sends an event to the sessions of a guild's shard; to those of
// shard 0 when there is no guild. intent 0 is always sent.
func (s *Server) dispatchGuild(event string, g *guild, data object, intent int) {
	s.dispatchTo(event, g, intent, func(*Session) object { return data })
}

func (s *Server) dispatchTo(event string, g *guild, intent int, data func(*Session) object) {
	ids := make([]string, 0, len(s.gateway.sessions))
	for id := range s.gateway.sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		session := s.gateway.sessions[id]
		if session.connection == nil && s.now().Sub(session.lost) > s.o.ResumeFor {
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
	if !s.botPermissions(c).Has(ViewChannel) {
		return
	}
	intent := intentGuilds
	if event[:7] == "MESSAGE" {
		intent = intentGuildMessages
		if c.guild == nil {
			intent = intentDirectMessages
		}
	}
	s.dispatchGuild(event, c.guild, data, intent)
}

func (s *Server) dispatchMessage(event string, m *message) {
	if len(s.gateway.sessions) == 0 || !s.botPermissions(m.channel).Has(ViewChannel) {
		return
	}
	intent := intentGuildMessages
	if m.channel.guild == nil {
		intent = intentDirectMessages
	}
	s.dispatchTo(event, m.channel.guild, intent, func(session *Session) object {
		o := m.json(s)
		if g := m.channel.guild; g != nil {
			o["guild_id"] = g.id
			if member := g.members[m.author.id]; member != nil && m.asked == nil {
				o["member"] = member.json(false)
			}
		}
		if !s.mayRead(m, session.intents) {
			o["content"], o["embeds"], o["attachments"], o["components"] = "", []any{}, []any{}, []any{}
		}
		return o
	})
}

// Dispatch sends any event to every session, for what the double does not know.
func (s *Server) Dispatch(event string, data map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.gateway.sessions {
		session.dispatch(event, data)
	}
}

// Change lets a test alter what is dispatched from now on, for instance add
// fields and components that nobody knows yet. It must not call the Server.
func (s *Server) Change(how func(event string, data map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gateway.change = how
}
