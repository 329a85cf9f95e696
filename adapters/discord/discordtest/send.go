package discordtest

import (
	"encoding/json"
	"maps"
)

// send delivers an interaction to the bot.
func (s *Server) send(i *interaction, data object) {
	c, u := i.channel, i.person.user
	if c.isThread() && c.archived && !c.locked {
		s.archive(c, false) // the client opens it first
	}
	s.remember(i)
	channel := c.json(s)
	delete(channel, "permission_overwrites")
	o := object{
		"id": i.id, "application_id": s.appID, "type": i.kind, "token": i.token, "version": 1, "data": data,
		"channel_id": c.id, "channel": channel, "app_permissions": s.appPermissions(c).String(), "locale": u.locale,
		"entitlements": []any{}, "authorizing_integration_owners": i.owners, "attachment_size_limit": maxFile,
	}
	kind := "PrivateChannelResponse"
	if g := c.guild; g != nil {
		member := g.members[u.id].json(true)
		s.checkOwnJSON("GuildMemberResponse", member)
		member["permissions"] = c.permissions(u).String() // which the gateway adds
		channel["permissions"] = member["permissions"]
		maps.Copy(o, object{"member": member, "guild_id": g.id, "guild_locale": g.locale, "context": 0,
			"guild": object{"id": g.id, "locale": g.locale, "features": []string{}}})
		kind = "GuildChannelResponse"
		if c.isThread() {
			kind = "ThreadResponse"
		}
	} else {
		o["user"], o["context"] = u.json(), 1
		s.checkOwnJSON("UserResponse", o["user"])
	}
	s.checkOwnJSON(kind, channel)
	if i.message != nil {
		o["message"] = i.message.json(s)
		s.checkOwnJSON("MessageResponse", o["message"])
	}
	i.payload = o
	s.deliver(i)
}

// checkOwnJSON holds a part of an interaction against the specification.
func (s *Server) checkOwnJSON(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	for _, e := range s.spec.checkNamed(name, text) {
		s.violation(true, "the double's own interaction, its %s: %s", name, e)
	}
}

// remember keeps an interaction. The oldest whose token died are dropped when there
// are many.
func (s *Server) remember(i *interaction) {
	s.tokens[i.token] = i
	s.asked = append(s.asked, i)
	for old := s.asked[0]; len(s.asked) > s.o.Keep && s.now().Sub(old.created) > TokenLife; old = s.asked[0] {
		delete(s.tokens, old.token)
		s.asked = s.asked[1:]
	}
}

func (s *Server) deliver(i *interaction) {
	switch {
	case s.holding:
		s.held = append(s.held, i)
	case s.endpoint != "":
		s.running.Go(func() { s.postInteraction(i) })
	default:
		s.dispatchGuild("INTERACTION_CREATE", i.channel.guild, i.payload, 0)
	}
}

// Hold keeps back what people do until it is released, in the order given: the
// indices of what was held, oldest first; each may be named several times, and
// what is not named is lost.
func (s *Server) Hold() (release func(order ...int)) {
	s.locked(func() { s.holding = true })
	return func(order ...int) {
		s.locked(func() {
			held := s.held
			s.holding, s.held = false, nil
			for _, n := range order {
				s.deliver(held[n])
			}
		})
	}
}
