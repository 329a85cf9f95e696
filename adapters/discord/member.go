package discord

import (
	"context"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/halfpoint-go/halfpoint/adapters/discord/rest"
	"github.com/halfpoint-go/halfpoint/bot/match"
	"github.com/halfpoint-go/halfpoint/bot/outbox"
)

// memberFor is how long Discord is not asked again who may write where. A person who was
// removed can play from elsewhere for so long.
const memberFor = 30 * time.Second

// A membership is whether somebody may write in a room, until it is asked again.
type membership struct {
	is    bool
	until time.Time
}

// Member reports whether a person may read and write in a room now; see [bot.Membership].
// Where Discord no longer shows the bot the room or the person, they may not.
func (a *Adapter) Member(ctx context.Context, who outbox.User, where match.Room) (bool, error) {
	if who.Platform != Name || where.Platform != Name || who.ID == "" || where.Channel == "" {
		return false, nil
	}
	key := who.ID + " " + where.Channel + " " + where.Thread
	if m, ok := a.members.Get(key); ok && time.Now().Before(m.until) {
		return m.is, nil
	}
	asked := time.Now()
	is, err := a.mayWrite(ctx, who.ID, where)
	if rest.Forbidden(err) || rest.Gone(err) {
		is, err = false, nil
	}
	if err != nil {
		return false, err
	}
	a.members.Add(key, membership{is, asked.Add(memberFor)})
	return is, nil
}

// mayWrite asks Discord whether a user may write in a channel or thread, or in the threads of
// a channel.
func (a *Adapter) mayWrite(ctx context.Context, user string, where match.Room) (bool, error) {
	channel, err := a.rest.Channel(ctx, where.Channel)
	if err != nil {
		return false, err
	}
	if channel.GuildID == "" {
		return slices.ContainsFunc(channel.Recipients, func(u *discordgo.User) bool { return u.ID == user }), nil
	}
	m, err := a.rest.Member(ctx, channel.GuildID, user)
	if err != nil {
		return false, err
	}
	if m.Pending || m.CommunicationDisabledUntil != nil && time.Now().Before(*m.CommunicationDisabledUntil) {
		return false, nil
	}
	guild, err := a.rest.Guild(ctx, channel.GuildID)
	if err != nil {
		return false, err
	}
	may := rest.PermissionsIn(guild, m, channel)
	switch {
	case !may.Has(rest.ViewChannel):
		return false, nil
	case where.Thread != "":
		return a.mayWriteIn(ctx, user, where.Thread, may)
	}
	return may.Has(rest.SendMessages) || may.Has(rest.SendMessagesInThreads), nil
}

// mayWriteIn reports whether a user may write in a thread, who has these permissions in its
// channel. Only its members read a private one, and only moderators write in a locked one.
func (a *Adapter) mayWriteIn(ctx context.Context, user, thread string, may rest.Permissions) (bool, error) {
	c, err := a.rest.Channel(ctx, thread)
	switch {
	case err != nil, !may.Has(rest.SendMessagesInThreads):
		return false, err
	case may.Has(rest.ManageThreads):
		return true, nil
	case c.ThreadMetadata != nil && c.ThreadMetadata.Locked:
		return false, nil
	case c.Type == discordgo.ChannelTypeGuildPrivateThread:
		if err := a.rest.ThreadMember(ctx, thread, user); err != nil {
			return false, err
		}
	}
	return true, nil
}
