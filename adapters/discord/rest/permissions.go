package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Permissions are a set of what somebody may do somewhere.
type Permissions uint64

// The permissions that matter to the bot.
const (
	Administrator         Permissions = 1 << 3
	ManageChannels        Permissions = 1 << 4
	ManageGuild           Permissions = 1 << 5
	ViewChannel           Permissions = 1 << 10
	SendMessages          Permissions = 1 << 11
	ManageMessages        Permissions = 1 << 13
	EmbedLinks            Permissions = 1 << 14
	AttachFiles           Permissions = 1 << 15
	ReadMessageHistory    Permissions = 1 << 16
	UseExternalEmojis     Permissions = 1 << 18
	UseCommands           Permissions = 1 << 31
	ManageThreads         Permissions = 1 << 34
	CreatePublicThreads   Permissions = 1 << 35
	CreatePrivateThreads  Permissions = 1 << 36
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
	{CreatePrivateThreads, "Create Private Threads"},
	{AttachFiles, "Attach Files"},
	{EmbedLinks, "Embed Links"},
	{ReadMessageHistory, "Read Message History"},
	{UseExternalEmojis, "Use External Emojis"},
	{ManageThreads, "Manage Threads"},
	{ManageMessages, "Manage Messages"},
	{ManageChannels, "Manage Channels"},
	{ManageGuild, "Manage Server"},
	{UseCommands, "Use Application Commands"},
	{Administrator, "Administrator"},
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

// UnmarshalJSON reads a decimal number in quotes, as Discord writes it.
func (p *Permissions) UnmarshalJSON(data []byte) error {
	s, err := strconv.Unquote(string(data))
	if err != nil {
		s = string(data)
	}
	if s == "null" || s == "" {
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return fmt.Errorf("not a set of permissions")
	}
	*p = Permissions(n)
	return nil
}

// MarshalJSON writes it the same way.
func (p Permissions) MarshalJSON() ([]byte, error) {
	return json.Marshal(strconv.FormatUint(uint64(p), 10))
}

// An Overwrite gives and takes permissions in one channel.
type Overwrite struct {
	ID    string      `json:"id"`
	Type  int         `json:"type"` // 0 a role, 1 a member
	Allow Permissions `json:"allow"`
	Deny  Permissions `json:"deny"`
}

// PermissionsIn computes what a member may do in a channel, as Discord's
// documentation has it: the roles', then the channel's overwrites for everyone,
// for the roles and for the member. A thread has those of its parent.
func PermissionsIn(g Guild, m Member, ch Channel) Permissions {
	if m.User.ID == g.Owner {
		return ^Permissions(0)
	}
	var p Permissions
	for _, r := range g.Roles {
		if r.ID == g.ID || slices.Contains(m.Roles, r.ID) {
			p |= r.Permissions
		}
	}
	if p&Administrator != 0 {
		return ^Permissions(0)
	}
	var allow, deny, own, ownDeny Permissions
	for _, o := range ch.Overwrites {
		switch {
		case o.ID == g.ID:
			p = p&^o.Deny | o.Allow
		case o.Type == 0 && slices.Contains(m.Roles, o.ID):
			allow |= o.Allow
			deny |= o.Deny
		case o.Type == 1 && o.ID == m.User.ID:
			own, ownDeny = o.Allow, o.Deny
		}
	}
	p = p&^deny | allow
	return p&^ownDeny | own
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
		ch, err = c.Channel(ctx, ch.Parent)
	}
	if err != nil {
		return 0, err
	}
	return PermissionsIn(*g, *m, *ch), nil
}
