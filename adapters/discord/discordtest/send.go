package discordtest

import (
	"encoding/json"
	"maps"
)

// newInteraction is one that was not sent yet.
func (s *Server) newInteraction(p *Person, c *channel, kind int, label string) *interaction {
	id := s.newID()
	return &interaction{id: id, token: newToken(id), kind: kind, channel: c, person: p, label: label, created: s.now()}
}

// send delivers an interaction to the bot.
func (s *Server) send(i *interaction, data object) {
	c, u := i.channel, i.person.user
	if c.isThread() && c.archived && !c.locked {
		c.archived, c.changed = false, s.now() // the client opens it first
		s.dispatchChannel("THREAD_UPDATE", c)
	}
	s.interactions[i.id], s.tokens[i.token] = i, i
	s.asked = append(s.asked, i)
	s.forgetOld()
	o := object{
		"id": i.id, "application_id": s.appID, "type": i.kind, "token": i.token, "version": 1, "data": data,
		"channel_id": c.id, "channel": c.partial(s, u), "app_permissions": s.appPermissions(i).String(), "locale": u.locale,
		"entitlements": []any{}, "authorizing_integration_owners": i.owners, "attachment_size_limit": maxFile,
	}
	if i.message != nil {
		o["message"] = i.message.json(s)
	}
	if g := c.guild; g != nil {
		member := g.members[u.id].json(true)
		member["permissions"] = c.permissions(u).String()
		o["member"] = member
		o["guild_id"], o["guild_locale"], o["context"] = g.id, g.locale, 0
		o["guild"] = object{"id": g.id, "locale": g.locale, "features": []string{}}
	} else {
		o["user"] = u.json()
		o["context"] = 2
		if c.withBot {
			o["context"] = 1
		}
	}
	i.payload = o
	s.checkPayload(i)
	s.deliver(i)
}

// checkPayload holds the parts of an interaction that the specification knows
// against it.
func (s *Server) checkPayload(i *interaction) {
	check := func(name string, v any) {
		if v == nil {
			return
		}
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		for _, e := range s.spec.checkNamed(name, text) {
			s.violation(true, "the double's own interaction, its %s: %s", name, e)
		}
	}
	check("MessageResponse", i.payload["message"])
	check("UserResponse", i.payload["user"])
	if m, ok := i.payload["member"].(object); ok {
		m = maps.Clone(m)
		delete(m, "permissions") // which the gateway adds
		check("GuildMemberResponse", m)
	}
	channel := "GuildChannelResponse"
	switch c := i.channel; {
	case c.isThread():
		channel = "ThreadResponse"
	case c.guild == nil:
		channel = "PrivateChannelResponse"
	}
	check(channel, i.payload["channel"])
}

// partial is a channel as an interaction brings it.
func (c *channel) partial(s *Server, u *user) object {
	o := c.json(s)
	delete(o, "permission_overwrites")
	if c.guild != nil {
		o["permissions"] = c.permissions(u).String()
	}
	return o
}

func (s *Server) deliver(i *interaction) {
	if s.holding {
		s.held = append(s.held, i)
		return
	}
	if s.endpoint != "" {
		s.running.Go(func() { s.postInteraction(i) })
		return
	}
	s.dispatchGuild("INTERACTION_CREATE", i.channel.guild, i.payload, 0)
}

// Hold keeps back what people do until it is released, in the order given: the
// indices of what was held, oldest first; each may be named several times, and
// what is not named is lost.
func (s *Server) Hold() (release func(order ...int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = true
	return func(order ...int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		held := s.held
		s.holding, s.held = false, nil
		for _, n := range order {
			s.deliver(held[n])
		}
	}
}

// forgetOld drops the oldest interactions whose token died, when there are
// many.
func (s *Server) forgetOld() {
	for len(s.asked) > s.o.Keep && s.now().Sub(s.asked[0].created) > TokenLife {
		delete(s.interactions, s.asked[0].id)
		delete(s.tokens, s.asked[0].token)
		s.asked = s.asked[1:]
	}
}
