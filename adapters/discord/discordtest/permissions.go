package discordtest

import "strconv"

// A Permission is a set of Discord's permission bits.
type Permission uint64

const (
	Administrator         Permission = 1 << 3
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
	SendMessagesInThreads Permission = 1 << 38
	UseExternalApps       Permission = 1 << 50
)

const allPermissions Permission = 1<<53 - 1

// Everyone is what a new guild lets everybody do.
const Everyone = AddReactions | ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory |
	UseApplicationCommand | CreatePublicThreads | SendMessagesInThreads | UseExternalApps

// Has reports whether every bit of q is in p.
func (p Permission) Has(q Permission) bool { return p&q == q }

// String returns the number as Discord sends it.
func (p Permission) String() string { return strconv.FormatUint(uint64(p), 10) }

// permissions returns those of a user in a channel, in Discord's documented order:
// everyone's, those of roles, then the channel's overwrite for the member. A thread
// has those of its parent.
func (c *channel) permissions(u *user) Permission {
	g := c.guild
	if g == nil {
		return ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory | MentionEveryone | UseApplicationCommand | UseExternalApps | AddReactions
	}
	m := g.members[u.id]
	if m == nil {
		return 0
	}
	p := g.roles[0].permissions
	for _, r := range m.roles {
		p |= r.permissions
	}
	if g.owner == u || p.Has(Administrator) {
		return allPermissions
	}
	at := c
	if c.parent != nil {
		at = c.parent
	}
	p = p&^at.over[u].denied | at.over[u].allowed
	if !p.Has(ViewChannel) {
		return 0
	}
	return p
}

// botPermissions returns what the bot may do in a channel; nothing in a guild that
// it is not in.
func (s *Server) botPermissions(c *channel) Permission { return c.permissions(s.bot) }

// sendBit returns the permission that writing in a channel needs.
func (c *channel) sendBit() Permission {
	if c.isThread() {
		return SendMessagesInThreads
	}
	return SendMessages
}
