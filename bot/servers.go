package bot

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Servers are communities of channels. The settings of a server apply to its channels.
// The bot forgets servers that it has left.

// forgetAfter is how long a server is kept after the bot has left it: somebody may have
// removed the bot by mistake, or the list may be that of another account.
const forgetAfter = 7 * 24 * time.Hour

// A place holds the settings that apply in a channel.
type place struct {
	match.RoomSettings                    // what the channel has chosen, or else its server
	own                match.RoomSettings // what the channel has chosen
	server             Server
	lang               string // that the platform says it speaks
}

// place loads the settings that apply in a channel.
func (b *Bot) place(ctx context.Context, where match.Room) (place, error) {
	c, err := b.store.Channel(ctx, where)
	return placeOf(c), err
}

func placeOf(c Channel) place {
	return place{RoomSettings: or(c.Settings, c.Server.Settings), own: c.Settings, server: c.Server, lang: c.Lang}
}

// or returns rs with its default fields taken from other.
func or(rs, other match.RoomSettings) match.RoomSettings {
	return match.RoomSettings{
		Room: rs.Room, Server: rs.Server,
		Rules: cmp.Or(rs.Rules, other.Rules), Size: cmp.Or(rs.Size, other.Size), Clock: cmp.Or(rs.Clock, other.Clock),
		Undo: cmp.Or(rs.Undo, other.Undo), Opens: cmp.Or(rs.Opens, other.Opens), Theme: cmp.Or(rs.Theme, other.Theme), Layout: cmp.Or(rs.Layout, other.Layout),
		Coords: cmp.Or(rs.Coords, other.Coords), Lang: cmp.Or(rs.Lang, other.Lang), Hints: cmp.Or(rs.Hints, other.Hints),
		Letters: cmp.Or(rs.Letters, other.Letters),
	}
}

// meet stores to which server the channel of a request belongs. The request shows that
// the bot is in that server, whatever the store says.
func (b *Bot) meet(ctx context.Context, r Request) error {
	b.serving.Lock()
	defer b.serving.Unlock()
	if err := b.store.Belongs(ctx, r.Where, r.Server); err != nil {
		return err
	}
	here, err := b.place(ctx, r.Where)
	if err != nil || here.server.Left.IsZero() {
		return err
	}
	return b.returned(ctx, here.server)
}

// returned notes that the bot is in a server again. The time in which nobody could play
// there counts for nobody: it is stored first, so that no decision about a game comes
// in between.
func (b *Bot) returned(ctx context.Context, s Server) error {
	if now := b.now(); now.Sub(s.Left) > pulse {
		b.absence.Lock()
		err := b.absent(ctx, s.Platform, s.ID, s.Left, now)
		b.absence.Unlock()
		if err != nil {
			return err
		}
	}
	return b.store.Left(ctx, s.Platform, s.ID, time.Time{})
}

// Servers lists the servers that the bot is in now; see [Service].
func (b *Bot) Servers(ctx context.Context, platform string, in []string) error {
	b.serving.Lock()
	defer b.serving.Unlock()
	known, err := b.store.Servers(ctx, platform)
	if err != nil {
		return err
	}
	now := b.now()
	for _, s := range known {
		there := slices.Contains(in, s.ID)
		switch {
		case there && !s.Left.IsZero():
			err = b.returned(ctx, s)
		case there:
		case s.Left.IsZero():
			b.log.Info("bot is no longer in a server, will forget it in a week", "platform", platform, "server", s.ID)
			err = b.store.Left(ctx, platform, s.ID, now)
		case now.Sub(s.Left) >= forgetAfter:
			err = b.store.ForgetServer(ctx, platform, s.ID)
			b.cache.clear()
			if err == nil {
				b.log.Info("forgot a server that the bot had left", "platform", platform)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxWelcome is the largest number of channels that a refusal suggests for games.
const maxWelcome = 5

// welcome returns the channels of the server whose settings allow games, if those of the
// present channel do not.
func (b *Bot) welcome(ctx context.Context, in *task) (rooms []match.Room, err error) {
	if in.place.Opens != "nobody" || in.place.server.ID == "" {
		return nil, nil
	}
	sets, err := b.store.Rooms(ctx, in.place.server.Platform, in.place.server.ID)
	for _, s := range sets {
		if (s.Opens == "anyone" || s.Opens == "moderators" && in.req.Moderator) && len(rooms) < maxWelcome {
			rooms = append(rooms, s.Room)
		}
	}
	return rooms, err
}
