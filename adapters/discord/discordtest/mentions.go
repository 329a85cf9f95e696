package discordtest

import (
	"regexp"
	"slices"
	"strings"
)

var (
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
	everyone    = regexp.MustCompile(`@(everyone|here)\b`)
)

// mentioned sets whom a message names, by its allowed_mentions: without them,
// everybody whom its text names.
func (s *Server) mentioned(m *message, body object) {
	allowed, _ := body["allowed_mentions"].(object)
	may := func(kind, id string) bool {
		if allowed == nil {
			return true
		}
		return slices.Contains(asList(allowed["parse"]), any(kind)) || slices.Contains(asList(allowed[kind]), any(id))
	}
	all := m.content
	m.mentions, m.roles, m.pingedAll = nil, nil, false
	for _, found := range userMention.FindAllStringSubmatch(all, -1) {
		u := s.users[found[1]]
		if u != nil && may("users", u.id) && !slices.Contains(m.mentions, u) {
			m.mentions = append(m.mentions, u)
		}
	}
	if g := m.channel.guild; g != nil {
		for _, found := range roleMention.FindAllStringSubmatch(all, -1) {
			for _, r := range g.roles {
				if r.id == found[1] && may("roles", r.id) && (r.mentionable || s.botPermissions(m.channel).Has(MentionEveryone)) {
					m.roles = append(m.roles, r)
				}
			}
		}
		m.pingedAll = everyone.MatchString(all) && may("everyone", "") && m.channel.permissions(m.author).Has(MentionEveryone)
	}
	if m.reply != nil && m.asked == nil && (allowed == nil || allowed["replied_user"] == true) && !slices.Contains(m.mentions, m.reply.author) {
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
	add := func(u *user) {
		if u != m.author && !slices.Contains(m.pinged, u) && (m.channel.guild == nil || m.channel.permissions(u).Has(ViewChannel)) {
			m.pinged = append(m.pinged, u)
		}
	}
	for _, u := range m.mentions {
		add(u)
	}
	if m.channel.guild != nil {
		for _, member := range m.channel.guild.sorted() {
			if m.pingedAll || slices.ContainsFunc(m.roles, func(r *role) bool { return slices.Contains(member.roles, r) }) {
				add(member.user)
			}
		}
	}
	if m.channel.isThread() {
		for _, u := range m.pinged {
			if _, in := m.channel.members[u.id]; !in {
				m.channel.members[u.id] = s.now()
			}
		}
	}
}

func (g *guild) sorted() []*member {
	var list []*member
	for _, m := range g.members {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *member) int { return strings.Compare(a.user.id, b.user.id) })
	return list
}
