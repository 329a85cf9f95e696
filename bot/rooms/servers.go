package rooms

import (
	"context"
	"slices"
	"time"

	"github.com/halfpoint-go/halfpoint/bot/match"
)

// Servers are communities of channels. The settings of a server apply to its channels.
// The bot forgets servers that it has left.

// A Server is a community of channels, as a platform counts them.
type Server struct {
	Platform string
	ID       string             // empty: there is none
	Left     time.Time          // when the bot was found to have left; zero: it is there
	Settings match.RoomSettings // of all its channels
}

// ForgetAfter is how long a server is kept after the bot has left it: somebody may have
// removed the bot by mistake, or the list may be that of another account.
const ForgetAfter = 7 * 24 * time.Hour

// meet stores to which server a channel belongs, and that the bot is in that server,
// whatever the store says.
func (r *Rooms) meet(ctx context.Context, where match.Room, server string) error {
	r.serving.Lock()
	defer r.serving.Unlock()
	if err := r.store.Belongs(ctx, where, server); err != nil {
		return err
	}
	here, err := r.Place(ctx, where)
	if err != nil || here.Server.Left.IsZero() {
		return err
	}
	return r.returned(ctx, here.Server)
}

// returned notes that the bot is in a server again. The time in which nobody could play
// there counts for nobody: it is stored first, so that no decision about a game comes
// in between.
func (r *Rooms) returned(ctx context.Context, s Server) error {
	if now := r.Now(); now.Sub(s.Left) > Pulse {
		r.absence.Lock()
		err := r.absent(ctx, s.Platform, s.ID, s.Left, now)
		r.absence.Unlock()
		if err != nil {
			return err
		}
	}
	return r.store.Left(ctx, s.Platform, s.ID, time.Time{})
}

// Servers takes the list of all servers of a platform that the bot is in now, and forgets
// those that it left long ago, with their games. It reports whether it did, and whether it has
// left others that it knows.
func (r *Rooms) Servers(ctx context.Context, platform string, in []string) (forgot, left bool, err error) {
	r.serving.Lock()
	defer r.serving.Unlock()
	known, err := r.store.Servers(ctx, platform)
	if err != nil {
		return false, false, err
	}
	now := r.Now()
	for _, s := range known {
		there := slices.Contains(in, s.ID)
		switch {
		case there && !s.Left.IsZero():
			err = r.returned(ctx, s)
		case there:
		case s.Left.IsZero():
			r.log.Info("bot is no longer in a server, will forget it in a week", "platform", platform, "server", s.ID)
			left, err = true, r.store.Left(ctx, platform, s.ID, now)
		case now.Sub(s.Left) >= ForgetAfter:
			forgot = true
			err = r.store.ForgetServer(ctx, platform, s.ID)
			if err == nil {
				r.log.Info("forgot a server that the bot had left", "platform", platform)
			}
		default:
			left = true
		}
		if err != nil {
			return forgot, left, err
		}
	}
	return forgot, left, nil
}

// maxWelcome is the largest number of channels that a refusal suggests for games.
const maxWelcome = 5

// Welcome returns the channels of the server whose settings allow games, if those of the
// present channel do not.
func (r *Rooms) Welcome(ctx context.Context, here Place, moderator bool) (rooms []match.Room, err error) {
	if here.Opens != "nobody" || here.Server.ID == "" {
		return nil, nil
	}
	sets, err := r.store.Rooms(ctx, here.Server.Platform, here.Server.ID)
	for _, s := range sets {
		if (s.Opens == "anyone" || s.Opens == "moderators" && moderator) && len(rooms) < maxWelcome {
			rooms = append(rooms, s.Room)
		}
	}
	return rooms, err
}
