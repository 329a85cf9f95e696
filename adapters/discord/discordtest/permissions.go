package discordtest

import (
	"slices"
	"strconv"
)

// A Permission is a set of Discord's permission bits.
type Permission uint64

const (
	Administrator         Permission = 1 << 3
	ManageChannels        Permission = 1 << 4
	ManageGuild           Permission = 1 << 5
	AddReactions          Permission = 1 << 6
	ViewChannel           Permission = 1 << 10
	SendMessages          Permission = 1 << 11
	ManageMessages        Permission = 1 << 13
	EmbedLinks            Permission = 1 << 14
	AttachFiles           Permission = 1 << 15
	ReadMessageHistory    Permission = 1 << 16
	MentionEveryone       Permission = 1 << 17
	UseExternalEmojis     Permission = 1 << 18
	UseApplicationCommand Permission = 1 << 31
	ManageThreads         Permission = 1 << 34
	CreatePublicThreads   Permission = 1 << 35
	CreatePrivateThreads  Permission = 1 << 36
	SendMessagesInThreads Permission = 1 << 38
	UseExternalApps       Permission = 1 << 50
)

const allPermissions Permission = 1<<53 - 1

// Everyone is what a new guild lets everybody do.
const Everyone = AddReactions | ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory |
	UseApplicationCommand | CreatePublicThreads | SendMessagesInThreads | UseExternalApps

// Has says whether every bit of q is in p.
func (p Permission) Has(q Permission) bool { return p&q == q }

// String is the number as Discord sends it.
func (p Permission) String() string { return strconv.FormatUint(uint64(p), 10) }

// permissions of a user in a channel, by Discord's documented order: everyone,
// roles, then the channel's overwrites for everyone, roles and member.
func (c *channel) permissions(u *user) Permission {
	g := c.guild
	if g == nil {
		return ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory | MentionEveryone | UseApplicationCommand | UseExternalApps | AddReactions
	}
	m := g.members[u.id]
	if m == nil {
		return 0
	}
	if g.owner == u {
		return allPermissions
	}
	p := g.roles[0].permissions
	for _, r := range m.roles {
		p |= r.permissions
	}
	if p.Has(Administrator) {
		return allPermissions
	}
	apply := func(id string) {
		for _, w := range c.root().overwrites {
			if w.id == id {
				p = p&^w.deny | w.allow
			}
		}
	}
	apply(g.roles[0].id)
	var allow, deny Permission
	for _, w := range c.root().overwrites {
		if slices.ContainsFunc(m.roles, func(r *role) bool { return r.id == w.id }) {
			allow, deny = allow|w.allow, deny|w.deny
		}
	}
	p = p&^deny | allow
	apply(u.id)
	if !p.Has(ViewChannel) {
		return 0
	}
	return p
}

func (s *Server) botPermissions(c *channel) Permission {
	if c.guild == nil {
		if !c.withBot {
			return 0
		}
		return c.permissions(s.bot)
	}
	if !c.guild.botIn {
		return 0
	}
	return c.permissions(s.bot)
}

// sendBit is the permission that writing in a channel needs.
func (c *channel) sendBit() Permission {
	if c.isThread() {
		return SendMessagesInThreads
	}
	return SendMessages
}
