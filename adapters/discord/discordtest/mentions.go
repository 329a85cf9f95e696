package discordtest

import (
	"regexp"
	"slices"
)

var (
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
)

// mentionedRoles returns the ids of the roles that a message of a person names.
func (m *message) mentionedRoles() []string {
	ids := []string{}
	if g := m.channel.guild; g != nil && !m.author.bot {
		for _, found := range roleMention.FindAllStringSubmatch(m.content, -1) {
			if slices.ContainsFunc(g.roles, func(r *role) bool { return r.id == found[1] }) && !slices.Contains(ids, found[1]) {
				ids = append(ids, found[1])
			}
		}
	}
	return ids
}

// mentioned sets whom a message names, by its allowed_mentions: without them,
// everybody whom its text names, and the author of the message that it answers. An
// answer to an interaction's response names nobody, whoever wrote that:
// https://github.com/discord/discord-api-docs/issues/5395
func (s *Server) mentioned(m *message, body object) {
	allowed, _ := body["allowed_mentions"].(object)
	may := func(id string) bool {
		return allowed == nil || slices.Contains(asList(allowed["parse"]), any("users")) || slices.Contains(asList(allowed["users"]), any(id))
	}
	m.mentions = nil
	for _, found := range userMention.FindAllStringSubmatch(m.content, -1) {
		if u := s.users[found[1]]; u != nil && may(u.id) && !slices.Contains(m.mentions, u) {
			m.mentions = append(m.mentions, u)
		}
	}
	names := m.kind == 19 && m.reply != nil && m.reply.asked == nil && (allowed == nil || allowed["replied_user"] == true)
	if names && m.asked == nil && !slices.Contains(m.mentions, m.reply.author) {
		m.mentions = append(m.mentions, m.reply.author)
	}
}

// ping finds out whom a new message notifies. An edit never does.
func (s *Server) ping(m *message, body object) {
	s.mentioned(m, body)
	m.pinged = nil
	if m.only != nil || m.flags&flagSilent != 0 {
		return
	}
	for _, u := range m.mentions {
		if u != m.author && m.channel.permissions(u).Has(ViewChannel) {
			m.pinged = append(m.pinged, u)
		}
	}
}
