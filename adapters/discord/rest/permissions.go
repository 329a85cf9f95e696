package rest

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// Permissions are a set of what somebody may do somewhere.
type Permissions uint64

// The permissions that matter to the bot.
const (
	Administrator         Permissions = 1 << 3
	ManageGuild           Permissions = 1 << 5
	ViewChannel           Permissions = 1 << 10
	SendMessages          Permissions = 1 << 11
	ManageMessages        Permissions = 1 << 13
	AttachFiles           Permissions = 1 << 15
	ReadMessageHistory    Permissions = 1 << 16
	ManageThreads         Permissions = 1 << 34
	CreatePublicThreads   Permissions = 1 << 35
	SendMessagesInThreads Permissions = 1 << 38
)

// names are as Discord's own settings have them.
var names = []struct {
	p    Permissions
	name string
}{
	{ViewChannel, "View Channel"},
	{SendMessages, "Send Messages"},
	{SendMessagesInThreads, "Send Messages in Threads"},
	{CreatePublicThreads, "Create Public Threads"},
	{AttachFiles, "Attach Files"},
	{ReadMessageHistory, "Read Message History"},
	{ManageThreads, "Manage Threads"},
	{ManageMessages, "Manage Messages"},
	{ManageGuild, "Manage Server"},
}

// Has reports whether all of q are in p. An administrator may do everything.
func (p Permissions) Has(q Permissions) bool { return p&Administrator != 0 || p&q == q }

// Missing names those of q that are not in p, the most basic first.
func (p Permissions) Missing(q Permissions) []string {
	var list []string
	for _, n := range names {
		if q&n.p != 0 && !p.Has(n.p) {
			list = append(list, n.name)
		}
	}
	return list
}

// UnmarshalJSON reads a decimal number in quotes, as Discord writes it; what cannot be
// read is none.
func (p *Permissions) UnmarshalJSON(data []byte) error {
	n, _ := strconv.ParseUint(strings.Trim(string(data), `"`), 10, 64)
	*p = Permissions(n)
	return nil
}

// PermissionsIn computes what a member may do in a channel, as Discord's
// documentation has it: the roles', then the channel's overwrites for everyone,
// for the roles and for the member. A thread has those of its parent.
func PermissionsIn(g *discordgo.Guild, m *discordgo.Member, ch *discordgo.Channel) Permissions {
	if m.User.ID == g.OwnerID {
		return ^Permissions(0)
	}
	var p int64
	for _, r := range g.Roles {
		if r.ID == g.ID || slices.Contains(m.Roles, r.ID) {
			p |= r.Permissions
		}
	}
	if Permissions(p)&Administrator != 0 {
		return ^Permissions(0)
	}
	var allow, deny, own, ownDeny int64
	for _, o := range ch.PermissionOverwrites {
		switch {
		case o.ID == g.ID:
			p = p&^o.Deny | o.Allow
		case o.Type == discordgo.PermissionOverwriteTypeRole && slices.Contains(m.Roles, o.ID):
			allow |= o.Allow
			deny |= o.Deny
		case o.Type == discordgo.PermissionOverwriteTypeMember && o.ID == m.User.ID:
			own, ownDeny = o.Allow, o.Deny
		}
	}
	p = p&^deny | allow
	return Permissions(p&^ownDeny | own)
}

// OwnRole reads which role of a guild Discord has made for the bot, whose id as a user is
// self; empty: none.
func (c *Client) OwnRole(ctx context.Context, guild, self string) (string, error) {
	m, err := c.Member(ctx, guild, self)
	if err != nil {
		return "", err
	}
	g, err := c.Guild(ctx, guild)
	if err != nil {
		return "", err
	}
	for _, r := range g.Roles {
		if r.Managed && slices.Contains(m.Roles, r.ID) {
			return r.ID, nil
		}
	}
	return "", nil
}

// Permissions reads what the bot may do in a channel of a guild, or in the
// parent of a thread.
func (c *Client) Permissions(ctx context.Context, guild, channel string) (Permissions, error) {
	me, err := c.Me(ctx)
	if err != nil {
		return 0, err
	}
	m, err := c.Member(ctx, guild, me.ID)
	if err != nil {
		return 0, err
	}
	g, err := c.Guild(ctx, guild)
	if err != nil {
		return 0, err
	}
	ch, err := c.Channel(ctx, channel)
	if err == nil && ch.IsThread() {
		ch, err = c.Channel(ctx, ch.ParentID)
	}
	if err != nil {
		return 0, err
	}
	return PermissionsIn(g, m, ch), nil
}
